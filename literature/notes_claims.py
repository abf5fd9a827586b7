"""Findings of Notes 004 on propositions and equations, by counterexample and enumeration."""

import math
from itertools import pairwise

import numpy as np

from literature.finding import Finding, claim
from literature.small import sum_pmf
from mixtally.accounting.divergence import flip_blank, single_bit
from mixtally.lab.formulas import notes
from mixtally.primitives.fixed_point import threshold_of
from mixtally.primitives.tails import Floats

DOCUMENT = "004"
EPSILON, DELTA = 1.0, 1e-6
_FLOOR = 1e-250


def propositions() -> list[Finding]:
    """Return the findings on propositions 2.3, 3.1 and 4.1."""
    return [*_indistinguishable(), *_more_records(), *_nothing_but_zeros()]


def slips() -> list[Finding]:
    """Return the findings on misprinted equations, from the numbers that they give."""
    users, flip = 1000, 0.03
    exact = single_bit.delta(users, 0, threshold_of(flip), EPSILON, 0)
    wrong = notes.tail_as_printed(EPSILON, users - 1, flip)
    right = notes.tail(EPSILON, users - 1, flip)
    many = 10**6
    q = notes.single_bit(EPSILON, DELTA, many)
    printed = notes.single_bit_error_as_printed(EPSILON, DELTA, q)
    meant = math.sqrt(many * q * (1.0 - q)) / (1.0 - 2.0 * q)
    return [
        claim(DOCUMENT, "(4.10), (4.14)", "the left side is delta: ratio to the exact distribution",
              abs(wrong / exact.upper - 1.0) < 1e-3, wrong / exact.upper,
              f"n = 1,000, q = 0.03: {wrong:.3g} against {exact.upper:.3g}; the factor must be "
              "p (1 + e^epsilon) - 1"),
        claim(DOCUMENT, "(4.13)", "the left side is delta: ratio to the exact distribution",
              abs(right / exact.upper - 1.0) < 1e-3, right / exact.upper, f"{right:.4g}"),
        claim(DOCUMENT, "(4.62)", "the deviation equals that of (4.61): ratio",
              abs(printed / meant - 1.0) < 1e-3, printed / meant,
              f"{printed:.4g} against {meant:.4g} counts: the root was lost"),
    ]  # fmt: skip


def estimate() -> list[Finding]:
    """Return the findings on (5.20) and (5.21), by enumeration of one bin of a small collection."""
    votes, users, fakes, bins, q = 7, 20, 12, 4, 0.2
    held = np.ones(1)
    for _ in range(fakes):
        held = np.convolve(held, [1 - 1 / bins, 1 / bins])
    pmf = np.zeros(users + fakes + 1)
    for r, chance in enumerate(held):
        seen = np.ones(1)
        for i in range(users + fakes):
            one = 1 - q if i < votes + r else q
            seen = np.convolve(seen, [1 - one, one])
        pmf += chance * seen
    s = np.arange(users + fakes + 1)
    found = (s - (users + fakes) * q) / (1 - 2 * q) - fakes / bins
    mean = float(pmf @ found)
    spread = float(pmf @ (found - mean) ** 2)
    flips = (users + fakes) * q * (1 - q) / (1 - 2 * q) ** 2
    stated = flips + fakes / bins * (1 - 1 / bins)
    return [
        claim(DOCUMENT, "(5.20)", "the estimate is unbiased: distance", abs(mean - votes) < 1e-9,
              abs(mean - votes), "20 people, 12 fakes, 4 bins, enumerated", "counts"),
        claim(DOCUMENT, "(5.21)", "its variance is the one that is said: ratio",
              abs(spread / stated - 1) < 1e-9, spread / stated),
    ]  # fmt: skip


def _indistinguishable() -> list[Finding]:
    """Return the findings on propositions 2.1 and 2.3, for two outcomes."""
    first, second, grow = (0.55, 0.45), (0.10, 0.90), 5.0
    pairs = (*zip(first, second, strict=True), *zip(second, first, strict=True))
    delta = max(
        sum(max(0.0, a - grow * b) for a, b in pairs[:2]),
        sum(max(0.0, a - grow * b) for a, b in pairs[2:]),
    )
    tail = max(
        sum(a for a, b in pairs[:2] if a > grow * b), sum(a for a, b in pairs[2:] if a > grow * b)
    )
    return [
        claim(DOCUMENT, "proposition 2.3", "private is indistinguishable: eta / delta <= 1",
              tail <= delta * (1 + 1e-9), tail / delta,
              f"P = {first}, Q = {second}, e^epsilon = 5: delta {delta:.2g}, eta {tail:.2g}"),
        claim(DOCUMENT, "proposition 2.1", "indistinguishable is private: delta / eta <= 1",
              delta <= tail, delta / tail, "the direction that is true, same two distributions"),
    ]  # fmt: skip


def _more_records() -> list[Finding]:
    worse = cases = 0
    for q in (0.02, 0.1, 0.3):
        for epsilon in (0.3, 1.0, 2.0):
            deltas = [flip_blank.delta(k, threshold_of(q), epsilon) for k in range(40)]
            worse += sum(b.lower > a.upper for a, b in pairwise(deltas))
            cases += len(deltas) - 1
    return [
        claim(
            DOCUMENT,
            "proposition 3.1",
            "one more record never hurts: violations",
            worse == 0,
            float(worse),
            f"{cases} cases: flipped blanks, 0 to 39 of them, exact distribution",
        ),
    ]


def _nothing_but_zeros() -> list[Finding]:
    """Return the findings on proposition 4.1, in the range of the appendix and as printed."""
    strict = printed = [0, 0]
    for n in (12, 25, 60, 120):
        for q in (0.05, 0.1, 0.2, 0.3, 0.4):
            spread = n * q * (1 - q)
            tables = [_steps(m, n - m, q) for m in range(n + 1)]
            strict = _count_violations(strict, tables, n, q, math.sqrt(spread) + 1.0 + 1e-9)
            printed = _count_violations(printed, tables, n, q, spread)
    return [
        claim(DOCUMENT, "proposition 4.1", "zeros bound every crowd from l > sqrt(npq) + 1: "
              "violations", strict[0] == 0, float(strict[0]),
              f"{strict[1]:,} cases by enumeration; proposition 7.1 of the appendix"),
        claim(DOCUMENT, "proposition 4.1", "zeros bound every crowd from l >= npq, as printed: "
              "violations", printed[0] == 0, float(printed[0]),
              f"only {printed[1]:,} cases: so far from the mean the use made of it needs the "
              "other reading"),
    ]  # fmt: skip


def _steps(ones: int, zeros: int, q: float) -> Floats:
    """Return P(s) / P(s - 1) for s = 1..n; NaN if the probabilities are too small."""
    pmf = sum_pmf(ones, zeros, q)
    before = np.where(pmf[:-1] > _FLOOR, pmf[:-1], np.nan)
    return np.asarray(pmf[1:] / before)


def _count_violations(
    so_far: list[int], tables: list[Floats], n: int, q: float, least: float
) -> list[int]:
    """Return violations and cases of rho(mu_m - l | m) <= rho(mu_0 - (l + 2) | 0).

    The cases have l >= ``least``.
    """
    found = list(so_far)
    distance = least
    while math.ceil(n * q - distance - 2.0) >= 1:
        bound = tables[0][math.ceil(n * q - distance - 2.0) - 1]
        for m in range(1, n + 1):
            s = math.ceil(n * q + m * (1 - 2 * q) - distance)
            if 1 <= s <= n and math.isfinite(tables[m][s - 1]):
                found[0] += int(tables[m][s - 1] > bound * (1 + 1e-9))
                found[1] += 1
        distance += 0.5
    return found
