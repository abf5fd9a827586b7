"""Packed bits against numpy's own unpacking."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixtally.primitives import bits


@pytest.mark.parametrize(
    ("columns", "width"), [(0, 0), (1, 1), (8, 1), (9, 2), (105, 14), (10**7, 1_250_000)]
)
def test_a_row_takes_the_bytes_it_needs(columns, width):
    assert bits.row_bytes(columns) == width


@given(st.integers(1, 70).flatmap(lambda d: st.tuples(st.just(d), st.lists(st.integers(0, d - 1)))))
def test_one_hot_rows_have_exactly_their_bit(case):
    columns, positions = case
    rows = bits.one_hot_rows(np.array(positions, dtype=np.int64), columns)
    assert rows.shape == (len(positions), bits.row_bytes(columns))
    for row, position in zip(rows, positions, strict=True):
        assert np.flatnonzero(np.unpackbits(row, bitorder="little")).tolist() == [position]


def test_bit_nine_is_the_second_of_the_second_byte():
    assert bits.one_hot_rows(np.array([9]), 16).tolist() == [[0, 2]]


@pytest.mark.parametrize("positions", [[16], [-1], [3, 99, 4], [3, -8]])
def test_a_position_outside_its_row_is_set_in_no_other(positions):
    with pytest.raises(IndexError, match="one bit of 13: no such position in a row of 2 bytes"):
        bits.one_hot_rows(np.array(positions), 13)


@pytest.mark.parametrize("columns", range(1, 20))
def test_a_bit_past_the_last_column_is_found_at_its_row(columns):
    rows = np.zeros((5, bits.row_bytes(columns)), dtype=np.uint8)
    rows[:, :] = np.packbits(np.arange(8 * rows.shape[1]) < columns, bitorder="little")
    assert not bits.rows_with_padding(rows, columns).any()
    for spare in range(columns, 8 * rows.shape[1]):
        spoiled = rows.copy()
        spoiled[3, spare // 8] |= 1 << spare % 8
        spoiled[4] = spoiled[3]
        assert np.flatnonzero(bits.rows_with_padding(spoiled, columns)).tolist() == [3, 4]


def test_no_rows_have_no_padding():
    assert bits.rows_with_padding(np.zeros((0, 2), dtype=np.uint8), 9).tolist() == []


@given(st.integers(0, 200), st.integers(1, 50))
def test_spans_cover_everything_once_and_in_order(total, size):
    cuts = list(bits.spans(total, size))
    assert [i for cut in cuts for i in range(total)[cut]] == list(range(total))
    assert all(0 < cut.stop - cut.start <= size for cut in cuts)
