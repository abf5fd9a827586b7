"""Tallies drawn from counts: the same distribution as those of messages, bins together."""

from collections import Counter

import numpy as np
import pytest
from mixtally.simulation.simulate import play
from scipy.stats import chi2_contingency

from mixtally.errors import DataError, ParameterError, PlanError
from mixtally.estimate.analysis import Analysis
from mixtally.ground.fixed import SCALE
from mixtally.planner import PlanRequest
from mixtally.records.guarantee import Guarantee
from mixtally.records.mechanism import named
from mixtally.records.question import Kind, Question
from mixtally.simulation import counts_only, offers
from mixtally.simulation.counts_only import (
    Histogram,
    collect_counts,
    draw_tally,
    histogram_of,
    histogram_parts,
)
from mixtally.simulation.lab import Lab
from mixtally.simulation.parts import parts
from mixtally.simulation.seeded import SeededChance

RUNS, ALARM = 4000, 1e-4
CODES = np.array([0, 0, 0, 1, 2, 2], dtype=np.int64)
COUNTS = np.bincount(CODES, minlength=3)
ROWS = np.array([[0b011], [0b111], [0b000], [0b100], [0b001], [0b001]], dtype=np.uint8)
HELD = np.array([4, 2, 2])
Q = SCALE // 5
ONE = {
    "clear-uniform": named.clear_uniform(bins=3, fakes=5),
    "clear-uniform twice": named.clear_uniform(bins=3, fakes=3, repeats=2),
    "clear-shaped": named.clear_shaped(bins=3, ratio=SCALE // 3, shift=2, mixes=2),
    "flip-blank": named.flip_blank(bins=3, fakes=4, threshold=Q),
    "flip-uniform": named.flip_uniform(bins=3, fakes=5, threshold=Q // 20),
    "flip": named.flip(bins=3, threshold=Q, crowd=6),
}
BITS = {
    "flip bits": named.flip_bits(bins=3, threshold=Q, crowd=6),
    "flip bits twice": named.flip_bits(bins=3, threshold=Q, crowd=6, repeats=2),
}
CASES = {name: (each, CODES, COUNTS) for name, each in ONE.items()} | {
    name: (each, ROWS, HELD) for name, each in BITS.items()
}


def p_value(mechanism, records, counts, seed):
    """That whole tallies and drawn ones have one distribution, by their tables of outcomes."""
    chance = SeededChance(seed)
    whole = Counter(_outcome(play(mechanism, records, chance)) for _ in range(RUNS))
    drawn = Counter(
        _outcome(draw_tally(mechanism, counts, len(records), chance)) for _ in range(RUNS)
    )
    often = [one for one in {*whole, *drawn} if whole[one] + drawn[one] >= 10]
    table = [[seen[one] for one in often] for seen in (whole, drawn)]
    for row in table:
        row.append(RUNS - sum(row))
    kept = np.array(table)
    return chi2_contingency(kept[:, kept.sum(axis=0) > 0]).pvalue


def _outcome(tally):
    return (tally.messages, *tally.counts.tolist())


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


def test_of_clear_records_nothing_is_lost():
    tally = draw_tally(ONE["clear-uniform"], COUNTS, 6, SeededChance(1))
    assert tally.messages == tally.counts.sum() == 11
    assert (tally.counts >= COUNTS).all()


def test_a_seed_draws_the_same_and_another_does_not():
    large = np.full(100, 10**6)
    mechanism = named.flip_blank(bins=100, fakes=10, threshold=Q)
    one, again, other = (
        draw_tally(mechanism, large, 10**8, SeededChance(seed)).counts for seed in (1, 1, 2)
    )
    assert (one == again).all()
    assert (one != other).mean() > 0.9


@pytest.mark.parametrize("threshold", [1 << 24, SCALE // 1000, SCALE // 2])
def test_ten_billion_people(threshold):
    """Mean and variance of 20,000 bins: false alarm below 10^-5, seeds are fixed."""
    people, bins = 10**10, 20_000
    counts = np.full(bins, people // bins, dtype=np.int64)
    mechanism = named.flip_blank(bins=bins, fakes=0, threshold=threshold)
    off = draw_tally(mechanism, counts, people, SeededChance(3)).counts
    q = threshold / SCALE
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


def option_of(histogram, **more):
    guarantee = Guarantee(epsilon=1.0, delta=1e-6)
    request = PlanRequest(
        question=histogram.question, users=histogram.users, guarantee=guarantee, **more
    )
    return offers.best(request)[0]


@pytest.mark.parametrize("kind", [Kind.ONE, Kind.BITS])
def test_a_release_of_counts(kind):
    histogram = crowd(kind)
    released = collect_counts(option_of(histogram), histogram, Lab(SeededChance(1)))
    estimate = released.result.estimate
    assert (abs(estimate.counts - histogram.counts) < 6 * estimate.standard_error).all()


def test_a_plan_for_others_and_what_counts_do_not_tell():
    histogram = crowd(Kind.BITS)
    option, lab = option_of(histogram), Lab(SeededChance(1))
    with pytest.raises(ParameterError, match="got pairs of bits"):
        collect_counts(option, histogram, lab, Analysis(level=0.95, pairs=True))
    other = Histogram(histogram.question, 501, histogram.counts)
    with pytest.raises(PlanError, match="a plan for 501 users"):
        collect_counts(option, other, lab)
    with pytest.raises(PlanError, match="a plan for 4 bins of 'q' in records of kind bits"):
        collect_counts(option_of(crowd(Kind.ONE)), histogram, lab)


def test_parts_are_those_of_people():
    """Bits alone and in clear, attributes: counts of the parts of a crowd."""
    from simulation.test_kinds import attribute_crowd, bits_crowd

    for people in (bits_crowd(5), attribute_crowd()):
        whole = histogram_of(people)
        for asked in _ways(people.question):
            found = histogram_parts(whole, asked)
            wanted = [histogram_of(part) for part in parts(people, asked)]
            assert [one.counts.tolist() for one in found] == [one.counts.tolist() for one in wanted]


def _ways(question):
    from mixtally.records.encodings import encodings

    for way in encodings(question):
        yield way.parts
        if (clear := way.in_clear()) is not None:
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
