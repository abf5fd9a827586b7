"""Requests of keyword arguments: the same classes of options that the command line fills."""

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
    """Return the options of a class, and of those inside it, from keywords of the same names.

    Raises
    ------
    ParameterError
        For a value of another type.
    PlanError
        For labels that are alike or empty.
    """
    return checks.read_options(kind, given, _READERS)


def guarantee_of(epsilon: object, delta: object) -> Guarantee:
    """Return the guarantee; raise ParameterError for what is no number, or outside its range."""
    return Guarantee(
        epsilon=checks.check_number("epsilon", epsilon), delta=checks.check_number("delta", delta)
    )


def ends_of(subject: str, given: object) -> tuple[float, float]:
    """Return the two ends of a range; raise ParameterError for what is no pair of numbers."""
    if not isinstance(given, list | tuple) or len(given) != 2:
        raise ParameterError(
            subject,
            expected="two ends, low and high",
            got=checks.describe_value(given),
            do="number=(0, 10)",
        )
    return checks.check_number("low end", given[0]), checks.check_number("high end", given[1])


def _sizes_of(subject: str, given: object) -> tuple[int, ...]:
    """Return whole numbers; raise ParameterError for what is no list of them."""
    if not isinstance(given, list | tuple):
        raise ParameterError(
            subject,
            expected="a list of whole numbers",
            got=checks.describe_value(given),
            do="[10, 20, 5]",
        )
    return tuple(checks.check_whole(f"{subject}[{place}]", one) for place, one in enumerate(given))


def _groups_of(subject: str, given: object) -> Groups:
    """Return groups of labels by name; raise ParameterError for what is no such mapping."""
    if not isinstance(given, Mapping):
        raise ParameterError(
            subject,
            expected="the labels of each group by its name",
            got=checks.describe_value(given),
            do='{"warm": ["red", "orange"]}',
        )
    return tuple(
        (checks.check_text(f"name in {subject}", name), labels_of(f"{subject} {name!r}", labels))
        for name, labels in given.items()
    )


def _hops_of(subject: str, given: object) -> HopNumbers:
    """Return places of mixes; raise ParameterError for what is no list or set of them."""
    if not isinstance(given, list | tuple | set | frozenset):
        raise ParameterError(
            subject,
            expected="places of mixes, from 1",
            got=checks.describe_value(given),
            do="[1, 3]",
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
