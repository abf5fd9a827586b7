"""Everybody's sets over planes: no member meets another; directions are as a device draws them."""

from operator import mul

import numpy as np
import pytest
from scipy.stats import chisquare

from helpers.contracts import over_planes
from mixtally.device.contract.planes import Planes
from mixtally.errors import MessageError
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.planes import plane_messages
from mixtally.primitives.wide import make_numbers
from mixtally.protocol.randomize import randomize_records, sets

BINS, MOST = 19, 3
PART = over_planes(BINS, 7, most_set=MOST)
SETS = np.array([[-1, -1, -1], [18, -1, -1], [0, -1, 5], [2, 17, 3]])
MANY = np.tile(SETS, (500, 1))


def rows_of(given):
    bits = np.zeros((len(given), BINS), dtype=np.uint8)
    for place, members in enumerate(given):
        bits[place, members[members >= 0]] = 1
    return np.packbits(bits, axis=1, bitorder="little")


def points_of(given):
    over = PART.planes.device_planes
    chosen = [sorted(int(one) for one in members if one >= 0) for members in given]
    return np.array([over.members(members, BINS, MOST) for members in chosen])


def held(given=MANY, records=None):
    """Of every message, how many of its set's points its plane holds, and whether its own."""
    rows = randomize_records(PART, given if records is None else records, SeededChance(1))
    codes, points = PART.layout.codes(rows).reshape(-1, MOST), points_of(given)
    shown = np.stack([
        plane_messages(np.repeat(points[:, place], MOST), codes.ravel() // 7, 7, 22)
        for place in range(MOST)
    ], axis=1) == codes.reshape(-1, 1)  # fmt: skip
    own = shown.reshape(-1, MOST, MOST)[:, range(MOST), range(MOST)]
    return shown.sum(axis=1), own


def test_every_message_holds_its_own_point_alone():
    for records in (None, rows_of(MANY)):
        several, own = held(records=records)
        assert (several == 1).all()
        assert own.all()


def test_the_twin_that_draws_no_direction_again_is_caught(plant):
    plant(sets, "_find_collisions", lambda honest, *given: honest(*given) & False)
    several, _ = held()
    assert (several > 1).any()


def test_directions_are_as_likely_as_those_of_a_device():
    """False alarm: 10^-9. Of 31 directions of Z_5^3 those that a set of two keeps, for a member."""
    over = Planes(5, 3)
    cells = np.tile(np.array([[0, 1]]), (20_000, 1))
    drawn = sets.draw_set_planes(over, cells, over.points, SeededChance(2)) // 5
    kept = [number for number in range(31) if not over.has_collision(0, (0, 1), number)]
    for place in range(2):
        seen = np.bincount(drawn[:, place], minlength=31)
        assert seen.sum() == seen[kept].sum()
        assert chisquare(seen[kept]).pvalue > 1e-9


def test_bins_with_one_point_are_one_member():
    """As a device has it: of 25 points some of ten bins are one."""
    small = Planes(5, 2)
    cells = np.array([[a, b] for a in range(10) for b in range(a + 1, 10)])
    wanted = [small.members(row.tolist(), 10, 2) for row in cells]
    assert sets._set_points(small, cells, 10).tolist() == wanted
    assert any(small.member(int(a), 10) == small.member(int(b), 10) for a, b in cells)


@pytest.mark.parametrize("given", [[[1, 1, -1]], [[1, 2]], [[1, 2, 19]], [[1, 2, 3, 4]]])
def test_what_is_no_set_is_refused(given):
    with pytest.raises(MessageError):
        randomize_records(PART, np.array(given), SeededChance(1))


def test_points_that_share_a_plane_of_the_largest_prime_are_found():
    """The products of the first point's digits do not fit in 64 bits; those of the second do."""
    prime = 2**31 - 1
    over, number = Planes(prime, 4), prime**3 - 1
    one, *others = over.direction(number)
    assert (one, others) == (1, [prime - 1] * 3)
    digits = [1, 2, 3]
    first = (sum(others) * (prime - 1) + prime - 1 - sum(map(mul, others, digits))) % prime
    second = first + sum(digit * prime**place for place, digit in enumerate(digits, 1))
    points = make_numbers([over.points - 1, second, 5], over.points).reshape(1, 3)
    numbers = make_numbers([number] * 3, over.directions).reshape(1, 3)
    assert sets._find_collisions(over, points, numbers).tolist() == [[True, True, False]]
