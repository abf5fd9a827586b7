"""What games share whose messages are counted by kind, and the counts weighed.

The statistic is log of X_u / X_v, X_w the sum over all messages of the chance of each under the
person's record w over that under the mean distribution of the hiding messages; for a record that is
sent ``times`` times the sum of products over all ways to choose so many messages (``likelihood``).
"""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np

from mixtally.lab.attacks.device import Device
from mixtally.lab.attacks.game import Game, Setting
from mixtally.lab.attacks.likelihood import log_sum
from mixtally.lab.attacks.multinomial import Binomials
from mixtally.lab.attacks.senders import Bits, Senders
from mixtally.primitives.bits import Counts, Rows, row_bytes, spans
from mixtally.primitives.chance import Chance
from mixtally.primitives.tails import Floats

_SPAN_MESSAGES = 1 << 20
_SHUFFLED = 1 << 10
"""Larger batches are not shuffled: the statistic knows no order."""


@dataclass(frozen=True)
class CountedGame(Game):
    """One record u or v among other people's, all alike, and fakes."""

    senders: Senders

    @property
    @abstractmethod
    def records(self) -> tuple[Bits, Bits, Bits]:
        """What everybody else holds, u and v, in the positions that are looked at."""

    def _setting(self, cost: float, kinds: int, stage: str) -> Setting:
        """What a run is, said of all its messages."""
        order = "not shuffled: order tells nothing"
        if self.senders.messages <= _SHUFFLED:
            order = "shuffled"
        return Setting(cost, self.senders.messages, kinds, stage, f"{stage}; {order}")

    @property
    def _others_text(self) -> str:
        """Who else hides the person, in words."""
        people = self.senders.people
        return f"{people:,} others who all hold the same" if people else "nobody else"

    def draw(self, chance: Chance, device: Device) -> tuple[float, float]:
        """The statistic in world u and, of other messages, in world v."""
        counts = [self._collect_counts(record, chance, device) for record in self.records[1:]]
        in_u, in_v = self._statistics(np.array(counts))
        return float(in_u), float(in_v)

    def _collect_counts(self, record: Bits, chance: Chance, device: Device) -> Floats:
        """How many messages of each kind one collection has."""
        own = self.senders.draw_reports(record, self.senders.times, chance, device)
        fakes = self.senders.draw_fakes(len(record), chance, device)
        hiding = chain(self._draw_others(chance, device), fakes)
        if self.senders.messages <= _SHUFFLED:
            return self._counts(device.shuffle(np.concatenate([*hiding, own]), chance))
        total = self._counts(own)
        for rows in hiding:
            total += self._counts(rows)
        return total

    def _draw_others(self, chance: Chance, device: Device) -> Iterator[Rows]:
        """Other people's messages, some at a time."""
        for span in spans(self.senders.times * self.senders.people, _SPAN_MESSAGES):
            yield self.senders.draw_reports(self.records[0], span.stop - span.start, chance, device)

    def draw_runs(self, runs: int, chance: Chance, device: Device) -> tuple[Floats, Floats] | None:
        """Where no other message hides the person's."""
        if self.senders.messages > self.senders.times:
            return None
        u, v = self._ratios
        with np.errstate(invalid="ignore"):  # impossible under either record
            ratio = np.where(u == v, 0.0, u - v)
        both, times = [], self.senders.times
        for record in self.records[1:]:
            rows = self.senders.draw_reports(record, runs * times, chance, device)
            both.append(ratio[self._keys(rows)].reshape(runs, times).sum(axis=1))
        return both[0], both[1]

    def draw_from_distribution(self, runs: int, draw: Binomials) -> tuple[Floats, Floats] | None:
        """The statistics of many runs, their counts drawn from their distribution by no device."""
        if self.senders.messages == self.senders.times:
            return None
        others, fake, *own_pmfs = self._pmfs
        found, times = [], self.senders.times
        for own in own_pmfs:
            counts = draw.draw_multinomial(times * self.senders.people, others, runs)
            counts += self._draw_fake_counts(fake, runs, draw)
            counts += draw.draw_multinomial(times, own, runs)
            found.append(self._statistics(counts.astype(np.float64)))
        return found[0], found[1]

    def _draw_fake_counts(self, fake: Floats, runs: int, draw: Binomials) -> Counts:
        """How many fakes there are of each kind, shape (runs, kinds)."""
        return draw.draw_multinomial(self.senders.draw_fake_numbers(runs, draw), fake, runs)

    def _counts(self, rows: Rows) -> Floats:
        """How many messages there are of each kind, shape (kinds,)."""
        return np.bincount(self._keys(rows), minlength=len(self._ratios[0])).astype(np.float64)

    @abstractmethod
    def _keys(self, rows: Rows) -> np.ndarray:
        """The kind of every message."""

    @property
    @abstractmethod
    def _pmfs(self) -> tuple[Floats, Floats, Floats, Floats]:
        """P[a message is of each kind]: others' messages, fakes, records u and v."""

    @property
    def _hiding(self) -> Floats:
        """The same of one of all messages but the person's; of a fake where there is none."""
        others, fake, *_ = self._pmfs
        people, fakes = self.senders.people, self.senders.fakes
        return (people * others + fakes * fake) / (people + fakes) if people + fakes else fake

    @property
    @abstractmethod
    def _ratios(self) -> tuple[Floats, Floats]:
        """Log of the likelihood ratios of u and v for every kind of message."""

    def _statistics(self, counts: Floats) -> Floats:
        """The statistic of every run, ``counts`` of shape (runs, kinds)."""
        u, v = (log_sum(ratio, counts, self.senders.times) for ratio in self._ratios)
        return np.asarray(u - v)


def flip_cost(width: int, messages: float) -> float:
    """Nanoseconds to draw and count so many messages of ``width`` flipped positions, roughly."""
    wide = row_bytes(width)
    return (15.0 if wide == 1 else 60.0 * wide) * messages
