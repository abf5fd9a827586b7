"""From values to bins, by hand, for the device's room and for the reference."""

import pytest

from helpers import contracts
from mixtally.device import client
from mixtally.device.client.draw import RandomWords
from mixtally.device.client.encode import encode_value
from mixtally.errors import DataError, RefusedError
from mixtally.model.contract import Prefixes, write_contract
from mixtally.model.grid import Grid
from mixtally.model.question import Kind, Question, make_attributes_question
from reference.answer import answer


def asked(bins, **more):
    return Question(name="q", bins=bins, **more)


LABELS = contracts.plan_of(asked(3, labels=("no", "yes", "maybe")), [contracts.shaped(3)])
EDGES = contracts.plan_of(asked(3), [contracts.shaped(3)], edges=(0.0, 1.0, 2.5, 4.0))
SETS = contracts.plan_of(
    asked(9, kind=Kind.SET, max_set=3), [contracts.flipped(9, most_set=3, blanks=5)]
)
TRAITS = make_attributes_question("q", (2, 3))
WHOLE = contracts.plan_of(TRAITS, [contracts.flipped(5, most_set=2, blanks=5)])
SPLIT = contracts.plan_of(TRAITS, [contracts.shaped(2), contracts.shaped(3)])
FREE = asked(3, kind=Kind.BITS)
BITS = contracts.plan_of(FREE, [contracts.flipped(3, most_set=None)])
SINGLE = contracts.plan_of(FREE, [contracts.flipped(1, most_set=None, blanks=5)] * 3)
CLEAR = contracts.plan_of(FREE, [contracts.shaped(2)] * 3)
ASKED = Prefixes(alphabet="ab", most=2, longest=3)
"""Symbols: 0 ends, 1 a, 2 b, 3 escape; 21 digits of 0 (1) and 1 (2) behind it."""
WORDS = contracts.plan_of(asked(9), [contracts.shaped(9)], prefixes=ASKED)
GRID, HALF = Grid(low=0.0, high=2.0, points=3), 1 << 63
NOTHING = RandomWords(lambda _: b"")
"""No word is taken."""
AFTER = [[2], [1]]
"""Bins 0..3: b and its symbols, 4..7: a and its symbols, 8: everything else."""


@pytest.mark.parametrize(
    ("plan", "value", "bins"),
    [
        (LABELS, "yes", [(1,)]),
        (EDGES, 0.999, [(0,)]),
        (EDGES, 1, [(1,)]),
        (EDGES, 2.5, [(2,)]),
        (EDGES, 4.0, [(2,)]),
        (EDGES, -5, [(0,)]),
        (EDGES, 1e300, [(2,)]),
        (SETS, [7, 0], [(0, 7)]),
        (SETS, [], [()]),
        (SETS, None, [()]),
        (WHOLE, [1, 2], [(1, 4)]),
        (SPLIT, [1, 2], [(1,), (2,)]),
        (BITS, [1, 0, 1], [(0, 2)]),
        (SINGLE, [1, 0, 1], [(0,), (), (0,)]),
        (CLEAR, [1, 0, 1], [(1,), (0,), (1,)]),
    ],
)
def test_a_value_has_these_bins(plan, value, bins):
    read = client.parse_contract(write_contract(contracts.contract_of(plan))).plan
    assert encode_value(read, value, NOTHING) == bins
    assert answer(plan, value) == bins


@pytest.mark.parametrize(
    ("word", "prefixes", "closing", "bin_"),
    [
        ("ab", None, False, 1),
        ("ba", None, False, 2),
        ("?", None, False, 3),
        ("ab", AFTER, False, 6),
        ("ba", AFTER, False, 1),
        ("b", AFTER, False, 0),
        ("b", AFTER, True, 0),
        ("ab", AFTER, True, 6),
        ("aba", AFTER, True, 8),
        ("a?", AFTER, False, 7),
        ("?a", AFTER, False, 8),
        ("?", [[3]], False, 1),  # code point 63 is 111111 in 21 digits: a zero comes first
        ("aab", [[1, 1], [2, 2]], False, 2),
        (None, AFTER, False, 8),
    ],
)
def test_a_word_has_this_bin(word, prefixes, closing, bin_):
    wanted = [(bin_,)]
    read = client.parse_contract(write_contract(contracts.contract_of(WORDS))).plan
    assert encode_value(read, word, NOTHING, prefixes, closing=closing) == wanted
    assert answer(WORDS, word, prefixes, closing=closing) == wanted


def test_a_rounded_number_takes_one_word_whatever_it_is():
    """Half way between two points the words below 2^63 go up; on a point none do."""
    plan = contracts.plan_of(asked(3), [contracts.shaped(3)], grid=GRID)
    read = client.parse_contract(write_contract(contracts.contract_of(plan))).plan
    for value, word, bin_ in (
        (0.5, HALF - 1, 1), (0.5, HALF, 0), (1, 0, 1), (-3, 0, 0), (1e300, 0, 2), (1.5, 0, 2)
    ):  # fmt: skip
        given = [word.to_bytes(8, "little")]
        assert encode_value(read, value, RandomWords(lambda _, left=given: left.pop())) == [(bin_,)]
        assert given == []
    for value, reason in (
        (float("nan"), "not-finite"), (float("inf"), "not-finite"), (10**400, "not-finite"),
        (True, "not-a-number"), ("1", "not-a-number"), (None, "no-answer"),
    ):  # fmt: skip
        with pytest.raises(RefusedError) as refused:
            encode_value(read, value, NOTHING)
        assert refused.value.reason == reason


@pytest.mark.parametrize(
    ("plan", "value"), [(LABELS, "Yes"), (EDGES, float("nan")), (BITS, [1, 0]), (SETS, [9])]
)
def test_the_reference_refuses_other_values(plan, value):
    with pytest.raises(DataError):
        answer(plan, value)
