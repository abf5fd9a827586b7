"""Composition: never below the truth, close to it, from one collection to a million.

The truth of two tiny plans is the divergence of their product distribution, enumerated in exact
integers.
"""

import math

import mpmath as mp
import numpy as np
import pytest

from accounting.composed import BLANK, EPSILONS, LARGE, PAIRS, TINY, curve, holds, plan_of, pld
from helpers import least
from helpers.named import clear_shaped, clear_uniform, flip_blank
from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.budget import compose
from mixtally.accounting.composition.convolve import LossSum
from mixtally.accounting.composition.losses import LossDistribution
from mixtally.accounting.composition.pld import FINE
from oracle import truth_of


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair[0].name}+{pair[1].name}")
def test_two_tiny_plans_are_never_below_their_product_distribution_and_within_a_percent(
    pair, epsilon
):
    assert holds(pair, epsilon)


@pytest.mark.seconds
@pytest.mark.parametrize("mechanism", LARGE, ids=lambda mechanism: mechanism.name)
def test_one_plan_composed_alone_is_its_own_delta(mechanism):
    """Never below, within 1e-3, from near zero to where delta is 1e-13, off the lattice too."""
    exact, alone = curve(mechanism), LossSum([(pld(mechanism), 1)])
    scale = 0.1 if mechanism is LARGE[3] else 1.0
    compared = 0
    for epsilon in np.linspace(0.0, 1.6 * scale, 37):
        truth = exact(float(epsilon))
        if truth < 1e-13:
            continue
        compared += 1
        assert truth <= alone.delta(float(epsilon)) <= truth * 1.001
    assert compared > 20


@pytest.mark.parametrize("mechanism", LARGE, ids=lambda mechanism: mechanism.name)
def test_one_charge_is_the_certificate_of_the_plan_itself(mechanism):
    plan = plan_of(mechanism)
    assert compose.delta_of([(plan, 1)], 1.0) == plan.certificate
    bare = Accountant().certificate(Record.of(mechanism), 1.0)
    stated = plan.certificate
    assert (stated.lower, stated.upper, stated.source) == (bare.lower, bare.upper, bare.source)


@pytest.mark.seconds
def test_more_collections_never_cost_less():
    plan, epsilons = plan_of(LARGE[0]), []
    for epsilon in (0.5, 2.0):
        deltas = [compose.delta_of([(plan, k)], epsilon).upper for k in (1, 2, 3, 5, 10, 100)]
        assert deltas == sorted(deltas)
        assert deltas[1] > deltas[0]
    for k in (1, 2, 5, 10, 50):
        found = compose.epsilon_of([(plan, k)], 1e-6)
        assert found.upper <= 1e-6
        epsilons.append(found.epsilon)
    assert epsilons == sorted(epsilons)
    assert epsilons[0] == pytest.approx(1.0, rel=1e-4)
    # Far below adding epsilons up, and above what a fresh Gaussian of the same variance has.
    assert math.sqrt(50) < epsilons[-1] < 50


@pytest.mark.seconds
def test_repeating_is_composing_one_by_one():
    one = pld(LARGE[1])
    for epsilon in (0.3, 1.5, 3.0):
        at_once = LossSum([(one, 4)]).delta(epsilon)
        apart = LossSum([(one, 1), (one, 2), (one, 1)]).delta(epsilon)
        assert at_once == pytest.approx(apart, rel=1e-6)


@pytest.mark.seconds
def test_the_order_of_charges_and_their_grouping_do_not_matter():
    a, b = plan_of(LARGE[0]), plan_of(LARGE[2])
    one = compose.delta_of([(a, 2), (b, 1)], 2.0).upper
    for charges in ([(b, 1), (a, 2)], [(a, 1), (b, 1), (a, 1)]):
        assert compose.delta_of(charges, 2.0).upper == pytest.approx(one, rel=1e-9)


def exact_sum(parts, epsilon):
    """The same rounded distributions added up term by term at 40 digits."""
    with mp.workdps(40):
        total, infinite = {0: mp.mpf(1)}, mp.mpf(1)
        for part, times in parts:
            places, chances = part.expand_both_sides(part.step)
            atoms = list(zip(places.tolist(), map(mp.mpf, chances.tolist()), strict=True))
            for _ in range(times):
                wider = {}
                for at, mass in total.items():
                    for place, chance in atoms:
                        wider[at + place] = wider.get(at + place, 0) + mass * chance
                total = wider
                infinite *= sum(chance for _, chance in atoms) + mp.mpf(part.infinite)
        step, e = mp.mpf(parts[0][0].step), mp.mpf(epsilon)
        finite = sum(total.values())
        gains = (m * -mp.expm1(e - at * step) for at, m in total.items() if at * step > e)
        return infinite - finite + sum(gains)


@pytest.mark.parametrize("place", [1, 30, 300, 2000])
def test_a_loss_of_three_values_is_composed_to_all_digits(place):
    """The cycle's upper half reaches past the largest sum, where the smallest ones wrap around."""
    step, chance = 2.0**-10, 0.2
    zero = 1.0 - chance * (1.0 + math.exp(-place * step))
    part = LossDistribution(step, np.array([place]), np.array([chance]), zero, 0.0)
    for times in (1, 2, 3):
        for share in (0.05, 0.3, 0.9):
            epsilon = share * times * place * step
            exact = exact_sum([(part, times)], epsilon)
            assert exact <= LossSum([(part, times)]).delta(epsilon) <= exact * (1 + 1e-8)


def coarse():
    """A small distribution with deltas down to 1e-40 once composed."""
    return pld(LARGE[1]).coarsen(0.125)


@pytest.mark.seconds
@pytest.mark.parametrize("times", [1, 2, 4])
def test_the_transform_keeps_its_digits_in_the_far_tail(times):
    part, seen = coarse(), []
    for epsilon in (0.0, 0.3, 1.0, 2.0, 3.0, 4.1):
        truth = float(exact_sum([(part, times)], epsilon))
        found = LossSum([(part, times)]).delta(epsilon)
        assert truth <= found
        if truth > 2.0 * part.infinite * times:
            assert found <= truth * (1 + 1e-6)
            seen.append(truth)
    assert min(seen) < 1e-13


@pytest.mark.seconds
def test_a_librarys_composition_agrees_where_it_has_digits():
    """dp-accounting rounds the same curve by itself; its transform is good to about 1e-13."""
    from dp_accounting.pld import pld_pmf

    mechanism, step = LARGE[0], 2.0**-9
    exact, last = curve(mechanism), 1100
    above = [exact(i * step) for i in range(last + 1)]
    below = [-math.expm1(-i * step) + math.exp(-i * step) * above[i] for i in range(last, 0, -1)]
    peer = pld_pmf.create_pmf_pessimistic_connect_dots(
        step, np.arange(-last, last + 1), below + above
    )
    mine = pld(mechanism)
    for times, epsilons in ((2, (0.5, 1.0, 1.4)), (16, (1.0, 3.0, 4.0)), (64, (3.0, 7.0))):
        theirs = peer.self_compose(times, 0)
        for epsilon in epsilons:
            expected = theirs.get_delta_for_epsilon(epsilon)
            assert expected > 1e-9
            assert LossSum([(mine, times)]).delta(epsilon) == pytest.approx(expected, rel=2e-3)


def test_a_millionfold_composition_of_next_to_nothing_is_the_gaussian_limit():
    """sigma^2 of one loss times a million, in the formula for Gaussian losses."""
    mechanism = clear_uniform(bins=2, fakes=4 * 10**6)
    part = pld(mechanism)
    variance = 2.0 * float(np.dot(part.chances, (part.places * part.step) ** 2))
    found = LossSum([(part, 10**6)]).delta(1.0)
    a, sigma = math.sqrt(10**6 * variance) / 2, math.sqrt(10**6 * variance)

    def phi(x):
        return math.erfc(-x / math.sqrt(2)) / 2

    gauss = phi(a - 1.0 / sigma) - math.e * phi(-a - 1.0 / sigma)
    assert found == pytest.approx(gauss, rel=1e-2)


def test_plans_of_very_different_size_compose():
    together = LossSum([(pld(LARGE[3]), 3), (pld(BLANK), 1)]).delta(1.0)
    alone = curve(BLANK)(1.0)
    assert alone < together < 1.5 * alone


@pytest.mark.parametrize(
    "mechanism", [clear_uniform(bins=3, fakes=0), clear_uniform(bins=10, fakes=1)]
)
def test_what_hides_nothing_is_never_a_promise(mechanism):
    assert LossSum([(pld(mechanism), 3), (pld(LARGE[0]), 1)]).delta(5.0) > 0.5


def test_what_tells_nothing_costs_nothing():
    nothing = pld(flip_blank(bins=2, fakes=3, threshold=1 << 63))
    assert LossSum([(nothing, 1000)]).delta(0.01) == 0.0
    one = LossSum([(pld(BLANK), 1)]).delta(1.0)
    assert LossSum([(nothing, 1000), (pld(BLANK), 1)]).delta(1.0) == pytest.approx(one, rel=1e-6)


def test_the_curve_holds_at_epsilon_zero():
    for mechanism in TINY:
        truth = float(truth_of(mechanism, 0.0))
        assert truth <= curve(mechanism)(0.0) <= truth * (1 + 1e-8)


def test_what_adds_up_to_the_budget_exactly_is_not_refused():
    """The curve of clear-shaped has an edge at its own epsilon, between points of the lattice."""
    mechanism = clear_shaped(bins=5, **least.shape(0.1, 1e-6))
    plan, own = plan_of(mechanism, 0.1), curve(mechanism)(0.1)
    assert compose.delta_of([(plan, 3)], 0.3).upper <= 3 * own * (1 + 1e-6)
    losses, times = Accountant().losses(Record.of(mechanism), FINE)
    assert times == 1
    assert LossSum([(losses, 3)]).delta(0.3) > 4 * own
    assert compose.delta_of([(plan, 3)], 0.2999).upper > 4 * own
