"""Planes of many messages at once are those of one at a time."""

import numpy as np
import pytest

from mixtally.device.contract.planes import MOST_WIDE_MESSAGES, Planes
from mixtally.model.planes import directions, multiply, plane_messages
from mixtally.primitives.wide import digits_in_base, make_numbers, to_plain

WIDE = [(5, 54), (41, 23), (2999, 10), (65_537, 7), (2**31 - 1, 4)]
FAMILIES = [
    (2, 2),
    (2, 7),
    (3, 4),
    (5, 3),
    (2, 62),
    (7, 22),
    (179, 8),
    (2_097_143, 3),
    (2**31 - 1, 2),
]


def numbers(family):
    """All directions, or some: those where the leading 1 moves on among them."""
    if family.directions < 1000:
        return np.arange(family.directions)
    ends = np.cumsum([family.prime**place for place in reversed(range(family.digits))])
    spread = np.linspace(0, family.directions // 2, 50).astype(np.int64)
    return np.unique(np.concatenate([ends[:-1] - 1, ends[:-1], ends[-1:] - 1, spread]))


@pytest.mark.parametrize(("prime", "digits"), FAMILIES)
def test_directions_and_messages_are_those_of_a_device(prime, digits):
    family = Planes(prime, digits)
    chosen = numbers(family)
    found = directions(chosen, prime, digits)
    assert found.T.tolist() == [family.direction(one) for one in chosen.tolist()]
    points = (chosen * 7 + 1) % family.points
    assert digits_in_base(points, prime, digits)[0].tolist() == (points % prime).tolist()
    wanted = [family.message(*pair) for pair in zip(points.tolist(), chosen.tolist(), strict=True)]
    assert plane_messages(points, chosen, prime, digits).tolist() == wanted


@pytest.mark.parametrize(("prime", "digits"), WIDE)
def test_messages_of_sixteen_bytes_are_those_of_a_device(prime, digits):
    """The largest point and direction are among them, whose products are the largest."""
    family = Planes(prime, digits)
    assert family.messages <= MOST_WIDE_MESSAGES < Planes(prime, digits + 1).messages
    ends = [sum(prime**place for place in range(digits - lead, digits)) for lead in range(digits)]
    spread = [family.directions * part // 97 for part in range(97)]
    chosen = sorted({*spread, *ends, *(end + 1 for end in ends)} - {family.directions})
    points = [family.points - 1, *((one * 7 + 1) % family.points for one in chosen[1:])]
    wide, places = make_numbers(chosen, 1 << 127), make_numbers(points, 1 << 127)
    assert directions(wide, prime, digits).T.tolist() == [family.direction(one) for one in chosen]
    found = plane_messages(places[::-1], wide, prime, digits)
    wanted = [family.message(*pair) for pair in zip(points[::-1], chosen, strict=True)]
    assert [int(one, 16) for one in to_plain(found)] == wanted


def test_products_of_the_largest_digits_do_not_overflow():
    """Seven such products exceed 2^64 more than once."""
    prime = 2**31 - 1
    largest = np.full((7, 1), prime - 1)
    assert multiply(largest, largest, prime).tolist() == [7 % prime]
