"""The sum of two binomial numbers by its recurrence: against fractions and many digits."""

from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest

from helpers.exact_distributions import sums
from helpers.sampled import rows
from mixtally.accounting.divergence import single_bit, two_outputs
from mixtally.accounting.numerics import two_binomials as module
from mixtally.accounting.numerics.binomial_pairs import (
    flip_chances,
    tail_divergence,
    tail_divergences,
)
from mixtally.accounting.numerics.two_binomials import sum_by_recurrence, sum_flipped_bits
from mixtally.errors import AccountingError
from mixtally.primitives import tails
from mixtally.primitives.fixed_point import SCALE, threshold_of
from mixtally.primitives.memo import Memo

LONG = [  # ones, zeros, flip probability
    (700, 900, 0.3),
    (3, 4000, 0.05),
    (4000, 3, 0.05),
    (2000, 2500, 0.499),
    (30_000, 20_000, 0.02),
]


def directions(ones, zeros, threshold):
    """Return both directions of one bit in a known crowd."""
    return two_outputs.load_directions(
        single_bit.flipped_bit_message(threshold), ones, zeros, Memo(1 << 26)
    )


@pytest.mark.parametrize("flip", [1e-6, 0.03, 0.3, 0.4999])
def test_the_sum_is_that_of_fractions(flip):
    threshold = threshold_of(flip)
    for ones, zeros in product((0, 1, 2, 7), (0, 1, 5, 12)):
        if ones + zeros:
            true = sums(ones, zeros, Fraction(threshold, SCALE))
            found = sum_by_recurrence(ones, zeros, flip_chances(threshold))
            assert len(found.pmf) == ones + zeros + 1
            assert found.pmf == pytest.approx([float(one) for one in true], rel=1e-13)


def in_digits(ones, zeros, threshold, at):
    """P(sum = at) to fifty digits: each way to get there from the one before it."""
    with mpmath.workdps(60):
        q = mpmath.mpf(threshold) / SCALE
        p = 1 - q
        first, last = tails.window(ones, threshold / SCALE)
        start = max(0, first - 300, ones - at)
        risen = at - ones + start
        term = (
            mpmath.binomial(ones, start) * q**start * p ** (ones - start)
            * mpmath.binomial(zeros, risen) * q**risen * p ** (zeros - risen)
        )  # fmt: skip
        total, odds = term, (q / p) ** 2
        for lost in range(start, min(ones, last + 300, ones - at + zeros)):
            risen = at - ones + lost
            term *= odds * ((ones - lost) * (zeros - risen)) / ((lost + 1) * (risen + 1))
            total += term
        return total


def wrong_by(case):
    """The largest relative error of a few chances, those far out among them, and its bound."""
    ones, zeros, flip = case
    threshold = threshold_of(flip)
    found = sum_by_recurrence(ones, zeros, flip_chances(threshold))
    q = threshold / SCALE
    first = tails.window(zeros, q).first + ones - tails.window(ones, q).last
    places = np.flatnonzero(found.pmf > 1e-50)
    some = places[:: max(1, len(places) // 12)]
    errors = [
        abs(float(found.pmf[i] / in_digits(ones, zeros, threshold, first + int(i)) - 1))
        for i in some
    ]
    return max(errors), found.error


@pytest.mark.parametrize("case", LONG, ids=str)
def test_what_a_chance_is_wrong_by_is_bounded(case):
    wrong, bound = wrong_by(case)
    assert wrong <= bound < 1e-9
    assert wrong < 1e-12


def test_a_start_that_is_not_forgotten_is_noticed(monkeypatch):
    """The twin: begun where the window does, its first ratio is a guess; the bound says so."""
    monkeypatch.setattr(module, "_FORGOTTEN_NATS", 0.0)
    told = [wrong_by(case) for case in LONG]
    assert any(wrong > 1e-12 for wrong, _ in told)
    assert all(wrong <= bound for wrong, bound in told)


def test_long_sums_go_by_the_recurrence_and_short_ones_do_not(watch):
    short = module.sum_by_recurrence(40, 50, flip_chances(threshold_of(0.2))).pmf
    asked = watch(module, "sum_by_recurrence")
    assert sum_flipped_bits(40, 50, flip_chances(threshold_of(0.2))).pmf == pytest.approx(
        short, rel=1e-11
    )
    assert not asked
    sum_flipped_bits(200_000, 200_000, flip_chances(threshold_of(0.3)))
    assert asked


@pytest.mark.parametrize("case", LONG, ids=str)
def test_tails_at_many_epsilons_are_those_at_each(case):
    ones, zeros, flip = case
    pairs = directions(ones, zeros, threshold_of(flip))
    grows = np.exp(np.linspace(0.0, 3.0, 50))
    for tail in pairs:
        lower, upper = tail_divergences(tail, grows)
        for i, grow in enumerate(grows):
            one = tail_divergence(tail, float(grow))
            assert (lower[i], upper[i]) == pytest.approx(one, rel=1e-13, abs=1e-300)


def test_a_tail_that_is_no_number_is_refused_at_many_epsilons():
    pair = directions(3, 4, threshold_of(0.3)).forward
    broken = pair._replace(tail_p=np.full_like(pair.tail_p, np.nan))
    with pytest.raises(AccountingError, match="nothing may be promised"):
        tail_divergences(broken, np.exp(np.array([0.0, 1.0])))


def test_tails_keep_what_their_chances_are_wrong_by():
    given = (200_000, 150_000, threshold_of(0.3))
    tail = directions(*given).forward
    assert tail.error > 4.0 * sum_by_recurrence(*given[:2], flip_chances(given[2])).error > 1e-10
    assert directions(3, 4, threshold_of(0.3)).forward.error < 1e-11


@pytest.mark.parametrize(("users", "fakes", "flip", "repeats"), rows([
    (300, 0, 0.1, 1), (2000, 500, 0.3, 1), (150, 0, 0.2, 3), (5000, 0, 0.45, 1),
], 2))  # fmt: skip
def test_what_is_proved_at_once_bounds_every_crowd_at_every_epsilon(users, fakes, flip, repeats):
    threshold = threshold_of(flip)
    epsilons = [0.0, 0.02, 0.1, 0.4, 1.0]
    found = single_bit.delta_at_several(users, fakes, threshold, epsilons, repeats=repeats)
    for epsilon, bounds in zip(epsilons, found, strict=True):
        every = [
            single_bit.delta(users, fakes, threshold, epsilon, ones, repeats=repeats).lower
            for ones in range(0, users, max(1, users // 40))
        ]
        assert max(every) <= bounds.upper
        # As if epsilon were less by half a part in a thousand at most, or 0.1 % above.
        less = epsilon - 5e-4 * max(epsilon, 2.5 * found[0].upper)
        proved = single_bit.delta(
            users, fakes, threshold, max(0.0, less), count_crowd=True, repeats=repeats
        )
        assert bounds.upper <= proved.upper * 1.0011 + 2e-18
        alone = single_bit.delta(
            users, fakes, threshold, epsilon, count_crowd=True, repeats=repeats
        )
        assert bounds.lower <= alone.upper <= bounds.upper * 1.001 + 1e-17


@pytest.mark.parametrize("cut", [-1e-9, 1.5, float("nan")])
def test_a_cut_that_can_be_none_is_refused_at_many_epsilons(cut):
    tail = directions(3, 4, threshold_of(0.3)).forward._replace(cut=cut)
    with pytest.raises(AccountingError, match="nothing may be promised"):
        tail_divergences(tail, np.exp(np.array([0.0, 1.0])))
