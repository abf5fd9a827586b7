"""Whether anybody looks on while the work goes on."""

import sys
from contextvars import ContextVar

_quiet = ContextVar("quiet", default=False)


def be_quiet(expected: bool) -> None:
    """Whether nothing is said while the work goes on; results, warnings and errors still are."""
    _quiet.set(expected)


def quieted() -> bool:
    """Return whether nothing is said while the work goes on."""
    return _quiet.get()


def watched() -> bool:
    """Whether somebody looks on while the work goes on: standard error is a terminal."""
    return sys.stderr.isatty() and not quieted()
