"""Integers of up to 16 bytes in arrays: what Python's integers say, and uniform draws."""

import random

import numpy as np
import pytest

from mixtally.lab.simulation.seeded import SeededChance
from mixtally.primitives.wide import (
    digits_in_base,
    divide,
    draw_numbers,
    from_little_endian,
    from_plain,
    is_below,
    make_numbers,
    multiply_add,
    to_little_endian,
    to_plain,
)

BOUNDS = [(1 << 63) + 1, 1 << 64, (1 << 64) + 1, (1 << 100) + 7, 1 << 127]
DIVISORS = [2, 3, 41, 2999, 65_537, (1 << 31) - 1]


def integers(numbers):
    return [int(one, 16) for one in to_plain(numbers)]


def some_below(bound):
    """Random integers, and those at whose borders limbs carry."""
    chance = random.Random(bound)
    edges = [0, 1, 255, 256, (1 << 32) - 1, 1 << 32, (1 << 63) - 1, 1 << 63, bound - 1]
    edges += [1 << 64, (1 << 64) - 1, (1 << 96) - 1, 1 << 96]
    return [*(one for one in edges if one < bound), *(chance.randrange(bound) for _ in range(100))]


@pytest.mark.parametrize("divisor", DIVISORS)
@pytest.mark.parametrize("bound", BOUNDS)
def test_arithmetic_is_that_of_integers(bound, divisor):
    own = some_below(bound)
    numbers = make_numbers(own, bound)
    quotients, remainders = divide(numbers, divisor)
    assert integers(quotients) == [one // divisor for one in own]
    assert remainders.tolist() == [one % divisor for one in own]
    assert integers(multiply_add(quotients, divisor, remainders)) == own
    count = next(place for place in range(1, 200) if divisor**place >= bound)
    digits = digits_in_base(numbers, divisor, count).T.tolist()
    assert [sum(a * divisor**b for b, a in enumerate(each)) for each in digits] == own


@pytest.mark.parametrize("bound", BOUNDS)
def test_bytes_order_and_limits_are_those_of_integers(bound):
    own = some_below(bound)
    numbers = make_numbers(own, bound)
    assert integers(np.sort(numbers)) == sorted(own)
    assert (np.unique(numbers) == make_numbers(sorted(set(own)), bound)).all()
    for limit in (own[3], bound - 1, 1 << 127):
        assert is_below(numbers, limit).tolist() == [one < limit for one in own]
    size = (bound.bit_length() + 7) // 8
    rows = to_little_endian(numbers, size)
    assert [int.from_bytes(bytes(row), "little") for row in rows] == own
    assert integers(from_little_endian(rows)) == own
    assert integers(from_plain(to_plain(numbers))) == own


def test_numbers_below_two_to_the_63_are_int64():
    narrow = make_numbers([0, (1 << 63) - 1], 1 << 63)
    assert narrow.dtype == np.int64
    assert to_plain(narrow) == [0, (1 << 63) - 1]
    assert from_plain(to_plain(narrow)).tolist() == narrow.tolist()
    assert is_below(np.array([-1, 0, 6, 7]), 7).tolist() == [False, True, True, False]


class Words:
    """Given words, and a count of those that were taken."""

    def __init__(self, words):
        self.left, self.taken = list(words), 0

    def words(self, count):
        self.taken += count
        some, self.left = self.left[:count], self.left[count:]
        return np.array(some, dtype=np.uint64)


def test_a_number_is_the_needed_bits_of_two_words():
    """The bound is 2^64 + 6, so that 65 bits are needed. The second number is too large."""
    chance = Words([5, 3, 6, 1, (1 << 64) - 1, 0])
    assert integers(draw_numbers(chance, (1 << 64) + 6, 2)) == [(1 << 64) + 5, (1 << 64) - 1]
    assert chance.taken == 6


@pytest.mark.parametrize("bound", [(1 << 63) + 1, 3 << 95, (1 << 127) - 12_345])
def test_draws_are_uniform(bound):
    """Means of 2^16 numbers over four quarters within six deviations: false alarm below 1e-7."""
    found = integers(draw_numbers(SeededChance(8), bound, 1 << 16))
    assert max(found) < bound
    quarters = np.bincount([4 * one // bound for one in found], minlength=4)
    assert np.abs(quarters - (1 << 14)).max() < 6 * np.sqrt((1 << 16) * 3 / 16)
    assert {one % 256 for one in found} == set(range(256))
