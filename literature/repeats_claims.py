"""Findings of K-Randomization 003 on anonymity and on the section on repeats, by enumeration."""

import math
from itertools import combinations_with_replacement, product

from literature.finding import Finding, claim
from literature.small import sum_pmf
from mixtally.accounting.divergence import single_bit, vectors
from mixtally.lab.formulas import repeats
from mixtally.lab.formulas.sufficient import transition_probability
from mixtally.primitives.fixed_point import threshold_of
from mixtally.primitives.tails import Floats

DOCUMENT = "003"
_NEAR = 1e-9
_TIMES = ((2, 10, 0.1), (3, 8, 0.25), (5, 6, 0.4))
"""Repeats, people and flip probability of the enumerated collections."""


def anonymity() -> list[Finding]:
    """Return the findings on sections 2 and 3: the chance that a vector is sent, and A_p."""
    held, bits, flip = {0b01: 1, 0b11: 2}, 2, 0.3
    people = [vector for vector, count in held.items() for _ in range(count)]
    found = [0.0] * (1 << bits)
    for sent in product(range(1 << bits), repeat=len(people)):
        chance = math.prod(
            transition_probability(v, seen, bits, flip)
            for v, seen in zip(people, sent, strict=True)
        )
        for seen in set(sent):
            found[seen] += chance
    far = max(
        abs(repeats.seen_chance(held, seen, bits, flip) / chance - 1.0)
        for seen, chance in enumerate(found)
    )
    return [
        claim(
            DOCUMENT,
            "section 2",
            "the chance that a vector is among what is sent: greatest relative distance",
            far < _NEAR,
            far,
            "three vectors of two bits, enumerated",
        ),
        *_least_cover(),
    ]


def _least_cover() -> list[Finding]:
    """Return the findings on A_p: above 1 with a large delta, and below 1 with a tiny one."""
    users, flip, epsilon = 1000, 0.009, math.log(2.0)
    bit = repeats.anonymity({1: users}, 1, flip)
    lost = single_bit.delta(users, 0, threshold_of(flip), epsilon, 0).lower
    many, bits, often = 10**6, 10, 0.2
    long = repeats.anonymity({0: many - 1, (1 << bits) - 1: 1}, bits, often)
    kept = vectors.homogeneous_delta(many, bits, threshold_of(often), 2.0).upper
    place = "section 3"
    return [
        Finding(DOCUMENT, place, "anonymity A_p of 1,000 ones, q = 0.009", None, bit, "",
                f"above 1, yet delta(ln 2) is {lost:.3g} there: the document claims nothing of it"),
        Finding(DOCUMENT, place, "anonymity A_p of ten ones among 999,999 times ten zeros, q = 0.2",
                None, long, "", f"below 1, yet delta(2) is {kept:.3g}: it measures no privacy"),
    ]  # fmt: skip


def choices() -> list[Finding]:
    """Return the findings on (5.9) and (5.10), against counting and the two distributions."""
    far = far_ratio = 0.0
    cases = 0
    for times, users, q in _TIMES:
        total = times * users
        full = sum_pmf(total, 0, q)
        changed = _with_one_zero(times, users, q)
        for seen in range(total + 1):
            stated = repeats.repeated_ratio(seen, users, q, times)
            far_ratio = max(far_ratio, abs(stated * full[seen] / changed[seen] - 1.0))
            for lies in range(times + 1):
                true = 0.0
                if lies <= seen:
                    true = math.comb(total - times, seen - lies) / math.comb(total, seen)
                far = max(far, abs(repeats.choices(lies, seen, users, times) - true))
                cases += 1
    return [
        claim(DOCUMENT, "(5.10)", "the ratio of two numbers of choices as a product: greatest "
              "distance", far < _NEAR, far, f"{cases:,} cases against counting"),
        claim(DOCUMENT, "(5.9)",
              "R_s in closed form: greatest relative distance from the two distributions",
              far_ratio < _NEAR, far_ratio, "three collections, every s"),
    ]  # fmt: skip


def _with_one_zero(times: int, users: int, q: float) -> Floats:
    return sum_pmf(times * (users - 1), times, q)


def growth() -> list[Finding]:
    """Return the findings on (5.5): the ratio grows, but its coefficients are not products."""
    falls = ties = cases = 0
    for times, users, q in _TIMES:
        tables = [sum_pmf(times * m, times * (users - m), q) for m in range(users + 1)]
        for before, here, after in zip(tables, tables[1:], tables[2:], strict=False):
            square, across = here**2, before * after
            falls += int((square < across * (1 - 1e-12)).sum())
            ties += int((abs(square / across - 1.0) < 1e-12).sum())
            cases += len(here)
    times, users, q, m, s = 2, 4, 0.2, 2, 4
    once = [sum_pmf(ones, users - ones, q) for ones in (m, m + 1)]
    often = [sum_pmf(times * ones, times * (users - ones), q) for ones in (m, m + 1)]
    true = often[0][s] / often[1][s]
    stated = [
        math.prod(once[0][i] / once[1][i] for i in group)
        for group in combinations_with_replacement(range(users + 1), times)
        if sum(group) == s
    ]
    nearest = min(stated, key=lambda value: abs(math.log(value / true)))
    return [
        claim(DOCUMENT, "(5.5)", "R_s grows with the number of ones: violations", falls == 0,
              float(falls), f"{cases} cases by enumeration; in {ties} of them, s = 0 and s = kN, "
              "it stays the same, so > must be >="),
        claim(DOCUMENT, "(5.5)", "b_j of m over b_j of m + 1 is a product of such ratios of a_i: "
              "nearest product / ratio", abs(nearest / true - 1.0) < _NEAR, nearest / true,
              f"k = {times}, N = {users}, q = {q}, m = {m}, j = {s}: b_j is a sum of such products "
              "over all i that add up to j, which the proof leaves out"),
    ]  # fmt: skip
