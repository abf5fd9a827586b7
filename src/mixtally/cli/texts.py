"""Parsing of option values whose type the command-line parser does not know."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from mixtally.app.analysis import Groups
from mixtally.app.options import HopNumbers
from mixtally.errors import ParameterError


class Reader(NamedTuple):
    """The type of an option for the parser, and the function that converts the parsed value."""

    parser_type: Any
    read: Callable[[Any], Any]


def _labels(path: Path) -> tuple[str, ...] | None:
    from mixtally.cli.labels import read_labels  # loads NumPy, which a device's help lacks

    return read_labels(path)


def _groups(path: Path) -> Groups:
    from mixtally.cli.labels import read_groups  # loads NumPy, which a device's help lacks

    return read_groups(path)


def parse_ends(text: str) -> tuple[float, float]:
    """Return two numbers separated by a comma; raise ParameterError for any other text."""
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise ParameterError(
            "number",
            expected="two numbers separated by a comma, LOW,HIGH",
            got=repr(text),
            do="write --number 0,100, for example",
        ) from None
    return low, high


def parse_sizes(text: str) -> tuple[int, ...]:
    """Return whole numbers separated by commas; raise ParameterError for any other text."""
    parts = text.split(",")
    if not all(part.strip().isdecimal() for part in parts):
        raise ParameterError(
            "attributes",
            expected="whole numbers separated by commas",
            got=repr(text),
            do="write 10,20,5 for three attributes",
        )
    return tuple(int(part) for part in parts)


def parse_places(text: str) -> HopNumbers:
    """Return positions of hops separated by commas; raise ParameterError for any other text."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise ParameterError(
            "--dishonest",
            expected="positions of hops separated by commas",
            got=repr(text),
            do="write 1,3 for the first and the third hop",
        )
    return frozenset(map(int, parts))


READERS = {
    HopNumbers | None: Reader(str | None, parse_places),
    Groups | None: Reader(Path | None, _groups),
    tuple[str, ...] | None: Reader(Path | None, _labels),
    tuple[float, float] | None: Reader(str | None, parse_ends),
    tuple[int, ...] | None: Reader(str | None, parse_sizes),
}
"""The reader for each type of a field that declares an option."""
