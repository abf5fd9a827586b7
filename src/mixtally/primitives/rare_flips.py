"""Rare coin flips by skipping: draw the gaps between ones, exactly, without a logarithm.

The number G of zeros before a one is geometric. Its digits in base 1024 are independent: digit i
is j with probability proportional to x^j, x = (1-q)^(1024^i), and what is above the last digit is
geometric again. Every digit is drawn by inversion: one 64-bit word against a table of boundaries.
The boundaries are real numbers known to 2^-250; a word that shares its 64 digits with one of them
(chance 1024 / 2^64) draws 192 more.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import AccountingError
from mixtally.primitives.bits import spans
from mixtally.primitives.chance import Chance, Words
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.lookup_table import LookupTable
from mixtally.primitives.memo import Memo

_BASE_BITS = 10
_BASE = 1 << _BASE_BITS
_WORK_BITS = 384
_KNOWN_BITS = 256
_EXTRA_BITS = _KNOWN_BITS - 64
_BOUNDARY_BYTES = 80
_GUIDE_BYTES = 36 << 10
_SPAN_WORDS = 1 << 13
"""Digits drawn together: small enough for the cache, large enough for the interpreter."""
_DOUBT = 1 << 6
"""Boundaries are within 2^6 of the exact values in units of 2^-256."""


@dataclass(frozen=True, slots=True, eq=False)
class DigitTable:
    """Boundaries b_0 < b_1 < ...: the digit is the number of boundaries at or below U.

    ``tops`` holds their first 64 binary digits, ``boundaries`` 256 digits as integers; ``guide``
    leads to the former. The last outcome of the top table means "1024 or more".
    """

    tops: Words
    boundaries: tuple[int, ...]
    guide: LookupTable

    def draw(self, chance: Chance, count: int) -> NDArray[np.int64]:
        """``count`` independent digits."""
        digits = np.empty(count, dtype=np.int64)
        for span in spans(count, _SPAN_WORDS):
            digits[span] = self._draw_span(chance, span.stop - span.start)
        return digits

    def _draw_span(self, chance: Chance, count: int) -> NDArray[np.int64]:
        words = chance.words(count)
        digits = self.guide.count_passed(words)
        # The word equals the top digits of the last boundary passed: it may lie below it yet.
        # A digit of 0 has passed none, and no word of it equals the first.
        (equal,) = (self.tops.take(digits - 1, mode="clip") == words).nonzero()
        for place in equal:
            digits[place] = self._resolve_digit(chance, int(words[place]))
        return digits

    def _resolve_digit(self, chance: Chance, word: int) -> int:
        """The digit of a word that needs more binary digits to be distinguished from a boundary."""
        value = word
        for extra in chance.words(_EXTRA_BITS // 64):
            value = value << 64 | int(extra)
        if any(abs(value - boundary) <= _DOUBT for boundary in self.boundaries):
            # Chance below 2^-170 a draw; an unsettled draw is never guessed.
            raise AccountingError("skipping: 256 digits did not settle a draw")
        return sum(boundary <= value for boundary in self.boundaries)


class GapTables(tuple[DigitTable, ...]):
    """The tables of the digits of a gap, lowest first; the last is the unbounded top."""

    __slots__ = ()

    @property
    def nbytes(self) -> int:
        """What its boundaries and guides take, nearly."""
        return sum(_GUIDE_BYTES + _BOUNDARY_BYTES * len(table.boundaries) for table in self)


def build_gap_tables(threshold: int) -> GapTables:
    """Those of flips with probability threshold / 2^64, a millisecond's work each."""
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
    """fail^exponent in fixed point, for an exponent that is a power of two."""
    while exponent > 1:
        fail = fail * fail >> _WORK_BITS
        exponent //= 2
    return fail


def _build_table(fail: int, *, bounded: bool) -> DigitTable:
    """Boundaries 1 - x^j, j = 1.., divided by 1 - x^1024 when the digit is bounded."""
    one = 1 << _WORK_BITS
    total = one - fail_power(fail, _BASE) if bounded else one
    power, boundaries = fail, []
    for _ in range(_BASE - 1 if bounded else _BASE):
        boundaries.append(((one - power) << _KNOWN_BITS) // total)
        power = power * fail >> _WORK_BITS
    tops = np.array([min(b >> _EXTRA_BITS, SCALE - 1) for b in boundaries], dtype=np.uint64)
    return DigitTable(tops, tuple(boundaries), LookupTable.from_boundaries(tops))


def draw_gaps(chance: Chance, tables: GapTables, count: int) -> NDArray[np.int64]:
    """``count`` independent numbers of zeros before a one."""
    *lower, top = tables
    total = top.draw(chance, count)
    waiting = np.flatnonzero(total == _BASE)
    while waiting.size:  # the top digit has no memory: past the table it starts again
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
    """Where the ones are among ``length`` coins that are one with probability threshold / 2^64.

    ``memo`` holds the tables from one call to the next.
    """
    tables: GapTables = (memo or Memo(0)).get(
        ("gaps", threshold), lambda: build_gap_tables(threshold)
    )
    found, reached = [], -1
    while reached < length:
        expected = (length - reached) * threshold / SCALE
        steps = draw_gaps(chance, tables, int(expected + 4.0 * expected**0.5) + 8) + 1
        positions = np.cumsum(steps, out=steps)
        positions += reached
        found.append(positions)
        reached = int(positions[-1])
    positions = found[0] if len(found) == 1 else np.concatenate(found)
    return positions[: np.searchsorted(positions, length)]
