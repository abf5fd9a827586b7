"""Memoized answers under attack: the target, and the likelihood of its reports.

The attacks ``averaging``, ``linking``, ``tracking`` and ``responses`` use this module. A *recall*
is a function from true bits to reports: it memoizes every row of bits anew, and then draws several
reports from the memoized row. ``simple_recall`` builds a recall from the production code for flips.
Tests replace it by the recall of a device.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlog1py, xlogy

from mixtally.accounting.divergence.memoized import Loss, loss
from mixtally.errors import in_range
from mixtally.model.mechanism.memoized import MOST_BITS, Memoized, make_memoized
from mixtally.primitives.bits import Rows
from mixtally.primitives.chance import Chance
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.flips import flip
from mixtally.primitives.tails import Floats

Recall = Callable[[Rows, int, int, Chance], list[Rows]]
"""A function (true rows of packed bits, columns, reports, chance) that returns one array of packed
rows for each report.
"""


@dataclass(frozen=True, slots=True)
class MemoizedTarget:
    """Memoized answers that are reported repeatedly; their losses are computed, not claimed.

    ``reports`` is the number of reports that the attacker sees at one place.

    Raises
    ------
    ParameterError
        If there are too few or too many bits, or if the privacy loss of the parameters cannot be
        computed.
    """

    mechanism: Memoized
    reports: int

    def __post_init__(self) -> None:
        self.loss(self.reports)
        least, bits = 2 * self.mechanism.hashes, self.mechanism.bins
        in_range(
            "bits", bits, least, MOST_BITS, "two values set twice as many bits as there are hashes"
        )

    def loss(self, reports: int) -> Loss:
        """Return the largest privacy loss after ``reports`` reports of one memoized response."""
        return loss(self.mechanism, reports)

    @property
    def title(self) -> str:
        """The target in words."""
        one, (p, q) = self.mechanism, self.mechanism.report_probabilities
        return (
            f"memoized answers with f = {one.f:g}, p = {p:g}, q = {q:g}, "
            f"{one.hashes} of {one.bins} bits set, {self.reports} reports"
        )


def memoized_target(
    permanent: float, p: float, q: float, hashes: int, reports: int, bits: int = 128
) -> MemoizedTarget:
    """Return the target with these parameters.

    Raises
    ------
    ParameterError
        If a parameter is outside its range.
    """
    return MemoizedTarget(make_memoized(bits, permanent, p, q, hashes=hashes), reports)


def simple_recall(mechanism: Memoized) -> Recall:
    """Return the recall of the mechanism: flips with probability f / 2, then noisy reports.

    A memoized 1 is reported as 1 with probability q, and a memoized 0 with probability p.
    """

    def recall(rows: Rows, columns: int, reports: int, chance: Chance) -> list[Rows]:
        response = _flip_rows(rows, columns, mechanism.permanent // 2, chance)
        blank = np.zeros_like(response)
        reported = []
        for _ in range(reports):
            zero = _flip_rows(blank, columns, mechanism.p, chance)
            one = _flip_rows(blank, columns, mechanism.q, chance)
            reported.append((response & one) | (~response & zero))
        return reported

    return recall


def _flip_rows(rows: Rows, columns: int, threshold: int, chance: Chance) -> Rows:
    # A probability of 1 is the threshold 2^64, which does not fit in 64 bits.
    return flip(rows, columns, min(SCALE - 1, threshold), chance) if threshold else rows


def true_rows(mechanism: Memoized, people: int, first: int = 0) -> Rows:
    """Return packed records that all set ``hashes`` bits from bit ``first`` on."""
    bits = np.zeros((1, mechanism.bins), dtype=np.uint8)
    bits[0, first : first + mechanism.hashes] = 1
    return np.tile(np.packbits(bits, axis=1, bitorder="little"), (people, 1))


def unpack_bits(rows: Rows, columns: int) -> Rows:
    """Return one byte for each bit, shape (people, columns)."""
    return np.unpackbits(rows, axis=1, count=columns, bitorder="little")


def count_ones(reported: list[Rows], columns: int) -> NDArray[np.uint32]:
    """Return how many of at most 10^6 reports set each bit, shape (people, columns)."""
    total = unpack_bits(reported[0], columns).astype(np.uint32)
    for rows in reported[1:]:
        total = total + unpack_bits(rows, columns)
    return total


def log_likelihood_memoized(mechanism: Memoized, reports: int) -> tuple[Floats, Floats]:
    """Return log P(s ones in T reports) for a bit memoized as 0, and for a bit memoized as 1.

    T = ``reports``, and both arrays have an entry for each s from 0 to T. The term log C(T, s) is
    left out, because it cancels in ratios.
    """
    s = np.arange(reports + 1.0)
    zero, one = (
        np.asarray(xlogy(s, x) + xlog1py(reports - s, -x), dtype=np.float64)
        for x in mechanism.report_probabilities
    )
    return zero, one


def log_likelihood_true(mechanism: Memoized, true_bit: int, reports: int) -> Floats:
    """Return log P(s ones in T reports) for one true bit; P is averaged over the memoized bit."""
    zero, one = log_likelihood_memoized(mechanism, reports)
    chance = memoized_one_probability(mechanism, true_bit)
    return np.logaddexp(_log(chance) + one, _log(1.0 - chance) + zero)


def _log(chance: float) -> float:
    return math.log(chance) if chance > 0.0 else -math.inf


def memoized_one_probability(mechanism: Memoized, true_bit: int) -> float:
    """Return the probability that a 1 is memoized if the true bit is ``true_bit``."""
    half = mechanism.f / 2.0
    return 1.0 - half if true_bit else half
