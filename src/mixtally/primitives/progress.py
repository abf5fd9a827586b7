"""Who is told how far the work has come."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called with the name of the step, how much of it is done, and how much there is."""


def ignore_progress(*_: object) -> None:
    """Tells nobody."""
