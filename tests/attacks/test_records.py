"""The records a game is about are those that are told apart best, among all that may be held."""

import pytest

from attacks.mechanisms import part
from helpers.named import flip_bits, flip_blank
from mixtally.accounting.divergence import vectors
from mixtally.accounting.numerics.flip_ratios import Orbit
from mixtally.lab.attacks.records import worst_records
from mixtally.primitives.fixed_point import SCALE, threshold_of


def orbit_of(x, u, v):
    kinds = [(a != b, a != c) for a, b, c in zip(x, u, v, strict=True)]
    return Orbit(*(kinds.count(kind) for kind in ((True, False), (False, True), (True, True))))


@pytest.mark.parametrize("q", [0.043, 0.1, 0.25, 0.4])
def test_the_worst_two_vectors_are_found(q):
    """Within a tenth of the largest divergence, all orbits bounded exactly."""
    users, bits, epsilon = 2000, 4, 1.0
    mechanism = flip_bits(bins=bits, threshold=threshold_of(q), crowd=users)
    found = orbit_of(*worst_records(part(mechanism), users - 1, 0, epsilon))
    priced = {
        orbit: vectors.orbit_delta(users, orbit, mechanism.threshold, epsilon).lower
        for orbit in vectors.list_orbits(bits)
    }
    assert priced[found] >= 0.9 * max(priced.values())


def test_it_is_not_always_all_bits_against_none():
    """Source: maths of the vectors: 1110 against 1111 among zeros tells six times as much."""
    mechanism = flip_bits(bins=4, threshold=threshold_of(0.043), crowd=10**6)
    assert sorted(worst_records(part(mechanism), 10**6 - 1, 0, 2.0)[1:]) == [
        (0, 1, 1, 1),
        (1, 1, 1, 1),
    ]


@pytest.mark.parametrize("people", [0, 999])
@pytest.mark.parametrize(("bins", "most"), [(2, 1), (3, 1), (4, 2), (5, 3), (40, 3), (90, 16)])
def test_records_can_be_held(people, bins, most):
    """At most so many set, exactly one where a record is one value, and room for all of them."""
    mechanism = flip_blank(bins=bins, fakes=1000, threshold=threshold_of(0.2), max_set=most)
    x, u, v = worst_records(part(mechanism), people, 1000, 1.0)
    assert u != v
    assert len(u) <= bins
    for record in (x, u, v) if people else (u, v):
        assert sum(record) == 1 if most == 1 else sum(record) <= most


def test_flips_that_show_nearly_nothing_take_any_two_records():
    coins = flip_bits(bins=3, threshold=SCALE // 2 - SCALE // 2**20, crowd=50)
    x, u, v = worst_records(part(coins), 49, 0, 1.0)
    assert u != v
    assert 1 <= len(x) <= 3
