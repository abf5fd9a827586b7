"""Both levels of memoized answers: exact chances bit by bit, no value drawn twice."""

import numpy as np
import pytest

from mixtally.ground.bits import one_hot
from mixtally.randomize import memoized as module
from mixtally.randomize.memoized import (
    Responses,
    cohort_of,
    new_key,
    permanent_response,
    recall,
    report,
    value_tag,
)
from mixtally.records.mechanism.memoized import memoized
from mixtally.records.memoized_plan import MemoizedPlan
from mixtally.records.question import Question
from mixtally.simulation.seeded import SeededChance

PEOPLE, BITS = 40_000, 13
MECHANISMS = [
    memoized(BITS, *numbers)
    for numbers in ((0.5, 0.5, 0.75), (0.004, 0.003, 0.9), (1.0, 0.0, 0.2), (0.3, 0.6, 1.0))
]
PLAN = MemoizedPlan(question=Question(name="color", bins=BITS), mechanism=MECHANISMS[0])
PEOPLE_ROWS = one_hot(np.full(PEOPLE, 4), BITS)


def bits(rows):
    return np.unpackbits(rows, axis=1, count=BITS, bitorder="little").astype(bool)


def deviation(shown, chances):
    """Largest deviation of a column's ones from its binomial distribution, in standard
    deviations.
    """
    people = len(shown)
    spread = np.sqrt(people * chances * (1 - chances))
    gap = np.abs(shown.sum(axis=0) - people * chances)
    assert not gap[spread == 0].any()
    return float(np.max(gap[spread > 0] / spread[spread > 0], initial=0.0))


def kept_chances(mechanism):
    """P[a bit is kept as 1], the fourth bit being a true one."""
    chances = np.full(BITS, mechanism.f / 2)
    chances[4] = 1 - mechanism.f / 2
    return chances


def shown_chances(mechanism, held):
    p, q = mechanism.shown
    return held * q + (1 - held) * p


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_bit_is_kept_wrong_with_half_of_f(mechanism):
    """False alarm below 13 * 6e-7 = 8e-6 a case: 5 deviations, 13 columns."""
    rows = permanent_response(mechanism, PEOPLE_ROWS, SeededChance(1))
    assert deviation(bits(rows), kept_chances(mechanism)) < 5


@pytest.mark.parametrize("mechanism", MECHANISMS[:2])
def test_flips_with_f_instead_of_coins_are_found(mechanism, monkeypatch):
    true = module.flip
    monkeypatch.setattr(
        module, "flip", lambda rows, bits, t, chance: true(rows, bits, 2 * t, chance)
    )
    doubled = memoized(BITS, mechanism.f / 1.0001, *mechanism.shown)
    rows = permanent_response(doubled, PEOPLE_ROWS, SeededChance(1))
    assert deviation(bits(rows), kept_chances(mechanism)) > 5


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_report_shows_kept_ones_with_q_and_kept_zeros_with_p(mechanism):
    """False alarm below 8e-6 a case: 5 deviations, 13 columns."""
    rows = report(mechanism, PEOPLE_ROWS, SeededChance(2))
    held = np.arange(BITS) == 4
    assert deviation(bits(rows), shown_chances(mechanism, held)) < 5


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_two_reports_of_one_memory_share_what_was_kept_and_nothing_else(mechanism):
    """P[1 in both] is the mean of the squares; false alarm below 8e-6 a case."""
    rows = permanent_response(mechanism, PEOPLE_ROWS, SeededChance(3))
    chance = SeededChance(4)
    both = bits(report(mechanism, rows, chance)) & bits(report(mechanism, rows, chance))
    (p, q), kept = mechanism.shown, kept_chances(mechanism)
    assert deviation(both, kept * q**2 + (1 - kept) * p**2) < 5


@pytest.mark.parametrize("mechanism", MECHANISMS[:1])
def test_a_memory_drawn_anew_for_each_report_is_found(mechanism):
    chance = SeededChance(4)
    shown = [
        bits(report(mechanism, permanent_response(mechanism, PEOPLE_ROWS, chance), chance))
        for _ in range(2)
    ]
    p, q = mechanism.shown
    pmf = kept_chances(mechanism) * q**2 + (1 - kept_chances(mechanism)) * p**2
    assert deviation(shown[0] & shown[1], pmf) > 5


def test_reports_drawn_from_the_truth_are_found():
    mechanism = MECHANISMS[0]
    rows = report(mechanism, PEOPLE_ROWS, SeededChance(5))
    assert deviation(bits(rows), shown_chances(mechanism, kept_chances(mechanism))) > 5


def test_certain_reports_are_the_memory_itself():
    mechanism = memoized(BITS, 0.5, 0.0, 1.0)
    rows = permanent_response(mechanism, PEOPLE_ROWS, SeededChance(1))
    assert np.array_equal(report(mechanism, rows, SeededChance(2)), rows)


@pytest.mark.parametrize("columns", [2, 7, 8, 9, 64, 105])
def test_padding_is_never_set(columns):
    mechanism = memoized(columns, 1.0, 0.5, 1.0)
    rows = permanent_response(
        mechanism, one_hot(np.zeros(300, dtype=np.int64), columns), SeededChance(1)
    )
    shown = report(mechanism, rows, SeededChance(2))
    for row in (rows, shown):
        assert not np.unpackbits(row, axis=1, bitorder="little")[:, columns:].any()
    assert np.unpackbits(shown, axis=1, bitorder="little")[:, :columns].any(axis=0).all()


def drawn_twice(recall_, runs=1):
    """Whether any value's response differs between two visits, or within one."""
    key = new_key(SeededChance(1))
    tags = [value_tag(key, str(person % 500), "red") for person in range(1000)]
    records = one_hot(np.full(1000, 2), BITS)
    chance, state = SeededChance(2), Responses(PLAN, "crowd", {})
    state, first = recall_(state, tags, records, chance)
    assert len(state.by_tag) in (0, 500)
    state, again = recall_(state, tags, records, chance)
    return not (np.array_equal(first, again) and np.array_equal(first[:500], first[500:]))


def test_a_value_seen_before_gets_the_response_that_was_kept():
    assert not drawn_twice(recall)


def test_a_response_that_is_not_kept_is_found():
    def forgetful(state, tags, records, chance):
        return state, recall(state, tags, records, chance)[1]

    assert drawn_twice(forgetful)


def test_a_batch_that_draws_for_each_row_is_found():
    def careless(state, tags, records, chance):
        after, _ = recall(state, tags, records, chance)
        return after, permanent_response(state.plan.mechanism, records, chance)

    assert drawn_twice(careless)


def test_new_values_leave_the_old_responses_alone():
    key, chance = new_key(SeededChance(1)), SeededChance(2)
    red, blue = (value_tag(key, "ann", value) for value in ("red", "blue"))
    state, first = recall(Responses(PLAN, "ann", {}), [red], one_hot(np.array([2]), BITS), chance)
    after, both = recall(state, [blue, red], one_hot(np.array([5, 2]), BITS), chance)
    assert np.array_equal(both[1], first[0])
    assert len(state.by_tag) == 1
    assert len(after.by_tag) == 2
    assert recall(after, [red], one_hot(np.array([2]), BITS), chance)[0] is after


def test_tags_tell_apart_persons_values_keys_and_their_borders():
    key, other = (new_key(SeededChance(seed)) for seed in (1, 2))
    texts = [("ann", "red"), ("bob", "red"), ("ann", "blue"), ("annr", "ed"), ("", "annred")]
    tags = {value_tag(k, *pair) for k in (key, other) for pair in texts}
    assert len(tags) == 2 * len(texts)


def test_cohorts_are_even_and_the_same_for_all_values():
    """Chi-square with 7 degrees of freedom below 45: false alarm 1.5e-7."""
    mechanism, key = memoized(32, 0.5, 0.5, 0.75, hashes=2, cohorts=8), new_key(SeededChance(3))
    cohorts = [cohort_of(key, mechanism, str(person)) for person in range(8000)]
    assert cohorts == [cohort_of(key, mechanism, str(person)) for person in range(8000)]
    counts = np.bincount(cohorts, minlength=8)
    assert ((counts - 1000) ** 2 / 1000).sum() < 45
