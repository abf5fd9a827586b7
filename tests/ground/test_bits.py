"""Packed bits against numpy's own unpacking."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixtally.ground import bits
from mixtally.ground.chance import Keystream

KEY = b"32 bytes that never change here."
SHAPES = st.tuples(st.integers(0, 60), st.integers(1, 70))


def random_rows(count, columns, skipped=0):
    width = bits.row_bytes(columns)
    words = Keystream(KEY).words(skipped + -(-count * width // 8) + 1)[skipped:]
    return words.view(np.uint8)[: count * width].reshape(count, width)


def plain_counts(rows, columns):
    return np.unpackbits(rows, axis=1, bitorder="little")[:, :columns].sum(axis=0, dtype=np.int64)


@pytest.mark.parametrize(
    ("columns", "width"), [(0, 0), (1, 1), (8, 1), (9, 2), (105, 14), (10**7, 1_250_000)]
)
def test_a_row_takes_the_bytes_it_needs(columns, width):
    assert bits.row_bytes(columns) == width


@given(SHAPES, st.integers(0, 1000))
def test_column_counts_are_the_sums_of_the_bits(shape, skipped):
    count, columns = shape
    rows = random_rows(count, columns, skipped)
    counts = bits.column_counts(rows, columns)
    assert counts.dtype == np.int64
    assert np.array_equal(counts, plain_counts(rows, columns))


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 8, 9, 26, 27, 28, 100_000])
def test_column_counts_hold_for_full_rows_of_any_number(count):
    rows = np.full((count, 2), 0xFF, dtype=np.uint8)
    assert bits.column_counts(rows, 11).tolist() == [count] * 11


def test_column_counts_leave_the_rows_alone():
    rows = random_rows(40, 20)
    before = rows.copy()
    rows.setflags(write=False)
    bits.column_counts(rows, 20)
    assert np.array_equal(rows, before)


@given(st.integers(1, 70).flatmap(lambda d: st.tuples(st.just(d), st.lists(st.integers(0, d - 1)))))
def test_one_hot_rows_have_exactly_their_bit(case):
    columns, positions = case
    rows = bits.one_hot(np.array(positions, dtype=np.int64), columns)
    assert rows.shape == (len(positions), bits.row_bytes(columns))
    for row, position in zip(rows, positions, strict=True):
        assert np.flatnonzero(np.unpackbits(row, bitorder="little")).tolist() == [position]


def test_bit_nine_is_the_second_of_the_second_byte():
    assert bits.one_hot(np.array([9]), 16).tolist() == [[0, 2]]


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
