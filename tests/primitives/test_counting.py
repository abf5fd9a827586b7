"""Counts of columns against numpy's own unpacking, compiled and not, in any split."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import kernels
from mixtally.primitives import bits, counting
from mixtally.primitives.chance import Keystream

KEY = b"32 bytes that never change here."
SHAPES = st.tuples(st.integers(0, 60), st.integers(1, 70))
WIDTHS = [1, 7, 8, 9, 63, 64, 65, 105, 1000]
ROWS = [0, 1, 2, 15, 100, 3001]


def random_rows(count, columns, skipped=0):
    width = bits.row_bytes(columns)
    words = Keystream(KEY).words(skipped + -(-count * width // 8) + 1)[skipped:]
    return words.view(np.uint8)[: count * width].reshape(count, width)


def plain_counts(rows, columns):
    return np.unpackbits(rows, axis=1, bitorder="little")[:, :columns].sum(axis=0, dtype=np.int64)


@pytest.fixture(params=kernels.BOTH)
def small_planes(request, monkeypatch):
    """Planes of a few words, compiled or not, so that few rows reach many levels."""
    kernels.use(request.param, monkeypatch)
    for name in ("_LEAST_PLANE_BYTES", "_PLANE_BYTES", "_COMPILED_PLANE_BYTES"):
        monkeypatch.setattr(counting, name, 64)


@given(SHAPES, st.integers(0, 1000))
def test_column_counts_are_the_sums_of_the_bits(shape, skipped):
    count, columns = shape
    rows = random_rows(count, columns, skipped)
    counts = counting.column_counts(rows, columns)
    assert counts.dtype == np.int64
    assert np.array_equal(counts, plain_counts(rows, columns))


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("count", ROWS)
def test_every_kernel_counts_every_shape(small_planes, count, columns):
    rows = random_rows(count, columns)
    assert np.array_equal(counting.column_counts(rows, columns), plain_counts(rows, columns))


@pytest.mark.parametrize("kernel", kernels.BOTH)
@pytest.mark.parametrize("columns", [9, 64, 105, 1000])
def test_every_kernel_counts_planes_of_their_full_size(monkeypatch, kernel, columns):
    kernels.use(kernel, monkeypatch)
    rows = random_rows(3_000_000 // bits.row_bytes(columns), columns)
    assert np.array_equal(counting.column_counts(rows, columns), plain_counts(rows, columns))


@pytest.mark.parametrize("columns", [7, 64, 105])
def test_any_split_gives_the_same_and_a_look_at_the_counts_changes_nothing(small_planes, columns):
    rows = random_rows(2000, columns)
    for cuts in ([0, 2000], [0, 1, 2, 900, 901, 2000], [*range(0, 2000, 37), 2000]):
        counter = counting.ColumnCounter(rows.shape[1], rows.size)
        for start, stop in pairwise(cuts):
            counter.add(rows[start:stop])
            seen = counter.counts(columns)
            assert np.array_equal(seen, plain_counts(rows[:stop], columns))


def test_rows_that_are_not_in_one_piece_or_begin_anywhere_are_counted(small_planes):
    rows = random_rows(1000, 24)
    for odd in (rows[::2], rows[::-1], rows[:, 1:], np.asfortranarray(rows)):
        assert np.array_equal(counting.column_counts(odd, 16), plain_counts(odd, 16))
    shifted = np.frombuffer(b"x" + rows.tobytes(), dtype=np.uint8)[1:].reshape(rows.shape)
    assert np.array_equal(counting.column_counts(shifted, 24), plain_counts(rows, 24))


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 8, 9, 26, 27, 28, 100_000])
def test_column_counts_hold_for_full_rows_of_any_number(small_planes, count):
    rows = np.full((count, 2), 0xFF, dtype=np.uint8)
    assert counting.column_counts(rows, 11).tolist() == [count] * 11


@pytest.mark.parametrize("kernel", kernels.BOTH)
def test_bins_that_everybody_has_are_counted_in_large_batches(monkeypatch, kernel):
    """A total whose every bit is set, of a plane that is unpacked in several parts."""
    kernels.use(kernel, monkeypatch)
    rows = np.full((65 * (counting._PLANE_BYTES // 8), 8), 0xFF, dtype=np.uint8)
    assert counting.column_counts(rows, 64).tolist() == [len(rows)] * 64


def test_column_counts_leave_the_rows_alone(small_planes):
    rows = random_rows(4000, 20)
    before = rows.copy()
    rows.setflags(write=False)
    counting.column_counts(rows, 20)
    assert np.array_equal(rows, before)
