"""Composition fails closed, and the comparison with enumerated product distributions notices every
bug.
"""

import math
from dataclasses import replace

import pytest

from accounting.composed import BLANK, EPSILONS, LARGE, PAIRS, curve, holds, plan_of, pld
from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.budget import compose
from mixtally.accounting.composition import convolve
from mixtally.accounting.composition.convolve import LossSum
from mixtally.accounting.composition.pld import loss_distribution
from mixtally.errors import AccountingError, InfeasibleError, ParameterError


def other(**changes):
    """The same losses, changed."""

    def losses(mechanism):
        one = pld(mechanism)
        return replace(one, **{field: change(one) for field, change in changes.items()})

    return losses


def scaled(share):
    """Losses of a curve that is so much of what is proved."""

    def bound(mechanism):
        exact = curve(mechanism)
        return lambda epsilon: min(1.0, share * exact(epsilon))

    return lambda mechanism: pld(mechanism, bound)


def lower(mechanism):
    """Lower ends: optimistic by two parts in 10^9, which is what the slack is for."""
    accountant, record = Accountant(), Record.of(mechanism)
    return lambda epsilon: accountant.delta(record, epsilon).bounds.lower * (1 - 1e-8)


WRONG = {
    "rounded down": other(places=lambda one: one.places - 1),
    "rounded far up": other(places=lambda one: one.places + 4),
    "infinite dropped": other(zero=lambda one: one.zero + one.infinite, infinite=lambda _: 0.0),
    "mass lost": other(chances=lambda one: one.chances * (1 - 1e-6)),
    "top lost": other(places=lambda one: one.places[:-1], chances=lambda one: one.chances[:-1]),
    "zero lost": other(zero=lambda one: one.zero * 0.98),
    "mass gained": other(zero=lambda one: one.zero * 1.05),
    "a curve too low": scaled(0.98),
    "a curve a hair too low": scaled(0.999999),
    "a curve too high": scaled(1.02),
    "lower ends": lambda mechanism: pld(mechanism, lower),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_wrong_losses_are_noticed(wrong):
    assert not all(holds(pair, epsilon, wrong) for pair in PAIRS for epsilon in EPSILONS)


@pytest.mark.parametrize("spoiled", [math.nan, -1.0])
def test_a_sum_that_is_none_stops_the_work(spoiled):
    class Spoiled(LossSum):
        def _tail(self, *_):
            return spoiled

    with pytest.raises(AccountingError, match="expected a finite delta"):
        Spoiled([(pld(BLANK), 2)]).delta(1.0)


def test_a_sum_that_rises_with_epsilon_stops_the_search():
    rising = compose.ComposedDelta(lambda _: 0.9, lambda _: 0.0)
    with pytest.raises(AccountingError, match="falls with epsilon"):
        compose._find_least_epsilon(rising, 1e-6, (0.01, 0.5), (20.0, 1e-9))


@pytest.mark.seconds
def test_a_cycle_that_is_too_short_costs_precision_but_never_the_bound(monkeypatch):
    """What the cycle wraps around is added, what lies beyond it bounded: still an upper bound."""
    part = pld(LARGE[1])
    truth = LossSum([(part, 20)]).delta(2.0)
    for cells in (64, 256, 1024):
        monkeypatch.setattr(convolve, "_LEAST_CELLS", 16)
        monkeypatch.setattr(convolve, "_MOST_CELLS", 1)
        monkeypatch.setattr(convolve, "_fast_length", lambda *_, c=cells: c)
        assert LossSum([(part, 20)]).delta(2.0) >= truth * (1 - 1e-6)
    monkeypatch.undo()
    whole = LossSum([(part, 20)]).delta(0.0)
    monkeypatch.setattr(convolve, "_WINDOW_DEVIATIONS", 0.1)
    monkeypatch.setattr(convolve, "_LEAST_CELLS", 16)
    monkeypatch.setattr(convolve, "_NEGLIGIBLE", math.inf)
    assert LossSum([(part, 20)]).delta(0.0) >= whole * (1 - 1e-9)


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


@pytest.mark.parametrize("times", [0, -1, 1.5, True, 10**6 + 1])
def test_times_outside_their_range_are_refused(times):
    with pytest.raises(ParameterError, match="times"):
        compose.delta_of([(plan_of(LARGE[0]), times)], 1.0)


@pytest.mark.seconds
def test_what_cannot_be_asked_is_refused():
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
    assert (
        "at least 999,000 honest people, who draw their fakes as the protocol says"
        in shown.assumption
    )
    assert "any one of the 2 mixes is honest, whatever everybody else does" in shown.assumption
    assert "does not depend on what earlier ones showed" in shown.assumption
    assert "dominate" in shown.source
    assert (shown.status, shown.observer) == ("proved", "messages")
    assert compose.delta_of([(b, 1)], 2.0).lower <= shown.lower <= shown.upper


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
