"""Points of closed lists: one a label, the same in both devices, few of them in one plane."""

from collections import Counter

import numpy as np
import pytest

from mixtally.device.contract import scatter
from mixtally.device.contract.planes import Planes, digits_for
from mixtally.device.contract.scatter import LARGEST_LIST, permute_bin, point_on_curve, side_of
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model import planes as records
from mixtally.model.planes import bin_points, plane_messages
from reference.person import _point
from spec.stranger import place

LISTS = [(3, 2), (4, 2), (33, 2), (4, 3), (10, 3), (245, 3), (26, 5), (300, 7), (49, 7), (1000, 31)]


def bare(values, prime):
    return Planes(prime, digits_for(prime, values))


@pytest.mark.parametrize(("values", "prime"), LISTS)
def test_every_label_has_a_point_of_its_own(values, prime):
    over = bare(values, prime)
    points = [over.point(one, values) for one in range(values)]
    assert len(set(points)) == values
    assert min(points) >= 0
    assert max(points) < over.points


@pytest.mark.parametrize(("values", "prime"), LISTS)
def test_four_programs_agree_on_points(values, prime):
    """The device, arrays of the package, the reference and the stranger."""
    over = bare(values, prime)
    points = [over.point(one, values) for one in range(values)]
    shape = {"prime": prime, "digits": over.digits}
    assert bin_points(over, np.arange(values), values).tolist() == points
    assert [_point(one, values, *over) for one in range(values)] == points
    assert [place(one, values, shape) for one in range(values)] == points


def test_points_of_a_few_bins_are_those_among_all():
    over = bare(300, 7)
    some = np.array([[299, 14], [14, 0]])  # bin 14 is permuted twice
    assert bin_points(over, some, 300).tolist() == [
        [over.point(one, 300) for one in row] for row in some.tolist()
    ]


def test_bins_of_an_open_domain_are_points():
    over = Planes(419, 3)
    assert over.points > LARGEST_LIST
    assert over.point(7, over.points) == 7
    assert bin_points(over, np.array([7, 5]), over.points).tolist() == [7, 5]


def test_numbers_that_are_permuted_past_the_list_are_permuted_again():
    """300 labels are permuted among 18^2 numbers."""
    assert side_of(300) == 18
    assert sorted(permute_bin(one, 300) for one in range(300)) == list(range(300))
    assert [side_of(one) for one in (2, 4, 5, 9, 10, LARGEST_LIST)] == [2, 2, 3, 3, 4, 3163]


def fullest(over, points):
    """The most of some points that lie in one plane."""
    found = 0
    for number in range(over.directions):
        named = plane_messages(points, np.full(len(points), number), *over)
        found = max(found, int(np.bincount(named - number * over.prime).max()))
    return found


LOADED = [(65, 2), (82, 3), (700, 3), (626, 5), (300, 7), (1400, 11), (1000, 31), (961, 31),
          (500, 101), (1200, 307)]  # fmt: skip


@pytest.mark.parametrize(("values", "prime"), LOADED)
def test_no_plane_holds_many_labels_of_a_list(values, prime):
    over = bare(values, prime)
    points = bin_points(over, np.arange(values), values)
    assert fullest(over, points) <= 2 * values / prime + 2


@pytest.mark.parametrize(("values", "prime"), [(300, 7), (1000, 31), (3000, 307)])
@pytest.mark.parametrize("kind", ["neighbors", "every p-th", "any"])
def test_planes_hold_few_of_some_labels(values, prime, kind):
    """As many as of points at random: eight times the mean and eight more are passed with a chance
    below 1e-9 in all, by the tail of a binomial over all planes.
    """
    over, few = bare(values, prime), values // 10
    chosen = {
        "neighbors": np.arange(few) + 5,
        "every p-th": np.arange(0, values, prime)[:few],
        "any": np.argsort(SeededChance(1).words(values))[:few],
    }[kind]
    found = fullest(over, bin_points(over, chosen, values))
    assert found <= len(chosen) / prime * 8 + 8


def test_a_list_without_its_curve_fills_a_line(plant):
    """Planted: labels are the first points as before, of which p lie on one line."""
    over = bare(3000, 307)
    plant(records, "points_on_curve", lambda *given: given[-1])
    assert fullest(over, bin_points(over, np.arange(3000), 3000)) == 307


def test_labels_that_are_not_permuted_share_planes(plant):
    """Planted: every seventh label of a list over seven planes has the same first digit."""
    over = bare(300, 7)
    plant(records, "permute_bins", lambda *given: given[1])
    assert fullest(over, bin_points(over, np.arange(0, 300, 7)[:30], 300)) == 30


def test_the_curve_moves_the_last_digit_alone():
    over = Planes(5, 3)
    for number in range(over.points):
        point = point_on_curve(number, *over)
        assert point % 25 == number % 25
        assert point // 25 == (number // 25 + (number % 5) ** 2) % 5


def test_half_of_a_number_that_is_not_hashed_is_found(plant):
    """Planted: a round adds the same whatever the other half is; neighbors stay neighbors."""

    def gaps(values):
        found = np.diff([permute_bin(one, values) for one in range(values)])
        return Counter(found.tolist()).most_common(1)[0][1]

    assert gaps(300) < 10
    plant(scatter, "round_shift", lambda honest, number, values, _: honest(number, values, 0))
    assert gaps(300) > 100
