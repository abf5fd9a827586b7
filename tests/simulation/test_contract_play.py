"""Rounds under a contract, played whole: unbiased and covered, whoever comes and whoever draws."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import stats

from helpers.contracts import contract_of, flipped, proved, shaped, plan_of, uniform
from helpers.least import threshold
from helpers.sampled import among
from mixtally.data.population import Population
from mixtally.errors import DataError, ParameterError, PlanError
from mixtally.estimate.analysis import Analysis
from mixtally.ground.bits import one_hot
from mixtally.mixing import shuffle
from mixtally.privacy.accountant import Accountant
from mixtally.records.contract import FakeRecord, OwnFakes
from mixtally.records.layout import Form
from mixtally.records.question import Kind, Question, with_attributes
from mixtally.simulation.conduct import Conduct, Hops
from mixtally.simulation.contract import play_contract, staged
from mixtally.simulation.seeded import SeededChance

BINS, USERS, CAME, CROWD = 6, 1000, 730, 600
QUESTION = Question(name="q", bins=BINS)
ACCOUNTANT = Accountant()
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


def contract(parts, question=QUESTION, **changes):
    fields = {"users": USERS, "minimum_crowd": CROWD, "hops": 3, "delta": 0.1, **changes}
    return contract_of(proved(plan_of(question, parts, **fields), ACCOUNTANT))


def crowd(people=CAME, bins=BINS):
    """Half of the people in the first bin, none in the last."""
    codes = np.where(np.arange(people) % 2, 0, np.arange(people) % (bins - 1))
    return Population(QUESTION, codes)


def rounds(parts, hops, runs=60, **changes):
    stage = staged(contract(parts, **changes), crowd(), ACCOUNTANT)
    chance = SeededChance(5)
    return [stage.play(chance, hops=hops) for _ in range(runs)]


def worst_bias(played, counts=None):
    """The least p-value of a bin's mean error, Bonferroni."""
    found = counts or [one.result.estimate.counts for one in played]
    off = np.array(found) - played[0].truth.counts
    z = off.mean(axis=0) / (off.std(axis=0, ddof=1) / np.sqrt(len(off)))
    return float(2 * stats.norm.sf(np.abs(z)).min() * off.shape[1])


def coverage(played):
    """The chance of so few covered bins at the stated level or more."""
    true = played[0].truth.counts
    each = [one.result.estimate.each for one in played]
    inside = sum(int(((one.lower <= true) & (true <= one.upper)).sum()) for one in each)
    return stats.binom.cdf(inside, len(played) * len(true), each[0].level)


@cache
def silent(name):
    """Sixty rounds in which one hop draws nothing, and does not say so."""
    return rounds(PARTS[name], Hops({2}, Conduct(leaves_out=0.0, declares=False)))


QUICK = ("shaped", "uniform", "blanks of people as positions")
"""Fakes of mixes, fakes of people in clear, and flips with both fakes and positions."""


@pytest.mark.parametrize("name", among(PARTS, QUICK))
def test_counts_are_unbiased_and_covered_whoever_comes(name):
    """Fewer come than were expected, one hop draws nothing; false alarm 2 * 10^-6 a case."""
    played = silent(name)
    assert {one.refusal for one in played} == {None}
    assert worst_bias(played) > 1e-6
    assert coverage(played) > 1e-6
    assert played[0].received.contributors == CAME != USERS


def promised(one):
    """Counts by the numbers that the plan expect, in place of those that came."""
    plan, tally = one.contract.plan, one.tallies[0]
    part = plan.parts[0]
    fakes = 0 if part.own is None else round(plan.users * part.own.mean)
    return part.mechanism(fakes=fakes, mixes=plan.hops).unbiased(tally.counts, tally.messages)


@pytest.mark.parametrize("name", among(["shaped", "uniform", "uniform, flipped"], QUICK[:2]))
def test_counts_by_promised_numbers_are_found_biased(name):
    played = silent(name)
    assert worst_bias(played, [promised(one) for one in played]) < 1e-6


def test_parts_stand_side_by_side():
    """Two attributes, each a stream of its own; false alarm 10^-6."""
    question = with_attributes("q", (4, 3))
    codes = np.arange(CAME) % 4, np.arange(CAME) % 3
    records = one_hot(codes[0], 7) | one_hot(4 + codes[1], 7)
    stage = staged(
        contract([uniform(4, whole=1, coin=0), uniform(3, whole=1, coin=0)], question),
        Population(question, records),
        ACCOUNTANT,
    )
    played = [stage.play(SeededChance(i)) for i in range(40)]
    assert worst_bias(played) > 1e-6
    assert played[0].truth.counts.tolist() == [*np.bincount(codes[0]), *np.bincount(codes[1])]
    assert played[0].result.messages == sum(tally.messages for tally in played[0].tallies)


def test_bits_in_clear_count_who_says_yes():
    question = Question(name="q", bins=2, kind=Kind.BITS)
    records = np.full((CAME, 1), 1, dtype=np.uint8)
    made = contract([shaped(2), shaped(2)], question)
    result = staged(made, Population(question, records), ACCOUNTANT).play(SeededChance(2)).result
    assert abs(result.estimate.counts[0] - CAME) < 100 > abs(result.estimate.counts[1])


def test_pairs_of_bits_that_travel_whole_are_counted():
    """All pairs at once within their intervals as often as these say; false alarm 10^-6."""
    question = Question(name="q", bins=4, kind=Kind.BITS)
    records = np.where(np.arange(CAME) % 2, 0b0011, 0b1100).astype(np.uint8)[:, None]
    made = contract([flipped(4, most_set=None, q=0.2)], question, epsilon=2.0)
    stage = staged(made, Population(question, records), ACCOUNTANT)
    inside = 0
    for seed in range(40):
        played = stage.play(SeededChance(seed), analysis=Analysis(pairs=True))
        (figures, *_) = played.result.figures
        true = dict(zip(figures.about, played.truth.figures[figures.name], strict=True))
        assert true[0, 1] == CAME // 2
        assert true[0, 2] == 0
        inside += all(
            row.lower_simultaneous <= true[pair] <= row.upper_simultaneous
            for row, pair in zip(figures.rows, figures.about, strict=True)
        )
    assert stats.binom.cdf(inside, 40, 0.95) > 1e-6


def test_counts_are_projected_beside_the_unbiased_ones():
    stage = staged(contract(PARTS["shaped"]), crowd(), ACCOUNTANT)
    found = stage.play(SeededChance(5), analysis=Analysis(projection="simplex")).result.estimate
    assert found.projected.sum() == pytest.approx(CAME)
    assert found.projected.min() >= 0.0


def test_numbers_have_their_mean():
    edges = tuple(float(i) for i in range(BINS + 1))
    made = contract(PARTS["shaped"], edges=edges)
    people = crowd()
    people = replace(people, values=people.codes + 0.5)
    played = staged(made, people, ACCOUNTANT).play(SeededChance(3))
    (figures,) = played.result.figures
    assert figures.rows[0].lower <= played.truth.figures["numbers"][0] <= figures.rows[0].upper


@pytest.mark.parametrize("name", PARTS)
def test_a_first_hop_that_leaves_people_out_is_refused(name):
    played = rounds(PARTS[name], Hops({1}), runs=1)[0]
    assert played.result is None
    assert "messages of people in part 1" in played.refusal
    part = played.contract.plan.parts[0]
    own = 1 + (part.own.most if part.own else 0)
    drawn = [many for many in played.received.parts[0].declared[1:] if many is not None]
    assert 1 <= played.received.parts[0].received - sum(drawn) <= own


def test_what_dishonest_hops_draw_they_tell():
    hops = Hops({1, 3}, Conduct(leaves_out=0.0, draws=True))
    played = rounds(PARTS["shaped"], hops, runs=1)[0]
    first, _, third = played.received.parts[0].declared
    assert played.told[0].messages == first + third
    assert played.result is not None


def test_every_honest_hop_shuffles_its_fakes_among_all_that_it_received(monkeypatch):
    seen = []

    def watched(batch, chance):
        seen.append(len(batch))
        return shuffle(batch, chance)

    monkeypatch.setattr("mixtally.simulation.contract.shuffle", watched)
    hops = Hops({3}, Conduct(leaves_out=0.0, draws=True))
    (played,) = rounds(PARTS["shaped"], hops, runs=1)
    first, second, third = played.received.parts[0].declared
    assert seen == [CAME + first, CAME + first + second]
    assert played.received.parts[0].received == seen[-1] + third


def test_a_hop_behind_an_honest_one_leaves_nobody_out():
    """It does not know whose a message is."""
    hops = Hops({2}, Conduct(leaves_out=1.0, declares=False))
    assert rounds(PARTS["shaped"], hops, runs=1)[0].result is not None


def test_what_cannot_be_played_is_refused_before_the_work():
    made, chance = contract(PARTS["shaped"]), SeededChance(1)
    with pytest.raises(DataError, match=r"at least 600 people.*destroyed"):
        play_contract(made, crowd(CROWD - 1), chance)
    with pytest.raises(ParameterError, match=r"numbers in 1\.\.3, got 0, 4"):
        play_contract(made, crowd(), chance, dishonest={0, 2, 4})
    with pytest.raises(PlanError, match="make a contract for this data"):
        play_contract(made, Population(Question(name="r", bins=BINS), crowd().codes), chance)
    with pytest.raises(ParameterError, match="several bits that travel whole"):
        play_contract(made, crowd(), chance, analysis=Analysis(pairs=True))
    with pytest.raises(ParameterError, match="share left out"):
        Conduct(leaves_out=1.5)


def test_a_part_that_memory_cannot_hold_is_refused_before_the_work():
    large = contract([flipped(BINS, q=0.1, blanks=5_000_000_000)])
    with pytest.raises(ParameterError, match="GB to shuffle it in memory"):
        play_contract(large, crowd(), SeededChance(1))


def test_a_contract_whose_promise_is_false_is_not_played():
    plan = plan_of(QUESTION, [uniform(BINS, coin=1)], users=USERS, minimum_crowd=CROWD, hops=3)
    with pytest.raises(PlanError, match="promise is false"):
        play_contract(contract_of(plan), crowd(), SeededChance(1))
