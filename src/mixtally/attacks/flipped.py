"""Games with flipped records: the likelihood ratio of the whole multiset of messages.

Fakes are flipped blanks, other people flipped copies of one record x, and the person's record is u
or v. Only positions where x, u and v are not all zero matter: the rest of every message is
independent noise with the same distribution in both worlds, so a run draws those positions alone,
by the production code, which flips positions independently.

With b the mean distribution of the hiding messages the likelihood ratios are w_u(y) = P[R(u) = y] /
b(y). If all hiding messages have one distribution the statistic is the log-likelihood ratio itself
(Sufficient Differential Privacy 2017, (3.1)), so no test is better at its level; beside fakes *and*
a crowd b is a mean, and the statistic nearly that (for one bit exactly as good: it grows with the
number of ones, as the likelihood ratio does).
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mixtally.attacks.counted import CountedGame
from mixtally.attacks.device import Device
from mixtally.ground.bits import Rows, row_bytes
from mixtally.ground.chance import Chance
from mixtally.ground.fixed import SCALE
from mixtally.ground.tails import Floats
from mixtally.records.mechanism import BitFlips
from mixtally.records.mechanism.named import flip_blank

Bits = tuple[int, ...]


@dataclass(frozen=True)
class FlippedGame(CountedGame):
    """Every record sent once, or several times, all of it shuffled together.

    where
      x, u, v   the records of everybody else and of the person, in the positions that matter
      people    others who hold x
      fakes     flipped blanks
      times     how often every person sends their record, each time with fresh noise
    """

    threshold: int
    x: Bits
    u: Bits
    v: Bits
    people: int
    fakes: int
    times: int = 1

    @property
    def kinds(self) -> int:
        """Kinds of messages that are distinguished, more where ways are counted."""
        pmfs = (self.people > 0) + (self.fakes > 0)
        return max(1, pmfs) * len(self._ratios[0]) * self.times**2

    @property
    def cost(self) -> float:
        """Nanoseconds of a run, roughly: a person's message takes longer to write than a blank."""
        width = row_bytes(len(self.x))
        each = 15.0 if width == 1 else 60.0 * width
        combinations = 2_000.0 * self.times**2 if self.times > 1 else 0.0
        return each * (self.times * (4.0 * self.people + 1.0) + 0.6 * self.fakes) + combinations

    @property
    def stage(self) -> str:
        """Who sends what, in words."""
        others = f"{self.people:,} others who all hold the same" if self.people else "nobody else"
        again = f", every record sent {self.times} times" if self.times > 1 else ""
        return (
            f"{others}{again}, {self.fakes:,} flipped blanks, {len(self.x)} positions that matter"
        )

    def alone(self, runs: int, chance: Chance, device: Device) -> tuple[Floats, Floats] | None:
        """The statistics of many runs at once, where no other message hides the person's."""
        if self.people or self.fakes:
            return None
        ratio = self._ratios[0] - self._ratios[1]
        both = []
        for record in (self.u, self.v):
            rows = self._sent(record, runs * self.times, chance, device)
            both.append(ratio[self._keys(rows)].reshape(runs, self.times).sum(axis=1))
        return both[0], both[1]

    def _sent(self, record: Bits, count: int, chance: Chance, device: Device) -> Rows:
        """``count`` people's messages; one-hot records go the way of a device's reports."""
        if sum(record) == 1 and len(record) > 1:
            codes = np.full(count, record.index(1), dtype=np.int64)
            return device.reports(self._mechanism, codes, chance)
        rows = np.tile(np.packbits(np.array(record, dtype=np.uint8), bitorder="little"), (count, 1))
        return device.flip(rows, len(record), self.threshold, chance)

    def _own(self, world: int, chance: Chance, device: Device) -> Rows:
        return self._sent((self.u, self.v)[world], self.times, chance, device)

    def _others(self, count: int, chance: Chance, device: Device) -> Rows:
        return self._sent(self.x, count, chance, device)

    def _fakes(self, count: int, chance: Chance, device: Device) -> Rows:
        if len(self.x) > 1:
            return device.fakes(self._mechanism, count, chance)
        return device.flip(np.zeros((count, 1), dtype=np.uint8), 1, self.threshold, chance)

    @cached_property
    def _mechanism(self) -> BitFlips:
        return flip_blank(bins=len(self.x), fakes=self.fakes, threshold=self.threshold)

    @cached_property
    def _groups(self) -> list[tuple[tuple[int, int, int], list[int]]]:
        """Positions by what x, u and v hold there."""
        held = list(zip(self.x, self.u, self.v, strict=True))
        return [(key, [i for i, h in enumerate(held) if h == key]) for key in sorted(set(held))]

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
        """The kind of every message: how many bits are set in each group, in mixed radix."""
        keys, radix = np.zeros(len(rows), dtype=np.int64), 1
        for (_, places), mask in zip(self._groups, self._masks, strict=True):
            keys += radix * np.bitwise_count(rows & mask).sum(axis=1, dtype=np.int64)
            radix *= len(places) + 1
        return keys

    def _counts(self, rows: Rows) -> Floats:
        kinds = len(self._ratios[0])
        if len(self.x) <= 8:
            seen = np.bincount(rows.ravel(), minlength=256)
            counts = np.bincount(self._key_of_byte, weights=seen, minlength=kinds)
            return counts.astype(np.float64)
        return np.bincount(self._keys(rows), minlength=kinds).astype(np.float64)

    @cached_property
    def _ratios(self) -> tuple[Floats, Floats]:
        """Log of w_u and w_v for every kind of message."""
        others, fakes = self.people, self.fakes
        total = max(1, others + fakes)
        u, v, x, blank = (self._log_pmf(z) for z in (self.u, self.v, self.x, (0,) * len(self.x)))
        parts = [
            np.log(share / total) + pmf for share, pmf in ((others, x), (fakes, blank)) if share
        ]
        mean = np.logaddexp.reduce(parts) if parts else np.zeros(len(u))
        return u - mean, v - mean

    def _log_pmf(self, record: Bits) -> Floats:
        """Log P[R(record) = y] of one message of each kind."""
        flip, keep = math.log(self.threshold / SCALE), math.log1p(-self.threshold / SCALE)
        pmf = np.zeros(1)
        for _, places in self._groups:
            size, one = len(places), record[places[0]]
            risen = np.arange(size + 1)
            agreeing = risen if one else size - risen
            pmf = (pmf[None, :] + (agreeing * keep + (size - agreeing) * flip)[:, None]).ravel()
        return pmf

    @property
    def _pmfs(self) -> tuple[Floats, Floats, Floats, Floats]:
        x, blank, u, v = (self._pmf(z) for z in (self.x, (0,) * len(self.x), self.u, self.v))
        return x, blank, u, v

    def _pmf(self, record: Bits) -> Floats:
        """P[R(record) is of each kind]."""
        combinations = np.ones(1)
        for _, places in self._groups:
            size = len(places)
            choices = [[float(math.comb(size, t))] for t in range(size + 1)]
            combinations = (combinations[None, :] * choices).ravel()
        return np.asarray(combinations * np.exp(self._log_pmf(record)))
