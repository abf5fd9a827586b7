"""Games with flipped records: the likelihood ratio of the whole multiset of messages.

Fakes are flipped blanks, other people flipped copies of one record x, and the person's record is u
or v. Only positions where x, u and v are not all zero matter: the rest of every message is
independent noise with the same law in both worlds, so a run draws those positions alone, by the
production code, which flips positions independently.

With b the mean law of the hiding messages and w_u(y) = P[R(u) = y] / b(y), the statistic is
log of X_u / X_v, X_u the sum of w_u over all messages, or over all k-subsets of their product where
a record is sent k times. If all hiding messages have one law it is the log-likelihood ratio itself
(Sufficient Differential Privacy 2017, (3.1)), so no test is better at its level; beside fakes *and*
a crowd b is a mean, and the statistic nearly that (for one bit exactly as good: it grows with the
number of ones, as the likelihood ratio does).
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mixtally.ground.bits import Rows, row_bytes, spans
from mixtally.ground.chance import Chance
from mixtally.ground.fixed import SCALE
from mixtally.ground.tails import Floats
from mixtally.lab.attack.device import Device
from mixtally.lab.attack.likelihood import log_sum
from mixtally.lab.attack.multinomial import multinomials
from mixtally.protocols.flip_blank import FlipBlank

_SPAN_MESSAGES = 1 << 20
_SHUFFLED = 1 << 13
"""Larger batches are not shuffled: the statistic knows no order."""

Bits = tuple[int, ...]


@dataclass(frozen=True)
class FlippedGame:
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
    def messages(self) -> int:
        """Messages of one run."""
        return self.times * (self.people + 1) + self.fakes

    @property
    def kinds(self) -> int:
        """Kinds of messages that are told from each other, more where ways are counted."""
        laws = (self.people > 0) + (self.fakes > 0)
        return max(1, laws) * len(self._ratios[0]) * self.times**2

    @property
    def cost(self) -> float:
        """Nanoseconds of a run, roughly: a person's message takes longer to write than a blank."""
        width = row_bytes(len(self.x))
        each = 15.0 if width == 1 else 60.0 * width
        ways = 2_000.0 * self.times**2 if self.times > 1 else 0.0
        return each * (self.times * (2.0 * self.people + 1.0) + 0.3 * self.fakes) + ways

    @property
    def played(self) -> str:
        """What a run is, in words."""
        order = "shuffled" if self.messages <= _SHUFFLED else "not shuffled: order tells nothing"
        return f"{self.stage}; {order}"

    @property
    def stage(self) -> str:
        """Who sends what, in words."""
        others = f"{self.people:,} others who all hold the same" if self.people else "nobody else"
        again = f", every record sent {self.times} times" if self.times > 1 else ""
        return (
            f"{others}{again}, {self.fakes:,} flipped blanks, {len(self.x)} positions that matter"
        )

    def draw(self, chance: Chance, device: Device) -> tuple[float, float]:
        """The statistic in world u and in world v, both over the same hiding messages."""
        own = [self._sent(record, self.times, chance, device) for record in (self.u, self.v)]
        if self.messages <= _SHUFFLED:
            hiding = np.concatenate([
                self._sent(self.x, self.times * self.people, chance, device),
                self._blanks(self.fakes, chance, device),
            ])  # fmt: skip
            batches = (device.shuffle(np.concatenate([hiding, one]), chance) for one in own)
            counts = [self._counts(batch) for batch in batches]
        else:
            hiding_counts = np.zeros(len(self._ratios[0]))
            for span in spans(self.times * self.people, _SPAN_MESSAGES):
                rows = self._sent(self.x, span.stop - span.start, chance, device)
                hiding_counts += self._counts(rows)
            for span in spans(self.fakes, _SPAN_MESSAGES):
                rows = self._blanks(span.stop - span.start, chance, device)
                hiding_counts += self._counts(rows)
            counts = [hiding_counts + self._counts(one) for one in own]
        in_u, in_v = self._statistics(np.array(counts))
        return float(in_u), float(in_v)

    def drawn(self, runs: int, chance: Chance) -> tuple[Floats, Floats] | None:
        """The statistics of many runs, their counts drawn from their law, not by any device."""
        if not self.people and not self.fakes:
            return None
        x, u, v, blank = (self._law(z) for z in (self.x, self.u, self.v, (0,) * len(self.x)))
        hiding = multinomials(chance, self.times * self.people, x, runs)
        hiding += multinomials(chance, self.fakes, blank, runs)
        own = (multinomials(chance, self.times, law, runs) for law in (u, v))
        found = [self._statistics((hiding + one).astype(np.float64)) for one in own]
        return found[0], found[1]

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
            return device.reports(self._protocol, codes, chance)
        rows = np.tile(np.packbits(np.array(record, dtype=np.uint8), bitorder="little"), (count, 1))
        return device.flip(rows, len(record), self.threshold, chance)

    def _blanks(self, count: int, chance: Chance, device: Device) -> Rows:
        if len(self.x) > 1:
            return device.fakes(self._protocol, count, chance)
        return device.flip(np.zeros((count, 1), dtype=np.uint8), 1, self.threshold, chance)

    @cached_property
    def _protocol(self) -> FlipBlank:
        return FlipBlank(bins=len(self.x), fakes=self.fakes, threshold=self.threshold)

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
        """How many messages of each kind there are."""
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
        u, v, x, blank = (self._log_law(z) for z in (self.u, self.v, self.x, (0,) * len(self.x)))
        parts = [
            np.log(share / total) + law for share, law in ((others, x), (fakes, blank)) if share
        ]
        mean = np.logaddexp.reduce(parts) if parts else np.zeros(len(u))
        return u - mean, v - mean

    def _log_law(self, record: Bits) -> Floats:
        """Log P[R(record) = y] of one message of each kind."""
        flip, keep = math.log(self.threshold / SCALE), math.log1p(-self.threshold / SCALE)
        law = np.zeros(1)
        for _, places in self._groups:
            size, one = len(places), record[places[0]]
            risen = np.arange(size + 1)
            kept = risen if one else size - risen
            law = (law[None, :] + (kept * keep + (size - kept) * flip)[:, None]).ravel()
        return law

    def _law(self, record: Bits) -> Floats:
        """P[R(record) is of each kind]."""
        ways = np.ones(1)
        for _, places in self._groups:
            size = len(places)
            ways = (ways[None, :] * [[float(math.comb(size, t))] for t in range(size + 1)]).ravel()
        return np.asarray(ways * np.exp(self._log_law(record)))

    def _statistic(self, counts: Floats) -> float:
        return float(self._statistics(counts[None, :])[0])

    def _statistics(self, counts: Floats) -> Floats:
        """Log of X_u / X_v of every run, ``counts`` of shape (runs, kinds)."""
        u, v = (log_sum(ratio, counts, self.times) for ratio in self._ratios)
        return np.asarray(u - v)
