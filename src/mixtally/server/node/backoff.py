"""Exponential backoff for peers that fail.

Requests to a failing peer use at most a tenth of the time: each delay is at least nine times as
long as the attempt before it.
"""

from collections.abc import Hashable
from typing import NamedTuple

MAX_DELAY_SECONDS = 60
"""Longest regular delay, in seconds."""
_TIMES = 9
"""Ratio of a delay to the duration of the attempt before it."""


class BackoffDelay(NamedTuple):
    """Delay before the next attempt, in seconds, and the time at which it ends."""

    until: int
    seconds: int


class Backoff:
    """The current delay of each peer that has failed."""

    def __init__(self) -> None:
        self._of: dict[Hashable, BackoffDelay] = {}

    def is_waiting(self, peer: Hashable, now: int) -> bool:
        """Return whether the delay of a peer has not ended yet.

        A clock that was set back does not lengthen the delay.
        """
        pause = self._of.get(peer)
        return pause is not None and pause.until - pause.seconds <= now < pause.until

    def increase(self, peer: Hashable, now: int, elapsed: float = 0.0) -> None:
        """Double the delay of a peer, starting from 1 s.

        ``elapsed`` is the duration of the failed attempt in seconds.
        """
        before = self._of.get(peer)
        seconds = 1 if before is None else min(MAX_DELAY_SECONDS, 2 * before.seconds)
        seconds = max(seconds, round(_TIMES * elapsed))
        self._of[peer] = BackoffDelay(now + seconds, seconds)

    def reset(self, peer: Hashable) -> None:
        """Remove the delay of a peer that has succeeded."""
        self._of.pop(peer, None)

    def list_delayed(self) -> list[Hashable]:
        """Return the peers that have a delay."""
        return list(self._of)
