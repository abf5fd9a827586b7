"""Memoized answers under attack: what is attacked, and what its reports look like.

A *recall* takes true bits and gives reports: it memoizes every row afresh and reports from that
several times. ``simple_recall`` builds one from the production flips alone; a device's own can be
put in its place.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlog1py, xlogy

from mixtally.accounting.divergence.memoized import Loss, loss
from mixtally.errors import in_range
from mixtally.model.mechanism.memoized import Memoized, make_memoized
from mixtally.primitives.bits import Rows
from mixtally.primitives.chance import Chance
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.flips import flip
from mixtally.primitives.tails import Floats

DEFAULT_BITS = 128
MOST_BITS = 100_000

Recall = Callable[[Rows, int, int, Chance], list[Rows]]
"""(true rows of packed bits, columns, reports, chance) -> one array of packed rows a report."""


@dataclass(frozen=True, slots=True)
class MemoizedTarget:
    """Memoized answers that are reported from; its losses are computed, not claimed.

    where
      reports   reports of one memoized answer that the attacker sees at one place

    Raises ParameterError for too few or too many bits, and as ``loss`` does.
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
        """The largest loss of so many reports of one memoized response."""
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
    permanent: float, p: float, q: float, hashes: int, reports: int, bits: int = DEFAULT_BITS
) -> MemoizedTarget:
    """The target with these parameters; raises ParameterError for those outside their ranges."""
    return MemoizedTarget(make_memoized(bits, permanent, p, q, hashes=hashes), reports)


def simple_recall(mechanism: Memoized) -> Recall:
    """Permanent: flipped with f / 2. Report: a memoized 1 becomes 1 with q, a 0 with p."""

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
    return flip(rows, columns, min(SCALE - 1, threshold), chance) if threshold else rows


def true_rows(mechanism: Memoized, people: int, first: int = 0) -> Rows:
    """Packed records that all set ``hashes`` bits from bit ``first`` on."""
    bits = np.zeros((1, mechanism.bins), dtype=np.uint8)
    bits[0, first : first + mechanism.hashes] = 1
    return np.tile(np.packbits(bits, axis=1, bitorder="little"), (people, 1))


def unpack_bits(rows: Rows, columns: int) -> Rows:
    """One byte a bit, shape (people, columns)."""
    return np.unpackbits(rows, axis=1, count=columns, bitorder="little")


def count_ones(reported: list[Rows], columns: int) -> NDArray[np.uint32]:
    """How many of the reports, up to 10^6, show each bit set, shape (people, columns)."""
    total = unpack_bits(reported[0], columns).astype(np.uint32)
    for rows in reported[1:]:
        total = total + unpack_bits(rows, columns)
    return total


def log_likelihood_memoized(mechanism: Memoized, reports: int) -> tuple[Floats, Floats]:
    """Log P(ones = 0..reports) of one bit that is memoized as 0, and as 1, but for log C(T, s)."""
    s = np.arange(reports + 1.0)
    zero, one = (
        np.asarray(xlogy(s, x) + xlog1py(reports - s, -x), dtype=np.float64)
        for x in mechanism.report_probabilities
    )
    return zero, one


def log_likelihood_true(mechanism: Memoized, true_bit: int, reports: int) -> Floats:
    """The same for a bit whose true value is known, and not what is memoized of it."""
    zero, one = log_likelihood_memoized(mechanism, reports)
    chance = memoized_one_probability(mechanism, true_bit)
    return np.logaddexp(_log(chance) + one, _log(1.0 - chance) + zero)


def _log(chance: float) -> float:
    return math.log(chance) if chance > 0.0 else -math.inf


def memoized_one_probability(mechanism: Memoized, true_bit: int) -> float:
    """P(a one is memoized) under a true bit."""
    half = mechanism.f / 2.0
    return 1.0 - half if true_bit else half
