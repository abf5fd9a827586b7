"""Both levels of memoized answers: exact chances bit by bit, one response for ever."""

import hashlib
import hmac

import numpy as np
import pytest

from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.mechanism.memoized import make_memoized
from mixtally.model.memoized_plan import MemoizedPlan, hashed_question, make_memoized_plan
from mixtally.model.question import Question
from mixtally.primitives.bits import one_hot_rows
from mixtally.primitives.codec import fingerprint
from mixtally.protocol.randomize import memoized as module
from mixtally.protocol.randomize.memoized import (
    cohort_of,
    derive_response,
    draw_permanent_response,
    draw_reports,
    memory_of,
    new_key,
)

PEOPLE, BITS = 40_000, 13
MECHANISMS = [
    make_memoized(BITS, *numbers)
    for numbers in ((0.5, 0.5, 0.75), (0.004, 0.003, 0.9), (1.0, 0.0, 0.2), (0.3, 0.6, 1.0))
]
PLAN = MemoizedPlan(question=Question(name="color", bins=BITS), mechanism=MECHANISMS[0])
PEOPLE_ROWS = one_hot_rows(np.full(PEOPLE, 4), BITS)


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
    p, q = mechanism.report_probabilities
    return held * q + (1 - held) * p


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_bit_is_kept_wrong_with_half_of_f(mechanism):
    """False alarm below 13 * 6e-7 = 8e-6 a case: 5 deviations, 13 columns."""
    rows = draw_permanent_response(mechanism, PEOPLE_ROWS, SeededChance(1))
    assert deviation(bits(rows), kept_chances(mechanism)) < 5


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_report_shows_kept_ones_with_q_and_kept_zeros_with_p(mechanism):
    """False alarm below 8e-6 a case: 5 deviations, 13 columns."""
    rows = draw_reports(mechanism, PEOPLE_ROWS, SeededChance(2))
    held = np.arange(BITS) == 4
    assert deviation(bits(rows), shown_chances(mechanism, held)) < 5


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_two_reports_of_one_memory_share_what_was_kept_and_nothing_else(mechanism):
    """P[1 in both] is the mean of the squares; false alarm below 8e-6 a case."""
    rows = draw_permanent_response(mechanism, PEOPLE_ROWS, SeededChance(3))
    chance = SeededChance(4)
    both = bits(draw_reports(mechanism, rows, chance)) & bits(draw_reports(mechanism, rows, chance))
    (p, q), kept = mechanism.report_probabilities, kept_chances(mechanism)
    assert deviation(both, kept * q**2 + (1 - kept) * p**2) < 5


@pytest.mark.parametrize("mechanism", MECHANISMS[:1])
def test_a_memory_drawn_anew_for_each_report_is_found(mechanism):
    chance = SeededChance(4)
    shown = [
        bits(
            draw_reports(mechanism, draw_permanent_response(mechanism, PEOPLE_ROWS, chance), chance)
        )
        for _ in range(2)
    ]
    p, q = mechanism.report_probabilities
    pmf = kept_chances(mechanism) * q**2 + (1 - kept_chances(mechanism)) * p**2
    assert deviation(shown[0] & shown[1], pmf) > 5


def test_reports_drawn_from_the_truth_are_found():
    mechanism = MECHANISMS[0]
    rows = draw_reports(mechanism, PEOPLE_ROWS, SeededChance(5))
    assert deviation(bits(rows), shown_chances(mechanism, kept_chances(mechanism))) > 5


def test_certain_reports_are_the_memory_itself():
    mechanism = make_memoized(BITS, 0.5, 0.0, 1.0)
    rows = draw_permanent_response(mechanism, PEOPLE_ROWS, SeededChance(1))
    assert np.array_equal(draw_reports(mechanism, rows, SeededChance(2)), rows)


@pytest.mark.parametrize("columns", [2, 7, 8, 9, 64, 105])
def test_padding_is_never_set(columns):
    mechanism = make_memoized(columns, 1.0, 0.5, 1.0)
    rows = draw_permanent_response(
        mechanism, one_hot_rows(np.zeros(300, dtype=np.int64), columns), SeededChance(1)
    )
    shown = draw_reports(mechanism, rows, SeededChance(2))
    for row in (rows, shown):
        assert not np.unpackbits(row, axis=1, bitorder="little")[:, columns:].any()
    assert np.unpackbits(shown, axis=1, bitorder="little")[:, :columns].any(axis=0).all()


NAMES = [str(person) for person in range(PEOPLE)]
KEY = bytes(range(32))


def derived(plan=PLAN, key=KEY, persons=("ann",), value="red", at=4):
    """The responses of some people who all hold one value."""
    records = one_hot_rows(np.full(len(persons), at), plan.mechanism.bins)
    return derive_response(plan, key, persons, [value] * len(persons), records)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_derived_bit_is_wrong_with_half_of_f(mechanism):
    """False alarm below 13 * 6e-7 = 8e-6 a case: 5 deviations, 13 columns; as if by chance."""
    plan = MemoizedPlan(question=PLAN.question, mechanism=mechanism)
    assert deviation(bits(derived(plan, persons=NAMES)), kept_chances(mechanism)) < 5


def test_wrong_bits_of_two_people_and_of_two_values_have_nothing_in_common():
    """Both wrong with (f/2)^2, 13 bits of 40,000 people: 5 deviations, false alarm 8e-6 each."""
    own = bits(derived(persons=NAMES)) ^ bits(PEOPLE_ROWS)
    next_one = np.roll(own, 1, axis=0)
    another = bits(derived(persons=NAMES, value="blue")) ^ bits(PEOPLE_ROWS)
    for other in (next_one, another):
        assert deviation(own & other, np.full(BITS, (MECHANISMS[0].f / 2) ** 2)) < 5


def test_the_response_is_as_documented():
    """Derived once more, from the description alone; another algorithm would draw it anew."""
    certain = make_memoized_plan(PLAN.question, 0.5, 0.0, 1.0)
    parts = (b"response", bytes.fromhex(fingerprint(certain)), b"ann", "r\u00f6t".encode())
    message = b"".join(len(part).to_bytes(8, "little") + part for part in parts)
    words = hashlib.shake_256(hmac.new(KEY, message, "sha256").digest()).digest(8 * BITS)
    wanted = 1 << 4
    for i in range(BITS):
        word = int.from_bytes(words[8 * i : 8 * i + 8], "little")
        wanted ^= (word < MECHANISMS[0].permanent // 2) << i
    assert derived(value="r\u00f6t").tobytes() == wanted.to_bytes(2, "little")
    assert derived().tobytes().hex() == "2010"


def test_reports_may_change_and_the_response_stays():
    """p and q only show what is memoized; question, encoder and f are another memory."""
    question = PLAN.question
    same = [
        make_memoized_plan(question, 0.5, p, q) for p, q in ((0.5, 0.75), (0.0, 1.0), (0.1, 0.2))
    ]
    assert len({memory_of(plan) for plan in same}) == 1
    assert len({derived(plan).tobytes() for plan in same}) == 1
    word = hashed_question("color", BITS, 2)
    others = [
        PLAN,
        make_memoized_plan(question, 0.25, 0.5, 0.75),
        make_memoized_plan(Question(name="taste", bins=BITS), 0.5, 0.5, 0.75),
        make_memoized_plan(word, 0.5, 0.5, 0.75),
        make_memoized_plan(word, 0.5, 0.5, 0.75, 2),
        make_memoized_plan(hashed_question("color", BITS, 3), 0.5, 0.5, 0.75),
    ]
    assert len({memory_of(plan) for plan in others}) == len(others)
    crowd = NAMES[:40]
    assert len({derived(plan, persons=crowd).tobytes() for plan in others}) == len(others)


def test_keys_persons_values_and_their_borders_are_told_apart():
    key, other = (new_key(SeededChance(seed)) for seed in (1, 2))
    texts = [("ann", "red"), ("bob", "red"), ("ann", "blue"), ("annr", "ed"), ("", "annred")]
    plan = make_memoized_plan(Question(name="wide", bins=200), 1.0, 0.0, 1.0)
    seen = {
        derived(plan, one, (person,), value).tobytes()
        for one in (key, other)
        for person, value in texts
    }
    assert len(seen) == 2 * len(texts)


def test_people_are_answered_alike_alone_and_in_a_crowd(monkeypatch):
    crowd = derived(persons=NAMES[:1000])
    monkeypatch.setattr(module, "_SPAN_BYTES", 1000)
    assert np.array_equal(derived(persons=NAMES[:1000]), crowd)
    assert np.array_equal(derived(persons=NAMES[700:701])[0], crowd[700])


def test_cohorts_are_even_and_the_same_for_all_values():
    """Chi-square with 7 degrees of freedom below 45: false alarm 1.5e-7."""
    mechanism, key = (
        make_memoized(32, 0.5, 0.5, 0.75, hashes=2, cohorts=8),
        new_key(SeededChance(3)),
    )
    cohorts = [cohort_of(key, mechanism, str(person)) for person in range(8000)]
    assert cohorts == [cohort_of(key, mechanism, str(person)) for person in range(8000)]
    counts = np.bincount(cohorts, minlength=8)
    assert ((counts - 1000) ** 2 / 1000).sum() < 45
