"""What games of flipped records share: messages of a few kinds are counted, and the counts weighed.

The statistic is log of X_u / X_v, X_w the sum over all messages of the chance of each under the
person's record w over that under the mean distribution of the hiding messages; for a record that is
sent ``times`` times the sum of products over all ways to choose so many messages (``likelihood``).
"""

from abc import ABC, abstractmethod

import numpy as np

from mixtally.attacks.device import Device
from mixtally.attacks.likelihood import log_sum
from mixtally.attacks.multinomial import Binomials
from mixtally.ground.bits import Rows, spans
from mixtally.ground.chance import Chance
from mixtally.ground.tails import Floats

_SPAN_MESSAGES = 1 << 20
SHUFFLED = 1 << 10
"""Larger batches are not shuffled: the statistic knows no order."""


def shuffled(messages: int) -> str:
    """Whether so many messages are shuffled, in words."""
    return "shuffled" if messages <= SHUFFLED else "not shuffled: order tells nothing"


class CountedGame(ABC):
    """One record u or v among other people's, all alike, and fakes.

    where
      people   others
      times    how often every person sends their record, each time with fresh noise
    """

    people: int
    fakes: int
    times: int = 1

    @property
    def messages(self) -> int:
        """Messages of one run."""
        return self.times * (self.people + 1) + self.fakes

    @property
    @abstractmethod
    def stage(self) -> str:
        """Who sends what, in words."""

    @property
    def played(self) -> str:
        """What a run by the code is, in words."""
        return f"{self.stage}; {shuffled(self.messages)}"

    def draw(self, chance: Chance, device: Device) -> tuple[float, float]:
        """The statistic in world u and, of other messages, in world v."""
        counts = [self._collected(world, chance, device) for world in (0, 1)]
        in_u, in_v = self._statistics(np.array(counts))
        return float(in_u), float(in_v)

    def _collected(self, world: int, chance: Chance, device: Device) -> Floats:
        """How many messages of each kind one collection has."""
        own, others = self._own(world, chance, device), self.times * self.people
        if self.messages <= SHUFFLED:
            hiding = self._others(others, chance, device), self._fakes(self.fakes, chance, device)
            return self._counts(device.shuffle(np.concatenate([*hiding, own]), chance))
        total = self._counts(own)
        for count, sent in ((others, self._others), (self.fakes, self._fakes)):
            for span in spans(count, _SPAN_MESSAGES):
                total += self._counts(sent(span.stop - span.start, chance, device))
        return total

    def drawn(self, runs: int, draw: Binomials) -> tuple[Floats, Floats] | None:
        """The statistics of many runs, their counts drawn from their distribution by no device."""
        if not self.people and not self.fakes:
            return None
        others, fake, *own_pmfs = self._pmfs
        found = []
        for own in own_pmfs:
            counts = draw.kinds(self.times * self.people, others, runs)
            counts += draw.kinds(self.fakes, fake, runs)
            counts += draw.kinds(self.times, own, runs)
            found.append(self._statistics(counts.astype(np.float64)))
        return found[0], found[1]

    @abstractmethod
    def _own(self, world: int, chance: Chance, device: Device) -> Rows:
        """The person's messages in world u (0) or v (1)."""

    @abstractmethod
    def _others(self, count: int, chance: Chance, device: Device) -> Rows:
        """``count`` messages of other people."""

    @abstractmethod
    def _fakes(self, count: int, chance: Chance, device: Device) -> Rows:
        """``count`` fakes."""

    @abstractmethod
    def _counts(self, rows: Rows) -> Floats:
        """How many messages there are of each kind, shape (kinds,)."""

    @property
    @abstractmethod
    def _pmfs(self) -> tuple[Floats, Floats, Floats, Floats]:
        """P[a message is of each kind]: others' messages, fakes, records u and v."""

    @property
    @abstractmethod
    def _ratios(self) -> tuple[Floats, Floats]:
        """Log of the likelihood ratios of u and v for every kind of message."""

    def _statistics(self, counts: Floats) -> Floats:
        """The statistic of every run, ``counts`` of shape (runs, kinds)."""
        u, v = (log_sum(ratio, counts, self.times) for ratio in self._ratios)
        return np.asarray(u - v)
