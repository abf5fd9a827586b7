"""Many devices in one process, each with a diary, a random time of sending, and its own retries.

``network.py`` uses this crowd. The random times fall into the first half of the time that is left,
because a busy machine needs seconds to send a bundle.
"""

import heapq
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mixtally.device.client import Limits
from mixtally.device.client.net import (
    BundleState,
    Diary,
    Entry,
    Pins,
    deliver,
    open_round,
    prepare,
    verify_contract,
)
from mixtally.primitives.chance import SecureChance

_HANDS = 16
"""The number of threads."""


class Crowd:
    """People who trust one contract fingerprint; the folder ``place`` has their diaries.

    With ``at_once`` nobody waits for a random time. ``clock`` returns the time of the roles.
    """

    def __init__(
        self,
        place: Path,
        note: bytes,
        fingerprint: str,
        *,
        clock: Callable[[], float] = time.time,
        at_once: bool = False,
    ) -> None:
        self.place, self.clock, self.at_once, self.ended = place, clock, at_once, 0
        """People who have an answer by now."""
        self.agreed = verify_contract(note, Pins(fingerprint=fingerprint), Limits())

    def answer(self, sheet: bytes, values: list[str]) -> dict[BundleState, Counter[str]]:
        """Answer for all people in the round of ``sheet``, and return their values.

        The values are counted by the final state of the person's bundle.
        """
        with ThreadPoolExecutor(_HANDS) as hands:
            self.given = open_round(self.agreed, sheet, int(self.clock()))
            due = list(hands.map(self._prepare, range(len(values)), values))
            waiting = [(moment, person) for person, moment in enumerate(due)]
            heapq.heapify(waiting)
            ended = self._send(hands, waiting)
        found = {state: Counter[str]() for state in BundleState}
        for person, state in ended.items():
            found[state][values[person]] += 1
        return found

    def _send(
        self, hands: ThreadPoolExecutor, waiting: list[tuple[float, int]]
    ) -> dict[int, BundleState]:
        """Send each bundle at its time, and again after a requested delay, until all have ended."""
        people, turn = len(waiting), threading.Condition()
        ended: dict[int, BundleState] = {}

        def one(person: int) -> None:
            entry = self._deliver(person)
            with turn:
                if entry.is_pending:
                    heapq.heappush(waiting, (max(entry.due, self.clock() + 0.2), person))
                else:
                    ended[person] = entry.state
                    self.ended += 1
                turn.notify_all()

        with turn:
            while len(ended) < people:
                while waiting and waiting[0][0] <= self.clock():
                    hands.submit(one, heapq.heappop(waiting)[1])
                turn.wait(0.1)
        return ended

    def _prepare(self, person: int, value: str) -> float:
        chance = SecureChance()
        with self._diary(person) as diary:
            entry = prepare(
                diary,
                self.given,
                value,
                lambda count: chance.words(count).astype("<u8").tobytes(),
                int(self.clock()),
            )
        now = self.clock()
        return now if self.at_once else min(entry.due, (now + self.given.sheet.closes) / 2)

    def _deliver(self, person: int) -> Entry:
        with self._diary(person) as diary:
            entry = diary.find(self.given.contract.name, self.given.sheet.round)
            if entry is None:
                raise AssertionError(f"person {person} has not entered the round")
            return deliver(diary, entry, int(self.clock()), at_once=True)

    def _diary(self, person: int) -> Diary:
        return Diary(self.place / f"{person}.db")
