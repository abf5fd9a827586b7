"""Texts of options as the values they stand for, by the type of the value."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from mixtally.app.analysis import Groups
from mixtally.app.options import HopNumbers
from mixtally.errors import ParameterError


class Reader(NamedTuple):
    """What the parser takes in place of a value, and how that is read."""

    parser_type: Any
    read: Callable[[Any], Any]


def _labels(path: Path) -> tuple[str, ...] | None:
    from mixtally.cli.labels import read_labels  # loads NumPy, which a device's help lacks

    return read_labels(path)


def _groups(path: Path) -> Groups:
    from mixtally.cli.label_groups import read_groups  # loads NumPy, which a device's help lacks

    return read_groups(path)


def parse_ends(text: str) -> tuple[float, float]:
    """Return two numbers with a comma between them; raise ParameterError for anything else."""
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise ParameterError(
            "number",
            expected="two numbers, LOW,HIGH",
            got=repr(text),
            do="--number 0,100, for example",
        ) from None
    return low, high


def parse_sizes(text: str) -> tuple[int, ...]:
    """Return whole numbers between commas; raise ParameterError for anything else."""
    parts = text.split(",")
    if not all(part.strip().isdecimal() for part in parts):
        raise ParameterError(
            "attributes",
            expected="whole numbers with commas between them",
            got=repr(text),
            do="10,20,5 for three attributes",
        )
    return tuple(int(part) for part in parts)


def parse_places(text: str) -> HopNumbers:
    """Return places between commas; raise ParameterError for anything but whole numbers."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise ParameterError(
            "--dishonest",
            expected="places of hops with commas between them",
            got=repr(text),
            do="1,3 for the first and the third",
        )
    return frozenset(map(int, parts))


READERS = {
    HopNumbers | None: Reader(str | None, parse_places),
    Groups | None: Reader(Path | None, _groups),
    tuple[str, ...] | None: Reader(Path | None, _labels),
    tuple[float, float] | None: Reader(str | None, parse_ends),
    tuple[int, ...] | None: Reader(str | None, parse_sizes),
}
"""By the type of an option's field: how the command line takes it, where the parser cannot."""
