"""Composition fails closed, and the comparison with enumerated product distributions notices every
bug.
"""

import math

import numpy as np
import pytest

from mixtally.errors import AccountingError, InfeasibleError, ParameterError
from mixtally.privacy.accountant import Accountant
from mixtally.privacy.certify import certify
from mixtally.privacy.composition import compose, convolve
from mixtally.privacy.composition import pld as losses
from mixtally.privacy.composition.convolve import Sum
from mixtally.privacy.composition.losses import LossDistribution
from mixtally.privacy.composition.pld import loss_distribution
from privacy.composed import BLANK, EPSILONS, LARGE, PAIRS, holds, plan_of, pld


def all_hold():
    return all(holds(pair, epsilon) for pair in PAIRS for epsilon in EPSILONS)


@pytest.fixture
def plant_distribution(plant):
    """Changes every distribution right after it was made."""

    def replace(change):
        plant(losses, "connected", lambda honest, *args: change(honest(*args)))

    return replace


@pytest.mark.seconds
def test_without_a_bug_every_comparison_passes():
    assert all_hold()


@pytest.mark.parametrize(
    "change",
    [
        lambda p: LossDistribution(p.step, p.places - 1, p.chances, p.zero, p.infinite),
        lambda p: LossDistribution(p.step, p.places + 4, p.chances, p.zero, p.infinite),
        lambda p: LossDistribution(p.step, p.places, p.chances, p.zero + p.infinite, 0.0),
        lambda p: LossDistribution(p.step, p.places, p.chances * (1 - 1e-6), p.zero, p.infinite),
        lambda p: LossDistribution(p.step, p.places[:-1], p.chances[:-1], p.zero, p.infinite),
        lambda p: LossDistribution(p.step, p.places, p.chances, p.zero * 0.98, p.infinite),
        lambda p: LossDistribution(p.step, p.places, p.chances, p.zero * 1.05, p.infinite),
    ],
    ids=[
        "rounded down", "rounded far up", "infinite dropped", "mass lost", "top lost", "zero lost",
        "mass gained",
    ],
)  # fmt: skip
def test_a_wrong_distribution_is_noticed(plant_distribution, change):
    plant_distribution(change)
    assert not all_hold()


@pytest.mark.parametrize("share", [0.98, 0.999999, 1.02])
def test_a_wrong_curve_is_noticed(plant, share):
    plant(Accountant, "upper", lambda honest, *given: min(1.0, share * honest(*given)))
    assert not all_hold()


def test_the_lower_ends_of_the_curve_are_noticed(monkeypatch):
    """Optimistic by two parts in 10^9, which is what the slack is for."""

    def lower(self, record, epsilon):
        return self.delta(record, epsilon).bounds.lower * (1 - 1e-8)

    monkeypatch.setattr(Accountant, "upper", lower)
    assert not all_hold()


def test_a_mirror_image_without_its_weight_is_noticed(monkeypatch):
    def flat(self, step):
        places = self.places * round(self.step / step)
        chances = np.concatenate([0 * self.chances[::-1], [self.zero], self.chances])
        return np.concatenate([-places[::-1], [0], places]), chances

    monkeypatch.setattr(LossDistribution, "mirrored", flat)
    assert not all_hold()


@pytest.mark.parametrize(
    "power",
    [lambda values, times: values ** (times + 1), lambda values, _: np.ones_like(values)],
    ids=["one draw more", "no draw"],
)
def test_a_wrong_number_of_draws_is_noticed(monkeypatch, power):
    monkeypatch.setattr(convolve, "_power", power)
    assert not all_hold()


@pytest.mark.seconds
def test_a_cycle_that_is_too_short_costs_precision_but_never_the_bound(monkeypatch):
    """What the cycle wraps around is added, what lies beyond it bounded: still an upper bound."""
    part = pld(LARGE[1])
    truth = Sum([(part, 20)]).delta(2.0)
    for cells in (64, 256, 1024):
        monkeypatch.setattr(convolve, "_LEAST_CELLS", 16)
        monkeypatch.setattr(convolve, "_MOST_CELLS", 1)
        monkeypatch.setattr(convolve, "_fast_length", lambda *_, c=cells: c)
        assert Sum([(part, 20)]).delta(2.0) >= truth * (1 - 1e-6)


@pytest.mark.seconds
def test_losses_beyond_the_cycle_that_are_forgotten_are_noticed(monkeypatch):
    """The twin: without Chernoff's bound the short cycle promises too much."""
    part = pld(LARGE[1])
    truth = Sum([(part, 20)]).delta(0.0)
    monkeypatch.setattr(convolve, "_REACH", 0.1)
    monkeypatch.setattr(convolve, "_LEAST_CELLS", 16)
    monkeypatch.setattr(convolve, "_NEGLIGIBLE", math.inf)
    assert Sum([(part, 20)]).delta(0.0) >= truth * (1 - 1e-9)
    monkeypatch.setattr(Sum, "_above", lambda *_: 0.0)
    assert Sum([(part, 20)]).delta(0.0) < truth * 0.99


@pytest.mark.parametrize(
    "curve",
    [
        lambda _: math.nan,
        lambda _: -0.1,
        lambda _: 1.1,
        lambda epsilon: min(1.0, 0.1 + epsilon / 100),
        lambda epsilon: math.nan if epsilon > 1 else 0.1 * math.exp(-epsilon),
        lambda epsilon: 0.05 + 0.05 * math.cos(40 * epsilon),
    ],
    ids=["nan", "negative", "above one", "rising", "nan later", "waves"],
)
def test_a_curve_that_is_none_stops_the_work(curve):
    with pytest.raises(AccountingError, match="nothing may be promised"):
        loss_distribution(curve, math.inf)


@pytest.mark.parametrize("spoiled", [math.nan, -1.0])
def test_a_sum_that_is_none_stops_the_work(monkeypatch, spoiled):
    whole = Sum([(pld(BLANK), 2)])
    monkeypatch.setattr(Sum, "_tail", lambda *_: spoiled)
    with pytest.raises(AccountingError, match="nothing may be promised"):
        whole.delta(1.0)


def test_a_sum_that_rises_with_epsilon_stops_the_search(monkeypatch):
    monkeypatch.setattr(
        compose, "upper_curve", lambda *_: lambda e: 0.5 if e < 0.02 else 1e-9 if e > 19 else 0.9
    )
    with pytest.raises(AccountingError, match="falls with epsilon"):
        compose.epsilon_of([(plan_of(LARGE[0]), 2)], 1e-6)


@pytest.mark.parametrize("times", [0, -1, 1.5, True, 10**6 + 1])
def test_times_outside_their_range_are_refused(times):
    with pytest.raises(ParameterError, match="times"):
        compose.delta_of([(plan_of(LARGE[0]), times)], 1.0)


@pytest.mark.seconds
def test_what_cannot_be_asked_is_refused(monkeypatch):
    plan = plan_of(LARGE[0])
    for epsilon in (0.0, 21.0, math.nan):
        with pytest.raises(ParameterError, match="epsilon"):
            compose.delta_of([(plan, 1)], epsilon)
    for delta in (0.0, -1.0, 1.0, math.nan):
        with pytest.raises(ParameterError, match="delta"):
            compose.epsilon_of([(plan, 1)], delta)
    with pytest.raises(ParameterError, match="at least one"):
        compose.delta_of([], 1.0)
    with pytest.raises(ParameterError, match="times"):
        compose.delta_of([(plan, 10**6), (plan, 1)], 1.0)
    with pytest.raises(InfeasibleError, match="fewer"):
        compose.epsilon_of([(plan, 10**4)], 1e-6)


def test_a_certificate_says_on_what_it_rests():
    a, b = plan_of(LARGE[0], share=0.999), plan_of(LARGE[2])
    shown = compose.delta_of([(a, 2), (b, 1)], 2.0)
    assert "999,000 fakes" in shown.assumption
    assert "draws them as told" in shown.assumption
    assert "does not depend on what earlier ones showed" in shown.assumption
    assert "dominate" in shown.source
    assert (shown.status, shown.observer) == ("proved", "messages")
    assert certify(LARGE[2], 2.0).lower <= shown.lower <= shown.upper


@pytest.mark.seconds
def test_fakes_that_may_not_arrive_are_not_counted():
    all_come = compose.delta_of([(plan_of(LARGE[0]), 3)], 1.0).upper
    half = compose.delta_of([(plan_of(LARGE[0], share=0.9), 3)], 1.0).upper
    assert half > 1.2 * all_come


def test_a_cycle_is_as_long_as_it_must_be_and_no_longer():
    def smooth(n):
        for prime in (2, 3, 5):
            while n % prime == 0:
                n //= prime
        return n == 1

    for least in (*range(1, 300), 4095, 4097, 10_007, 2**20 + 1):
        expected = next(n for n in range(least, 2 * least + 1) if smooth(n))
        assert convolve._fast_length(least) == expected
