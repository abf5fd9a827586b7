"""Rare coin flips, drawn as the gaps between ones, exactly and without a logarithm.

Each coin is one with probability q. The number G of zeros before the next one is geometric: P(G >=
k) = (1 - q)^k. Write G in base 1024. Its digits are independent, because a geometric variable has
no memory. Digit i equals j with probability proportional to x^j, where x = (1 - q)^(1024^i). The
number formed by the digits above the last table is geometric again.

Each digit is drawn by inversion: a uniform 64-bit word is compared with a table of boundaries. A
boundary is a real number, known to 2^-250. If a word equals the first 64 binary digits of a
boundary (probability below 1024 / 2^64), 192 more digits are drawn, so the result stays exact.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import AccountingError
from mixtally.primitives.bits import spans
from mixtally.primitives.chance import Chance, Words
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.memo import Memo

_BASE_BITS = 10
_BASE = 1 << _BASE_BITS
_WORK_BITS = 384
_KNOWN_BITS = 256
_EXTRA_BITS = _KNOWN_BITS - 64
_BOUNDARY_BYTES = 80
_GUIDE_BYTES = 36 << 10
# Digits drawn at once: few enough for the cache, many enough to outweigh the interpreter's
# overhead.
_SPAN_WORDS = 1 << 13
_DOUBT = 1 << 6
"""Bound on the error of a boundary, in units of 2^-256."""
_BUCKET_BITS = 12
_BUCKET_SHIFT = np.uint64(64 - _BUCKET_BITS)
_LARGEST = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


@dataclass(frozen=True, slots=True, eq=False)
class LookupTable:
    """A lookup table that replaces binary search among sorted 64-bit boundaries.

    The bucket of a word is the number in its top twelve bits. A bucket rarely contains more than
    one boundary. Among a thousand boundaries, a lookup takes an eighth of the time of
    ``np.searchsorted``.

    Attributes
    ----------
    boundaries : array of uint64
        The boundaries, ascending, followed by the largest word as a sentinel.
    boundaries_below : array of int, shape (4096,)
        The number of boundaries in lower buckets.
    crowded : array of bool, shape (4096,)
        The buckets that need a binary search: those with several boundaries, and the last bucket,
        because its largest word equals the sentinel.
    """

    boundaries: Words
    boundaries_below: NDArray[np.int64]
    crowded: NDArray[np.bool_]

    @classmethod
    def from_boundaries(cls, boundaries: Words) -> Self:
        """Build the table for ascending ``boundaries``, shape (boundaries,)."""
        within = np.bincount(_buckets(boundaries), minlength=1 << _BUCKET_BITS)
        crowded = within > 1
        crowded[-1] = True
        padded = np.append(boundaries, _LARGEST)
        return cls(padded, np.cumsum(within) - within, crowded)

    def count_passed(self, words: Words) -> NDArray[np.int64]:
        """Return the number of boundaries at or below each word, as ``searchsorted`` does."""
        buckets = _buckets(words)
        # All buckets are in range, and "clip" is the fastest mode.
        passed = self.boundaries_below.take(buckets, mode="clip")
        passed += self.boundaries.take(passed, mode="clip") <= words
        (unresolved,) = self.crowded.take(buckets, mode="clip").nonzero()
        passed[unresolved] = np.searchsorted(self.boundaries[:-1], words[unresolved], side="right")
        return passed


def _buckets(words: Words) -> NDArray[np.intp]:
    return (words >> _BUCKET_SHIFT).astype(np.intp)


@dataclass(frozen=True, slots=True, eq=False)
class DigitTable:
    """The distribution of one digit, which is the number of boundaries at or below a uniform U.

    ``tops`` has the first 64 binary digits of each boundary and ``boundaries`` the first 256, as
    integers. ``guide`` is a lookup table for ``tops``. The last outcome of the top table means
    "1024 or more".
    """

    tops: Words
    boundaries: tuple[int, ...]
    guide: LookupTable

    def draw(self, chance: Chance, count: int) -> NDArray[np.int64]:
        """Draw ``count`` independent digits."""
        digits = np.empty(count, dtype=np.int64)
        for span in spans(count, _SPAN_WORDS):
            digits[span] = self._draw_span(chance, span.stop - span.start)
        return digits

    def _draw_span(self, chance: Chance, count: int) -> NDArray[np.int64]:
        words = chance.words(count)
        digits = self.guide.count_passed(words)
        # A word that equals the first 64 digits of a boundary may still be below the boundary.
        # Digit 0 gives index -1, clipped to 0: its word is below the first boundary, so not equal.
        (equal,) = (self.tops.take(digits - 1, mode="clip") == words).nonzero()
        for place in equal:
            digits[place] = self._resolve_digit(chance, int(words[place]))
        return digits

    def _resolve_digit(self, chance: Chance, word: int) -> int:
        """Draw more bits for a word that equals the top of a boundary, and return its digit."""
        value = word
        for extra in chance.words(_EXTRA_BITS // 64):
            value = value << 64 | int(extra)
        if any(abs(value - boundary) <= _DOUBT for boundary in self.boundaries):
            # This happens with probability below 2^-170 per draw. Guessing would bias the draw.
            raise AccountingError("skipping: 256 binary digits did not decide a draw")
        return sum(boundary <= value for boundary in self.boundaries)


class GapTables(tuple[DigitTable, ...]):
    """A table for each digit of a gap, lowest digit first; only the last digit is unbounded."""

    __slots__ = ()

    @property
    def nbytes(self) -> int:
        """Approximate memory of the tables in bytes."""
        return sum(_GUIDE_BYTES + _BOUNDARY_BYTES * len(table.boundaries) for table in self)


def build_gap_tables(threshold: int) -> GapTables:
    """Compute the tables of gaps between coins that are one with probability threshold / 2^64.

    Each table takes about a millisecond.
    """
    one = 1 << _WORK_BITS
    fail = ((SCALE - threshold) << _WORK_BITS) // SCALE
    tables = []
    while True:
        top = fail_power(fail, _BASE) < one // _BASE  # the next digit would nearly always be 0
        tables.append(_build_table(fail, bounded=not top))
        if top:
            return GapTables(tables)
        fail = fail_power(fail, _BASE)


def fail_power(fail: int, exponent: int) -> int:
    """Return fail^exponent in fixed point, for an exponent that is a power of two."""
    while exponent > 1:
        fail = fail * fail >> _WORK_BITS
        exponent //= 2
    return fail


def _build_table(fail: int, *, bounded: bool) -> DigitTable:
    """Return the table with the boundaries 1 - x^j for j = 1, 2, .., where x is ``fail``.

    ``fail`` and the boundaries are fixed-point integers. A bounded digit is less than 1024, so its
    boundaries are divided by 1 - x^1024.
    """
    one = 1 << _WORK_BITS
    total = one - fail_power(fail, _BASE) if bounded else one
    power, boundaries = fail, []
    for _ in range(_BASE - 1 if bounded else _BASE):
        boundaries.append(((one - power) << _KNOWN_BITS) // total)
        power = power * fail >> _WORK_BITS
    tops = np.array([min(b >> _EXTRA_BITS, SCALE - 1) for b in boundaries], dtype=np.uint64)
    return DigitTable(tops, tuple(boundaries), LookupTable.from_boundaries(tops))


def draw_gaps(chance: Chance, tables: GapTables, count: int) -> NDArray[np.int64]:
    """Draw ``count`` independent gaps, each the number of zeros before the next one."""
    *lower, top = tables
    total = top.draw(chance, count)
    waiting = np.flatnonzero(total == _BASE)
    # The top digit has no memory, so a draw beyond the table starts again and is added.
    while waiting.size:
        digits = top.draw(chance, waiting.size)
        total[waiting] += digits
        waiting = waiting[digits == _BASE]
    for table in reversed(lower):
        total <<= _BASE_BITS
        total += table.draw(chance, count)
    return total


def draw_coin_positions(
    chance: Chance, threshold: int, length: int, memo: Memo | None = None
) -> NDArray[np.int64]:
    """Return the positions of ones among independent coins, ascending.

    Parameters
    ----------
    chance : Chance
        The source of random words.
    threshold : int
        The probability of a one times 2^64.
    length : int
        The number of coins.
    memo : Memo, optional
        A cache of the tables of gaps, for repeated calls.
    """
    tables = (memo or Memo(0)).get(("gaps", threshold), lambda: build_gap_tables(threshold))
    found, reached = [], -1
    while reached < length:
        # Four standard deviations above the mean, so that a second round is hardly ever needed.
        expected = (length - reached) * threshold / SCALE
        steps = draw_gaps(chance, tables, int(expected + 4.0 * expected**0.5) + 8) + 1
        positions = np.cumsum(steps, out=steps)
        positions += reached
        found.append(positions)
        reached = int(positions[-1])
    positions = found[0] if len(found) == 1 else np.concatenate(found)
    return positions[: np.searchsorted(positions, length)]
