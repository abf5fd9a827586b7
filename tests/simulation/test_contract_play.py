"""Rounds of a plan with hops: unbiased and covered, whoever comes and whoever draws."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import stats

from helpers.contracts import flipped, plan_of, proved, shaped, uniform
from helpers.least import threshold
from helpers.sampled import among
from mixtally.errors import MessageError, ParameterError, PlanError
from mixtally.lab.data.population import Population
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.play import ALL_HONEST, DishonestHops, HopConduct
from mixtally.lab.simulation.rounding import round_crowd
from mixtally.lab.simulation.run import simulate_release
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.lab.simulation.truth import truth_of
from mixtally.model.contract import FakeRecord, OwnFakes
from mixtally.model.grid import Grid
from mixtally.model.layout import Form
from mixtally.model.question import Kind, Question, make_attributes_question
from mixtally.planning import Planner
from mixtally.primitives.bits import one_hot_rows
from mixtally.protocol.estimate.analysis import Analysis
from mixtally.protocol.estimate.received import reconcile_parts
from mixtally.protocol.mixing import shuffle

BINS, USERS, CAME, CROWD = 6, 1000, 730, 600
QUESTION = Question(name="q", bins=BINS)
PLANNER = Planner()
BLANK = OwnFakes(FakeRecord.BLANK, 2, 1 << 62)
FLIP = threshold(2 * CROWD, 1.0, 1e-3) / 2**64 * 1.2
PARTS = {
    "shaped": [shaped(BINS, shift=20)],
    "uniform": [uniform(BINS, whole=0, coin=int(0.9 * 2**64))],
    "blanks of people": [flipped(BINS, q=FLIP, own=BLANK)],
    "blanks of people as positions": [
        flipped(BINS, q=FLIP, own=BLANK, form=Form.POSITIONS, cap=BINS)
    ],
    "blanks of mixes": [flipped(BINS, q=FLIP, blanks=2 * CROWD, form=Form.POSITIONS, cap=BINS)],
    "uniform, flipped": [flipped(BINS, q=0.2, own=OwnFakes(FakeRecord.UNIFORM, 1, 1 << 62))],
    "flips of people": [flipped(BINS, q=0.2)],
}


def planned(parts, question=QUESTION, **changes):
    fields = {"users": USERS, "minimum_crowd": CROWD, "hops": 3, "delta": 0.1, **changes}
    return proved(plan_of(question, parts, **fields), PLANNER.accountant)


def played(plan, people, seed=5, **how):
    return simulate_release(plan, people, Lab(SeededChance(seed), planner=PLANNER), **how)


def crowd(people=CAME, bins=BINS):
    """Half of the people in the first bin, none in the last."""
    codes = np.where(np.arange(people) % 2, 0, np.arange(people) % (bins - 1))
    return Population(QUESTION, codes)


def rounds(parts, hops, runs=60, **changes):
    plan, lab = planned(parts, **changes), Lab(SeededChance(5), planner=PLANNER)
    return [simulate_release(plan, crowd(), lab, hops=hops) for _ in range(runs)]


def worst_bias(every, truth, counts=None):
    """The least p-value of a bin's mean error, Bonferroni."""
    off = np.array(counts or [one.result.estimate.counts for one in every]) - truth
    z = off.mean(axis=0) / (off.std(axis=0, ddof=1) / np.sqrt(len(off)))
    return float(2 * stats.norm.sf(np.abs(z)).min() * off.shape[1])


def coverage(every, true):
    """The chance of so few covered bins at the stated level or more."""
    each = [one.result.estimate.individual for one in every]
    inside = sum(int(((one.lower <= true) & (true <= one.upper)).sum()) for one in each)
    return stats.binom.cdf(inside, len(every) * len(true), each[0].level)


@cache
def silent(name):
    """Sixty rounds in which one hop draws nothing, and does not say so."""
    return rounds(PARTS[name], DishonestHops({2}, HopConduct(leaves_out=0.0, declares=False)))


QUICK = ("shaped", "uniform", "blanks of people as positions")
"""Fakes of mixes, fakes of people in clear, and flips with both fakes and positions."""


@pytest.mark.parametrize("name", among(PARTS, QUICK))
def test_counts_are_unbiased_and_covered_whoever_comes(name):
    """Fewer come than were expected, one hop draws nothing; false alarm 2 * 10^-6 a case."""
    every, truth = silent(name), crowd().truth
    assert {one.refusal for one in every} == {None}
    assert worst_bias(every, truth) > 1e-6
    assert coverage(every, truth) > 1e-6
    assert every[0].conclusion.received.contributors == CAME != USERS


def promised(one):
    """Counts by the numbers that the plan expects, in place of those that came."""
    plan, (part,) = one.conclusion.plan, one.conclusion.plan.parts
    (came,) = reconcile_parts(plan, one.conclusion.received)
    fakes = 0 if part.own is None else round(plan.users * part.own.mean)
    expected = part.mechanism(fakes=fakes, mixes=plan.hops)
    messages = one.result.messages
    counted = one.result.estimate.counts * came.mechanism.gain + came.mechanism.offset(messages)
    return expected.debias_counts(counted, messages)


@pytest.mark.parametrize("name", among(["shaped", "uniform", "uniform, flipped"], QUICK[:2]))
def test_counts_by_promised_numbers_are_found_biased(name):
    every = silent(name)
    assert worst_bias(every, crowd().truth, [promised(one) for one in every]) < 1e-6


def test_parts_stand_side_by_side():
    """Two attributes, each a stream of its own; false alarm 10^-6."""
    question = make_attributes_question("q", (4, 3))
    codes = np.arange(CAME) % 4, np.arange(CAME) % 3
    records = one_hot_rows(codes[0], 7) | one_hot_rows(4 + codes[1], 7)
    plan = planned([uniform(4, whole=1, coin=0), uniform(3, whole=1, coin=0)], question)
    every = [played(plan, Population(question, records), i) for i in range(40)]
    assert worst_bias(every, [*np.bincount(codes[0]), *np.bincount(codes[1])]) > 1e-6
    first = every[0].conclusion
    assert first.messages == sum(part.received for part in first.received.parts)


def test_bits_in_clear_count_who_says_yes():
    question = Question(name="q", bins=2, kind=Kind.BITS)
    records = np.full((CAME, 1), 1, dtype=np.uint8)
    plan = planned([shaped(2), shaped(2)], question)
    result = played(plan, Population(question, records), 2).result
    assert abs(result.estimate.counts[0] - CAME) < 100 > abs(result.estimate.counts[1])


def test_pairs_of_bits_that_travel_whole_are_counted():
    """All pairs at once within their intervals as often as these say; false alarm 10^-6."""
    question = Question(name="q", bins=4, kind=Kind.BITS)
    records = np.where(np.arange(CAME) % 2, 0b0011, 0b1100).astype(np.uint8)[:, None]
    plan = planned([flipped(4, most_set=None, q=0.2)], question, epsilon=2.0)
    people, inside = Population(question, records), 0
    for seed in range(40):
        result = played(plan, people, seed, analysis=Analysis(pairs=True)).result
        figures, truth = result.figures[0], truth_of(people, result).figures
        true = dict(zip(figures.about, truth[figures.name], strict=True))
        assert true[0, 1] == CAME // 2
        assert true[0, 2] == 0
        inside += all(
            row.lower_simultaneous <= true[pair] <= row.upper_simultaneous
            for row, pair in zip(figures.rows, figures.about, strict=True)
        )
    assert stats.binom.cdf(inside, 40, 0.95) > 1e-6


def test_counts_are_projected_beside_the_unbiased_ones():
    asked = Analysis(projection="simplex")
    found = played(planned(PARTS["shaped"]), crowd(), analysis=asked).result.estimate
    assert found.projected.sum() == pytest.approx(CAME)
    assert found.projected.min() >= 0.0


def test_numbers_have_their_mean():
    grid = Grid(low=0.0, high=float(BINS), points=BINS)
    plan = planned(PARTS["shaped"], grid.make_question("q"), grid=grid)
    people = crowd()
    people = replace(people, values=people.codes + 0.5)
    people = round_crowd(people, plan, SeededChance(1))
    result = played(plan, people, 3).result
    (mean, *_) = truth_of(people, result).figures["numbers"]
    assert result.figures[0].rows[0].lower <= mean <= result.figures[0].rows[0].upper


@pytest.mark.parametrize("name", PARTS)
def test_a_first_hop_that_leaves_people_out_is_refused(name):
    (one,) = rounds(PARTS[name], DishonestHops({1}), runs=1)
    with pytest.raises(MessageError, match="messages of people in part 1"):
        _ = one.result
    assert "messages of people in part 1" in one.refusal
    part, came = one.conclusion.plan.parts[0], one.conclusion.received.parts[0]
    drawn = [many for many in came.declared[1:] if many is not None]
    assert 1 <= came.received - sum(drawn) <= part.most


def test_what_dishonest_hops_draw_they_tell():
    hops = DishonestHops({1, 3}, HopConduct(leaves_out=0.0, draws=True))
    (one,) = rounds(PARTS["shaped"], hops, runs=1)
    first, _, third = one.conclusion.received.parts[0].declared
    assert one.leaked[0].messages == first + third
    assert one.refusal is None


def test_a_round_of_honest_hops_is_that_of_a_plan_alone():
    """The same words give the same result, whoever runs the hops."""
    plan = planned(PARTS["shaped"])
    alone, along = played(plan, crowd()), played(plan, crowd(), hops=ALL_HONEST)
    assert alone.result.estimate.counts.tolist() == along.result.estimate.counts.tolist()
    assert alone.leaked[0].messages == 0


def test_every_honest_hop_shuffles_its_fakes_among_all_that_it_received(monkeypatch):
    seen = []

    def watched(batch, chance):
        seen.append(len(batch))
        return shuffle(batch, chance)

    monkeypatch.setattr("mixtally.lab.simulation.play.shuffle", watched)
    hops = DishonestHops({3}, HopConduct(leaves_out=0.0, draws=True))
    (one,) = rounds(PARTS["shaped"], hops, runs=1)
    came = one.conclusion.received.parts[0]
    first, second, third = came.declared
    assert seen == [CAME + first, CAME + first + second]
    assert came.received == seen[-1] + third


def test_a_hop_behind_an_honest_one_leaves_nobody_out():
    """It does not know whose a message is."""
    hops = DishonestHops({2}, HopConduct(leaves_out=1.0, declares=False))
    assert rounds(PARTS["shaped"], hops, runs=1)[0].refusal is None


def test_what_cannot_be_played_is_refused_before_the_work():
    plan, lab = planned(PARTS["shaped"]), Lab(None, planner=PLANNER)
    with pytest.raises(PlanError, match=r"a plan for 599 users .* one for 600 and more.*destroyed"):
        simulate_release(plan, crowd(CROWD - 1), lab)
    with pytest.raises(ParameterError, match=r"numbers in 1\.\.3, got 0, 4"):
        simulate_release(plan, crowd(), lab, hops=DishonestHops({0, 2, 4}))
    with pytest.raises(PlanError, match="Plan again for this data"):
        simulate_release(plan, Population(Question(name="r", bins=BINS), crowd().codes), lab)
    with pytest.raises(ParameterError, match="several bits that are sent whole"):
        simulate_release(plan, crowd(), lab, Analysis(pairs=True))
    with pytest.raises(ParameterError, match="share left out"):
        HopConduct(leaves_out=1.5)


def test_a_part_that_memory_cannot_hold_is_refused_before_the_work():
    large = planned([flipped(BINS, q=0.1, blanks=5_000_000_000)])
    with pytest.raises(ParameterError, match="GB to shuffle it in memory"):
        simulate_release(large, crowd(), Lab(None))


def test_a_plan_whose_promise_is_false_is_not_played():
    plan = plan_of(QUESTION, [uniform(BINS, coin=1)], users=USERS, minimum_crowd=CROWD, hops=3)
    with pytest.raises(PlanError, match="promise is false"):
        simulate_release(plan, crowd(), Lab(None))
