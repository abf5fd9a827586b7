"""Whether anybody looks on while the work goes on."""

import sys
from contextvars import ContextVar

_quiet = ContextVar("quiet", default=False)


def set_quiet(expected: bool) -> None:
    """Whether nothing is said while the work goes on; results, warnings and errors still are."""
    _quiet.set(expected)


def is_quiet() -> bool:
    """Return whether nothing is said while the work goes on."""
    return _quiet.get()


def is_watched() -> bool:
    """Whether somebody looks on while the work goes on: standard error is a terminal."""
    return sys.stderr.isatty() and not is_quiet()
