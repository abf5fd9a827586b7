"""Words out of hashed reports: unbiased, errors and coverage as stated, significance, refusals."""

import numpy as np
import pytest

from mixtally.errors import InfeasibleError
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.memoized_plan import hashed_question, make_memoized_plan
from mixtally.primitives.counting import column_counts
from mixtally.primitives.draw import draw_below
from mixtally.protocol.encode.bloom import build_design
from mixtally.protocol.estimate import words as module
from mixtally.protocol.estimate.words import ALL, CHOSEN, estimate_words
from mixtally.protocol.randomize.memoized import draw_permanent_response, draw_reports

TRUTH = np.array([900, 700, 500, 300, 200, 150, 100, 80, 40, 30, 0, 0])
WORDS = [f"word {number}" for number in range(len(TRUTH))]


def plan_of(f=0.5, p=0.5, q=0.75, bits=32, hashes=2, cohorts=4):
    return make_memoized_plan(hashed_question("word", bits, hashes), f, p, q, cohorts)


def collected(plan, truth, names, reports, chance):
    """One collection: mean ones, shape (cohorts, bits), and the people of each cohort."""
    mechanism = plan.mechanism
    table = np.packbits(
        build_design(plan, names), axis=1, bitorder="little"
    )  # cohorts, bytes, words
    words = np.repeat(np.arange(len(names)), truth)
    cohort = draw_below(chance, mechanism.cohorts, len(words))
    kept = draw_permanent_response(mechanism, np.ascontiguousarray(table[cohort, :, words]), chance)
    ones = np.zeros((mechanism.cohorts, mechanism.bins))
    for _ in range(reports):
        shown = draw_reports(mechanism, kept, chance)
        for c in range(mechanism.cohorts):
            ones[c] += column_counts(shown[cohort == c], mechanism.bins) / reports
    return ones, np.bincount(cohort, minlength=mechanism.cohorts)


def study(plan, runs, *, seed=1, reports=2, truth=TRUTH, names=WORDS, candidates=None):
    chance, table = SeededChance(seed), build_design(plan, candidates or names)
    return [
        estimate_words(
            plan.mechanism, *collected(plan, truth, names, reports, chance), table, reports
        )
        for _ in range(runs)
    ]


def scores(found, truth=TRUTH):
    """Errors in standard errors, shape (runs, words)."""
    return np.array([(one.counts - truth) / one.standard_errors for one in found])


NOISY = plan_of()
CLEAR = plan_of(f=0.02, p=0.01, q=0.99)
"""Nearly no noise: who landed in which cohort is what moves the counts."""


@pytest.mark.parametrize("plan", [NOISY, CLEAR], ids=["noisy", "clear"])
def test_unbiased_with_the_errors_stated(plan):
    """60 collections of 12 words: mean score within 5 deviations of 0, mean square within 5.5 of 1
    (words of one collection taken as independent, which their errors nearly are)."""
    found = scores(study(plan, 60))
    assert abs(found.mean()) < 5 / np.sqrt(found.size)
    assert abs((found**2).mean() - 1) < 5.5 * np.sqrt(2 / found.size)


def test_candidates_in_the_wrong_order_are_found():
    found = scores(study(NOISY, 20, candidates=WORDS[::-1]))
    assert (found**2).mean() - 1 > 5.5 * np.sqrt(2 / found.size)


@pytest.mark.slow
@pytest.mark.parametrize("plan", [NOISY, CLEAR], ids=["noisy", "clear"])
def test_intervals_hold_the_truth_as_often_as_they_say(plan):
    """18,000 intervals before they are clipped: 94 % to 96 % is 6 deviations."""
    held = np.abs(scores(study(plan, 1500))) <= 1.959964
    assert 0.94 < held.mean() < 0.96


@pytest.mark.seconds
def test_significance_is_shared_by_all_candidates():
    """At level 0.95 an absent word is found in 1 of 20 collections at most, whatever their number.

    60 collections, 3 expected at most: 12 or more has probability 2e-4; seeded, so no false alarm.
    """
    found = np.array([one.found for one in study(NOISY, 60, reports=20)])
    assert found[:, -2:].any(axis=1).sum() < 12
    assert found[:, 0].all()
    assert not found[:, -3].all()


def test_words_that_are_no_candidates_are_counted_together():
    """Half of the crowd holds 40 other words; the errors, widened by the misfit, keep up."""
    others = [f"other {number}" for number in range(40)]
    truth = np.concatenate([TRUTH, np.full(40, 75)])
    found = study(NOISY, 30, truth=truth, names=WORDS + others, candidates=WORDS)
    score = np.array([(one.unlisted[0] - 3000) / one.unlisted[1] for one in found])
    assert np.abs(scores(found)).max() < 6
    assert np.abs(score).max() < 6
    assert all(1000 < one.unlisted[0] < 5000 for one in found)


def test_a_heavy_word_that_is_missing_shows_as_misfit():
    truth = np.array([2000, 900, 50])
    found = study(CLEAR, 5, truth=truth, names=["a", "b", "c"], candidates=["b", "c"])
    assert all(one.reduced_chi_square > 5 and one.widened for one in found)
    whole = study(CLEAR, 5, truth=truth, names=["a", "b", "c"])
    assert not any(one.widened for one in whole)


def test_more_candidates_than_bits_are_chosen_from():
    others = [f"other {number}" for number in range(300)]
    truth = np.array([4000, 3000, 2000])
    found = study(CLEAR, 3, truth=truth, names=WORDS[:3], candidates=WORDS[:3] + others)
    for one in found:
        assert one.method == CHOSEN
        assert one.found[:3].all()
        assert np.abs(one.counts[:3] - truth).max() < 300
        left = np.isnan(one.standard_errors)
        assert 200 < left.sum() < 303
        assert not one.found[left].any()
        assert (one.individual.upper[left] == truth.sum()).all()
    assert study(CLEAR, 1)[0].method == ALL


def test_of_many_absent_candidates_none_is_found():
    found = study(NOISY, 3, truth=np.array([3000]), names=["a"], candidates=[*"bcdefghijk"] * 13)
    for one in found:
        assert one.method == CHOSEN
        assert not one.found.any()
        assert one.unlisted[0] > 1000


def test_candidates_that_set_no_bits_of_the_crowd_leave_everybody_unlisted():
    plan = plan_of(bits=8, hashes=1, cohorts=1)
    table = np.zeros((1, 8, 9), dtype=np.bool_)
    table[0, 3] = True
    ones = np.full((1, 8), 60.0)
    ones[0, 3] = 10.0
    one = estimate_words(plan.mechanism, ones, np.array([100]), table, 1)
    assert one.unlisted == (100.0, 0.0)
    assert not one.counts.any()
    assert np.isnan(one.standard_errors).all()


def test_a_choice_without_end_is_refused(monkeypatch):
    def endless(*_):
        raise RuntimeError("Maximum number of iterations reached.")

    monkeypatch.setattr("scipy.optimize.nnls", endless)
    with pytest.raises(InfeasibleError, match=r"200 candidates for 128 bits .* fewer candidates"):
        study(NOISY, 1, candidates=[str(number) for number in range(200)])


def test_the_variance_of_who_landed_where_is_hoeffdings():
    """The mean square of a(m, c) minus its row mean minus its column mean plus its mean."""
    draws = SeededChance(9).words(3 * 2 * 5 + 2 * 5 * 3).astype(np.float64) / 2.0**64
    solve, columns = draws[:30].reshape(3, 10), draws[30:].reshape(2, 5, 3)
    people, counts = np.array([30, 70]), np.array([50.0, 30.0, 20.0])
    seen = module._CohortCounts(plan_of(bits=5).mechanism, np.zeros((2, 5)), people, 1)
    found = module._cohort_variance(seen, solve, columns, counts)
    share, weights = people / 100, counts / 100
    for row in range(3):
        moved = np.array([solve[row, 5 * c : 5 * c + 5] @ columns[c] for c in range(2)])
        apart = moved - share @ moved - (moved @ weights)[:, None] + share @ moved @ weights
        assert found[row] == pytest.approx(100 * float(share @ apart**2 @ weights))
