"""Games with flipped records: the likelihood ratio of the multiset of all messages.

Fakes are flipped blanks, other people send flipped copies of one record x, and the person's record
is u or v. Only positions where x, u and v are not all zero matter. The rest of every message is
independent noise with the same distribution in both worlds. The production code flips positions
independently, so a run draws only the positions that matter.

Let R be the randomizer and b the mean distribution of the hiding messages (``counted_game``). The
likelihood ratios are w_u(y) = P[R(u) = y] / b(y), and w_v(y) in the same way. If all hiding
messages have the same distribution, the statistic is the log-likelihood ratio of the two worlds
itself (Sufficient Differential Privacy 2017, (3.1)), so no test has more power at its level. With
fakes *and* a crowd, b is a mixture, and the statistic is only close to the log-likelihood ratio.
For one bit it is exactly as good, because both grow with the number of ones.
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


@dataclass(frozen=True)
class FlippedGame(CountedGame):
    """A game in which every record is sent once or several times, and all messages are shuffled.

    ``x`` is the record of everyone else. ``u`` and ``v`` are the person's records. All three have
    only the positions that matter.
    """

    x: Bits
    u: Bits
    v: Bits

    @property
    def records(self) -> tuple[Bits, Bits, Bits]:
        """The record of everyone else, and the person's two records."""
        return self.x, self.u, self.v

    @property
    def setting(self) -> Setting:
        """The cost and the description of a run.

        A message of a person costs more time than a blank. With several messages per record, each
        kind of message costs more, because ``log_sum`` sums over combinations.
        """
        width, times = len(self.x), self.senders.times
        people, fakes = self.senders.people, self.senders.fakes
        messages = times * (4.0 * people + 1.0) + 0.6 * fakes
        combinations = 2_000.0 * times**2 if times > 1 else 0.0
        again = f", every record sent {times} times" if times > 1 else ""
        return self._setting(
            flip_cost(width, messages) + combinations,
            max(1, (people > 0) + (fakes > 0)) * len(self._ratios[0]) * times**2,
            f"{self._others_text}{again}, {fakes:,} flipped blanks, {width} positions that matter",
        )

    @cached_property
    def _groups(self) -> list[tuple[tuple[int, int, int], list[int]]]:
        """Pairs of the bits (x, u, v) at a position, and all positions that have these bits."""
        triples = list(zip(self.x, self.u, self.v, strict=True))
        return [
            (key, [i for i, h in enumerate(triples) if h == key]) for key in sorted(set(triples))
        ]

    @cached_property
    def _masks(self) -> list[Rows]:
        flags = np.zeros((len(self._groups), len(self.x)), dtype=np.uint8)
        for row, (_, places) in enumerate(self._groups):
            flags[row, places] = 1
        return list(np.packbits(flags, axis=1, bitorder="little"))

    @cached_property
    def _key_of_byte(self) -> np.ndarray:
        every = np.arange(256, dtype=np.uint8)[:, None]
        return self._keys(every & np.uint8((1 << len(self.x)) - 1))

    def _keys(self, rows: Rows) -> np.ndarray:
        """Return the kind of every message: an integer whose digits count set bits by group."""
        keys, radix = np.zeros(len(rows), dtype=np.int64), 1
        for (_, places), mask in zip(self._groups, self._masks, strict=True):
            keys += radix * np.bitwise_count(rows & mask).sum(axis=1, dtype=np.int64)
            radix *= len(places) + 1
        return keys

    def _counts(self, rows: Rows) -> Floats:
        # With at most eight positions a message is one byte, so the kinds of all 256 bytes are
        # computed once.
        if len(self.x) > 8:
            return super()._counts(rows)
        seen = np.bincount(rows.ravel(), minlength=256)
        counts = np.bincount(self._key_of_byte, weights=seen, minlength=len(self._ratios[0]))
        return counts.astype(np.float64)

    @cached_property
    def _ratios(self) -> tuple[Floats, Floats]:
        """The logarithms of the ratios w_u and w_v for every kind of message."""
        others, fakes = self.senders.people, self.senders.fakes
        total = max(1, others + fakes)
        u, v, x, blank = (self._log_pmf(z) for z in (self.u, self.v, self.x, (0,) * len(self.x)))
        parts = [
            np.log(share / total) + pmf for share, pmf in ((others, x), (fakes, blank)) if share
        ]
        mean = np.logaddexp.reduce(parts) if parts else np.zeros(len(u))
        return u - mean, v - mean

    def _log_pmf(self, record: Bits) -> Floats:
        """Return log P[R(record) = y] for every kind, where y is one message of this kind."""
        q = self.senders.threshold / SCALE
        flip, keep = math.log(q), math.log1p(-q)
        pmf = np.zeros(1)
        for _, places in self._groups:
            size, one = len(places), record[places[0]]
            risen = np.arange(size + 1)
            agreeing = risen if one else size - risen
            pmf = (pmf[None, :] + (agreeing * keep + (size - agreeing) * flip)[:, None]).ravel()
        return pmf

    @cached_property
    def _pmfs(self) -> tuple[Floats, Floats, Floats, Floats]:
        x, blank, u, v = (self._pmf(z) for z in (self.x, (0,) * len(self.x), self.u, self.v))
        return x, blank, u, v

    def _pmf(self, record: Bits) -> Floats:
        """Return the probability that the message of ``record`` is of each kind."""
        combinations = np.ones(1)
        for _, places in self._groups:
            size = len(places)
            choices = [[float(math.comb(size, t))] for t in range(size + 1)]
            combinations = (combinations[None, :] * choices).ravel()
        return np.asarray(combinations * np.exp(self._log_pmf(record)))
