"""Counts of two bins whose fakes have a fixed total: their errors are opposite."""

import math

import numpy as np
import pytest

from helpers import contracts
from mixtally.errors import MessageError
from mixtally.model.estimates import Tally
from mixtally.model.mechanism import InClear, ShapedFakes
from mixtally.model.question import Question
from mixtally.model.received import PartReceived, Received
from mixtally.model.shape import PairedLaplaceShape, ratio_of
from mixtally.primitives.fixed_point import SCALE
from mixtally.protocol.estimate.change import TalliedPart
from mixtally.protocol.estimate.conclude import conclude
from mixtally.protocol.estimate.covering_hops import find_covering_hops
from mixtally.protocol.estimate.cumulants import cumulants
from mixtally.protocol.estimate.intervals import EXACT, intervals
from mixtally.protocol.estimate.projection import totals_of
from mixtally.protocol.estimate.received import assume_received, reconcile_parts
from mixtally.protocol.estimate.received_fakes import check_message_count
from mixtally.protocol.estimate.total import group_total, total_interval
from mixtally.protocol.estimate.two_bins import difference_intervals, difference_variance
from mixtally.protocol.estimate.winner import winner_chances

SHAPE = PairedLaplaceShape(ratio_of(0.4), 12)
PEOPLE, FIRST = 60, 23
LEVEL = 0.9


def mechanism_of(mixes):
    return InClear(bins=2, fakes=ShapedFakes(SHAPE, mixes))


def draws(mixes):
    """The chance of every number of fakes in the first bin, in floats."""
    one = np.array([weight / SCALE for weight in SHAPE.weights])
    pmf = one
    for _ in range(mixes - 1):
        pmf = np.convolve(pmf, one)
    return pmf


def tally_of(fakes, mixes, first=FIRST, people=PEOPLE):
    every = mixes * SHAPE.most
    counts = np.array([first + fakes, people - first + every - fakes])
    return Tally(counts, people + every)


def plan_of(hops=2):
    part = contracts.paired(ratio=SHAPE.ratio, shift=SHAPE.shift)
    return contracts.proved(
        contracts.plan_of(Question(name="q", bins=2), [part], hops=hops, minimum_crowd=1)
    )


@pytest.mark.parametrize("mixes", [1, 3])
def test_estimates_are_unbiased_and_opposite(mixes):
    mechanism, pmf = mechanism_of(mixes), draws(mixes)
    mean = square = 0.0
    for fakes, chance in enumerate(pmf):
        tally = tally_of(fakes, mixes)
        counts = mechanism.debias_counts(tally.counts, tally.messages)
        assert counts.sum() == pytest.approx(PEOPLE, abs=1e-9)
        mean += chance * counts[0]
        square += chance * (counts[0] - FIRST) ** 2
    assert mean == pytest.approx(FIRST, abs=1e-9)
    messages = tally_of(0, mixes).messages
    assert square == pytest.approx(mechanism.variance(messages), rel=1e-9)
    assert mechanism.variance_given_total(messages, 2) == mechanism.variance(messages)
    assert totals_of(mechanism, tally_of(3, mixes), PEOPLE, [2]) == []


def coverage(mixes, holds):
    return sum(chance for fakes, chance in enumerate(draws(mixes)) if holds(tally_of(fakes, mixes)))


@pytest.mark.parametrize("mixes", [1, 2])
def test_intervals_are_exact(mixes):
    """Each tail has at most its share, and one fake less on either side would be too few."""
    mechanism, pmf = mechanism_of(mixes), draws(mixes)

    def holds(tally):
        found = intervals(mechanism, tally, LEVEL, simultaneous_over=1)
        assert found.method == EXACT
        assert found.lower[0] + found.upper[1] == PEOPLE == found.lower[1] + found.upper[0]
        return found.lower[0] <= FIRST <= found.upper[0]

    share = coverage(mixes, holds)
    assert LEVEL <= share <= LEVEL + 2.0 * pmf.max()


@pytest.mark.parametrize("mixes", [1, 2])
def test_a_difference_of_both_counts_moves_by_two(mixes):
    mechanism = mechanism_of(mixes)

    def bins(tally):
        return [
            TalliedPart(mechanism, Tally(tally.counts[[place]], tally.messages)) for place in (0, 1)
        ]

    def holds(tally):
        first, second = bins(tally)
        found = difference_intervals(first, second, LEVEL, over=1, one_message=True)
        return found.lower[0] <= 2 * FIRST - PEOPLE <= found.upper[0]

    share = coverage(mixes, holds)
    assert LEVEL <= share <= LEVEL + 2.0 * draws(mixes).max()
    first, second = bins(tally_of(5, mixes))
    spread = difference_variance(first, second, one_message=True)
    assert spread == pytest.approx(4.0 * mechanism.variance(first.tally.messages))


def test_cumulants_are_those_of_a_weighted_sum():
    """With weights w and -w the sum is 2 w X less a constant."""
    mechanism, pmf = mechanism_of(2), draws(2)
    gap = np.arange(len(pmf)) - mechanism.offset(0)
    second, fourth = (float((pmf * gap**order).sum()) for order in (2, 4))
    found = cumulants(mechanism, 100, np.array([5.0, 9.0]))
    assert 2.0 * found.variance == pytest.approx(4.0 * second)
    assert 2.0 * found.fourth == pytest.approx(16.0 * (fourth - 3.0 * second**2))
    assert not found.third.any()


def test_totals_of_one_bin_and_of_both():
    mechanism, tally = mechanism_of(2), tally_of(20, 2)
    both = group_total(mechanism, tally, np.array([0, 1]), PEOPLE)
    assert (both.estimate, both.variance, both.exact(0.05)) == (PEOPLE, 0.0, (PEOPLE, PEOPLE))
    one = group_total(mechanism, tally, np.array([1]), PEOPLE)
    low, high, method = total_interval([one], 0.05)
    alone = intervals(mechanism, tally, LEVEL, simultaneous_over=1)
    assert (low, high, method) == (alone.lower[1], alone.upper[1], EXACT)
    assert mechanism.noise_of_bins(tally.messages, 2, PEOPLE).constant == 2 * SHAPE.most


@pytest.mark.parametrize("mixes", [1, 2])
def test_the_chance_to_have_won_is_bayes(mixes):
    """With every number of votes equally likely before; ties are decided by lot."""
    mechanism, pmf, people = mechanism_of(mixes), draws(mixes), 12
    for seen in (4, 15, 12 * mixes + 6, 12 * mixes + 9):
        tally = tally_of(seen, mixes, first=0, people=people)
        likely = {z: pmf[seen - z] for z in range(people + 1) if 0 <= seen - z < len(pmf)}
        won = sum(one * (1 + np.sign(2 * z - people)) / 2 for z, one in likely.items())
        found = winner_chances(mechanism, tally, people)
        assert found.tolist() == pytest.approx(
            [won / sum(likely.values()), 1 - won / sum(likely.values())], abs=1e-9
        )
        assert winner_chances(mechanism, tally, people, 0).tolist() == [0.0, 1.0]
        assert winner_chances(mechanism, tally, people, 1).tolist() == [1.0, 0.0]


def test_votes_that_nobody_can_have_cast_are_refused():
    tally = Tally(np.array([100, 2]), 12 + SHAPE.most)
    with pytest.raises(MessageError, match="counts that some votes explain"):
        winner_chances(mechanism_of(1), tally, 12)


def received(declared, people=PEOPLE):
    total = people + sum(one or 0 for one in declared)
    return Received(
        contributors=people,
        parts=(PartReceived(declared=tuple(declared), received=total, dropped={}),),
    )


def test_a_hop_adds_all_fakes_of_its_recipe_or_none():
    plan, most = plan_of(), SHAPE.most
    (found,) = reconcile_parts(plan, received([most, most]))
    assert found.mechanism.shaped_fakes.mixes == 2
    assert find_covering_hops(plan, received([most, most])) == [1, 2]
    (found,) = reconcile_parts(plan, received([None, most]))
    assert found.mechanism.shaped_fakes.mixes == 1
    assert find_covering_hops(plan, received([None, most])) == [2]
    for wrong in (most - 1, most + 1, 1):
        with pytest.raises(MessageError, match=f"{most}, which its recipe fixes"):
            reconcile_parts(plan, received([wrong, most]))
    with pytest.raises(MessageError, match="nothing else hides"):
        reconcile_parts(plan, received([None, None]))


def test_a_message_too_few_or_too_many_is_refused():
    mechanism, messages = mechanism_of(2), PEOPLE + 2 * SHAPE.most
    check_message_count(mechanism, messages, PEOPLE)
    for wrong in (messages - 1, messages + 1):
        with pytest.raises(MessageError, match=f"expected {messages:,} messages"):
            check_message_count(mechanism, wrong, PEOPLE)


def test_a_round_in_one_process_lacks_no_message():
    plan, tally = plan_of(), tally_of(20, 2)
    assert assume_received(plan, PEOPLE, [tally]).parts[0].declared == (SHAPE.most, SHAPE.most)
    found = conclude(plan, [tally], received=received([SHAPE.most, SHAPE.most])).estimate
    assert found.counts.sum() == pytest.approx(PEOPLE)
    assert found.standard_error == pytest.approx(math.sqrt(2 * SHAPE.spread))
    short = Tally(tally.counts - np.array([1, 0]), tally.messages - 1)
    with pytest.raises(MessageError, match="messages of people"):
        conclude(plan, [short])
