"""Games with flipped records among flipped uniform fakes: the number of set bits is evidence, too.

Let d be the number of bins, q the flip probability, p = 1 - q, r = p / q, and |y| the number of set
bits of a message y. A *blank* has no bit set before its flips, and a uniform fake has one of its d
bits set. So P[fake = y] / P[blank = y] is (|y| r + (d - |y|) / r) / d. The attacker looks only at
the first m positions: the bins of u and v, the bin of everyone else, and some empty bins. The bit
of a fake is among them with probability m / d. With |y| counted in these positions, the ratio
becomes

    (|y| r + (m - |y|) / r) / d + 1 - m / d.

The statistic is that of ``counted_game``, with the mean distribution of the hiding messages in the
first m positions. If m = d and nobody else takes part, it is the log-likelihood ratio itself.
With fewer positions the attack is slightly weaker.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mixtally.lab.attacks.counted_game import CountedGame, flip_cost
from mixtally.lab.attacks.game import Setting
from mixtally.lab.attacks.senders import Bits
from mixtally.primitives.bits import Rows
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.tails import Floats

_WIDE, _NARROW = 64, 8
"""The number m of positions, and the number for batches of more than ``_MANY`` messages."""
_MANY = 200_000


@dataclass(frozen=True)
class UniformFlipsGame(CountedGame):
    """The game of one record, in bin 0 or bin 1, among people in one bin, and flipped fakes.

    Other people hold bin 2, or bin 1 if there are only two bins.
    """

    @cached_property
    def bins(self) -> int:
        """The number d of bins of a fake."""
        return self.senders.part.bins

    @cached_property
    def view(self) -> int:
        """The number m of positions that the attacker looks at."""
        return min(self.bins, _NARROW if self.senders.messages > _MANY else _WIDE)

    @cached_property
    def records(self) -> tuple[Bits, Bits, Bits]:
        """The bin of everyone else, and the first two bins."""
        x, u, v = (
            tuple(int(i == one) for i in range(self.view)) for one in (self._others_bin, 0, 1)
        )
        return x, u, v

    @property
    def setting(self) -> Setting:
        """The cost and the description of a run; ``_keys`` states the kinds of messages."""
        people, fakes = self.senders.people, self.senders.fakes
        return self._setting(
            flip_cost(self.view, 4.0 * people + 2.0 * fakes + 1.0) + 20.0 * fakes,
            8 * (self.view + 1),
            f"{self._others_text}, {fakes:,} flipped uniform fakes, {self.view} of "
            f"{self.bins:,} positions looked at",
        )

    @property
    def _others_bin(self) -> int:
        return min(2, self.bins - 1)

    def _keys(self, rows: Rows) -> np.ndarray:
        """Return the kind of every message: its first three bits and its number of set bits.

        The kind is one integer.
        """
        size = np.bitwise_count(rows).sum(axis=1, dtype=np.int64)
        return np.asarray((rows[:, 0] & 7).astype(np.int64) + 8 * size)

    @cached_property
    def _ratios(self) -> tuple[Floats, Floats]:
        """The log-likelihood ratios of records u and v for every kind of message."""
        q = self.senders.threshold / SCALE
        r = (1.0 - q) / q
        kind = np.arange(8 * (self.view + 1))
        size = kind // 8
        u, v, crowd = (
            np.where(kind >> place & 1, math.log(r), -math.log(r))
            for place in (0, 1, self._others_bin)
        )
        fake = (size * r + (self.view - size) / r) / self.bins + 1.0 - self.view / self.bins
        people, fakes = self.senders.people, self.senders.fakes
        hiding = (people * np.exp(crowd) + fakes * fake) / (people + fakes)
        return u - np.log(hiding), v - np.log(hiding)

    def _pmf(self, one: int | None) -> Floats:
        """Return the distribution over kinds of a flipped record whose bin is ``one``.

        If ``one`` is None, return the distribution of a flipped blank.
        """
        q, low = self.senders.threshold / SCALE, min(3, self.view)
        beyond = one is not None and one >= low
        rest = _binomial_pmf(self.view - low - beyond, q)
        if beyond:
            rest = np.convolve(rest, [q, 1.0 - q])
        pmf = np.zeros((self.view + 1, 8))
        for pattern in range(1 << low):
            bits = [pattern >> place & 1 for place in range(low)]
            agreeing = [bit == (place == one) for place, bit in enumerate(bits)]
            pmf[sum(bits) : sum(bits) + len(rest), pattern] = rest * math.prod(
                1.0 - q if same else q for same in agreeing
            )
        return pmf.ravel()

    @cached_property
    def _pmfs(self) -> tuple[Floats, Floats, Floats, Floats]:
        return self._pmf(self._others_bin), self._fake_pmf, self._pmf(0), self._pmf(1)

    @property
    def _fake_pmf(self) -> Floats:
        low = min(3, self.view)
        pmf = sum(self._pmf(place) for place in range(low)) / self.bins
        if self.view > low:
            pmf = pmf + (self.view - low) / self.bins * self._pmf(low)
        return np.asarray(pmf + (1.0 - self.view / self.bins) * self._pmf(None))


def _binomial_pmf(trials: int, q: float) -> Floats:
    """Return P[Bin(trials, q) = k] for every k."""
    pmf = np.ones(1)
    for _ in range(trials):
        pmf = np.convolve(pmf, [1.0 - q, q])
    return pmf
