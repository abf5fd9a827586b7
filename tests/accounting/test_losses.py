"""Distributions of losses from few points: never below the curve, close enough, from few
evaluations.
"""

import math

import numpy as np
import pytest

from accounting.composed import LARGE, TINY, curve, pld
from helpers.sampled import among, each
from mixtally.accounting.composition import convolve
from mixtally.accounting.composition import pld as losses
from mixtally.accounting.composition.convolve import LossSum
from mixtally.accounting.composition.pld import (
    CLOSE,
    FINE,
    ROUGH,
    LossDistribution,
    connect_points,
    loss_distribution,
)

TIGHTNESS = {"fine": FINE, "close": CLOSE, "rough": ROUGH}
LOSSES = {"fine": 2e-4, "close": 1e-3, "rough": 5e-3}
MOST_POINTS = {"fine": 1000, "close": 260, "rough": 120}


def counted(mechanism, tightness):
    """The distribution and how often the curve was asked."""
    asked, exact = [], curve(mechanism)

    def count(epsilon):
        asked.append(epsilon)
        return exact(epsilon)

    found = loss_distribution(count, mechanism.local_epsilon, tightness)
    assert len(asked) == len(set(asked))
    return found, len(asked)


def least_epsilon(total, delta):
    """The least epsilon with delta(epsilon) <= delta, to seven digits; None when there is none."""
    low, high = 0.0, 20.0
    if total.delta(high) > delta:
        return None
    while high - low > 1e-7 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if total.delta(middle) <= delta else (middle, high)
    return high


@pytest.mark.parametrize("name", among(TIGHTNESS, ["rough"]))
@pytest.mark.parametrize("mechanism", [*LARGE, *TINY], ids=lambda mechanism: mechanism.name)
def test_no_chord_lies_below_the_curve(mechanism, name):
    exact = curve(mechanism)
    found, _ = counted(mechanism, TIGHTNESS[name])
    end = min(20.0, 1.1 * float(found.places[-1]) * found.step)
    for epsilon in end * (np.arange(200) * 0.6180339887 % 1.0):
        assert exact(float(epsilon)) <= found.delta(float(epsilon)) * (1 + 1e-12)


@pytest.mark.seconds
@pytest.mark.parametrize("name", TIGHTNESS)
@pytest.mark.parametrize("mechanism", LARGE, ids=lambda mechanism: mechanism.name)
def test_few_points_tell_nearly_all(mechanism, name):
    """Composed epsilons against those of a distribution with every point of the lattice that
    bends.
    """
    found, asked = counted(mechanism, TIGHTNESS[name])
    assert asked <= MOST_POINTS[name]
    best, _ = counted(mechanism, losses.Tightness(bend=2e-5, shift=0.0))
    for times in (1, 2, 5, 10, 30):
        wanted = least_epsilon(LossSum([(best, times)]), 1e-5)
        got = least_epsilon(LossSum([(found, times)]), 1e-5)
        assert (wanted is None) == (got is None)
        if wanted is not None:
            assert wanted * (1 - 1e-6) <= got <= wanted * (1 + LOSSES[name])


def test_an_edge_is_found_with_few_points():
    """clear-shaped falls steeply to an edge at its own epsilon and is flat from there on."""
    mechanism = LARGE[2]
    found, asked = counted(mechanism, ROUGH)
    assert asked <= 40
    assert found.delta(1.0 + found.step) == pytest.approx(
        curve(mechanism)(1.0 + found.step), rel=1e-6
    )


def coarser_holds(part, step, coarser=LossDistribution.coarsen):
    """Whether the coarser distribution's curve is made of chords of this one's, and no mass is
    lost.
    """
    found = coarser(part, step)
    last = math.ceil(float(part.places[-1]) * part.step / step) + 1
    chords = connect_points(step, {i: part.delta(i * step) for i in range(last + 1)})
    masses = [float(pld.expand_both_sides(pld.step)[1].sum()) for pld in (part, found)]
    return (
        masses[1] == pytest.approx(masses[0], rel=1e-12)
        and found.zero == pytest.approx(chords.zero, rel=1e-9)
        and all(
            part.delta(e) * (1 - 1e-12) <= found.delta(e)
            and found.delta(e) == pytest.approx(chords.delta(e), rel=1e-9, abs=1e-24)
            for e in np.linspace(0.0, last * step, 301)
        )
    )


@pytest.mark.parametrize("step", among([2.0**-7, 2.0**-4, 0.5, 4.0], [0.5]))
@pytest.mark.parametrize("mechanism", LARGE[:3], ids=lambda mechanism: mechanism.name)
def test_a_coarser_lattice_is_one_of_chords(mechanism, step):
    assert coarser_holds(pld(mechanism), step)


@pytest.mark.parametrize(
    "change",
    [
        lambda part, ratio: part.places // ratio,
        lambda part, ratio: part.places // ratio + 1,
        lambda part, ratio: (part.places + ratio // 2) // ratio,
    ],
    ids=["down", "up", "nearest"],
)
def test_a_wrong_coarser_lattice_is_noticed(change):
    def rounded(part, step):
        places = change(part, round(step / part.step))
        return LossDistribution(step, places, part.chances, part.zero, part.infinite)

    assert not coarser_holds(pld(LARGE[0]), 0.125, rounded)


def test_nothing_stays_nothing_on_any_lattice():
    nothing = connect_points(1.0, {0: 0.0, 1: 0.0})
    assert nothing.coarsen(8.0).delta(0.0) == 0.0


@pytest.mark.seconds
def test_a_common_lattice_is_hardly_coarser_than_the_finest(monkeypatch):
    """Two plans whose lattices are far apart: at most a hair is added, nothing taken."""
    parts = [(pld(LARGE[0]), 3), (pld(LARGE[3]), 5)]
    assert parts[0][0].step > parts[1][0].step
    together = LossSum(parts)
    assert together.step > parts[1][0].step
    monkeypatch.setattr(convolve, "_LATTICE_VARIANCE_SHARE", 0.0)
    apart = LossSum(parts)
    assert apart.step == parts[1][0].step
    for delta in (1e-3, 1e-6, 1e-12):
        wanted = least_epsilon(apart, delta)
        assert wanted * (1 - 1e-6) <= least_epsilon(together, delta) <= wanted * (1 + 5e-4)


@pytest.mark.seconds
def test_many_losses_on_a_fine_lattice_keep_it():
    parts = [(pld(LARGE[0]), 1), (pld(LARGE[3]), 10**6)]
    assert LossSum(parts).step < parts[0][0].step


def test_a_far_tail_does_not_lengthen_the_transform(watch):
    """Losses up to 11 with chances of 1e-22: the best further tilt is far below a Gaussian's."""
    total, seen = LossSum([(pld(LARGE[0]), 30)]), watch(LossSum, "_sum")
    for epsilon in (0.05, 0.5, 1.0):
        total.delta(epsilon)
    assert len(seen) == 3
    assert max(cells for *_, cells in seen) < 1 << 15


@pytest.mark.parametrize("name", among(["close", "rough"], ["rough"]))
@pytest.mark.parametrize("times", among([2, 30], [30]))
@pytest.mark.parametrize("mechanism", each(LARGE, 2), ids=lambda mechanism: mechanism.name)
def test_what_lies_far_below_an_aim_costs_fewer_points_and_adds_its_share(mechanism, name, times):
    tightness, delta = TIGHTNESS[name], 1e-6
    aimed = tightness.adapt_to_delta(delta, times)
    whole, asked = counted(mechanism, tightness)
    found, fewer = counted(mechanism, aimed)
    assert fewer < asked or asked < 20  # shaped fakes have an edge, and hardly a curve
    exact, end = curve(mechanism), float(whole.places[-1]) * whole.step
    for epsilon in end * (np.arange(60) * 0.6180339887 % 1.0):
        assert exact(float(epsilon)) <= found.delta(float(epsilon)) * (1 + 1e-12)
    best, _ = counted(mechanism, losses.Tightness(bend=2e-5, shift=0.0))
    wanted = least_epsilon(LossSum([(best, times)]), delta)
    if wanted is not None:
        shifted = wanted * (1 + LOSSES[name])
        least, most = (
            LossSum([(best, times)]).delta(shifted),
            LossSum([(found, times)]).delta(shifted),
        )
        assert most <= max(delta, least) * (1 + 2 * tightness.share)


def test_an_aim_that_is_forgotten_to_be_shared_is_noticed():
    """The twin: a floor of all of delta for each of thirty messages."""
    mechanism = LARGE[0]
    careless = CLOSE._replace(floor=1e-6)
    found, _ = counted(mechanism, careless)
    best, _ = counted(mechanism, losses.Tightness(bend=2e-5, shift=0.0))
    wanted = least_epsilon(LossSum([(best, 30)]), 1e-6)
    assert LossSum([(found, 30)]).delta(wanted * (1 + LOSSES["close"])) > 1.5e-6
