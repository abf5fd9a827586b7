"""Notes 004: lemmas, symmetries, tail bounds in rational numbers or fifty digits; planted bugs."""

import math
from fractions import Fraction
from itertools import pairwise, product

import mpmath
import pytest

from helpers.exact_distributions import delta, sums
from literature import notes_bits
from literature.finding import rounds_to
from literature.tests.enumerated import everything, only
from mixtally.lab.formulas import bit_sums


def bit_ratio(n, m, q):
    """R(s) of n bits with m ones, exactly."""
    zero, one = sums(m, n - m + 1, q), sums(m + 1, n - m, q)
    return [a / b for a, b in zip(zero, one, strict=True)]


def test_symmetries_and_monotony_exactly():
    """Corollaries 4.3 and 4.4, lemma 4.1, (8.2), (8.3) and (8.6) in rational numbers."""
    for n, q in product((1, 2, 5), (Fraction(1, 20), Fraction(2, 5))):
        for m in range(n + 1):
            pmf, ratio = sums(m, n - m, q), bit_ratio(n, m, q)
            assert pmf[::-1] == sums(n - m, m, q)
            back = bit_ratio(n, n - m, q)
            assert all(ratio[s] * back[n + 1 - s] == 1 for s in range(n + 2))
            assert all(b < a for a, b in pairwise(ratio))
            assert (ratio[0], ratio[-1]) == ((1 - q) / q, q / (1 - q))
            for more in (0, 1):
                next_ratio, next_distribution = (
                    bit_ratio(n + 1, m + more, q),
                    sums(m + more, n + 1 - m - more, q),
                )
                assert all(ratio[s - 1] >= next_ratio[s] >= ratio[s] for s in range(1, n + 2))
                assert all(
                    sum(next_distribution[: s + 1]) <= sum(pmf[: s + 1]) for s in range(n + 1)
                )


def test_numbers_of_slips_exactly():
    ratio = bit_ratio(20, 6, Fraction(1, 5))
    assert only(everything(), "004", "lemma 4.1", "s = n").computed == pytest.approx(
        float(ratio[-1] / ratio[-2]), rel=1e-12
    )
    zero, one = sums(0, 100, Fraction(3, 10)), sums(1, 99, Fraction(3, 10))
    grow = Fraction(math.exp(0.3))
    sided = max(
        sum(a for a, b in zip(zero, one, strict=True) if a > grow * b),
        sum(b for a, b in zip(zero, one, strict=True) if b > grow * a),
    )
    either = max(
        sum(p for p, a, b in zip(pmf, zero, one, strict=True) if a > grow * b or b > grow * a)
        for pmf in (zero, one)
    )
    assert only(everything(), "004", "below (2.4), (4.3)").computed == pytest.approx(
        float(either / sided), rel=1e-9
    )
    assert 1 < either / sided < 1 + 1 / grow


def among_zeros(n, q):
    """The distributions of the sum of n flipped zeros, and of n - 1 with a flipped one."""
    zero = [mpmath.binomial(n, s) * q**s * (1 - q) ** (n - s) for s in range(n + 1)]
    rest = [mpmath.binomial(n - 1, s) * q**s * (1 - q) ** (n - 1 - s) for s in range(n)] + [0]
    one = [q * rest[s] + (1 - q) * (rest[s - 1] if s else 0) for s in range(n + 1)]
    return dict(enumerate(zero)), dict(enumerate(one))


def test_tails_of_private_bits():
    """(8.4), (8.5) in fifty digits: for all limits, the tails exceed delta."""
    with mpmath.workdps(50):
        grow = mpmath.e
        zero, one = among_zeros(1000, mpmath.mpf("0.03"))
        private = delta(zero, one, grow)
        low = [s for s in range(1001) if zero[s] <= grow * one[s]]
        high = [s for s in range(1001) if one[s] <= grow * zero[s]]
        least = min(mpmath.fsum(zero[i] for i in range(s + 1)) for s in low[:3])
        least += min(mpmath.fsum(zero[i] for i in range(s, 1001)) for s in high[-3:])
    one = only(everything(), "004", "(8.4), (8.5)")
    assert one.computed == pytest.approx(float(least / private), rel=1e-9)
    assert one.computed > 38


def exact_tail(users, flips, above):
    """P(Bin(users, flips / users) > above), fifty digits."""
    with mpmath.workdps(50):
        q = mpmath.mpf(flips) / users
        point = (
            mpmath.binomial(users, above + 1) * q ** (above + 1) * (1 - q) ** (users - above - 1)
        )
        total = mpmath.mpf(0)
        for s in range(above + 1, above + 400):
            total += point
            point *= mpmath.mpf(users - s) / (s + 1) * q / (1 - q)
        return total


def test_the_tail_bound_is_broken():
    """(4.20) and (4.46) at n q = 20, t = 3: 1.1e-24 where 1.8e-26 is said to bound it."""
    one = only(everything(), "004", "(4.20), (4.46)", "every t")
    true, bound = exact_tail(10**6, 20, 80), 2 * mpmath.exp(-60)
    assert rounds_to((float(true),) * 2, "1.1e-24")
    assert rounds_to((float(bound),) * 2, "1.8e-26")
    assert one.computed == pytest.approx(float(true / bound), rel=1e-9)
    assert "1.1e-24" in one.note
    assert "1.8e-26" in one.note


def test_from_where_the_tail_bound_is_broken():
    """The bound fails just above the least t, and holds for every sum nearer to the mean."""
    least = only(everything(), "004", "(4.20), (4.46)", "least t").computed
    above = math.floor(20 * (1 + least + 1e-6))
    assert exact_tail(10**6, 20, above) > 2 * mpmath.exp(-((least + 1e-6) ** 2) * 20 / 3)
    for s in range(41, above + 1):  # below 41 the lower tail counts too, and t <= 1
        reach = (s - 20) / 20 if s < above + 1 else least
        assert exact_tail(10**6, 20, s - 1) <= 2 * mpmath.exp(-(min(reach, least) ** 2) * 20 / 3)


def test_the_promise_among_zeros_is_priced_exactly():
    """Lemma 4.3 above one half: 300 zeros at q = .937, both directions summed in fifty digits."""
    with mpmath.workdps(50):
        q, grow = mpmath.mpf(bit_sums.zeros(0.5, 1e-6, 300)), mpmath.exp(0.5)
        true = delta(*among_zeros(300, q), grow)
    slip = only(everything(), "004", "lemma 4.3", "1/2")
    assert f"{float(true):.3g}" in slip.note
    assert true > 1e-3


@pytest.mark.parametrize("margin", [0.0, 0.5])
def test_right_deviations_need_their_margin(margin):
    """Corollary 4.5 is not trivial: it fails without the two that are added."""
    wrong, cases = notes_bits.right_deviations(lambda spread: math.sqrt(spread) + 1.0, margin)
    assert 0 < wrong < cases


def test_right_deviations_exactly():
    """The same in rational numbers, from the mean on."""
    n, q = 9, Fraction(1, 5)
    inverse = [[1 / ratio for ratio in bit_ratio(n, m, q)] for m in range(n + 1)]
    cases = 0
    for eighths in range(8 * n):
        distance = Fraction(eighths, 8)
        bound = math.floor(n * (1 - q) + distance + 2)
        if bound <= n + 1:
            for m, loss in enumerate(inverse):
                s = math.floor(n * q + m * (1 - 2 * q) + distance)
                assert loss[s] <= inverse[n][bound]
                cases += 1
    assert cases == 150


def test_the_mirrored_index_is_one_off():
    one = only(everything(), "004", "proof of 4.5")
    zeros, ones = (bit_ratio(2, m, Fraction(1, 5)) for m in (0, 2))
    assert all(zeros[i] * ones[3 - i] == 1 for i in range(4))
    assert any(zeros[i] * ones[2 - i] != 1 for i in range(3))
    assert one.computed > 0.5
