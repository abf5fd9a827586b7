"""State of the terminal: whether progress is displayed."""

import sys
from contextvars import ContextVar

_quiet = ContextVar("quiet", default=False)


def set_quiet(expected: bool) -> None:
    """Set whether progress is hidden; results, warnings and errors are always printed."""
    _quiet.set(expected)


def is_quiet() -> bool:
    """Return whether progress is hidden."""
    return _quiet.get()


def is_watched() -> bool:
    """Return whether progress is displayed: on terminals, unless --quiet is given."""
    return sys.stderr.isatty() and not is_quiet()
