"""The divergence of a remembered answer below its largest loss, and the response that suffices.

Of T reports of one bit only the number of ones counts: under a true one it is Bin(T, q) with
probability 1 - F and Bin(T, p) with F = f/2, under a true zero the other way round, and the ratio
of the two laws rises. Two values differ in h bits set and h cleared, all independent: a product of
h pairs of bits, one set and one cleared. One pair is exact and loses eps_T / h at most; more are
composed from above. (A bit by itself loses more one way than the other unless p + q = 1.)

Source: as ``memory``; ``losses`` and ``convolve`` for more than one hash.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from mixtally.ground import tails
from mixtally.ground.tails import Floats
from mixtally.privacy.composition.convolve import Sum
from mixtally.privacy.composition.pld import FINE, law_of
from mixtally.privacy.numerics.binomial_pairs import Pair, Steps, exchange_divergence, steps
from mixtally.privacy.numerics.bracket import Bracket
from mixtally.privacy.numerics.memory_loss import MemoryLoss, memory_loss
from mixtally.protocols.two_level import count_variance

SOURCE = "RAPPOR (2014), section 3.1, theorems 1 and 2; exact law of the reports of one memory"
ASSUMPTION = (
    "none on mixes or other people; the value and its memory last for all reports, and nothing "
    "else is reported from it"
)
_HALVINGS = 100
_LEAST_PERMANENT = 2.0**-40
_LEAST_CHANCE = 1e-60
_GRAIN = 2048.0
"""Few reports have few losses, far apart: the lattice must meet sums of the largest closely."""


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
    ends = _two_bits(steps(_pair(kept)), epsilon)
    if kept.hashes == 1:
        return ends
    return Bracket(ends.lower, max(ends.lower, _composed(kept).delta(epsilon)))


def _two_bits(bit: Steps, epsilon: float) -> Bracket:
    """The divergence of one bit set and one cleared; it is the same in both directions."""
    return exchange_divergence(bit, bit, math.exp(epsilon))


@lru_cache(maxsize=64)
def _composed(kept: Memory) -> Sum:
    bit, reach = steps(_pair(kept)), loss(kept).eps_T / kept.hashes
    tightness = FINE._replace(grain=max(FINE.grain, _GRAIN / kept.hashes))
    law = law_of(lambda epsilon: _two_bits(bit, epsilon).upper, reach, tightness)
    return Sum([(law, kept.hashes)])


def _pair(kept: Memory) -> Pair:
    """How many of the reports show a one, under a true one and a true zero."""
    half = kept.permanent / 2.0
    ones, zeros = _counts(kept.reports, kept.p, kept.q)
    one, zero = (1.0 - half) * ones + half * zeros, half * ones + (1.0 - half) * zeros
    return Pair(one, zero, (kept.reports + 1) * _LEAST_CHANCE)


@lru_cache(maxsize=16)
def _counts(reports: int, p: float, q: float) -> tuple[Floats, Floats]:
    """Chances of the numbers of ones under a kept one and a kept zero, where either matters."""
    ones, zeros = binomial(reports, q), binomial(reports, p)
    alive = np.maximum(ones, zeros) > _LEAST_CHANCE
    return ones[alive], zeros[alive]


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
