"""The pieces: chances, tails, bounds of what is cut, what stays undecided."""

import subprocess
import sys
from fractions import Fraction
from itertools import product
from math import comb

import pytest

from mixtally.accounting.verification import balls, blank, coins, pairs, shaped, uniform
from mixtally.accounting.verification.balls import (
    Bounds,
    UndecidedError,
    arb,
    compute_narrow,
    exact_ball,
    working_precision,
)
from mixtally.accounting.verification.binomials import Binomial
from mixtally.accounting.verification.caps import overflow_chance
from mixtally.device.contract.shape import gaussian_weights, laplace_weights
from mixtally.errors import AccountingError
from verification.enumerate_all import SCALE, flipped

LAWS = [(1, Fraction(1, 3)), (7, Fraction(1, 2)), (40, Fraction(1, 20)), (40, Fraction(9, 10))]


def chance(law, k):
    return comb(law.trials, k) * law.chance**k * (1 - law.chance) ** (law.trials - k)


def around(ball, value):
    """Whether a narrow ball holds ``value``."""
    near = exact_ball(value)
    return ball.overlaps(near) and ball.rad() <= abs(near) * 1e-30 + 1e-36


@pytest.mark.parametrize(("trials", "probability"), LAWS)
def test_points_tails_and_bounds_of_tails(trials, probability):
    law = Binomial(trials, probability)
    with working_precision():
        points = law.points(0, trials)
        for k, point in enumerate(points):
            assert around(point, chance(law, k))
            above = sum(chance(law, j) for j in range(k, trials + 1))
            below = sum(chance(law, j) for j in range(k + 1))
            assert around(law.at_least(k), above)
            assert law.upper_tail_bound(k) >= exact_ball(above) * (1 - arb(2) ** -100)
            assert law.lower_tail_bound(k) >= exact_ball(below) * (1 - arb(2) ** -100)
        assert (
            law.at_least(trials + 1)
            == law.upper_tail_bound(trials + 1)
            == law.lower_tail_bound(-1)
            == 0
        )


NARROW = (0.3, 2.0, 8.0)
"""Nats by which a window cuts what matters."""


def cut_sums():
    """Sums as functions of nats."""
    grow = arb(0.5).exp()
    threshold = SCALE // 30
    yield lambda nats: blank.one_hot_delta(900, threshold, grow, nats)
    yield lambda nats: blank.one_over_zero_delta(900, threshold, grow, nats)
    yield lambda nats: blank.zero_over_one_delta(900, threshold, grow, nats)
    yield lambda nats: uniform.one_bin_delta(900, 30, grow, nats)
    yield lambda nats: pairs.disjoint_sets_delta(30, threshold, grow, nats)
    yield lambda nats: pairs.overlapping_sets_delta(30, threshold, grow, nats)


def test_what_a_window_cuts_is_bounded():
    with working_precision():
        for compute in cut_sums():
            true = compute(90.0)
            for nats in NARROW:
                found = compute(nats)
                assert found.lower <= true.upper
                assert true.lower <= found.upper


@pytest.mark.parametrize("ratio", [1, SCALE // 7, SCALE // 2 + 1, 15 << 60])
@pytest.mark.parametrize("shift", [1, 5, 300])
def test_the_table_is_the_one_that_mixes_draw_from(ratio, shift):
    with working_precision(256):
        found = shaped.table(shaped.Shape(gaussian=False, first=ratio, shift=shift))
        assert without_nothing(found) == laplace_weights(ratio, shift)


@pytest.mark.parametrize("variance", [1, 36, 5000])
@pytest.mark.parametrize("shift", [1, 36, 300])
def test_so_is_a_gaussian_one(variance, shift):
    with working_precision(256):
        found = shaped.table(shaped.Shape(gaussian=True, first=variance, shift=shift))
        assert without_nothing(found) == gaussian_weights(variance, shift)


def without_nothing(table):
    """Without what 64 bits round down to nothing at its end."""
    last = max(k for k, weight in enumerate(table) if weight)
    return tuple(table[: last + 1])


@pytest.mark.parametrize("ones", [0, 1, 2])
@pytest.mark.parametrize("cap", [2, 3, 5])
def test_overflow_message_by_message(ones, cap):
    law = flipped((1,) * ones + (0,) * (5 - ones), SCALE // 9)
    more = sum(share for seen, share in law.items() if sum(seen) > cap)
    with working_precision():
        assert around(overflow_chance(5, ones, SCALE // 9, cap), more)


def test_an_average_over_runs_of_coins():
    """Cells by the thousand, of a delta that is known."""

    def half(fakes):
        return Bounds(exact_ball(Fraction(1, fakes + 1)), exact_ball(Fraction(1, fakes + 1)))

    found = coins.average(0, [Binomial(5000, Fraction(1, 4))], half)
    with working_precision():
        points = Binomial(5000, Fraction(1, 4)).points(0, 5000)
        true = sum((point / (k + 1) for k, point in enumerate(points)), arb(0))
    assert found.lower <= true <= found.upper
    assert found.is_narrow(coins.CLOSE)


def test_more_bits_are_tried_until_it_is_decided():
    tried = []

    def close(nats):
        tried.append(nats)
        wide = arb(0, arb(2) ** -200)
        return Bounds(
            arb(balls.least_integer_above(3 + wide - wide + (arb(10).sqrt() ** 2 - 10))), arb(4)
        )

    with pytest.raises(UndecidedError):
        compute_narrow(close, 1e-8)  # 3 itself: no number of bits tells
    assert len(tried) > 2


def test_ends_are_rounded_outwards():
    with working_precision():
        third = exact_ball(Fraction(1, 3))
        low, high = Bounds(third, third).to_floats()
    assert Fraction(low) < Fraction(1, 3) < Fraction(high)
    assert high - low < 1e-16


@pytest.mark.parametrize("wrong", [("nan", "1"), ("0.5", "0.4"), ("1.5", "2"), ("-2", "-1")])
def test_what_is_no_divergence_is_not_stated(wrong):
    with pytest.raises(AccountingError):
        Bounds(*map(arb, wrong)).to_floats()


def test_without_flint_it_says_what_to_install():
    told = (
        "import sys; sys.modules['flint'] = None\n"
        "from mixtally.errors import InputError\n"
        "try:\n    import mixtally.accounting.verification\n"
        "except InputError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert "pip install 'mixtally[rigorous]'" in done.stdout


def test_pairs_of_a_table_one_by_one():
    """The pass over sorted ratios adds up the same as all pairs."""
    weights = [3, 0, 1 << 63, 7, SCALE - (1 << 63) - 11, 1]
    with working_precision():
        grow = arb(0.4).exp()
        found = shaped.of_table(weights, grow)
        total = arb(0)
        for s, t in product(range(len(weights) + 1), repeat=2):
            before, here = [0, *weights][s], [*weights, 0][s]
            other, above = [0, *weights][t], [*weights, 0][t]
            total += (arb(before * above) - grow * (here * other)).max(arb(0))
        assert found.lower.overlaps(total / SCALE / SCALE)
