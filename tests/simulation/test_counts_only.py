"""Tallies drawn from counts: the same distribution as those of messages, bins together."""

from collections import Counter

import numpy as np
import pytest
from msgspec.structs import replace
from scipy.stats import chi2_contingency

from helpers.contracts import flipped, paired, shaped, uniform
from mixtally.errors import DataError, ParameterError, PlanError
from mixtally.lab.simulation import counts_only, plan_choice
from mixtally.lab.simulation.counts_only import (
    Histogram,
    collect_counts,
    draw_part,
    histogram_of,
    split_histogram,
)
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.parts import split_population
from mixtally.lab.simulation.play import play_parts
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.contract import FakeRecord, OwnFakes
from mixtally.model.guarantee import Guarantee
from mixtally.model.layout import Form
from mixtally.model.question import Kind, Question
from mixtally.planning import PlanRequest
from mixtally.primitives.fixed_point import SCALE
from mixtally.protocol.estimate.analysis import Analysis

RUNS, ALARM = 4000, 1e-4
CODES = np.array([0, 0, 0, 1, 2, 2], dtype=np.int64)
COUNTS = np.bincount(CODES, minlength=3)
ROWS = np.array([[0b011], [0b111], [0b000], [0b100], [0b001], [0b001]], dtype=np.uint8)
HELD = np.array([4, 2, 2])
BLANK = OwnFakes(FakeRecord.BLANK, 0, SCALE // 2)
RANDOM = OwnFakes(FakeRecord.UNIFORM, 1, SCALE // 4)
FAR = {"form": Form.POSITIONS, "cap": 12}
"""What hardly any of 70 bits flipped with 0.02 pass: once in 10^8 messages."""
ONE = {
    "clear-uniform": uniform(3, whole=0, coin=SCALE * 3 // 4),
    "clear-shaped": shaped(3, ratio=SCALE // 3, shift=2),
    "flip-blank": flipped(3, q=0.2, own=BLANK),
    "flip-blank in capped positions": flipped(70, q=0.02, own=BLANK, **FAR),
    "flip-blank of mixes": flipped(3, q=0.2, blanks=2),
    "flip-blank of mixes in capped positions": flipped(70, q=0.02, blanks=2, **FAR),
    "flip-uniform": flipped(3, q=0.01, own=RANDOM),
    "flip": flipped(3, q=0.2),
}
BITS = {
    "flip bits": flipped(3, most_set=None, q=0.2),
    "flip bits twice": replace(flipped(3, most_set=None, q=0.2), repeats=2),
}
CASES = {name: (each, CODES, COUNTS) for name, each in ONE.items()} | {
    name: (each, ROWS, HELD) for name, each in BITS.items()
}
CASES["clear-shaped, paired"] = (paired(ratio=SCALE // 3, shift=2), CODES % 2, np.array([5, 1]))
HOPS = 2


def p_value(part, records, counts, seed):
    """That whole tallies and drawn ones have one distribution, by their tables of outcomes.

    What hops declare is part of the outcome, the first four bins are.
    """
    chance = SeededChance(seed)
    whole = Counter(_whole(part, records, chance) for _ in range(RUNS))
    held = np.pad(counts, (0, part.bins - len(counts)))
    drawn = Counter(
        _outcome(*draw_part(part, held, len(records), HOPS, chance)) for _ in range(RUNS)
    )
    often = [one for one in {*whole, *drawn} if whole[one] + drawn[one] >= 10]
    table = [[seen[one] for one in often] for seen in (whole, drawn)]
    for row in table:
        row.append(RUNS - sum(row))
    kept = np.array(table)
    return chi2_contingency(kept[:, kept.sum(axis=0) > 0]).pvalue


def _whole(part, records, chance):
    played = play_parts([part], HOPS, [records], chance)
    return _outcome(played.received.parts[0], played.tallies[0])


def _outcome(came, tally):
    assert (came.received, came.dropped) == (tally.messages, {})
    return (came.added_count, came.drawing_hop_count, tally.messages, *tally.counts[:4].tolist())


@pytest.mark.seconds
@pytest.mark.parametrize("name", CASES)
def test_equal_in_distribution(name):
    """False alarm: one in 10^4 a case; the seeds are fixed."""
    mechanism, records, counts = CASES[name]
    assert p_value(mechanism, records, counts, 11) > ALARM


@pytest.mark.seconds
def test_a_flip_that_is_a_little_off_is_seen(monkeypatch):
    monkeypatch.setattr(counts_only, "SCALE", SCALE * 0.8)
    assert p_value(*CASES["flip-blank"], 11) < ALARM


@pytest.mark.seconds
def test_fakes_drawn_bin_by_bin_are_seen(plant):
    """Margins are right, bins no longer lean on each other."""

    class Apart:
        def __init__(self, draws):
            self.binomial = draws.binomial
            self.multinomial = lambda n, shares: draws.binomial(n, shares)

    plant(counts_only, "_generator", lambda honest, chance: Apart(honest(chance)))
    assert p_value(*CASES["flip-uniform"], 11) < ALARM


@pytest.mark.seconds
def test_as_many_fakes_as_coins_bring_on_average_are_seen(plant):
    """The planted mistake: their number does not vary."""

    class Even:
        def __init__(self, draws):
            self.multinomial = draws.multinomial
            self.binomial = lambda n, share: round(n * share)

    plant(counts_only, "_generator", lambda honest, chance: Even(honest(chance)))
    assert p_value(*CASES["clear-uniform"], 11) < ALARM


def test_of_clear_records_nothing_is_lost():
    _, tally = draw_part(uniform(3, whole=1, coin=0), COUNTS, 6, HOPS, SeededChance(1))
    assert tally.messages == tally.counts.sum() == 12
    assert (tally.counts >= COUNTS).all()


def test_a_seed_draws_the_same_and_another_does_not():
    large = np.full(100, 10**6)
    part = flipped(100, q=0.2, own=OwnFakes(FakeRecord.BLANK, 1, 0))
    one, again, other = (
        draw_part(part, large, 10**8, HOPS, SeededChance(seed))[1].counts for seed in (1, 1, 2)
    )
    assert (one == again).all()
    assert (one != other).mean() > 0.9


@pytest.mark.parametrize("q", [2**-40, 0.001, 0.49])
def test_ten_billion_people(q):
    """Mean and variance of 20,000 bins: false alarm below 10^-5, seeds are fixed."""
    people, bins = 10**10, 20_000
    counts = np.full(bins, people // bins, dtype=np.int64)
    _, tally = draw_part(flipped(bins, q=q), counts, people, 1, SeededChance(3))
    off, q = tally.counts, int(q * SCALE) / SCALE
    mean = counts[0] * (1 - q) + (people - counts[0]) * q
    variance = people * q * (1 - q)
    error = (variance / bins) ** 0.5
    assert abs(off.mean() - mean) < 4.5 * error
    spread = ((off - mean) ** 2).mean() / variance
    fourth = (2 + 1 / variance) ** 0.5  # of a binomial, nearly a Poisson number where q is small
    assert abs(spread - 1) < 4.5 * fourth / bins**0.5


def crowd(kind=Kind.ONE, bins=4, users=500):
    counts = np.arange(1, bins + 1, dtype=np.int64) * 50
    question = Question(name="q", bins=bins, kind=kind)
    return Histogram(question, users, counts)


def plan_for(histogram, **more):
    guarantee = Guarantee(epsilon=1.0, delta=1e-6)
    request = PlanRequest(
        question=histogram.question, users=histogram.users, guarantee=guarantee, **more
    )
    return plan_choice.choose_plan(request)[0]


@pytest.mark.parametrize("kind", [Kind.ONE, Kind.BITS])
def test_a_release_of_counts(kind):
    histogram = crowd(kind)
    released = collect_counts(plan_for(histogram), histogram, Lab(SeededChance(1)))
    estimate = released.result.estimate
    assert (abs(estimate.counts - histogram.counts) < 6 * estimate.standard_error).all()


def test_a_plan_for_others_and_what_counts_do_not_tell():
    histogram = crowd(Kind.BITS)
    plan, lab = plan_for(histogram), Lab(SeededChance(1))
    with pytest.raises(ParameterError, match="got pairs of bits"):
        collect_counts(plan, histogram, lab, Analysis(level=0.95, pairs=True))
    other = Histogram(histogram.question, 499, histogram.counts)
    with pytest.raises(PlanError, match="a plan for 499 users"):
        collect_counts(plan, other, lab)
    with pytest.raises(PlanError, match="Plan again for this data"):
        collect_counts(plan_for(crowd(Kind.ONE)), histogram, lab)


def test_parts_are_those_of_people():
    """Bits alone and in clear, attributes: counts of the parts of a crowd."""
    from simulation.test_kinds import attribute_crowd, bits_crowd

    for people in (bits_crowd(5), attribute_crowd()):
        whole = histogram_of(people)
        for asked in _ways(people.question):
            found = split_histogram(whole, asked)
            wanted = [histogram_of(part) for part in split_population(people, asked)]
            assert [one.counts.tolist() for one in found] == [one.counts.tolist() for one in wanted]


def _ways(question):
    from mixtally.model.encodings import list_encodings

    for way in list_encodings(question):
        yield way.parts
        if (clear := way.to_clear()) is not None:
            yield clear.parts


@pytest.mark.parametrize(
    ("users", "counts", "said"),
    [
        (0, [0, 0, 0], "2 to 10,000,000,000 people"),
        (10**10 + 1, [10**10 + 1, 0, 0], "2 to 10,000,000,000 people"),
        (5, [5, 0], "3 whole counts"),
        (5, [5.0, 0.0, 0.0], "3 whole counts"),
        (5, [-1, 3, 3], "counts from 0 to 5, got -1"),
        (5, [6, 0, -1], "counts from 0 to 5"),
        (5, [1, 1, 1], "counts of 5 people in all, got 3"),
    ],
)
def test_counts_that_no_crowd_has(users, counts, said):
    with pytest.raises(DataError, match=said):
        Histogram(Question(name="q", bins=3), users, np.array(counts))
