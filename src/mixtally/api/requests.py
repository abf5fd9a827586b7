"""Requests from keyword arguments, as instances of the classes that the command line uses, too."""

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from mixtally.api import checks
from mixtally.api.files import file_at
from mixtally.api.labels import labels_of
from mixtally.app.analysis import Groups
from mixtally.app.options import HopNumbers
from mixtally.errors import ParameterError
from mixtally.model.guarantee import Guarantee

T = TypeVar("T")


def read_request(kind: type[T], given: Mapping[str, object]) -> T:
    """Return an instance of a class of options from keyword arguments.

    A field of the class can be another class of options, whose fields are read as well.

    Raises
    ------
    ParameterError
        If a value does not have the type of its field.
    PlanError
        If a label is empty or occurs twice.
    """
    return checks.read_options(kind, given, _READERS)


def guarantee_of(epsilon: object, delta: object) -> Guarantee:
    """Return the guarantee, or raise ParameterError if a number is outside its range."""
    return Guarantee(
        epsilon=checks.check_number("epsilon", epsilon), delta=checks.check_number("delta", delta)
    )


def ends_of(subject: str, given: object) -> tuple[float, float]:
    """Return the two ends of a range, or raise ParameterError if these are not two numbers."""
    if not isinstance(given, list | tuple) or len(given) != 2:
        raise ParameterError(
            subject,
            expected="a range of two numbers, (low, high)",
            got=checks.describe_value(given),
            do="write number=(0, 10), for example",
        )
    return checks.check_number("low end", given[0]), checks.check_number("high end", given[1])


def _sizes_of(subject: str, given: object) -> tuple[int, ...]:
    """Return a list of integers as a tuple, or raise ParameterError."""
    if not isinstance(given, list | tuple):
        raise ParameterError(
            subject,
            expected="a list of whole numbers",
            got=checks.describe_value(given),
            do="write [10, 20, 5], for example",
        )
    return tuple(checks.check_whole(f"{subject}[{place}]", one) for place, one in enumerate(given))


def _groups_of(subject: str, given: object) -> Groups:
    """Return the name and the labels of each group, or raise ParameterError for a wrong type."""
    if not isinstance(given, Mapping):
        raise ParameterError(
            subject,
            expected="a mapping from the name of each group to its labels",
            got=checks.describe_value(given),
            do='write {"warm": ["red", "orange"]}, for example',
        )
    return tuple(
        (checks.check_text(f"name in {subject}", name), labels_of(f"{subject} {name!r}", labels))
        for name, labels in given.items()
    )


def _hops_of(subject: str, given: object) -> HopNumbers:
    """Return positions of mixes, or raise ParameterError if the argument is not a list or a set."""
    if not isinstance(given, list | tuple | set | frozenset):
        raise ParameterError(
            subject,
            expected="a list of positions of mixes, from 1",
            got=checks.describe_value(given),
            do="write [1, 3], for example",
        )
    return frozenset(checks.check_whole(subject, one) for one in given)


_READERS: checks.Readers = {
    HopNumbers: _hops_of,
    Groups: _groups_of,
    Path: lambda _, given: file_at(given),
    list[str]: labels_of,
    tuple[str, ...]: labels_of,
    tuple[float, float]: ends_of,
    tuple[int, ...]: _sizes_of,
}
