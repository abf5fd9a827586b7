"""Callbacks that report the progress of long work."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called with the name of the step, the amount done, and the total amount."""


def ignore_progress(*_: object) -> None:
    """Ignore the reported progress."""
