"""Sets in clear, one stream: the worst pair by enumeration, and proved bounds around the truth."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from accounting import brute_sets as brute
from accounting.brute_sets import hidden as among
from helpers.named import clear_uniform
from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.calibrate import calibrate
from mixtally.accounting.composition.losses import LossDistribution
from mixtally.accounting.divergence import set_in_clear
from mixtally.accounting.numerics import poissonized
from mixtally.errors import AccountingError, ParameterError
from mixtally.model.mechanism import InClear, Parameter, UniformFakes

KNOWN = json.loads((Path(__file__).parent / "sets_in_clear.json").read_text())
"""Known values: fractions by another enumeration, floats by 40-digit arithmetic."""
SMALL = [
    (bins, size, fakes) for bins, size in ((2, 2), (3, 2), (4, 2), (3, 3)) for fakes in range(6)
]
GROWS = (Fraction(11, 10), Fraction(2), Fraction(27, 10), Fraction(7))
TWO = [
    (fakes, cells, epsilon)
    for fakes in (0, 1, 3, 8, 25, 40)
    for cells in (4, 5, 8, 20, 100)
    for epsilon in (0.01, 0.3, 1.0, 3.0)
]
KEPT = pytest.mark.parametrize(("bins", "size", "fakes"), SMALL)


def known(group):
    return [(one["inputs"], one["value"]) for one in KNOWN[group]]


@KEPT
def test_the_worst_two_sets_are_an_empty_and_a_full_one(bins, size, fakes):
    """And bounds are never below the truth, in both directions."""
    for grow in GROWS[fakes % 2 :: 2]:
        truth = brute.worst(bins, size, fakes, grow)
        assert truth == brute.disjoint(size, bins + size, fakes, grow)
        bounds = set_in_clear.delta(among(size, bins + size, fakes), math.log(grow))
        assert bounds.lower <= truth <= bounds.upper


def test_disjoint_sets_are_one_number_either_way():
    for fakes in range(5):
        for grow in GROWS:
            one, other = brute.divergences((0, 1), (2, 3), 5, fakes, grow)
            assert one == other


@pytest.mark.parametrize(("given", "value"), known("sets-exact"))
def test_enumerated_values_are_the_known_ones(given, value):
    grow = Fraction(given["e_eps"])
    found = brute.disjoint(given["k"], given["D"], given["m"], grow)
    assert found == Fraction(value)
    bounds = set_in_clear.delta(among(given["k"], given["D"], given["m"]), math.log(grow))
    assert bounds.lower <= found <= bounds.upper


def test_pads_that_are_one_bin_break_the_promise():
    for bins, fakes in ((3, 3), (4, 5), (3, 5)):
        grow = Fraction(2)
        truth = brute.worst(bins, 2, fakes, grow, brute.padded_alike)
        assert truth > brute.disjoint(2, bins + 2, fakes, grow)


@pytest.mark.parametrize(("given", "value"), known("sets-pads"))
def test_known_pads(given, value):
    """In one bin of one bin's fakes they break it; in one of k bins' they are merged cells."""
    bins, size, fakes = (given[name] for name in ("d", "k", "m"))
    grow = Fraction(given["e_eps"])
    full, pads = range(size), [bins] * size
    ordinary = brute.divergences(full, pads, bins + 1, fakes, grow)
    assert list(map(str, ordinary)) == value["none_weight_1"]
    weights = [Fraction(1, bins + size)] * bins + [Fraction(size, bins + size)]
    merged = brute.divergences(full, pads, bins + 1, fakes, grow, weights)
    assert list(map(str, merged)) == value["none_weight_k"]
    law = brute.disjoint(size, bins + size, fakes, grow)
    assert str(law) == value["law_k_distinct_d_plus_k"]
    assert max(merged) <= law < max(ordinary)


@pytest.mark.parametrize(("given", "value"), known("sets-repeats"))
def test_a_member_twice_costs_more_than_is_promised(given, value):
    """So devices refuse it."""
    cells, fakes, grow = given["D"], given["m"], Fraction(given["e_eps"])
    for name, u, v in (("distinct", (0, 1), (2, 3)), ("uu_vv", (0, 0), (1, 1)),
                       ("uu_vw", (0, 0), (1, 2))):  # fmt: skip
        assert list(map(str, brute.divergences(u, v, cells, fakes, grow))) == value[name]
    assert Fraction(value["uu_vv"][0]) > Fraction(value["distinct"][0])


def holds(fakes, cells, epsilon):
    try:
        bounds = set_in_clear.delta(among(2, cells, fakes), epsilon)
    except AccountingError:  # the ends contradict each other
        return False
    truth = brute.two_of(fakes, cells, epsilon)
    return bounds.lower <= truth * (1 + 1e-12) and truth <= bounds.upper * (1 + 1e-12)


@pytest.mark.parametrize(("fakes", "cells", "epsilon"), TWO)
def test_bounds_hold_the_sum_over_four_cells(fakes, cells, epsilon):
    assert holds(fakes, cells, epsilon)


def test_the_sum_over_four_cells_is_the_enumeration():
    for fakes, cells in ((0, 4), (1, 5), (3, 4), (5, 6)):
        exact = brute.disjoint(2, cells, fakes, Fraction(2))
        assert brute.two_of(fakes, cells, math.log(2)) == pytest.approx(float(exact), abs=1e-14)


@pytest.mark.parametrize(("near", "name"), [(False, "upper_factor"), (True, "bound_above")])
def test_the_factor_of_poisson_fakes_multiplies_delta(plant, near, name):
    """A planted factor of 1.01 raises the delta of one message by as much.

    It raises the delta of 400 composed rounds by more than that.
    """
    hidden, share = among(2, 400, 4_000_000), 1.01
    record = Record.of(clear_uniform(bins=398, fakes=4_000_000, max_set=2))
    one = set_in_clear.upper(hidden, 0.05, near=near)
    many = Accountant().upper(record, 1.0, 400)

    def larger(honest, *given):
        found = honest(*given)
        return (
            found * share if name == "upper_factor" else found._replace(share=found.share * share)
        )

    plant(poissonized, name, larger)
    assert set_in_clear.upper(hidden, 0.05, near=near) == pytest.approx(share * one, rel=1e-9)
    if near:
        assert Accountant().upper(record, 1.0, 400) > 1.03 * many


def certain(honest, mean, step):
    """Planted: what shows that a member is not there is left out."""

    def without(one):
        return LossDistribution(one.step, one.places, one.chances, one.zero, 0.0, one.other)

    return tuple(map(without, honest(mean, step)))


def higher(honest, mean, step):
    """Planted: fakes of twice as many cells."""
    return honest(2.0 * mean, step)


@pytest.mark.parametrize("planted", [certain, higher])
def test_planted_losses_are_found(plant, planted):
    plant(set_in_clear, "gain_and_loss_of_message", planted)
    assert sum(not holds(*case) for case in TWO if case[0] < 25) >= 5


@pytest.mark.parametrize(("given", "value"), known("sets-fixed-k2"))
def test_known_sets_of_two(given, value):
    hidden, epsilon = among(2, given["D"], given["m"]), given["eps"]
    bounds = set_in_clear.delta(hidden, epsilon)
    assert bounds.lower <= value["exact"] <= bounds.upper <= value["upper"]
    factor = poissonized.upper_factor(hidden.binomials()[:1])
    assert bounds.upper / factor == pytest.approx(value["poisson_same_mean"], rel=2e-5)
    assert 1.0 <= factor <= value["rstar"]
    assert bounds.upper / factor * value["rstar"] == pytest.approx(value["upper"], rel=2e-5)


@pytest.mark.parametrize(("given", "value"), known("sets-poisson"))
def test_known_poisson_cells(given, value):
    """By so many fakes over so many cells that their number is as good as a Poisson one."""
    cells = 10**7
    hidden = among(given["k"], cells, round(given["lam"] * cells))
    for near, most in ((False, 2e-5), (True, 5e-3)):
        found = set_in_clear.upper(hidden, given["eps"], near=near)
        assert -1e-8 <= found / value["value"] - 1.0 <= most


@pytest.mark.parametrize(("given", "value"), known("sets-calibrated"))
def test_known_fakes(given, value):
    """No more than by the largest ratio of chances, and nearly those of Poisson cells."""
    size, cells = given["k"], given["D"]
    if size == 1:
        return
    bounds = set_in_clear.delta(among(size, cells, value["fakes"]), given["eps"])
    assert bounds.upper <= given["delta"] <= bounds.upper * 1.02
    assert bounds.upper * 0.93 <= bounds.lower
    record = Record.of(clear_uniform(bins=cells - size, fakes=0, max_set=size))
    found = calibrate(Accountant(), record, Parameter.FAKES, given["eps"], given["delta"])
    fakes = found.message.mechanism.fakes_promised
    assert value["lam_poisson"] * (1 - 2e-5) * cells <= fakes <= value["fakes"]
    assert found.message.mechanism.standard_error(10**6) == pytest.approx(value["SE"], rel=1e-3)


@pytest.mark.parametrize(("given", "value"), known("sets-pads-large"))
def test_known_price_of_pads_in_one_bin(given, value):
    """Hundreds of times what is promised: a bin that holds k copies moves the likelihood by k."""
    law = set_in_clear.upper(among(given["k"], 10**7, round(given["lam"] * 10**7)), given["eps"])
    assert max(value["weight_k"]) <= law * 1.001
    assert max(value["weight_1"]) > 50 * law


def test_k_streams_are_k_times_too_dear():
    """The fakes of four streams that are composed would hide one stream four times."""
    split = Record.of(InClear(bins=1000, fakes=UniformFakes(0)), pieces=4)
    found = calibrate(Accountant(), split, Parameter.FAKES, 1.0, 1e-6).message.mechanism
    whole = set_in_clear.delta(among(4, 1004, found.fakes_promised), 1.0)
    assert 0.5e-6 < whole.upper < 1.05e-6
    assert set_in_clear.delta(among(4, 1004, found.fakes_promised // 4), 1.0).lower > 1e-3


@pytest.mark.parametrize("hidden", [
    (2, 1002, 0, 10_000, 0.5), (3, 40, 2000, 500, 0.3), (2, 4, 100, 40, 0.999),
])  # fmt: skip
def test_coins_are_averaged_between_few_and_many_fakes(hidden):
    size, cells, fakes, people, _ = hidden
    bounds = set_in_clear.delta(among(*hidden), 1.0)
    assert set_in_clear.delta(among(size, cells, fakes + people), 1.0).lower <= bounds.upper
    assert bounds.lower <= set_in_clear.upper(among(size, cells, fakes), 1.0)
    assert bounds.lower <= bounds.upper


def test_coins_by_enumeration():
    """E over the coins of three people, who draw one fake each at most."""
    for coin in (0.25, 0.5):
        share = Fraction(coin)
        exact = sum(
            math.comb(3, more) * share**more * (1 - share) ** (3 - more)
            * brute.disjoint(2, 5, 2 + more, Fraction(2))
            for more in range(4)
        )  # fmt: skip
        bounds = set_in_clear.delta(among(2, 5, 2, 3, coin), math.log(2))
        assert bounds.lower <= exact <= bounds.upper


def test_many_coins_are_bracketed_by_the_sum_over_them():
    hidden, chances = among(2, 8, 0, 24, 0.5), 0.5**24
    exact = sum(math.comb(24, more) * chances * brute.two_of(more, 8, 3.0) for more in range(25))
    bounds = set_in_clear.delta(hidden, 3.0)
    assert bounds.lower <= exact
    assert exact <= bounds.upper


def test_bounds_fall_with_epsilon_and_with_fakes():
    for size, cells in ((2, 4), (3, 12), (16, 1016)):
        bounds = [
            [set_in_clear.upper(among(size, cells, fakes), epsilon) for epsilon in (0, 0.5, 1, 4)]
            for fakes in np.geomspace(1, 600 * cells, 8).astype(int).tolist()
        ]
        assert np.all(np.diff(bounds, axis=0) <= 1e-12)
        assert np.all(np.diff(bounds, axis=1) <= 1e-12)


def test_without_fakes_everything_is_told():
    assert set_in_clear.delta(among(2, 9, 0), 1.0) == (1.0, 1.0)


def test_so_many_fakes_that_nothing_is_left():
    lower, upper = set_in_clear.delta(among(2, 10, 10**13), 0.01)
    assert 0.0 == lower < upper < 1e-26


def test_collections_are_composed():
    """Two of them cost less than twice the epsilon, and more than one."""
    record = Record.of(clear_uniform(bins=50, fakes=8000, max_set=3))
    one, two = (Accountant().upper(record, 1.0, times) for times in (1, 2))
    assert one < two
    assert two <= 2 * Accountant().upper(record, 0.5)
    # As one record of twice as many cells, whose fakes in a cell are as many.
    both = set_in_clear.delta(among(6, 5300, 800_000), 1.0)
    every = Accountant().upper(
        Record.of(clear_uniform(bins=5297, fakes=800_000, max_set=3)), 1.0, 2
    )
    assert both.lower <= every <= both.upper * 1.03


@pytest.mark.parametrize(("bins", "most"), [(5, 6), (20, 17), (5, 0)])
def test_sets_that_cannot_be_are_refused(bins, most):
    with pytest.raises(ParameterError, match="max set"):
        clear_uniform(bins=bins, fakes=1, max_set=most)


@pytest.mark.parametrize("rounds", [1000, 50_000, 120_000])
@pytest.mark.parametrize(("replaced", "epsilon"), [(1 - 1e-6, 1.0), (1 - 1e-5, 20.0), (0.5, 0.01)])
def test_the_rounding_of_many_rounds_is_subtracted(replaced, epsilon, rounds):
    """No lower end is above 1, and none is positive above the loss that replacing values keeps."""
    hidden = set_in_clear.HiddenSet(2, 5, (), 0.0, replaced)
    local = 2 * rounds * math.log1p((1 - replaced) * 5 / replaced)
    found = set_in_clear.lower_by_counting(hidden, epsilon, rounds)
    assert 0.0 <= found <= (1.0 if epsilon < local else 0.0)


def test_a_difference_of_counts_keeps_its_digits():
    """One message among fakes, each a step of 1, of -1 or 0, by its distribution in fractions."""
    fakes, step, grow = 6, Fraction(1, 5), Fraction(3, 2)
    steps, law = {1: step, -1: step, 0: 1 - 2 * step}, {1: Fraction(1)}
    for _ in range(fakes):
        law = {
            at: sum(law.get(at - move, 0) * chance for move, chance in steps.items())
            for at in range(-fakes - 1, fakes + 2)
        }
    tails = [
        sum(p for at, p in law.items() if at >= least)
        - grow * sum(p for at, p in law.items() if at <= -least)
        for least in range(fakes + 2)
    ]
    hidden = set_in_clear.HiddenSet(1, 5, ((fakes, 1.0),), 0.0, 0.0)
    found = set_in_clear.lower_by_counting(hidden, math.log(grow), 1)
    assert max(tails) * Fraction(1 - 1e-11) <= found <= max(tails)
