"""Games with flipped records among flipped uniform fakes: how many bits a message sets tells too.

A fake sets one bit of all d before its flips, so P[fake = y] / P[blank = y] is
(|y| r + (d - |y|) / r) / d with r = p / q and |y| the bits that y sets. The attacker looks at the
first m positions: the bins of u and v, the bin that everybody else holds, and some that nobody
holds. A fake's bit lies among them with probability m / d, and the ratio becomes

    (|y| r + (m - |y|) / r) / d + 1 - m / d.

The statistic is that of ``flipped``: log of X_u / X_v with b the mean law of the hiding messages.
With m = d and nobody else it is the log-likelihood ratio itself; fewer positions see a little less.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mixtally.ground.bits import Rows, row_bytes, spans
from mixtally.ground.chance import Chance
from mixtally.ground.draw import below
from mixtally.ground.fixed import SCALE
from mixtally.ground.tails import Floats
from mixtally.lab.attack.device import Device
from mixtally.protocols.flip_blank import FlipBlank
from mixtally.protocols.flip_uniform import FlipUniform

_SPAN_MESSAGES = 1 << 20
_SHUFFLED = 1 << 13
"""Larger batches are not shuffled: the statistic knows no order."""
_WIDE, _NARROW = 64, 8
"""Positions that are looked at, and those in batches of more than ``_MANY`` messages."""
_MANY = 200_000


def fakes_in_view(
    bins: int, view: int, threshold: int, count: int, chance: Chance, device: Device
) -> Rows:
    """The first ``view`` positions of ``count`` fakes over ``bins`` bins, in no order to rely on.

    Positions are flipped independently, so a fake whose own bit lies elsewhere is a blank in these.
    """
    inside = count if view == bins else int((below(chance, bins, count) < view).sum())
    seen = FlipUniform(bins=view, fakes=inside, threshold=threshold)
    blank = FlipBlank(bins=view, fakes=count - inside, threshold=threshold)
    return np.concatenate(
        [device.fakes(seen, inside, chance), device.fakes(blank, count - inside, chance)]
    )


@dataclass(frozen=True)
class UniformFlipsGame:
    """One record of bin 0 or bin 1 among people who hold bin 2, or bin 1 of two, and fakes."""

    threshold: int
    bins: int
    people: int
    fakes: int

    @property
    def messages(self) -> int:
        """Messages of one run."""
        return self.people + self.fakes + 1

    @property
    def view(self) -> int:
        """Positions that are looked at."""
        return min(self.bins, _NARROW if self.messages > _MANY else _WIDE)

    @property
    def cost(self) -> float:
        """Nanoseconds of a run, roughly."""
        width = row_bytes(self.view)
        each = 15.0 if width == 1 else 60.0 * width
        return each * (2.0 * self.people + self.fakes + 1.0) + 10.0 * self.fakes

    @property
    def played(self) -> str:
        """What a run is, in words."""
        others = f"{self.people:,} others who all hold the same" if self.people else "nobody else"
        order = "shuffled" if self.messages <= _SHUFFLED else "not shuffled: order tells nothing"
        return (
            f"{others}, {self.fakes:,} flipped uniform fakes, {self.view} of {self.bins:,} "
            f"positions looked at; {order}"
        )

    def draw(self, chance: Chance, device: Device) -> tuple[float, float]:
        """The statistic in world u and in world v, both over the same hiding messages."""
        u, v = (self._reports(code, 1, chance, device) for code in (0, 1))
        if self.messages <= _SHUFFLED:
            hiding = np.concatenate([
                self._reports(self._held, self.people, chance, device),
                self._fakes(self.fakes, chance, device),
            ])  # fmt: skip
            batches = (device.shuffle(np.concatenate([hiding, own]), chance) for own in (u, v))
            in_u, in_v = (self._statistic(self._counts(batch)) for batch in batches)
            return in_u, in_v
        counts = np.zeros(len(self._ratios[0]))
        for span in spans(self.people, _SPAN_MESSAGES):
            many = span.stop - span.start
            counts += self._counts(self._reports(self._held, many, chance, device))
        for span in spans(self.fakes, _SPAN_MESSAGES):
            counts += self._counts(self._fakes(span.stop - span.start, chance, device))
        return self._statistic(counts + self._counts(u)), self._statistic(counts + self._counts(v))

    def alone(self, runs: int, chance: Chance, device: Device) -> None:  # noqa: ARG002
        """There are always fakes: without any it is the game of flips alone."""
        return

    @property
    def _held(self) -> int:
        return min(2, self.bins - 1)

    def _reports(self, code: int, count: int, chance: Chance, device: Device) -> Rows:
        small = FlipUniform(bins=self.view, fakes=0, threshold=self.threshold)
        return device.reports(small, np.full(count, code, dtype=np.int64), chance)

    def _fakes(self, count: int, chance: Chance, device: Device) -> Rows:
        return fakes_in_view(self.bins, self.view, self.threshold, count, chance, device)

    def _counts(self, rows: Rows) -> Floats:
        """How many messages there are of each kind: the first three bits, and all bits set."""
        size = np.bitwise_count(rows).sum(axis=1, dtype=np.int64)
        kinds = (rows[:, 0] & 7).astype(np.int64) + 8 * size
        return np.bincount(kinds, minlength=8 * (self.view + 1)).astype(np.float64)

    @cached_property
    def _ratios(self) -> tuple[Floats, Floats]:
        """Log of w_u and w_v for every kind of message."""
        q = self.threshold / SCALE
        r = (1.0 - q) / q
        kind = np.arange(8 * (self.view + 1))
        size = kind // 8
        u, v, held = (
            np.where(kind >> place & 1, math.log(r), -math.log(r)) for place in (0, 1, self._held)
        )
        fake = (size * r + (self.view - size) / r) / self.bins + 1.0 - self.view / self.bins
        hiding = (self.people * np.exp(held) + self.fakes * fake) / (self.people + self.fakes)
        return u - np.log(hiding), v - np.log(hiding)

    def _statistic(self, counts: Floats) -> float:
        seen = counts > 0
        logs = np.log(counts[seen])
        u, v = (np.logaddexp.reduce(ratio[seen] + logs) for ratio in self._ratios)
        return float(u - v)
