"""The divergence of a remembered answer below its largest loss, and the response that suffices.

Of T reports of one bit only the number of ones counts: under a true one it is Bin(T, q) with
probability 1 - F and Bin(T, p) with F = f/2, under a true zero the other way round, and the ratio
of the two laws rises. Two values differ in h bits set and h cleared, all independent: a product of
2h pairs, exact for h = 1 and composed from above for more.

Source: as ``memory``; ``losses`` and ``convolve`` for more than one hash.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from mixtally.ground import tails
from mixtally.ground.tails import Floats
from mixtally.privacy.composition.convolve import Sum
from mixtally.privacy.composition.pld import law_of
from mixtally.privacy.numerics.binomial_pairs import Pair, divergence, product_divergence
from mixtally.privacy.numerics.bracket import Bracket, larger
from mixtally.privacy.numerics.memory_loss import MemoryLoss, memory_loss
from mixtally.protocols.two_level import count_variance

SOURCE = "RAPPOR (2014), section 3.1, theorems 1 and 2; exact law of the reports of one memory"
ASSUMPTION = (
    "none on mixes or other people; the value and its memory last for all reports, and nothing "
    "else is reported from it"
)
_HALVINGS = 100
_LEAST_PERMANENT = 2.0**-40


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Parameters and ranges as ``memory.eps_reports`` has them."""

    permanent: float
    p: float
    q: float
    hashes: int
    reports: int


def loss(kept: Memory) -> MemoryLoss:
    """The largest losses; raises ParameterError for parameters outside their ranges."""
    return memory_loss(kept.permanent, kept.p, kept.q, kept.hashes, kept.reports)


def delta(kept: Memory, epsilon: float) -> Bracket:
    """delta(epsilon) for an observer who knows which reports are whose; 0 from eps_T on."""
    if epsilon >= loss(kept).eps_T:
        return Bracket(0.0, 0.0)
    pair, grow = _pair(kept), math.exp(epsilon)
    if kept.hashes == 1:
        return product_divergence(pair, pair.swapped(), grow)
    lower = product_divergence(pair, pair.swapped(), grow).lower
    return Bracket(lower, max(lower, _composed(kept).delta(epsilon)))


@lru_cache(maxsize=64)
def _composed(kept: Memory) -> Sum:
    pair = _pair(kept)

    def curve(epsilon: float) -> float:
        grow = math.exp(epsilon)
        return larger(divergence(pair, grow), divergence(pair.swapped(), grow)).upper

    return Sum([(law_of(curve, loss(kept).eps_T / (2 * kept.hashes)), 2 * kept.hashes)])


@lru_cache(maxsize=64)
def _pair(kept: Memory) -> Pair:
    """How many of the reports show a one, under a true one and a true zero."""
    half, count = kept.permanent / 2.0, kept.reports
    ones, zeros = binomial(count, kept.q), binomial(count, kept.p)
    one, zero = (1.0 - half) * ones + half * zeros, half * ones + (1.0 - half) * zeros
    alive = np.flatnonzero((one > 0.0) & (zero > 0.0))
    span = slice(alive[0], alive[-1] + 1)
    # The two laws vanish together, where a probability is below the smallest number there is.
    return Pair(one[span], zero[span], 1e-290)


def binomial(trials: int, chance: float) -> Floats:
    """P(Bin(trials, chance) = k) for k = 0..trials, where chance may be 0 or 1."""
    if 0.0 < chance < 1.0:
        return tails.pmf(trials, chance, 0, trials)
    law = np.zeros(trials + 1)
    law[trials if chance >= 1.0 else 0] = 1.0
    return law


def least_permanent(kept: Memory, epsilon: float, most: float) -> float:
    """The least permanent response with delta(epsilon) <= ``most``, upwards: a coin always does."""

    def meets(permanent: float) -> bool:
        return delta(replace(kept, permanent=permanent), epsilon).upper <= most

    low, high = _LEAST_PERMANENT, 1.0
    if meets(low):
        return low
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        if not low < middle < high:
            break
        low, high = (low, middle) if meets(middle) else (middle, high)
        if high - low <= 1e-12 * high:
            break
    return high


def standard_error(kept: Memory, users: int = 1) -> float:
    """Standard error of the debiased count of a bit that nobody of ``users`` holds.

    Every person counts with the mean of their reports: what is remembered stays, what is drawn for
    each report averages out. Source: RAPPOR (2014), section 4, for the means of the reports.
    """
    return math.sqrt(
        count_variance(kept.permanent, kept.p, kept.q, kept.reports, 0.0, float(users))
    )
