"""A release rests on numbers that add up, or is refused by the number that does not."""

import numpy as np
import pytest
from msgspec.structs import replace

from contracts import flipped, shaped, terms_of, uniform
from mixtally.errors import MessageError
from mixtally.estimate.conclude import conclude_received
from mixtally.estimate.received import reconciled
from mixtally.records.contract import FakeRecord, OwnFakes
from mixtally.records.mechanism import BlankFakes, NoFakes, ShapedFakes, UniformFakes
from mixtally.records.question import Question, with_attributes
from mixtally.records.received import PartReceived, Received
from mixtally.records.results import Tally

PEOPLE, BINS = 800, 10
QUESTION = Question(name="q", bins=BINS)
COIN = OwnFakes(FakeRecord.BLANK, 1, 1 << 63)
SHAPED = terms_of(QUESTION, [shaped(BINS, shift=20)], minimum_crowd=500, hops=3)
BLANKS = terms_of(QUESTION, [flipped(BINS, blanks=300)], minimum_crowd=500, hops=3)
UNIFORM = terms_of(QUESTION, [uniform(BINS, whole=2)], minimum_crowd=500, hops=3)
HALF_COINS = terms_of(QUESTION, [flipped(BINS, own=COIN)], minimum_crowd=500, hops=3)
BARE = terms_of(QUESTION, [flipped(BINS)], minimum_crowd=500, hops=3)
NOBODY = (None, None, None)


def came(received, declared=NOBODY, contributors=PEOPLE, **dropped):
    part = PartReceived(declared=declared, received=received, dropped=dropped)
    return Received(contributors=contributors, parts=(part,))


def only(terms, received):
    (found,) = reconciled(terms, received)
    return found


def test_fakes_are_those_that_came_and_not_those_that_were_promised():
    assert only(UNIFORM, came(3 * PEOPLE + 210)).mechanism.fakes == UniformFakes(2 * PEOPLE + 210)
    assert only(HALF_COINS, came(2 * PEOPLE + 390)).mechanism.fakes == BlankFakes(PEOPLE + 390)
    assert only(BARE, came(PEOPLE)).mechanism.fakes == NoFakes()
    two = only(BLANKS, came(PEOPLE + 600, (300, None, 300)))
    assert two.mechanism.fakes == BlankFakes(600)
    drew = only(SHAPED, came(PEOPLE + 410, (200, None, 210)))
    recipe = SHAPED.parts[0].recipe
    assert drew.mechanism.fakes == ShapedFakes(recipe.ratio, recipe.shift, 2)
    assert drew.people == PEOPLE


def test_a_dropped_message_came_all_the_same_and_is_taken_for_a_record():
    found = only(UNIFORM, came(3 * PEOPLE + 205, past=3, rest=2))
    assert found.mechanism.fakes == UniformFakes(2 * PEOPLE + 210)
    assert found.people == PEOPLE - 5


@pytest.mark.parametrize(
    ("terms", "received", "said"),
    [
        (UNIFORM, came(3 * 499, contributors=499), "contributors: wanted at least 500"),
        (UNIFORM, came(3 * PEOPLE - 1), "messages of people in part 1: wanted 2,4"),
        (UNIFORM, came(4 * PEOPLE + 1), "got 3,201, which is 3,201 that came without 0 of hops"),
        (HALF_COINS, came(2 * PEOPLE), "messages of people in part 1"),
        (HALF_COINS, came(3 * PEOPLE), "messages of people in part 1"),
        (BARE, came(PEOPLE - 1), "wanted 800 of 800 people, got 799"),
        (UNIFORM, came(3 * PEOPLE + 200, (5, None, None)), "messages of hop 1 .* got 5"),
        (BLANKS, came(PEOPLE + 299, (299, None, None)), "hop 1 .* wanted 300, the blanks"),
        (BLANKS, came(PEOPLE + 300, (300, 300, None)), "wanted 800 of 800 people, got 500"),
        (BLANKS, came(PEOPLE), "hops that drew .* nothing else hid anybody"),
        (SHAPED, came(PEOPLE + 401, (401, None, None)), "hop 1 .* wanted at most 400"),
        (SHAPED, came(PEOPLE + 201, (200, None, None)), "wanted 800 of 800 people, got 801"),
        (SHAPED, came(PEOPLE + 200, (200, None)), "declared numbers of part 1: wanted 3, got 2"),
        (UNIFORM, came(3 * PEOPLE + 200, odd=9), "at most 8 among .* got 9 .9 for odd"),
    ],
)
def test_numbers_that_do_not_add_up_are_refused_by_name(terms, received, said):
    with pytest.raises(MessageError, match=said):
        reconciled(terms, received)


def test_numbers_below_zero_are_refused_where_they_stand():
    for made in (
        lambda: came(-1),
        lambda: came(1, (0, -1, None)),
        lambda: came(1, odd=-2),
        lambda: came(1, contributors=-1),
    ):
        with pytest.raises(MessageError, match="no less than none"):
            made()


def test_every_part_is_asked_for():
    question = with_attributes("q", (BINS, 3))
    terms = terms_of(question, [uniform(BINS), uniform(3)], minimum_crowd=500, hops=3)
    with pytest.raises(MessageError, match="parts of what came: wanted 2, got 1"):
        reconciled(terms, came(PEOPLE))
    two = PartReceived(declared=NOBODY, received=2 * PEOPLE + 1, dropped={})
    one = PartReceived(declared=NOBODY, received=PEOPLE + 200, dropped={})
    with pytest.raises(MessageError, match="people in part 2"):
        reconciled(terms, Received(contributors=PEOPLE, parts=(one, two)))


def test_each_part_is_told_from_its_own_tally():
    question = with_attributes("q", (3, 3))
    terms = terms_of(question, [uniform(3), uniform(3)], minimum_crowd=500, hops=3)
    many = [PEOPLE + 190, PEOPLE + 210]
    parts = tuple(PartReceived(declared=NOBODY, received=one, dropped={}) for one in many)
    received = Received(contributors=PEOPLE, parts=parts)
    tallies = [Tally(np.array([one, 0, 0]), one) for one in many]
    assert conclude_received(terms, received, tallies).messages == sum(many)
    for wrong in (tallies[::-1], tallies[:1]):
        with pytest.raises(MessageError, match="tally every part of this round, each once"):
            conclude_received(terms, received, wrong)


def test_dishonest_people_may_toss_their_coins_as_they_like():
    """What honest people's coins rule out is refused only as far as the honest share goes."""
    few = came(2 * PEOPLE + 100)
    with pytest.raises(MessageError, match="messages of people"):
        reconciled(HALF_COINS, few)
    half = replace(HALF_COINS, honest_share=0.25)
    assert only(half, few).mechanism.fakes == BlankFakes(PEOPLE + 100)
    many = came(2 * PEOPLE + 700)
    with pytest.raises(MessageError, match="messages of people"):
        reconciled(HALF_COINS, many)
    assert only(half, many).mechanism.fakes == BlankFakes(PEOPLE + 700)
