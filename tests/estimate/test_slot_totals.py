"""Counts of sampled slots that use how many people there are: attributes and bits.

Moments are held against enumeration of all that can be sent. Intervals are held against drawn
crowds, with fixed seeds: a right method fails with the chance that each test states.
"""

from dataclasses import replace
from itertools import pairwise, product
from math import prod

import numpy as np
import pytest
from scipy.stats import binom, multinomial

from helpers import contracts as c
from mixtally.lab.data.population import Population
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.run import simulate_release
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.estimates import Tally
from mixtally.model.guarantee import Guarantee
from mixtally.model.mechanism import InClear, UniformFakes, in_clear
from mixtally.model.question import Kind, Question, make_attributes_question
from mixtally.planning import PlanRequest, choose
from mixtally.protocol.encode.bits import pack_vectors
from mixtally.protocol.estimate import debias, projection
from mixtally.protocol.estimate.analysis import Analysis
from mixtally.protocol.estimate.change import TalliedPart, estimate_change
from mixtally.protocol.estimate.conclude import conclude
from mixtally.protocol.estimate.debias import estimate_counts
from mixtally.protocol.estimate.noise import KnownTotal
from mixtally.protocol.estimate.projection import (
    projected_cumulants,
    sampled_cumulants,
    totals_of,
    use_total,
)
from mixtally.protocol.estimate.total import group_total, total_interval
from mixtally.protocol.estimate.two_bins import difference_intervals, difference_variance
from mixtally.protocol.randomize import randomize_records

ALARM = 1e-7
SMALL = InClear(bins=7, max_set=3, slots=1, full=True, fakes=UniformFakes(2))
"""Attributes with 3, 2 and 2 values, and two fakes."""
PEOPLE = (2, 1, 0)
"""The people with each value of the first attribute."""


def outcomes():
    """Yield the tallies of the first attribute with their chances, by enumeration."""
    holders = [value for value, many in enumerate(PEOPLE) for _ in range(many)]
    for sent in product((0, 1), repeat=3):
        for fakes in product(range(7), repeat=2):
            tallied = np.bincount(
                [value for value, one in zip(holders, sent, strict=True) if one] + [*fakes],
                minlength=7,
            )[:3]
            yield tallied, prod((1 / 3 if one else 2 / 3) for one in sent) / 49


def moments(weights):
    """The cumulants of order 1 to 4 of a weighted sum of unbiased counts, by enumeration."""
    some = [
        (float(SMALL.debias_counts(tallied, 5) @ weights), chance) for tallied, chance in outcomes()
    ]
    mean = sum(value * chance for value, chance in some)
    two, three, four = (
        sum((value - mean) ** order * chance for value, chance in some) for order in (2, 3, 4)
    )
    return mean, two, three, four - 3 * two**2


@pytest.fixture
def of_any_crowd(monkeypatch):
    """Use totals of three people."""
    monkeypatch.setattr(in_clear, "_LEAST_DRAWN", 0.0)


@pytest.mark.usefixtures("of_any_crowd")
@pytest.mark.parametrize(("first", "size"), [(0, 1), (1, 1), (2, 1), (0, 2), (1, 2)])
def test_the_cumulants_are_those_of_everything_that_can_be_sent(first, size):
    held = sum(PEOPLE[first : first + size])
    total = KnownTotal(3, 3, 0)
    found = projected_cumulants(SMALL, 5, np.array([float(held)]), total, size)
    share = SMALL.sampling_share(5, 3)
    own = np.isin(np.arange(3), range(first, first + size))
    weights = own - (share * held / 3 + (1 - share) * size / 3)
    _, *true = moments(weights)
    assert (found.variance[0], found.third[0], found.fourth[0]) == pytest.approx(true, rel=1e-9)
    # No other multiple of the sum leaves less: the covariance with the sum is zero.
    nearby = [moments(weights + step)[1] for step in (-1e-3, 1e-3)]
    assert nearby == pytest.approx([nearby[0]] * 2, rel=1e-9)
    assert min(nearby) > true[0]
    if size == 1:
        assert SMALL.variance_given_total(5, 3, held) == pytest.approx(true[0], rel=1e-9)


@pytest.mark.usefixtures("of_any_crowd")
def test_the_twin_whose_counts_do_not_vary_with_their_sum_is_caught(monkeypatch):
    """Planted: the variance without the covariance."""
    monkeypatch.setattr(projection, "weight_of_total", lambda *_: np.zeros(1))
    found = projected_cumulants(SMALL, 5, np.array([2.0]), KnownTotal(3, 3, 0))
    assert found.variance[0] == pytest.approx(SMALL.variance_at(5, 2), rel=1e-9)
    assert SMALL.variance_given_total(5, 3, 2) < 0.8 * found.variance[0]


def test_cumulants_of_any_weights_are_those_of_everything_that_can_be_sent():
    weights = np.array([1.3, -0.7, -0.3])
    several = [
        (np.array([float(held)]), 1, np.array([weight]))
        for held, weight in zip(PEOPLE, weights, strict=True)
    ]
    found = sampled_cumulants(SMALL, several)
    assert (found.variance[0], found.third[0], found.fourth[0]) == pytest.approx(
        moments(weights)[1:], rel=1e-9
    )


def test_the_errors_are_those_of_the_page():
    """n p (1 - p) (k/m - 1), and the noise of fakes."""
    sent = InClear(bins=40, max_set=20, slots=1, full=True, fakes=UniformFakes(86))
    for count, before, after in ((500_000, 3082, 2180), (20_000, 617, 611), (980_000, 4315, 611)):
        assert sent.standard_error(10**6, count) == pytest.approx(before, abs=0.5)
        found = sent.standard_error(10**6, count, 2)
        assert found == pytest.approx(after, abs=0.5)
        p = count / 10**6
        ratio = 10**6 * p * (1 - p) * 19 + 400 * 86 / 40 * (p**2 + (1 - p) ** 2)
        assert found == pytest.approx(ratio**0.5, rel=1e-3)
    few = replace_users(sent, 8420), replace_users(sent, 8430)
    assert [one < 0.9 for one in few] == [False, True]


def replace_users(sent, users):
    """The error of half the users, over that without their number: 400 are drawn at 8,422."""
    return sent.standard_error(users, users // 2, 2) / sent.standard_error(users, users // 2)


def test_without_fakes_the_estimate_is_the_ratio():
    sent = InClear(bins=6, max_set=2, slots=1, full=True, fakes=UniformFakes(0))
    tally = Tally(np.array([700, 300, 50, 900, 30, 20]), 2000)
    found = estimate_counts(sent, tally, 2000, summed=(3, 3))
    assert found.counts == pytest.approx(tally.counts * 2000 / np.repeat([1050, 950], 3))
    among = InClear(bins=6, max_set=2, slots=1, full=True, fakes=UniformFakes(600))
    found = estimate_counts(among, Tally(tally.counts + 100, 2600), 2000, summed=(3, 3))
    assert found.counts.reshape(2, 3).sum(axis=1) == pytest.approx([2000, 2000])


def test_sums_that_no_honest_people_send_are_not_used():
    """All send the first bit, though 20 of 80 fakes of that part were expected."""
    plan = c.plan_of(
        Question(name="q", bins=4, kind=Kind.BITS), [c.sampled(8, 4, full=True, drawn=40)],
        users=4000,
    )  # fmt: skip
    honest = conclude(plan, [Tally(np.array([510] * 8), 4080)], people=4000)
    assert honest.warnings == ()
    assert honest.estimate.counts == pytest.approx([2000] * 4)
    odd = Tally(np.array([1000, 1000, 346, 346, 347, 347, 347, 347]), 4080)
    found = conclude(plan, [odd], people=4000)
    assert "Part 1: the counts do not use the number of people" in found.warnings[0]
    raw = conclude(plan, [odd], Analysis(raw=True), people=4000)
    assert found.estimate.counts == pytest.approx(raw.estimate.counts)


RUNS = 1000
CELLS, SIZES = 9, (3, 2, 4)
HELD = np.array([2600, 1400, 0, 3700, 300, 1000, 1000, 40, 1960])
"""People with each value of three attributes; everyone has one of each."""
USERS = 4000
SENT = InClear(bins=CELLS, max_set=3, slots=1, full=True, fakes=UniformFakes(200))


PART = c.sampled(CELLS, 3, full=True, drawn=200)


def crowd(runs):
    """Draw tallies of devices that send one slot. The attributes are independent."""
    people, ends = np.arange(USERS), np.cumsum((0, *SIZES))
    rows = np.zeros((USERS, CELLS), dtype=np.uint8)
    for (low, high), stride in zip(pairwise(ends.tolist()), (1, 7, 13), strict=True):
        rows[people * stride % USERS, np.repeat(np.arange(low, high), HELD[low:high])] = 1
    packed, chance = np.packbits(rows, axis=1, bitorder="little"), SeededChance(7)
    fakes = multinomial.rvs(200, [1 / CELLS] * CELLS, runs, random_state=7)
    named = (PART.layout.codes(randomize_records(PART, packed, chance)) for _ in range(runs))
    return [np.bincount(some, minlength=CELLS) for some in named] + fakes


TALLIES = crowd(RUNS)


def estimates(runs=120, sizes=SIZES):
    return [
        estimate_counts(
            SENT, Tally(some, USERS + 200), USERS, level=0.9, summed=sizes, simultaneous_over=1
        )
        for some in TALLIES[:runs]
    ]


def accepts(found):
    """Whether estimates are unbiased with the stated errors, and intervals hold as stated.

    Nine means within 6.5 errors (7e-10), nine deviations of 120 runs within 5.6 of theirs (2e-7,
    as those of a normal variable), and nine shares with a chance above 1e-8 each: below 1e-6 in
    all. Fixed seeds repeat one outcome.
    """
    off = np.array([one.counts for one in found]) - HELD
    stated = np.sqrt(np.mean([one.errors**2 for one in found], axis=0))
    runs = len(found)
    held = np.sum(
        [(one.individual.lower <= HELD) & (one.individual.upper >= HELD) for one in found], axis=0
    )
    return bool(
        (np.abs(off.mean(axis=0)) < 6.5 * stated / runs**0.5).all()
        and (np.abs(off.std(axis=0) / stated - 1.0) < 5.6 / (2 * runs) ** 0.5).all()
        and (binom.cdf(held, runs, 0.9) > ALARM / 10).all()
    )


@pytest.mark.seconds
def test_drawn_counts_err_as_stated_and_intervals_hold():
    found = estimates()
    assert accepts(found)
    raw = estimates(1, ())
    # Of 3,700 of 4,000 people, whose error falls from 86 to 27.
    assert found[0].errors[3] < 0.35 * raw[0].errors[3]
    wide, before = (one[0].individual.upper - one[0].individual.lower for one in (found, raw))
    assert wide[3] < 0.4 * before[3]


@pytest.mark.seconds
def test_twins_are_caught(monkeypatch):
    """Planted: errors without the covariance, and another part's total."""
    with monkeypatch.context() as patch:
        patch.setattr(projection, "weight_of_total", lambda *_: np.zeros(1))
        assert not accepts(estimates())
    monkeypatch.setattr(debias, "totals_of", others_totals)
    assert not accepts(estimates())


def others_totals(mechanism, tally, users, sizes):
    """The tallied sums of the next part, less the difference of their fakes."""
    found = totals_of(mechanism, tally, users, sizes)
    fakes = [one.tallied - round(one.bins * mechanism.true_fakes) for one in found]
    return [
        one._replace(tallied=other + round(one.bins * mechanism.true_fakes))
        for one, other in zip(found, fakes[1:] + fakes[:1], strict=True)
    ]


def part_of(tallied, place, *, total=True):
    tally = Tally(tallied, USERS + 200)
    totals = totals_of(SENT, tally, USERS, SIZES)
    number = int(np.searchsorted(np.cumsum(SIZES), place, side="right"))
    one = Tally(tallied[place : place + 1], USERS + 200)
    return TalliedPart(SENT, one, totals[number] if total else None)


@pytest.mark.parametrize(
    ("first", "second", "one_total", "least"),
    [(0, 1, True, 0.8), (5, 8, True, 0.8), (0, 3, False, 0.4), (3, 8, False, 0.4)],
)
def test_differences_err_as_stated_and_their_intervals_hold(first, second, one_total, least):
    """False alarm: below 1e-7. Of two attributes the stated variance is an upper bound."""
    off, stated, hits = [], [], 0
    truth = HELD[first] - HELD[second]
    for tallied in TALLIES:
        one, other = part_of(tallied, first), part_of(tallied, second)
        given = {"one_message": True, "one_total": one_total}
        off.append(one.unbiased_counts[0] - other.unbiased_counts[0] - truth)
        stated.append(difference_variance(one, other, **given))
        ends = difference_intervals(one, other, 0.9, over=1, **given)
        hits += int(ends.lower[0] <= truth <= ends.upper[0])
    quotient = np.var(off) / np.mean(stated)
    assert least < quotient < 1.0 + 5.5 * (2 / RUNS) ** 0.5
    if one_total:
        assert quotient > 1.0 - 5.5 * (2 / RUNS) ** 0.5
    assert binom.cdf(hits, RUNS, 0.9) > ALARM


def test_the_twin_that_takes_two_values_for_bits_is_caught():
    """Planted: half of 4,000 have either value, and are bounded as if one person had both."""
    half = np.array([2000.0]), 1
    within = sampled_cumulants(SENT, [(*half, np.array([1.0])), (*half, np.array([-1.0]))])
    total = KnownTotal(USERS, 2, 1400)
    two = [TalliedPart(SENT, Tally(np.array([700]), USERS + 200), total) for _ in range(2)]
    stated = difference_variance(*two, one_message=True, one_total=True)
    assert stated == pytest.approx(within.variance[0], rel=1e-3)
    assert difference_variance(*two, one_message=True, one_total=False) < 0.9 * stated


def test_totals_of_groups_are_the_sums_of_counts_and_hold():
    """False alarm: below 1e-7 for each of three numbers."""
    off, hits, truth = [], 0, HELD[5:7].sum()
    for tallied in TALLIES:
        tally = Tally(tallied, USERS + 200)
        total = totals_of(SENT, tally, USERS, SIZES)[2]
        found = group_total(SENT, tally, np.array([5, 6]), USERS, total)
        counts = SENT.debias_counts(tallied[5:], tally.messages)
        shown = use_total(SENT, counts, tally.messages, total)
        assert found.estimate == pytest.approx(shown[:2].sum())
        low, high, _ = total_interval([found], 0.05)
        hits += low <= truth <= high
        off.append(found.estimate - truth)
    assert np.var(off) / found.variance == pytest.approx(1.0, abs=5.5 * (2 / RUNS) ** 0.5)
    assert binom.cdf(hits, RUNS, 0.9) > ALARM


@pytest.mark.seconds
def test_changes_hold():
    """False alarm: below 1e-7 for each of nine bins."""
    hits, runs = np.zeros(CELLS, dtype=int), 80
    for before, after in zip(TALLIES[:runs], TALLIES[runs:], strict=False):
        both = [Tally(some, USERS + 200) for some in (before, after)]
        totals = tuple(totals_of(SENT, one, USERS, SIZES) for one in both)
        step = estimate_change(*(TalliedPart(SENT, one) for one in both), level=0.9, totals=totals)
        shown = [estimate_counts(SENT, one, USERS, summed=SIZES).counts for one in both]
        assert step.counts == pytest.approx(shown[1] - shown[0])
        assert step.standard_error < 75
        hits += (step.individual.lower <= 0) & (step.individual.upper >= 0)
    assert (binom.cdf(hits, runs, 0.9) > ALARM).all()


BITS = (np.arange(6000)[:, None] % np.array([2, 50, 3, 10]) < 1).astype(np.uint8)
CROWDS = {
    "bits": (Question(name="q", bins=4, kind=Kind.BITS), BITS),
    "attributes": (
        make_attributes_question("q", (2, 2)),
        np.concatenate([BITS[:, :1], 1 - BITS[:, :1], BITS[:, 3:], 1 - BITS[:, 3:]], axis=1),
    ),
}


@pytest.mark.parametrize("name", CROWDS)
def test_a_plan_and_its_result_state_the_same_error(name):
    """The error of a bin with half the people; counts are within six of their errors (1e-8)."""
    question, rows = CROWDS[name]
    asked = PlanRequest(
        question=question,
        guarantee=Guarantee(epsilon=1.0, delta=1e-6),
        users=6000,
        messages_per_user=2,
        slots=1,
        error_at=3000,
    )
    plan, people = choose(asked).plan, Population(question, pack_vectors(rows.tobytes(), 4))
    analysis = Analysis(level=1.0 - 1e-8, compared=("0", "1"), totals=(("some", ("0", "2")),))
    for raw in (False, True):
        given = replace(analysis, raw=raw)
        found = simulate_release(plan, people, Lab(SeededChance(4)), given).result
        estimate, (difference, total) = found.estimate, found.figures
        off = estimate.counts - people.truth
        assert (np.abs(off) < 6 * estimate.errors).all()
        ends = estimate.simultaneous
        assert ((ends.lower <= people.truth) & (people.truth <= ends.upper)).all()
        if name == "attributes" and not raw:
            assert estimate.counts[:2].sum() == pytest.approx(6000)
        assert difference.rows[0].estimate == pytest.approx(estimate.counts[0] - estimate.counts[1])
        assert total.rows[0].estimate == pytest.approx(estimate.counts[0] + estimate.counts[2])
        if not raw:
            assert estimate.errors[0] == pytest.approx(plan.error_of(3000), rel=0.02)
            used = estimate.errors[0]
    assert used < 0.8 * estimate.errors[0]
