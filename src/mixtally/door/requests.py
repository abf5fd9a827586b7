"""Requests of keyword arguments: the same classes of options that the command line fills."""

from collections.abc import Mapping
from typing import TypeVar

from mixtally.door import checks
from mixtally.door.labels import labels_of
from mixtally.errors import ParameterError

T = TypeVar("T")


def request_of(kind: type[T], given: Mapping[str, object]) -> T:
    """Return the options of a class, and of those inside it, from keywords of the same names.

    Raises
    ------
    ParameterError
        For a value of another type.
    PlanError
        For labels that are alike or empty.
    """
    return checks.made(kind, given, _READERS)


def ends_of(subject: str, given: object) -> tuple[float, float]:
    """Return the two ends of a range; raise ParameterError for what is no pair of numbers."""
    if not isinstance(given, list | tuple) or len(given) != 2:
        raise ParameterError(
            subject, wanted="two ends, low and high", got=checks.shown(given), do="number=(0, 10)"
        )
    return checks.number("low end", given[0]), checks.number("high end", given[1])


def _sizes_of(subject: str, given: object) -> tuple[int, ...]:
    """Return whole numbers; raise ParameterError for what is no list of them."""
    if not isinstance(given, list | tuple):
        raise ParameterError(
            subject, wanted="a list of whole numbers", got=checks.shown(given), do="[10, 20, 5]"
        )
    return tuple(checks.whole(f"{subject}[{place}]", one) for place, one in enumerate(given))


_READERS: checks.Readers = {
    tuple[str, ...]: labels_of,
    tuple[float, float]: ends_of,
    tuple[int, ...]: _sizes_of,
}
