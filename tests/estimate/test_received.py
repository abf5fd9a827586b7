"""A release rests on numbers that add up, or is refused by the number that does not."""

import numpy as np
import pytest
from msgspec.structs import replace

from helpers.contracts import flipped, plan_of, shaped, uniform
from mixtally.errors import MessageError, PlanError
from mixtally.model.contract import FakeRecord, OwnFakes
from mixtally.model.estimates import Tally
from mixtally.model.mechanism import BlankFakes, NoFakes, ShapedFakes, UniformFakes
from mixtally.model.question import Question, make_attributes_question
from mixtally.model.received import PartReceived, Received
from mixtally.protocol.estimate.conclude import conclude
from mixtally.protocol.estimate.received import find_coin_warnings, reconcile_parts

PEOPLE, BINS = 800, 10
QUESTION = Question(name="q", bins=BINS)
COIN = OwnFakes(FakeRecord.BLANK, 1, 1 << 63)
SHAPED = plan_of(QUESTION, [shaped(BINS, shift=20)], minimum_crowd=500, hops=3)
BLANKS = plan_of(QUESTION, [flipped(BINS, blanks=300)], minimum_crowd=500, hops=3)
UNIFORM = plan_of(QUESTION, [uniform(BINS, whole=2)], minimum_crowd=500, hops=3)
HALF_COINS = plan_of(QUESTION, [flipped(BINS, own=COIN)], minimum_crowd=500, hops=3)
BARE = plan_of(QUESTION, [flipped(BINS)], minimum_crowd=500, hops=3)
NOBODY = (None, None, None)


def came(received, declared=NOBODY, contributors=PEOPLE, **dropped):
    part = PartReceived(declared=declared, received=received, dropped=dropped)
    return Received(contributors=contributors, parts=(part,))


def only(plan, received):
    (found,) = reconcile_parts(plan, received)
    return found


def test_fakes_are_those_that_came_and_not_those_that_were_promised():
    assert only(UNIFORM, came(3 * PEOPLE + 210)).mechanism.fakes == UniformFakes(2 * PEOPLE + 210)
    assert only(HALF_COINS, came(2 * PEOPLE + 390)).mechanism.fakes == BlankFakes(PEOPLE + 390)
    assert only(BARE, came(PEOPLE)).mechanism.fakes == NoFakes()
    two = only(BLANKS, came(PEOPLE + 600, (300, None, 300)))
    assert two.mechanism.fakes == BlankFakes(600)
    drew = only(SHAPED, came(PEOPLE + 410, (200, None, 210)))
    recipe = SHAPED.parts[0].recipe
    assert drew.mechanism.fakes == ShapedFakes(recipe, 2)
    assert drew.people == PEOPLE


def test_of_what_was_dropped_as_many_are_records_as_of_all_that_was_sent():
    """Bundles of strangers that nobody can read leave the numbers of everybody else as they are."""
    honest = only(UNIFORM, came(3 * PEOPLE + 210))
    strangers = 20 * PEOPLE
    found = only(
        UNIFORM,
        came(
            3 * PEOPLE + 210,
            contributors=PEOPLE + strangers,
            past=strangers,
            rest=2 * strangers + 4200,
        ),
    )
    assert (found.mechanism, found.people) == (honest.mechanism, honest.people)
    assert (honest.dropped, found.dropped) == (0, 3 * strangers + 4200)
    (one,) = reconcile_parts(BARE, came(PEOPLE - 5, past=5))
    assert one.people == PEOPLE - 5


def test_nothing_that_could_be_read_is_no_round():
    assert only(UNIFORM, came(1, rest=3 * PEOPLE + 209)).people == 1
    with pytest.raises(MessageError, match="expected fewer than the 2,610 messages of people"):
        reconcile_parts(UNIFORM, came(0, rest=3 * PEOPLE + 210))


@pytest.mark.parametrize(
    ("plan", "received", "said"),
    [
        (UNIFORM, came(3 * 499, contributors=499), "contributors: expected at least 500"),
        (UNIFORM, came(3 * PEOPLE - 1), "messages of people in part 1: expected 2,4"),
        (UNIFORM, came(4 * PEOPLE + 1), r"got 3,201 \(3,201 received, minus 0 that hops added\)"),
        (HALF_COINS, came(2 * PEOPLE - 1), "messages of people in part 1"),
        (HALF_COINS, came(3 * PEOPLE + 1), "messages of people in part 1"),
        (BARE, came(PEOPLE - 1), "expected 800 from 800 people, got 799"),
        (UNIFORM, came(3 * PEOPLE + 200, (5, None, None)), "messages of hop 1 .* got 5"),
        (
            BLANKS,
            came(PEOPLE + 301, (301, None, None)),
            "hop 1 .* expected at most 300, those of its recipe",
        ),
        (
            BLANKS,
            came(PEOPLE + 299, (299, None, None)),
            "hops: expected one that added its whole",
        ),
        (BLANKS, came(PEOPLE + 300, (300, 300, None)), "expected 800 from 800 people, got 500"),
        (BLANKS, came(PEOPLE), "hops that drew .* nothing else hides an answer"),
        (
            SHAPED,
            came(PEOPLE + 401, (401, None, None)),
            "hop 1 .* expected at most [2-3][0-9]+, which its recipe exceeds",
        ),
        (SHAPED, came(PEOPLE + 201, (200, None, None)), "expected 800 from 800 people, got 801"),
        (SHAPED, came(PEOPLE + 200, (200, None)), "declared numbers of part 1: expected 3, got 2"),
    ],
)
def test_numbers_that_do_not_add_up_are_refused_by_name(plan, received, said):
    with pytest.raises(MessageError, match=said):
        reconcile_parts(plan, received)


def test_numbers_below_zero_are_refused_where_they_stand():
    for made in (
        lambda: came(-1),
        lambda: came(1, (0, -1, None)),
        lambda: came(1, odd=-2),
        lambda: came(1, contributors=-1),
    ):
        with pytest.raises(MessageError, match="at least 0"):
            made()


def test_every_part_is_asked_for():
    question = make_attributes_question("q", (BINS, 3))
    plan = plan_of(question, [uniform(BINS), uniform(3)], minimum_crowd=500, hops=3)
    with pytest.raises(MessageError, match="parts of the round: expected 2, got 1"):
        reconcile_parts(plan, came(PEOPLE))
    two = PartReceived(declared=NOBODY, received=2 * PEOPLE + 1, dropped={})
    one = PartReceived(declared=NOBODY, received=PEOPLE + 200, dropped={})
    with pytest.raises(MessageError, match="people in part 2"):
        reconcile_parts(plan, Received(contributors=PEOPLE, parts=(one, two)))


def test_each_part_is_told_from_its_own_tally():
    question = make_attributes_question("q", (3, 3))
    plan = plan_of(question, [uniform(3), uniform(3)], minimum_crowd=500, hops=3)
    many = [PEOPLE + 190, PEOPLE + 210]
    parts = tuple(PartReceived(declared=NOBODY, received=one, dropped={}) for one in many)
    received = Received(contributors=PEOPLE, parts=parts)
    tallies = [Tally(np.array([one, 0, 0]), one) for one in many]
    assert conclude(plan, tallies, received=received).messages == sum(many)
    with pytest.raises(MessageError, match="Tally every part of this round, each once"):
        conclude(plan, tallies[::-1], received=received)
    with pytest.raises(PlanError, match="a tally for each of the 2 messages"):
        conclude(plan, tallies[:1], received=received)


@pytest.mark.parametrize("coins", [0, 100, 700, PEOPLE])
def test_people_toss_their_coins_as_they_like_and_that_is_said(coins):
    """Strangers can bring it about, so nothing is refused."""
    sent = came(2 * PEOPLE + coins)
    assert only(HALF_COINS, sent).mechanism.fakes == BlankFakes(PEOPLE + coins)
    (said,) = find_coin_warnings(HALF_COINS, sent)
    assert f"people sent {2 * PEOPLE + coins:,} messages" in said
    quarter = replace(HALF_COINS, honest_share=0.25)
    assert find_coin_warnings(quarter, sent) == [] or coins in (0, PEOPLE)


def test_what_coins_give_is_no_doubt():
    assert find_coin_warnings(HALF_COINS, came(2 * PEOPLE + 390)) == []
    assert find_coin_warnings(UNIFORM, came(3 * PEOPLE + 200)) == []
    assert find_coin_warnings(BARE, came(PEOPLE - 9, rest=9)) == []
