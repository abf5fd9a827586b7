"""Whoever does not answer, or answers badly, is left alone for a while, then longer.

However it goes on, it takes a small share: a pause is at least nine times as long as what it
follows took.
"""

from collections.abc import Hashable
from typing import NamedTuple

LONGEST_PAUSE = 60
_TIMES = 9


class Pause(NamedTuple):
    """How long somebody is left alone."""

    until: int
    seconds: int


class Pauses:
    """Pauses by whom they are for."""

    def __init__(self) -> None:
        self._of: dict[Hashable, Pause] = {}

    def on(self, who: Hashable, now: int) -> bool:
        """Whether somebody is to be left alone; a clock that was set back does not lengthen it."""
        pause = self._of.get(who)
        return pause is not None and pause.until - pause.seconds <= now < pause.until

    def grow(self, who: Hashable, now: int, took: float = 0.0) -> None:
        """Leave somebody alone, for longer than before; ``took`` seconds went by until that."""
        before = self._of.get(who)
        seconds = 1 if before is None else min(LONGEST_PAUSE, 2 * before.seconds)
        seconds = max(seconds, round(_TIMES * took))
        self._of[who] = Pause(now + seconds, seconds)

    def end(self, who: Hashable) -> None:
        """All is well again."""
        self._of.pop(who, None)

    def known(self) -> list[Hashable]:
        """For whom there is one."""
        return list(self._of)
