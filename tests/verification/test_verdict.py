"""Certificates of an accountant that errs are refused; what was not derived again is said."""

import math

import pytest

from helpers import contracts
from mixtally.accounting.verification import COLUMNS, blank, derive_parts, verify_certificate
from mixtally.accounting.verification.balls import arb, compute_narrow
from mixtally.errors import PlanError
from mixtally.model.contract import Cover, NoRecipe, Part
from mixtally.model.layout import Form, Layout
from mixtally.model.question import Question
from verification.written import certified, clear, flips, plain, plan_of, stated

SCALE = 1 << 64
COIN = flips(40, SCALE // 200, own=(0, SCALE // 2))
CAPPED = flips(40, SCALE // 200, blanks=10_000, cap=4)
BIT = flips(1, SCALE // 200, most_set=None, blanks=10_000)
WHOLE = flips(40, SCALE // 200, blanks=10_000)
PEOPLE = 20_000


def with_certificate(part, lower, upper, epsilon=1.0):
    said = stated(epsilon, lower, upper)
    return plain(plan_of(part, epsilon=epsilon, people=PEOPLE, certificate=said))


def honest(part):
    return certified(plan_of(part, people=PEOPLE)).upper


def one_direction(fakes, threshold):
    """Of a bit, the smaller."""
    ways = (blank.one_over_zero_delta, blank.zero_over_one_delta)
    found = [
        compute_narrow(
            lambda nats, way=way: way(fakes, threshold, arb(1.0).exp(), nats), 1e-9
        ).to_floats()[1]
        for way in ways
    ]
    return min(found)


MISTAKEN = {
    "the coin ignored": (COIN, lambda: honest(flips(40, SCALE // 200, own=(1, 0)))),
    "the overflow ignored": (CAPPED, lambda: honest(WHOLE)),
    "one direction only": (BIT, lambda: one_direction(10_000, SCALE // 200) * (1 + 1e-9)),
    "e^epsilon rounded up": (
        WHOLE,
        lambda: certified(plan_of(WHOLE, epsilon=1.0 + 1e-7, people=PEOPLE)).upper,
    ),
}


@pytest.mark.parametrize("name", MISTAKEN)
def test_what_an_accountant_that_errs_states_is_refused(name):
    part, wrong = MISTAKEN[name]
    assert verify_certificate(with_certificate(part, 0.0, honest(part))).whole
    with pytest.raises(PlanError, match="certificate of the plan: expected"):
        verify_certificate(with_certificate(part, 0.0, wrong()))


def test_a_false_promise_and_an_altered_file_are_told_apart():
    with pytest.raises(PlanError, match="its promise is false"):
        verify_certificate(with_certificate(WHOLE, 0.0, honest(WHOLE) * 0.9))
    with pytest.raises(PlanError, match="The file was altered"):
        verify_certificate(with_certificate(CAPPED, 0.0, honest(CAPPED) * (1 - 1e-6)))


def test_a_lower_end_above_the_derived_upper_one_is_refused():
    """The stated lower end is refused though the stated upper end bounds delta."""
    true = honest(WHOLE)
    assert verify_certificate(with_certificate(WHOLE, true * (1 - 1e-6), true))
    with pytest.raises(PlanError, match="expected a lower end of at most"):
        verify_certificate(with_certificate(WHOLE, true * 1.01, true * 1.02))


def test_a_certificate_of_another_epsilon_is_refused():
    plan = with_certificate(WHOLE, 0.0, 0.1)
    plan["certificate"]["epsilon"] = 2.0
    with pytest.raises(PlanError, match="certificate of the plan"):
        verify_certificate(plan)


def test_what_has_no_lower_end_is_not_said_to_be_compared():
    """Of two rounds of replaced values only an upper end of one is known."""
    plan = contracts.plan_of(
        Question(name="q", bins=5),
        [contracts.replaced(5, share=0.3)],
        epsilon=0.5,
        users=100,
        collections=2,
        hops=1,
    )
    found = verify_certificate(contracts.builtins_of(contracts.proved(plan)))
    assert not found.whole
    assert "only an upper end was derived" in found.summary


def test_of_several_messages_only_each_is_derived_again():
    asked = plan_of(WHOLE, people=PEOPLE, collections=3)
    found = verify_certificate(plain(asked))
    assert not found.whole
    assert "3 messages" in found.summary
    assert "by the accountant alone" in found.summary
    low = found.parts[0].lower
    low_terms = plain(asked)
    low_terms["certificate"]["upper"] = low * 0.999
    with pytest.raises(PlanError, match="its promise is false"):
        verify_certificate(low_terms)


@pytest.mark.parametrize("counts", [True, False])
def test_of_a_record_that_is_sent_again_only_each_message_is_derived_again(counts):
    often = crowd(repeats=3, count_flips=counts)
    found = verify_certificate(plain(often))
    assert not found.whole
    assert found.summary.startswith("nothing" if counts else "of 3 messages of a person the stated")
    if not counts:
        often = plain(often)
        often["certificate"]["upper"] = found.parts[0].lower * 0.999
        with pytest.raises(PlanError, match="its promise is false"):
            verify_certificate(often)


def crowd(repeats=1, count_flips=True, most_set=1):
    """Nothing but people's flips."""
    return plan_of(
        Part(
            bins=8,
            most_set=most_set,
            threshold=SCALE // 5,
            own=None,
            recipe=NoRecipe(),
            layout=Layout(Form.BITS, 8),
            repeats=repeats,
        ),
        epsilon=2.7,
        count_flips=count_flips,
        cover=Cover.PEOPLE,
    )


def test_sets_of_three_whose_flips_are_counted_on_are_left_to_the_accountant():
    found = verify_certificate(plain(crowd(most_set=3)))
    assert (found.parts[0].protocol, found.parts[0].lower) == ("flip", None)
    assert not found.whole
    assert "nothing" in found.summary
    assert "flips are counted on" in found.parts[0].proved


def test_sets_of_three_are_bounded_from_below():
    part = flips(40, SCALE // 20, most_set=3, blanks=3000)
    plan = plan_of(part, people=PEOPLE)
    (found,) = derive_parts(plain(plan))
    assert found.upper is None
    assert 0.0 < found.lower <= certified(plan).upper
    with pytest.raises(PlanError, match="its promise is false"):
        verify_certificate(with_certificate(part, 0.0, found.lower * 0.99))


def test_rows_have_a_cell_a_column_and_numbers_rounded_outwards():
    found = verify_certificate(with_certificate(WHOLE, 0.0, honest(WHOLE)))
    (row,) = found.rows()
    assert len(row) == len(COLUMNS)
    low, high = float(row[2]), float(row[3])
    assert low <= found.parts[0].lower <= found.parts[0].upper <= high
    assert high - low <= 1e-7 * high
    (bare,) = verify_certificate(plain(crowd(most_set=3))).rows()
    assert bare[2:4] == ("-", "-")


@pytest.mark.parametrize(
    "field", ["version", "parts", "cover", "guarantee", "honest_share", "count_flips"]
)
def test_what_is_no_terms_is_refused(field):
    plan = with_certificate(flips(2, 1 << 60, own=(1, 0)), 0.0, 0.1)
    del plan[field]
    with pytest.raises(PlanError, match="plan: expected the fields of version 6"):
        derive_parts(plan)


@pytest.mark.parametrize(
    ("place", "wrong"),
    [("bins", "many"), ("bins", 0), ("threshold", 1 << 63), ("recipe", {"type": "else"})],
)
def test_a_part_that_cannot_be_is_refused(place, wrong):
    plan = with_certificate(WHOLE, 0.0, 0.1)
    plan["parts"][0][place] = wrong
    with pytest.raises(PlanError, match="plan: expected the fields of version 6"):
        derive_parts(plan)


def test_people_are_counted_in_decimals():
    """.7 of 90 are 63, which floating point takes for 62."""
    part = clear(2, whole=1)
    ninety = plain(plan_of(part, people=90, honest_share=0.7))
    assert derive_parts(ninety) == derive_parts(plain(plan_of(part, people=63)))


@pytest.mark.parametrize(("own", "blanks", "fakes"), [(None, 7, 7), ((2, 1), None, 9)])
def test_every_message_that_the_proof_counts_may_overflow(own, blanks, fakes):
    """The person's and all fakes, those of coins at the most that they can show."""
    threshold = SCALE // 50
    q = threshold / SCALE
    capped, free = (
        derive_parts(
            plain(plan_of(flips(3, threshold, own=own, blanks=blanks, cap=cap), people=3))
        )[0]
        for cap in (2, None)
    )
    cost = (1.0 + math.e) * ((1.0 - q) * q * q + fakes * q**3)
    assert capped.least - free.least == pytest.approx(cost, rel=1e-6)
    assert free.lower - capped.lower == pytest.approx(cost, rel=1e-6)
    assert capped.upper - free.upper == pytest.approx(cost, rel=1e-6)
