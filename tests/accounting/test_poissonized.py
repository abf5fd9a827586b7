"""Numbers of fakes against Poisson numbers: factors that hold for every falling function."""

import math
from fractions import Fraction
from functools import reduce
from itertools import accumulate

import numpy as np
import pytest
from scipy.stats import poisson as poisson_dist

from mixtally.accounting.composition.convolve import LossSum
from mixtally.accounting.composition.poisson_pairs import gain_and_loss_of_message
from mixtally.accounting.numerics import poissonized
from mixtally.errors import AccountingError

CASES = [
    (trials, chance)
    for trials in (1, 2, 5, 20, 120)
    for chance in (Fraction(1, 500), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10), Fraction(1))
]


SUMS = [
    [(2, Fraction(1)), (2, Fraction(1, 2))],
    [(20, Fraction(2, 5)), (20, Fraction(19, 50))],
    [(60, Fraction(1, 3)), (60, Fraction(1, 500))],
    [(5, Fraction(9, 10)), (40, Fraction(1, 10)), (7, Fraction(1, 2))],
]


def binomial(trials, chance):
    return [
        math.comb(trials, t) * chance**t * (1 - chance) ** (trials - t) for t in range(trials + 1)
    ]


def up_to(*binomials):
    """P(H <= t) for every t, H their sum, exactly."""
    each = reduce(np.convolve, [binomial(*one) for one in binomials])
    return [float(one) for one in accumulate(each)]


def poisson_up_to(mean, most):
    """The same of a Poisson number."""
    return np.cumsum(poisson(mean, most))


def poisson(mean, most):
    """P(X = t) for t = 0..most, X ~ Poisson(mean)."""
    return np.array([
        math.exp(t * math.log(mean) - mean - math.lgamma(t + 1)) for t in range(most + 1)
    ])  # fmt: skip


def above(binomials, share, mean=None):
    """Indicators of H <= t that are likelier than so many times those of Poisson numbers."""
    own = sum(trials * float(chance) for trials, chance in binomials)
    most = sum(trials for trials, _ in binomials)
    ours, theirs = up_to(*binomials), poisson_up_to(mean or own, most)
    return sum(a > share * b * (1 + 1e-12) for a, b in zip(ours, theirs, strict=True))


@pytest.mark.parametrize(("trials", "chance"), CASES)
def test_the_factor_holds_for_every_indicator(trials, chance):
    found = poissonized.upper_factor([(trials, float(chance))])
    assert above([(trials, chance)], found) == 0


def floats(binomials):
    return [(trials, float(chance)) for trials, chance in binomials]


@pytest.mark.parametrize("binomials", SUMS)
def test_one_factor_holds_for_a_sum(binomials):
    """And is the least: with a hair less some indicator is likelier; two factors are more."""
    found = poissonized.upper_factor(floats(binomials))
    assert above(binomials, found) == 0
    assert above(binomials, found * (1 - 1e-7)) >= 1
    assert found < math.prod(poissonized.upper_factor([one]) for one in floats(binomials)) * (
        1 - 1e-6
    )


@pytest.mark.parametrize("binomials", [*SUMS, *([case] for case in CASES)])
def test_hardly_a_factor_holds_for_a_smaller_mean(binomials):
    """Twin: for the mean itself some indicator is likelier, where the factor is seen."""
    mean, share = poissonized.bound_above(floats(binomials))
    own = sum(trials * float(chance) for trials, chance in binomials)
    assert 0.5 * own <= mean < own
    assert above(binomials, share, mean) == 0
    if share < poissonized.upper_factor(floats(binomials)) * (1 - 1e-6):
        assert above(binomials, share) >= 1


def test_of_many_fakes_less_than_a_standard_deviation_is_given_for_it():
    """Sums of so many that no others are tried: as two binomial numbers and as one."""
    for binomials in ([(10**6, 0.39), (10**6, 0.2)], [(10**6, 0.39)], [(10**7, 0.01)]):
        own = sum(trials * chance for trials, chance in binomials)
        mean, share = poissonized.bound_above(binomials)
        assert share <= 1.0 + 2.0**-13
        assert own - math.sqrt(own) <= mean < own


def test_events_too_rare_to_be_told_from_poisson_are_bounded_one_by_one():
    """No maximum is seen: the sum differs from a Poisson number by less than a rounding."""
    binomials = [(10**9, 1e-5), (10**12, 1e-11)]
    assert 1.0 <= poissonized.upper_factor(binomials) < 1.0 + 1e-4
    rare = [(10**13, 1e-11), (10**13, 2e-11)]
    assert 1.0 <= poissonized.upper_factor(rare) <= 1.0 + 3e-9


@pytest.mark.parametrize(("trials", "chance"), CASES)
def test_it_is_the_least(trials, chance):
    """Planted: without it, or with a hair less, some indicator is likelier."""
    found = poissonized.upper_factor([(trials, float(chance))])
    assert above([(trials, chance)], found * (1 - 1e-7)) >= 1


def test_it_is_no_more_than_the_largest_ratio_of_chances():
    """That is about (1 - q)^(-1/2)."""
    for trials, chance in ((800, 0.1), (75150, 4 / 1002), (20000, 0.8)):
        largest = (1.0 - chance) ** -0.5
        assert (
            1.0
            < poissonized.upper_factor([(trials, chance)])
            < largest * (1 + 2 / (trials * chance))
        )
    assert poissonized.upper_factor([(10**6, 1.0)]) < 2.0


@pytest.mark.parametrize("most", [1e-3, 1e-9])
@pytest.mark.parametrize(("trials", "chance"), CASES)
def test_lower_bounds_hold_for_every_indicator(trials, chance, most):
    found = poissonized.bound_below(trials, float(chance), most)
    ours, theirs = up_to((trials, chance)), poisson_up_to(found.mean, trials)
    for a, b in zip(ours, theirs, strict=True):
        assert a >= found.share * b - found.additive_loss - 1e-13
    assert found.additive_loss <= most * 1.01
    assert found.mean >= trials * float(chance)


def test_no_trials_are_no_fakes():
    assert poissonized.upper_factor([(0, 0.5)]) == poissonized.upper_factor([(9, 0.0)]) == 1.0
    assert poissonized.bound_below(0, 0.5, 1e-6) == (0.0, 1.0, 0.0)


def test_a_wrong_pmf_stops_the_work(plant):
    plant(np, "cumprod", lambda honest, *given: 1.001 * honest(*given))
    with pytest.raises(AccountingError, match="Poisson"):
        poissonized.poisson_pmf(500.0)


def exact(mean, epsilon):
    """delta of one cell up and one down: sum of (P - e^epsilon Q)_+ over both counts."""
    most = int(mean + 40 * math.sqrt(mean) + 40)
    without = poisson(mean, most)
    held = np.concatenate([[0.0], without[:-1]])
    gaps = np.outer(held, without) - np.exp(epsilon) * np.outer(without, held)
    return float(np.maximum(gaps, 0.0).sum())


@pytest.mark.parametrize("mean", [0.02, 0.7, 3.0, 40.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_a_cell_up_and_one_down_dominate_the_truth_closely(mean, epsilon):
    step = 2.0**-12
    total = LossSum([(one, 1) for one in gain_and_loss_of_message(mean, step)])
    truth = exact(mean, epsilon)
    assert truth <= total.delta(epsilon) * (1 + 1e-12)
    assert total.delta(epsilon) == pytest.approx(truth, rel=1e-4)
    assert total.lower(epsilon + 2 * step) <= truth * (1 + 1e-12)
    assert total.lower(epsilon) == pytest.approx(total.delta(epsilon), rel=1e-5)


@pytest.mark.parametrize("mean", [0.5, 12.0, 900.0])
def test_both_masses_stay(mean):
    """Of all outcomes, in either world; what is lost is said to be infinite."""
    for one, other in (
        gain_and_loss_of_message(mean, 2.0**-10),
        gain_and_loss_of_message(mean, 2.0**-10)[::-1],
    ):
        places, chances = one.expand_both_sides(one.step)
        assert chances.sum() + one.infinite == pytest.approx(1.0, abs=1e-12)
        back = float((chances * np.exp(-places * one.step)).sum())
        assert back + other.infinite == pytest.approx(1.0, abs=1e-12)


def test_wrapped_losses_do_not_raise_a_lower_bound():
    """Of rare large losses, where a short cycle holds little."""
    for mean in (0.001, 0.05, 2.0):
        total = LossSum([(one, 3) for one in gain_and_loss_of_message(mean, 2.0**-8)])
        for epsilon in (0.0, 0.1, 1.0, 5.0):
            assert 0.0 <= total.lower(epsilon) <= total.delta(epsilon) <= 1.0


@pytest.mark.parametrize("mean", [0.3, 17.0, 499.9, 500.5, 33774504.84072651, 1.6e9])
def test_chances_of_any_mean_are_those_of_stirling(mean):
    """Scipy's own lose their digits where a mean is large: there only the first term is left."""
    chances = poissonized.poisson_pmf(mean)
    first = poissonized.poisson_window(mean).first
    middle = math.floor(mean)
    known = poisson_dist.pmf(middle, mean) if mean < 1e4 else (2.0 * math.pi * mean) ** -0.5
    assert chances[middle - first] == pytest.approx(known, rel=1e-7)
    assert chances.sum() == pytest.approx(1.0, abs=1e-12)
