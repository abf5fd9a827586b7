"""Findings of Notes 004 on the tail bounds (4.20), (4.46), (4.47) and on (8.2) to (8.6)."""

import math

import numpy as np
from scipy import stats

from literature.finding import Finding, claim
from literature.notes_bits import DOCUMENT, BitCrowd, crowd, crowds
from literature.small import FlippedBits
from mixtally.lab.formulas import bit_sums
from mixtally.primitives.tails import Floats

USERS, EXPECTED, REACH = 10**6, 20.0, 3.0
_SAME = 1e-12


def bounds() -> list[Finding]:
    """Return the findings on where the tail bounds hold and where they fail."""
    chance, bound = tail(REACH), bit_sums.tail_bound(REACH, EXPECTED)
    wrong, own_cases = _within(own_mean=True)
    wrong_zero, zero_cases = _within(own_mean=False)
    place = "(4.20), (4.46)"
    return [
        claim(DOCUMENT, place, "the tail is bounded for every t, n q = 20, t = 3: "
              "probability / bound", chance <= bound, chance / bound,
              f"probability {chance:.2g}, bound {bound:.2g}; n = 1,000,000 zeros. It is used at "
              "t < 1 only, so (4.36) and (4.48) do not rest on it"),
        claim(DOCUMENT, place, "the tail is bounded for t <= 1: violations", wrong == 0,
              float(wrong), f"{own_cases:,} cases, every crowd enumerated: the range that section "
              "5.1 names and section 4 leaves out"),
        Finding(DOCUMENT, place, "least t that breaks it, n q = 20", None, least_reach()),
        claim(DOCUMENT, "(4.47)", "the tail in units of n q is bounded for t <= 1: violations",
              wrong_zero == 0, float(wrong_zero), f"{zero_cases:,} cases; it does not follow from "
              "(4.46), which speaks of longer distances, but from Bernstein's inequality"),
    ]  # fmt: skip


def tail(reach: float) -> float:
    """Return P(|s - 20| > 20 ``reach``) for the sum of a million zeros with 20 expected flips."""
    flip, away = EXPECTED / USERS, EXPECTED * reach
    above = stats.binom.sf(math.floor(EXPECTED + away), USERS, flip)
    below = stats.binom.cdf(math.ceil(EXPECTED - away) - 1, USERS, flip)
    return float(above + below)


def least_reach() -> float:
    """Return the least t for which the bound is below the tail."""
    for away in range(1, USERS):  # The tail is constant for (away - 1) / 20 <= t < away / 20.
        chance = tail((away - 0.5) / EXPECTED)
        from_here = math.sqrt(3.0 / EXPECTED * math.log(2.0 / chance))
        if from_here < away / EXPECTED:
            return max(from_here, (away - 1) / EXPECTED)
    return math.inf


def _within(*, own_mean: bool) -> tuple[int, int]:
    """Return violations and cases for t <= 1, with t in units of the crowd's mean or of n q.

    The tail changes only where t reaches another sum, so only values just below are tested.
    """
    wrong = cases = 0
    for one in crowds():
        flips = one.bits * one.flip
        mean = flips + one.ones * (1.0 - 2.0 * one.flip)
        away = np.abs(np.arange(one.bits + 1) - mean)
        for distance in away:
            reach = distance / (mean if own_mean else flips)
            if reach <= 1.0:
                chance = one.pmf[away >= distance * (1 - _SAME)].sum()
                wrong += bool(chance > bit_sums.tail_bound(reach, flips) * (1 + _SAME))
                cases += 1
    return wrong, cases


def one_more_bit() -> list[Finding]:
    """Return the findings on (8.2), (8.3), (8.6) by enumeration, and (8.4), (8.5) by an example."""
    outside = less = cases = 0
    for one in crowds():
        ratio = one.ratio()
        for set_bit in (0, 1):
            more = crowd(one.bits + 1, one.ones + set_bit, one.flipped)
            between = more.ratio()[1:-1]
            outside += int((between > ratio[:-1] * (1 + _SAME)).sum())
            outside += int((between < ratio[1:] * (1 - _SAME)).sum())
            sums, fewer = np.cumsum(_with_a_zero(more)), np.cumsum(_with_a_zero(one))
            less += int((sums[:-1] > fewer * (1 + _SAME)).sum())
            cases += len(between)
    private, edges = _edges()
    return [
        claim(DOCUMENT, "(8.2), (8.3)", "R of n + 1 bits lies between neighboring R of n bits: "
              "violations", outside == 0, float(outside), f"{cases:,} cases, a zero or a one more"),
        claim(DOCUMENT, "(8.4), (8.5)", "private means tails up to the limits of at most delta: "
              "tails / delta <= 1", edges <= private, edges / private,
              f"999 zeros and the bit, q = 0.03, epsilon = 1: delta {private:.3g}, both tails "
              f"{edges:.3g}, whatever limits are taken"),
        claim(DOCUMENT, "(8.6)", "one more bit never makes small sums likelier: violations",
              less == 0, float(less), "the same crowds"),
    ]  # fmt: skip


def _with_a_zero(one: BitCrowd) -> Floats:
    return one.flipped.sum_pmf(one.ones, one.bits - one.ones + 1)


def _edges() -> tuple[float, float]:
    """Return the delta of a zero against a one, and the least alpha + beta of (8.4), (8.5)."""
    epsilon, one = 1.0, crowd(999, 0, FlippedBits(0.03))
    grow = math.exp(epsilon)
    first, second = _with_a_zero(one), one.flipped.sum_pmf(1, 999)
    private = max(
        np.maximum(0.0, first - grow * second).sum(), np.maximum(0.0, second - grow * first).sum()
    )
    below = np.flatnonzero(first <= grow * second)[0]
    above = np.flatnonzero(second <= grow * first)[-1]
    return float(private), float(first[: below + 1].sum() + first[above:].sum())
