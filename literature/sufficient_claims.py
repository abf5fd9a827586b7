"""Findings of Sufficient DP 000 on histograms of vectors, by complete enumeration."""

import math
from collections import defaultdict

from literature.finding import Finding, claim
from literature.small import Bags, bag_distribution, by_set_bits, divergence, set_bits
from mixtally.lab.formulas import sufficient

DOCUMENT = "000"
CASES = ((1, 6, 0.1), (2, 4, 0.3), (3, 3, 0.2))
"""Bits, people and flip probability of the enumerated collections."""
_GROW = math.exp(0.5)
_DIGITS = 9
_NEAR = 1e-9


def by_enumeration() -> list[Finding]:
    """Return the findings on (2.4), the second claim of section 1.2, (3.4) and its conclusions."""
    return [*_homogeneous(), *_same_distribution(), *_set_bits()]


def _outlier(crowd: int, bits: int, users: int, flip: float) -> tuple[Bags, Bags]:
    """Return the distributions of ``users`` equal vectors, and with one of them inverted."""
    opposite = crowd ^ ((1 << bits) - 1)
    rest = [crowd] * (users - 1)
    return bag_distribution([*rest, crowd], bits, flip), bag_distribution(
        [*rest, opposite], bits, flip
    )


def _homogeneous() -> list[Finding]:
    far, cases, empty = 0.0, 0, 0
    for bits, users, flip in CASES:
        for crowd in range(1 << bits):
            rest = [crowd] * (users - 1)
            below = bag_distribution([*rest, 0], bits, flip)
            above = bag_distribution([*rest, (1 << bits) - 1], bits, flip)
            for bag, chance in above.items():
                stated = sufficient.homogeneous_ratio(bag, crowd, bits, flip)
                far = max(far, abs(stated * below[bag] / chance - 1.0))
                cases, empty = cases + 1, empty + (not bag[0])
    return [
        claim(
            DOCUMENT,
            "(2.4)",
            "the ratio among others who are all equal: greatest relative "
            "distance from the two distributions",
            far < _NEAR,
            far,
            f"{cases:,} histograms enumerated, any vector held by the others; also in the "
            f"{empty:,} without v_1, where (2.2) divides by zero",
        ),
    ]


def _ratios(crowd: int, bits: int, users: int, flip: float) -> dict[float, float]:
    """Return the distribution of log R(S), with S drawn with the outlier."""
    before, after = _outlier(crowd, bits, users, flip)
    pmf: defaultdict[float, float] = defaultdict(float)
    for bag, chance in after.items():
        pmf[round(math.log(chance / before[bag]), _DIGITS) + 0.0] += chance
    return dict(pmf)


def _same_distribution() -> list[Finding]:
    far, crowds = 0.0, 0
    for bits, users, flip in CASES:
        zeros = _ratios(0, bits, users, flip)
        for crowd in range(1, 1 << bits):
            other = _ratios(crowd, bits, users, flip)
            every = zeros.keys() | other.keys()
            far = max(far, *(abs(zeros.get(x, 0.0) - other.get(x, 0.0)) for x in every))
            crowds += 1
    return [
        claim(
            DOCUMENT,
            "section 1.2, claim 2",
            "R(S) has one law whatever vector all the others "
            "hold: greatest distance between chances",
            far < _NEAR,
            far,
            f"{crowds} vectors against zeros, the outlier opposite to all others, enumerated",
        ),
    ]


def _set_bits() -> list[Finding]:
    far = lost = 0.0
    for bits, users, flip in CASES:
        before, after = _outlier(0, bits, users, flip)
        for bag, chance in after.items():
            stated = sufficient.ratio_by_set_bits(set_bits(bag), flip)
            far = max(far, abs(stated * before[bag] / chance - 1.0))
        whole = divergence(before, after, _GROW)
        lost = max(lost, abs(whole - divergence(by_set_bits(before), by_set_bits(after), _GROW)))
    bits, users, flip = 2, 4, 0.2
    first, second = (bag_distribution([v, *[0] * (users - 1)], bits, flip) for v in (0b01, 0b10))
    whole = divergence(first, second, _GROW)
    numbers = divergence(by_set_bits(first), by_set_bits(second), _GROW)
    return [
        claim(DOCUMENT, "(3.4)", "the ratio from the numbers of set bits: greatest relative "
              "distance from the two distributions", far < _NEAR, far,
              "every histogram of three crowds"),
        claim(DOCUMENT, "below (3.4)", "whole vectors tell no more of an outlier than their "
              "numbers of set bits: delta lost", lost < _NEAR, lost, "epsilon = 0.5"),
        claim(DOCUMENT, "below (3.4)", "whole vectors tell no more of other contents than their "
              "numbers of set bits: delta lost", whole - numbers < _NEAR, whole - numbers,
              "10 against 01 among three zeros, q = 0.2, epsilon = 0.5: delta "
              f"{whole:.3g} whole, {numbers:.3g} from the numbers"),
    ]  # fmt: skip
