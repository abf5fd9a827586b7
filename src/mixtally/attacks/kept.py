"""A two-level memory for the attacks on repeated reports: the least that can be attacked.

A *recall* takes true bits and gives reports: it makes a fresh memory for every row and reports
from it several times. ``simple_recall`` builds one from the production flips alone; a device's own
memory can be put in its place.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mixtally.attacks.target import Remembered
from mixtally.ground.bits import Rows
from mixtally.ground.chance import Chance
from mixtally.ground.fixed import SCALE
from mixtally.ground.tails import Floats
from mixtally.randomize.flips import flip

Recall = Callable[[Rows, int, int, Chance], list[Rows]]
"""(true rows of packed bits, columns, reports, chance) -> one array of packed rows a report."""


def simple_recall(memory: Remembered) -> Recall:
    """Permanent: flipped with f / 2. Report: a kept 1 shows as 1 with q, a kept 0 with p."""

    def recall(rows: Rows, columns: int, reports: int, chance: Chance) -> list[Rows]:
        kept = _flipped(rows, columns, memory.permanent / 2.0, chance)
        blank = np.zeros_like(kept)
        shown = []
        for _ in range(reports):
            zero = _flipped(blank, columns, memory.p, chance)
            one = _flipped(blank, columns, memory.q, chance)
            shown.append((kept & one) | (~kept & zero))
        return shown

    return recall


def _flipped(rows: Rows, columns: int, probability: float, chance: Chance) -> Rows:
    threshold = min(SCALE - 1, round(probability * SCALE))
    return flip(rows, columns, threshold, chance) if threshold else rows


def true_rows(memory: Remembered, people: int, first: int = 0) -> Rows:
    """Packed records that all set ``hashes`` bits from bit ``first`` on."""
    bits = np.zeros((1, memory.bits), dtype=np.uint8)
    bits[0, first : first + memory.hashes] = 1
    return np.tile(np.packbits(bits, axis=1, bitorder="little"), (people, 1))


def unpacked(rows: Rows, columns: int) -> Rows:
    """One byte a bit, shape (people, columns)."""
    return np.unpackbits(rows, axis=1, count=columns, bitorder="little")


def ones_of(shown: list[Rows], columns: int) -> NDArray[np.uint32]:
    """How many of the reports, up to 10^6, show each bit set, shape (people, columns)."""
    total = unpacked(shown[0], columns).astype(np.uint32)
    for rows in shown[1:]:
        total = total + unpacked(rows, columns)
    return total


def shown_law(memory: Remembered, reports: int) -> tuple[Floats, Floats]:
    """Log P(ones = 0..reports) of one bit whose memory holds 0, and 1, but for log C(T, s)."""
    from scipy.special import xlog1py, xlogy

    s = np.arange(reports + 1.0)
    zero, one = (
        np.asarray(xlogy(s, x) + xlog1py(reports - s, -x), dtype=np.float64)
        for x in (memory.p, memory.q)
    )
    return zero, one


def seen_law(memory: Remembered, true_bit: int, reports: int) -> Floats:
    """The same for a bit whose truth is known, and not what the memory holds."""
    zero, one = shown_law(memory, reports)
    kept = kept_one(memory, true_bit)
    return np.logaddexp(_log(kept) + one, _log(1.0 - kept) + zero)


def _log(chance: float) -> float:
    return math.log(chance) if chance > 0.0 else -math.inf


def kept_one(memory: Remembered, true_bit: int) -> float:
    """P(the memory holds a one) under a true bit."""
    half = memory.permanent / 2.0
    return 1.0 - half if true_bit else half
