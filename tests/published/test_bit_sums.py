"""Notes 004 (4.8), (4.20), (4.36), (7.3), (7.4), against rational numbers and fifty digits."""

import math
from fractions import Fraction

import mpmath
import pytest

from helpers.exact_distributions import sums
from mixtally.errors import ParameterError
from mixtally.lab.formulas import bit_sums
from published.printed import as_printed

CROWDS = [(n, m, Fraction(1, 5)) for n in (1, 3, 8) for m in range(n + 1)]


def far():
    """Greatest relative distance of (4.8), (7.3) and (7.4) from the exact distributions."""
    worst = 0.0
    for n, m, q in CROWDS:
        pmf, flip = sums(m, n - m, q), float(q)
        zero, one = sums(m, n - m + 1, q), sums(m + 1, n - m, q)
        for s in range(n):
            before = pmf[s - 1] if s else Fraction(0)
            after = bit_sums.next_chance(float(pmf[s]), float(before), s, n, m, flip)
            step = float(pmf[s] / before) if s else math.inf
            following = bit_sums.next_step(step, s, n, m, flip)
            ratio = bit_sums.loss_ratio(float(pmf[s + 1] / pmf[s]), flip)
            worst = max(
                worst,
                abs(after / float(pmf[s + 1]) - 1.0),
                abs(following / float(pmf[s + 1] / pmf[s]) - 1.0),
                abs(ratio / float(zero[s + 1] / one[s + 1]) - 1.0),
            )
    return worst


def test_the_recurrences_and_the_ratio_are_those_of_the_distributions():
    assert far() < 1e-9


@pytest.mark.parametrize(
    ("epsilon", "delta", "printed"),
    [(1.0, 1e-6, "108.93"), (1.0, 1e-9, "160.8"), (2.0, 1e-6, "58.2")],
)
def test_the_flips_asked_among_zeros(epsilon, delta, printed):
    written = 3 * math.log(2 / delta) / (1 - math.exp(-epsilon)) ** 2
    assert as_printed(bit_sums.zeros_cover(epsilon, delta), printed)
    assert bit_sums.zeros_cover(epsilon, delta) == pytest.approx(written, rel=1e-12)
    assert bit_sums.zeros(epsilon, delta, 5000) == pytest.approx(written / 5000, rel=1e-12)


def test_the_tail_bound_is_the_formula_written_out():
    assert as_printed(bit_sums.tail_bound(3.0, 20.0), "1.8e-26")
    for reach, flips in ((0.1, 7.0), (1.0, 3.5), (3.0, 20.0)):
        with mpmath.workdps(50):
            true = 2 * mpmath.exp(-(mpmath.mpf(reach) ** 2) * mpmath.mpf(flips) / 3)
            assert abs(bit_sums.tail_bound(reach, flips) / true - 1) < 1e-12


def test_what_is_out_of_range_is_refused():
    with pytest.raises(ParameterError, match=r"^epsilon: "):
        bit_sums.zeros_cover(0.0, 1e-6)
    with pytest.raises(ParameterError, match=r"^users: "):
        bit_sums.zeros(1.0, 1e-6, 0)
    with pytest.raises(ParameterError, match=r"^flip probability: "):
        bit_sums.loss_ratio(1.0, 0.5)
    with pytest.raises(ParameterError, match=r"^flip probability: "):
        bit_sums.next_step(1.0, 0, 2, 1, 0.0)
