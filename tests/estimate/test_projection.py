"""Counts that use how many people there are: against enumeration, in fractions, and exact coverage.

Nothing is drawn but in the last tests, which state their false alarms.
"""

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from scipy import stats

from helpers.contracts import flipped, plan_of
from helpers.named import clear_shaped, clear_uniform, flip_blank, flip_uniform
from mixtally.errors import ParameterError
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.estimates import Tally
from mixtally.model.known_total import known_totals
from mixtally.model.mechanism import BitFlips, KaryResponse, UniformFakes
from mixtally.model.mechanism.base import Noise
from mixtally.model.question import Kind, Question, make_attributes_question
from mixtally.model.shape import ratio_of
from mixtally.primitives.fixed_point import SCALE, threshold_of
from mixtally.protocol.estimate import intervals as module
from mixtally.protocol.estimate import total as totals_module
from mixtally.protocol.estimate.analysis import Analysis
from mixtally.protocol.estimate.change import TalliedPart, change_intervals, estimate_change
from mixtally.protocol.estimate.conclude import conclude
from mixtally.protocol.estimate.debias import estimate_counts
from mixtally.protocol.estimate.intervals import intervals
from mixtally.protocol.estimate.noise import (
    KnownTotal,
    noise_distribution,
    noise_given_total,
    probabilities,
    reach,
)
from mixtally.protocol.estimate.projection import projected_cumulants, totals_of
from mixtally.protocol.estimate.total import group_total, total_interval
from reference.coverage import draw_counts

SHAPED = clear_shaped(bins=3, ratio=ratio_of(0.5), shift=2)
FLIPS = flip_blank(bins=3, fakes=1, threshold=threshold_of(0.25))


def law_of(mechanism, messages, counts):
    """Return the chances of tallies of bins that ``counts`` people hold, by enumeration.

    A bin's noise of a chance below 1e-7 is left out.
    """
    laws = []
    for held in counts:
        law = noise_distribution(mechanism, messages, held)
        laws.append(
            [
                (held + law.first + k, chance)
                for k, chance in enumerate(law.pmf.tolist())
                if chance > 1e-7
            ]
        )
    found = {}
    for outcome in product(*laws):
        tallied = tuple(at for at, _ in outcome)
        found[tallied] = float(np.prod([chance for _, chance in outcome]))
    return found


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("counts", [(0, 0, 3), (2, 1, 0), (1, 1, 1)])
@pytest.mark.parametrize("mechanism", [FLIPS, SHAPED], ids=["flips", "shaped"])
def test_the_noise_given_the_total_is_that_of_all_outcomes(mechanism, counts, size):
    """Against the tallies of all bins, for every sum of them that is not rare."""
    held = sum(counts[:size])
    messages = sum(counts) + mechanism.fakes_promised
    by_sum = {}
    for tallied, chance in law_of(mechanism, messages, counts).items():
        noise, off = by_sum.setdefault(sum(tallied), {}), sum(tallied[:size]) - held
        noise[off] = noise.get(off, 0.0) + chance
    for tallied, noise in by_sum.items():
        whole = sum(noise.values())
        if whole < 1e-3:
            continue
        total = KnownTotal(sum(counts), len(counts), tallied)
        found = noise_given_total(mechanism, messages, held, total, size)
        for at, chance in enumerate(found.pmf.tolist()):
            assert chance == pytest.approx(noise.get(found.first + at, 0.0) / whole, abs=1e-5)


def test_probabilities_of_many_draws_are_the_convolution():
    weights = (SCALE // 2, SCALE // 4, SCALE // 8, SCALE // 8)
    law = np.ones(1)
    for _ in range(40):
        law = np.convolve(law, np.array(weights) / SCALE)
    found = probabilities(Noise(0, tables=((weights, 40),)), 10, 60)
    assert np.abs(found - law[10:61]).max() < 1e-14


def exact_variance(mechanism, counts, size):
    """Return the variance of the sum of the first shown counts, over all outcomes."""
    messages = sum(counts) + mechanism.fakes_promised
    mean = square = 0.0
    for tallied, chance in law_of(mechanism, messages, counts).items():
        found = mechanism.debias_counts(np.array(tallied), messages)
        shown = found[:size].sum() - (found.sum() - sum(counts)) * size / len(counts)
        mean += chance * shown
        square += chance * shown * shown
    assert mean == pytest.approx(sum(counts[:size]), abs=1e-4)
    return square - mean * mean


@pytest.mark.parametrize("mechanism", [FLIPS, SHAPED], ids=["flips", "shaped"])
def test_the_variance_stated_is_that_of_all_outcomes(mechanism):
    counts = (2, 1, 0)
    messages = sum(counts) + mechanism.fakes_promised
    stated = mechanism.variance_given_total(messages, 3)
    assert stated == pytest.approx(mechanism.variance(messages) * (1 - 1 / 3))
    total = KnownTotal(3, 3, 0)
    for size, due in ((1, stated), (2, mechanism.variance(messages) * 2 * (1 - 2 / 3))):
        held = np.array([float(sum(counts[:size]))])
        found = projected_cumulants(mechanism, messages, held, total, size)
        assert np.ravel(found.variance)[0] == pytest.approx(due)
        assert exact_variance(mechanism, counts, size) == pytest.approx(due, rel=1e-3)


@pytest.mark.parametrize("size", [1, 2])
def test_the_variance_among_flipped_uniform_fakes_is_that_of_all_outcomes(size):
    """One person and one fake, all bins of the fake and all flips, in fractions."""
    d, q = 3, Fraction(1, 4)
    mean = square = Fraction(0)
    for own in range(d):
        for bits in product((0, 1), repeat=2 * d):
            chance = Fraction(1, d)
            for place, bit in enumerate(bits):
                held = place % d == (0 if place < d else own)
                chance *= (1 - q) if bit == held else q
            tallied = [bits[k] + bits[d + k] for k in range(d)]
            found = [(s - 2 * q - (1 - 2 * q) / d) / (1 - 2 * q) for s in tallied]
            shown = sum(found[:size]) - (sum(found) - 1) * Fraction(size, d)
            mean += chance * shown
            square += chance * shown * shown
    assert mean == 1
    sent = flip_uniform(bins=d, fakes=1, threshold=threshold_of(float(q)))
    found = group_total(sent, Tally(np.zeros(d, int), 2), np.arange(size), 1, KnownTotal(1, d, 0))
    assert found.variance == pytest.approx(float(square - 1))
    if size == 1:
        assert sent.variance_given_total(2, d) == pytest.approx(float(square - 1))


@pytest.mark.parametrize("counts", [(0, 4), (1, 3), (4, 0)])
def test_noise_given_the_total_falls_as_more_people_hold_the_bin(counts):
    """Both ends of the noise fall in the count, and both ends of the tally do not."""
    sent = flip_blank(bins=2, fakes=6, threshold=threshold_of(0.2))
    for tallied in range(4, 14):
        ends = [reach(sent, 10, held, 0.025, KnownTotal(4, 2, tallied)) for held in range(5)]
        for before, after in pairwise(ends):
            assert all(x - 1 <= y <= x for x, y in zip(before, after, strict=True))
    assert sum(counts) == 4


def coverage(mechanism, counts, level=0.95, used=True):
    """Return how often the interval of the first bin holds its count, over all outcomes."""
    messages = sum(counts) + mechanism.fakes_promised
    share = 0.0
    for tallied, chance in law_of(mechanism, messages, counts).items():
        if chance < 1e-9:
            continue
        total = KnownTotal(sum(counts), len(counts), sum(tallied)) if used else None
        tally = Tally(np.array(tallied[:1]), messages)
        found = intervals(mechanism, tally, level, simultaneous_over=1, total=total)
        share += chance * bool(found.lower[0] <= counts[0] <= found.upper[0])
    return share


def total_coverage(mechanism, counts, size):
    """Return how often the interval of the total of the first bins holds, over all outcomes."""
    messages, share, by_sums = sum(counts) + mechanism.fakes_promised, 0.0, {}
    for tallied, chance in law_of(mechanism, messages, counts).items():
        sums = sum(tallied[:size]), sum(tallied)
        by_sums[sums] = by_sums.get(sums, 0.0) + chance
    for (inside, every), chance in by_sums.items():
        if chance < 1e-6:
            continue
        tally = Tally(np.array([inside, *(size - 1) * [0], every - inside]), messages)
        total = KnownTotal(sum(counts), len(counts), every)
        found = group_total(mechanism, tally, np.arange(size), sum(counts), total)
        low, high, how = total_interval([found], 0.025)
        assert how == "exact test inversion"
        share += chance * (low <= sum(counts[:size]) <= high)
    return share


THREE = {
    "flips": (flip_blank(bins=3, fakes=3, threshold=threshold_of(0.1)), (1, 2, 1)),
    "fakes of a mix": (clear_shaped(bins=3, ratio=ratio_of(1.5), shift=3), (9, 4, 12)),
}


@pytest.mark.parametrize("name", THREE)
def test_totals_hold_as_often_as_stated_over_all_outcomes(name):
    assert total_coverage(*THREE[name], 2) >= 0.95


@pytest.mark.parametrize("name", THREE)
def test_totals_that_take_a_group_for_one_bin_would_be_seen(name, monkeypatch):
    """Planted: the noise of a group is taken for that of one of its bins."""

    def wrong(mechanism, messages, count, total, _size):
        return noise_given_total(mechanism, messages, count, total)

    monkeypatch.setattr(totals_module, "noise_given_total", wrong)
    assert total_coverage(*THREE[name], 2) < 0.94


SMALL = {
    "yes or no by a mix": (clear_shaped(bins=2, ratio=ratio_of(0.4), shift=8), (60, 40)),
    "yes or no, flipped": (flip_blank(bins=2, fakes=4, threshold=threshold_of(0.1)), (6, 4)),
    "nobody": (flip_blank(bins=2, fakes=4, threshold=threshold_of(0.15)), (0, 8)),
}


@pytest.mark.parametrize("name", SMALL)
def test_intervals_hold_as_often_as_stated_over_all_outcomes(name):
    assert coverage(*SMALL[name]) >= 0.95


def test_intervals_that_take_the_total_for_one_more_would_be_seen(monkeypatch):
    """Planted: the people are miscounted by eight."""
    sent, counts = SMALL["yes or no by a mix"]
    given = module.reach

    def wrong(mechanism, messages, count, chance, total=None):
        return given(mechanism, messages, count, chance, total._replace(people=total.people + 8))

    monkeypatch.setattr(module, "reach", wrong)
    assert coverage(sent, counts) < 0.9


@pytest.mark.parametrize(
    ("mechanism", "people"),
    [
        (clear_uniform(bins=4, fakes=90), 50),
        (KaryResponse(bins=4, replaced=SCALE // 3, fakes=UniformFakes(30), crowd=50), 50),
    ],
)
def test_a_sum_that_is_always_the_people_changes_nothing(mechanism, people):
    messages = people + mechanism.fakes_promised
    tally = Tally(np.array([messages - 60, 30, 20, 10]), messages)
    assert mechanism.debias_counts(tally.counts, messages).sum() == pytest.approx(people)
    assert totals_of(mechanism, tally, people, (4,)) == []
    assert mechanism.variance_given_total(messages, 4, 7) == mechanism.variance_at(messages, 7)
    plain = estimate_counts(mechanism, tally, people)
    used = estimate_counts(mechanism, tally, people, summed=(4,))
    assert np.array_equal(plain.counts, used.counts)
    assert np.array_equal(plain.individual.upper, used.individual.upper)


def test_counts_add_up_to_the_people_and_differences_stay():
    sent, (yes, no) = SMALL["yes or no by a mix"]
    tally = Tally(np.array([yes + 12, no + 7]), 119)
    raw = estimate_counts(sent, tally, 100)
    used = estimate_counts(sent, tally, 100, summed=(2,))
    assert used.counts.sum() == pytest.approx(100.0)
    assert np.diff(used.counts) == pytest.approx(np.diff(raw.counts))
    assert used.standard_error == pytest.approx(raw.standard_error / 2**0.5)


def test_a_sum_that_no_honest_messages_have_is_not_used():
    sent, _ = SMALL["yes or no, flipped"]
    tally = Tally(np.array([28, 28]), 28)
    assert totals_of(sent, tally, 24, (2,)) != []
    many = flip_blank(bins=2, fakes=400, threshold=threshold_of(0.01))
    assert totals_of(many, Tally(np.array([900, 900]), 1400), 1000, (2,)) == []


def concluded(counts, raw=False):
    """Conclude 1000 people's flipped answers, tallied so, among the blank fakes of two hops."""
    plan = plan_of(Question(name="q", bins=2), [flipped(2, blanks=200)], users=1000)
    return conclude(plan, [Tally(np.array(counts), 1400)], Analysis(raw=raw), people=1000)


def test_counts_that_do_not_use_the_people_say_so():
    found = concluded((900, 1350))
    (said,) = found.warnings
    assert "Part 1: the counts do not use the number of people. 2 bins are set 2,250 times" in said
    assert found.estimate.counts == pytest.approx(concluded((900, 1350), raw=True).estimate.counts)
    assert concluded((900, 1350), raw=True).warnings == ()


def test_honest_sums_raise_no_doubt():
    q = flipped(2, blanks=200).threshold / SCALE
    found = concluded([round(held + q * (1400 - 2 * held)) for held in (700, 300)])
    assert found.warnings == ()
    assert found.estimate.counts.sum() == pytest.approx(1000.0)


@pytest.mark.parametrize(
    ("question", "bins", "known"),
    [
        (Question(name="q", bins=5), (5,), ((5,),)),
        (make_attributes_question("q", (4, 2)), (6,), ((4, 2),)),
        (make_attributes_question("q", (4, 2)), (4, 2), ((4,), (2,))),
        (Question(name="q", bins=2, kind=Kind.BITS), (2,), ((),)),
        (Question(name="q", bins=2, kind=Kind.BITS), (1, 1), ((), ())),
        (Question(name="q", bins=2, kind=Kind.BITS), (2, 2), ((2,), (2,))),
        (Question(name="q", bins=1, kind=Kind.BITS), (2,), ((2,),)),
        (Question(name="q", bins=1, kind=Kind.BITS), (1,), ((),)),
        (Question(name="q", bins=9, kind=Kind.SET, max_set=1), (9,), ((),)),
    ],
)
def test_which_counts_add_up_to_the_people(question, bins, known):
    class Sent:
        def __init__(self, many):
            self.bins = many

    assert known_totals(question, [Sent(many) for many in bins]) == known


def test_raw_counts_and_a_projection_exclude_each_other():
    with pytest.raises(ParameterError, match="--project without --no-project, got both"):
        Analysis(projection="simplex", raw=True)


RUNS = {"flips": 60, "shaped": 400, "many flips": 1500, "uniform flips": 1500}
DRAWN = {
    "flips": (flip_blank(bins=4, fakes=2000, threshold=threshold_of(0.05)), (900, 100, 0, 40)),
    "many flips": (flip_blank(bins=3, fakes=9000, threshold=threshold_of(0.3)), (900, 100, 0)),
    "uniform flips": (
        flip_uniform(bins=4, fakes=400, threshold=threshold_of(0.01)),
        (90, 10, 0, 0),
    ),
    "shaped": (clear_shaped(bins=4, ratio=ratio_of(0.2), shift=30), (900, 100, 0, 40)),
}


def drawn(sent, truth, messages, runs):
    """Draw tallies of all bins together; uniform fakes are a multinomial."""
    if not isinstance(sent, BitFlips):
        return draw_counts(sent, truth, messages, runs, SeededChance(3))
    d, q, fakes = len(truth), sent.flip_probability, sent.fakes_promised * sent.uniform_fakes
    held = truth + stats.multinomial.rvs(fakes, [1 / d] * d, runs, random_state=3)
    shown = stats.binom.rvs(held, 1.0 - q, random_state=4)
    return shown + stats.binom.rvs(messages - held, q, random_state=5)


@pytest.mark.seconds
@pytest.mark.parametrize("name", DRAWN)
def test_drawn_counts_and_changes_hold_as_often_as_stated(name):
    """Deviations are the stated ones within five of their standard errors.

    A share of covered counts or totals that is more than 5.5 of its standard errors below 95 %
    comes about with a chance below 1e-7.
    """
    sent, truth = DRAWN[name]
    people = sum(truth)
    messages = people + sent.fakes_promised
    counts = drawn(sent, np.array(truth), messages, RUNS[name])
    held, changed, off, summed, summed_off = [], [], [], [], []
    before = None
    for row in counts:
        tally = Tally(row, messages)
        found = estimate_counts(sent, tally, people, summed=(len(truth),))
        held.append((found.individual.lower <= truth) & (truth <= found.individual.upper))
        off.append(found.counts - truth)
        totals = totals_of(sent, tally, people, (len(truth),))
        group = group_total(sent, tally, np.arange(2), people, *totals)
        assert group.estimate == pytest.approx(found.counts[:2].sum())
        low, high, _ = total_interval([group], 0.025)
        summed.append(low <= truth[0] + truth[1] <= high)
        summed_off.append(group.estimate - truth[0] - truth[1])
        if before is not None:
            step = estimate_change(*(TalliedPart(sent, one) for one in (before[0], tally)),
                                   totals=(before[1], totals))  # fmt: skip
            changed.append((step.individual.lower <= 0) & (step.individual.upper >= 0))
        before = tally, totals
    assert np.std(off) == pytest.approx(found.standard_error, rel=5.0 / (2 * RUNS[name]) ** 0.5)
    within = 5.0 / (2 * RUNS[name]) ** 0.5
    assert np.std(summed_off) == pytest.approx(group.variance**0.5, rel=within)
    for share in (*np.mean(held, axis=0), np.mean(changed), np.mean(summed)):
        assert share > 0.95 - 5.5 * (0.95 * 0.05 / RUNS[name]) ** 0.5


def test_a_change_given_both_totals_is_the_change_of_the_shown_counts():
    sent, truth = DRAWN["flips"]
    messages = sum(truth) + sent.fakes_promised
    both = [
        Tally(np.array([1000, 240, 150, 190]) + shift, messages) for shift in (0, np.arange(4) * 9)
    ]
    totals = [totals_of(sent, one, sum(truth), (4,)) for one in both]
    step = estimate_change(*(TalliedPart(sent, one) for one in both), totals=tuple(totals))
    shown = [estimate_counts(sent, one, sum(truth), summed=(4,)).counts for one in both]
    assert step.counts == pytest.approx(shown[1] - shown[0])
    assert step.counts.sum() == pytest.approx(0.0)
    plain = change_intervals(*(TalliedPart(sent, one) for one in both), 0.95, simultaneous_over=1)
    widths = (step.individual.upper - step.individual.lower) / (plain.upper - plain.lower)
    assert widths == pytest.approx(0.75**0.5, abs=0.05)
