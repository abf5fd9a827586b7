"""A crowd of devices in one process: every one has a diary, a random moment, and its own retries."""

import heapq
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from mixtally.client import Limits
from mixtally.client.net import Diary, Pins, State, deliver, open_round, prepare, trusted
from mixtally.ground.chance import SecureChance

_HANDS = 16


class Crowd:
    """People who believe one fingerprint; ``place`` has their diaries."""

    def __init__(self, place, note, fingerprint):
        self.place = place
        self.agreed = trusted(note, Pins(fingerprint=fingerprint), Limits())

    def answer(self, sheet, values):
        """Everybody answers in the round of ``sheet``; how it ended -> values of those people."""
        with ThreadPoolExecutor(_HANDS) as hands:
            self.given = open_round(self.agreed, sheet, int(time.time()))
            due = list(hands.map(self._prepare, range(len(values)), values))
            waiting = [(moment, person) for person, moment in enumerate(due)]
            heapq.heapify(waiting)
            ended, turn = {}, threading.Condition()
            self._send(hands, waiting, ended, turn, len(values))
        found = {state: Counter() for state in State}
        for person, state in ended.items():
            found[state][values[person]] += 1
        return found

    def _send(self, hands, waiting, ended, turn, people):
        """Each at its moment, again when it is told to wait; until all have ended."""

        def one(person):
            entry = self._deliver(person)
            with turn:
                if entry.pending:
                    heapq.heappush(waiting, (max(entry.due, time.time() + 0.2), person))
                else:
                    ended[person] = entry.state
                turn.notify_all()

        with turn:
            while len(ended) < people:
                while waiting and waiting[0][0] <= time.time():
                    hands.submit(one, heapq.heappop(waiting)[1])
                turn.wait(0.1)

    def _prepare(self, person, value):
        chance = SecureChance()
        with self._diary(person) as diary:
            entry = prepare(
                diary,
                self.given,
                value,
                lambda count: chance.words(count).astype("<u8").tobytes(),
                int(time.time()),
            )
        return entry.due

    def _deliver(self, person):
        with self._diary(person) as diary:
            entry = diary.find(self.given.contract.name, self.given.sheet.round)
            return deliver(diary, entry, int(time.time()))

    def _diary(self, person):
        return Diary(self.place / f"{person}.db")
