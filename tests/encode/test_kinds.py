"""Bits, sets and numbers become records, or are refused in one line."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixtally.errors import DataError, ParameterError
from mixtally.protocol.encode.bits import (
    count_set_bits,
    numbers_of,
    pack_vectors,
    parse_bit,
    parse_vector,
    rows_of,
)
from mixtally.protocol.encode.numbers import Scale, parse_number
from mixtally.protocol.encode.sets import parse_members


@pytest.mark.parametrize("text", ["1", "yes", "Y", "TRUE", " t ", "1.0"])
def test_a_yes_is_one(text):
    assert parse_bit(text, "row 1") == 1


@pytest.mark.parametrize("text", ["0", "no", "N", "False", "f", "0.0"])
def test_a_no_is_zero(text):
    assert parse_bit(text, "row 1") == 0


@pytest.mark.parametrize("text", ["2", "", "maybe", "nan", "-1", "01"])
def test_anything_else_is_no_bit(text):
    with pytest.raises(DataError, match="row 7: expected 0 or 1"):
        parse_bit(text, "row 7")


@given(st.lists(st.lists(st.integers(0, 1), min_size=11, max_size=11), max_size=20))
def test_strings_of_bits_are_packed_in_their_order(table):
    texts = ["".join(map(str, bits)) for bits in table]
    rows = pack_vectors(b"".join(parse_vector(text, 11, "") for text in texts), 11)
    assert np.unpackbits(rows, axis=1, count=11, bitorder="little").tolist() == table
    assert count_set_bits(rows).tolist() == [sum(bits) for bits in table]


@pytest.mark.parametrize("text", ["", "0110", "011000", "01a01", "01 01", "²0110", "-1011"])
def test_a_string_of_another_form_is_refused(text):
    with pytest.raises(DataError, match="row 3"):
        parse_vector(text, 5, "row 3")


def test_rows_hold_the_bits_of_their_people():
    rows = rows_of(np.array([0, 2, 2]), np.array([8, 0, 9]), 3, 10)
    assert rows.tolist() == [[0, 1], [0, 0], [1, 2]]


def test_numbers_of_sets_are_those_of_their_bits():
    """Each once, ascending, whoever names it first."""
    who, what = np.array([2, 0, 2, 2, 2]), np.array([9, 8, 0, 9, 3])
    assert numbers_of(who, what, 3, 10).tolist() == [[8, -1, -1], [-1, -1, -1], [0, 3, 9]]
    assert numbers_of(who[:0], what[:0], 2, 10).tolist() == [[-1], [-1]]


def test_a_set_is_its_distinct_labels():
    assert parse_members("red; blue;red", ";", "") == ["red", "blue"]
    assert parse_members("red", ";", "") == ["red"]


@pytest.mark.parametrize(
    ("text", "said"),
    [("red;;blue", "labels between"), (" ", "labels between")],
)
def test_a_set_with_an_empty_label_is_refused(text, said):
    with pytest.raises(DataError, match=said):
        parse_members(text, ";", "row 1")


def test_numbers_fall_into_equal_bins_and_what_lies_outside_into_the_ends():
    scale = Scale(0.0, 10.0, 5)
    values = np.array([-3.0, 0.0, 1.999, 2.0, 9.99, 10.0, 11.0, np.inf])
    assert scale.codes(values).tolist() == [0, 0, 0, 1, 4, 4, 4, 4]
    assert scale.labels == ("[0, 2)", "[2, 4)", "[4, 6)", "[6, 8)", "[8, 10]")
    assert scale.clip(values).max() == 10.0


@given(
    low=st.floats(-1e6, 1e6), width=st.floats(1e-3, 1e6), bins=st.integers(2, 500),
    share=st.floats(0, 1),
)  # fmt: skip
def test_a_number_lies_between_the_ends_of_its_bin(low, width, bins, share):
    scale = Scale(low, low + width, bins)
    value = min(low + share * width, scale.high)
    code = int(scale.codes(np.array([value]))[0])
    assert scale.edges[code] <= value <= scale.edges[code + 1]
    assert len(set(scale.labels)) == bins


@pytest.mark.parametrize(("low", "high"), [(1, 1), (2, 1), (math.nan, 1), (0, math.inf)])
def test_a_range_without_width_is_refused(low, high):
    with pytest.raises(ParameterError, match="LOW < HIGH"):
        Scale(low, high, 5)


@pytest.mark.parametrize("bins", [1, 0, 10**6 + 1])
def test_a_number_of_cuts_outside_its_range_is_refused(bins):
    with pytest.raises(ParameterError, match="bins of a number"):
        Scale(0, 1, bins)


@pytest.mark.parametrize("text", ["nan", "NaN", "inf", "-Infinity", "1e400", "abc", "1,5", ""])
def test_what_is_no_number_is_refused(text):
    with pytest.raises(DataError, match="row 9: expected a finite number"):
        parse_number(text, "row 9")


@pytest.mark.parametrize(
    ("low", "high", "bins"),
    [(0, 1, 10), (0.1, 0.7, 6), (-0.5, 0.5, 20), (0, 100, 7), (1000, 1001, 30), (1e-9, 1e-8, 9)],
)
def test_a_number_is_counted_in_the_bin_whose_label_begins_with_it(low, high, bins):
    scale = Scale(low, high, bins)
    starts = [label[1:].partition(",")[0] for label in scale.labels]
    assert scale.codes(np.array([float(text) for text in starts])).tolist() == [*range(bins)]
    below = [Fraction(text) - Fraction(high - low) / 10**9 for text in starts[1:]]
    assert scale.codes(np.array([float(one) for one in below])).tolist() == [*range(bins - 1)]
    assert Scale.from_edges(tuple(scale.edges.tolist())) == scale
    width = (Fraction(repr(float(high))) - Fraction(repr(float(low)))) / bins
    for left, right in itertools.pairwise([*map(Fraction, starts), Fraction(repr(float(high)))]):
        assert abs(right - left - width) <= width / 1000


def test_edges_that_are_short_decimals_are_exact():
    assert Scale(0, 1, 10).edges.tolist() == [i / 10 for i in range(11)]
    assert Scale(0, 1, 8).labels[1] == "[0.125, 0.25)"
    assert Scale(0, 10**6, 4).labels[0] == "[0, 250000)"
    assert Scale(1e300, 2e300, 4).labels[0] == "[1e+300, 1.25e+300)"
