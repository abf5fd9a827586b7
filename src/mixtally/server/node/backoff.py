"""Whoever does not answer, or answers badly, is left alone for a while, then longer.

However it goes on, it takes a small share: a pause is at least nine times as long as what it
follows took.
"""

from collections.abc import Hashable
from typing import NamedTuple

MAX_DELAY_SECONDS = 60
_TIMES = 9


class BackoffDelay(NamedTuple):
    """How long somebody is left alone."""

    until: int
    seconds: int


class Backoff:
    """Pauses by whom they are for."""

    def __init__(self) -> None:
        self._of: dict[Hashable, BackoffDelay] = {}

    def is_waiting(self, who: Hashable, now: int) -> bool:
        """Whether somebody is to be left alone; a clock that was set back does not lengthen it."""
        pause = self._of.get(who)
        return pause is not None and pause.until - pause.seconds <= now < pause.until

    def increase(self, who: Hashable, now: int, elapsed: float = 0.0) -> None:
        """Leave somebody alone, for longer than before; ``took`` seconds went by until that."""
        before = self._of.get(who)
        seconds = 1 if before is None else min(MAX_DELAY_SECONDS, 2 * before.seconds)
        seconds = max(seconds, round(_TIMES * elapsed))
        self._of[who] = BackoffDelay(now + seconds, seconds)

    def reset(self, who: Hashable) -> None:
        """All is well again."""
        self._of.pop(who, None)

    def list_delayed(self) -> list[Hashable]:
        """For whom there is one."""
        return list(self._of)
