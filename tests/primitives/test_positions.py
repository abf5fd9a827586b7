"""Positions in rows: what is packed comes back, and is what an integer of all of them would be."""

import random

import numpy as np
import pytest

from mixtally.primitives.positions import pack_positions, unpack_positions


def some(width, cap, count, seed=1):
    """Ascending numbers of so many rows, between none and ``cap`` each."""
    chance = random.Random(seed)
    most = min(cap, 1 << width)
    sizes = [chance.randint(0, most) for _ in range(count - 1)] + [most]
    return [sorted(chance.sample(range(1 << width), size)) for size in sizes]


def packed(held, cap, width, count_bytes):
    rows = np.repeat(np.arange(len(held)), [len(one) for one in held])
    numbers = np.array([number for one in held for number in one], dtype=np.int64)
    return pack_positions(rows, numbers, len(held), cap, width, count_bytes)


@pytest.mark.parametrize("count_bytes", [1, 2])
@pytest.mark.parametrize("width", range(1, 25))
def test_every_width_is_written_as_one_integer(width, count_bytes):
    """Numbers begin at every bit of a byte, and may reach into one byte more than they fill."""
    held, cap = some(width, 19, 30), 19
    rows = packed(held, cap, width, count_bytes)
    for row, one in zip(rows, held, strict=True):
        whole = sum(number << width * place for place, number in enumerate(one))
        size = len(row) - count_bytes
        assert bytes(row) == len(one).to_bytes(count_bytes, "little") + whole.to_bytes(
            size, "little"
        )
    many, numbers = unpack_positions(rows, cap, width, count_bytes)
    assert many.tolist() == [len(one) for one in held]
    assert numbers.tolist() == [number for one in held for number in one]


def test_a_row_that_claims_more_than_the_cap_is_read_as_the_cap():
    rows = packed([[5, 6], [7, 8]], 2, 9, 1)
    rows[0, 0] = 255
    many, numbers = unpack_positions(rows, 2, 9, 1)
    assert many.tolist() == [2, 2]
    assert numbers.tolist() == [5, 6, 7, 8]
