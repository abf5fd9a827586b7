"""Sets whose messages are replaced say of themselves what their messages do, in clear and over
planes: their distribution message by message, and as they are drawn.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from helpers import contracts
from mixtally.errors import ParameterError
from mixtally.lab.attacks.senders import planes_hold_points
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.estimates import Tally
from mixtally.model.mechanism import KaryResponse, UniformFakes
from mixtally.model.planes import Planes, points_at
from mixtally.primitives.fixed_point import SCALE
from mixtally.protocol.estimate.debias import estimate_counts
from mixtally.protocol.estimate.noise import noise_distribution
from mixtally.protocol.randomize import parts, randomize_records

OVER = Planes(7, 5)
CASES = [
    (users, held, size, share, fakes, planes)
    for users, held in ((4, 0), (5, 3))
    for size in (2, 3)
    for share in (0.25, 0.9375)
    for fakes in (0, 3)
    for planes in (None, OVER)
]


def of(users, size, share, fakes, planes, bins=9):
    replaced = int(share * SCALE)
    hiding = UniformFakes(fakes)
    return KaryResponse(
        bins=bins, max_set=size, replaced=replaced, fakes=hiding, crowd=users, planes=planes
    )


def distribution(users, held, size, share, fakes, planes, *, met=False):
    """P[a value that ``held`` people hold is pointed at so often], in fractions.

    ``met`` as if holders' other members met it like anybody's: the twin.
    """
    g = Fraction(share)
    one = Fraction(1, 9 + size if planes is None else planes.prime)
    other = g * one if planes is None else one
    own = other if met else g * one
    found = [Fraction(1)]
    for chance in [
        *[1 - g + g * one] * held,
        *[own] * ((size - 1) * held),
        *[other] * (size * (users - held)),
        *[one] * fakes,
    ]:
        more = [p * (1 - chance) for p in found] + [Fraction(0)]
        for k, p in enumerate(found):
            more[k + 1] += p * chance
        found = more
    return found


def agrees(case, **twin):
    users, held, size, share, fakes, planes = case
    one, messages = of(users, size, share, fakes, planes), users * size + fakes
    wanted = distribution(*case, **twin)
    found = noise_distribution(one, messages, held)
    mean = float(sum(k * p for k, p in enumerate(wanted)))
    (estimate,) = one.debias_counts(np.array([0]), messages) + mean / one.gain
    inside = [
        float(found.pmf[k - held - found.first])
        if 0 <= k - held - found.first < len(found.pmf)
        else 0.0
        for k in range(len(wanted))
    ]
    return math.isclose(estimate, held, rel_tol=1e-9, abs_tol=1e-9) and np.allclose(
        inside, [float(p) for p in wanted], rtol=1e-9, atol=1e-25
    )


@pytest.mark.parametrize("case", CASES)
def test_noise_is_the_distribution_of_the_tally(case):
    assert agrees(case)


def test_members_that_meet_a_held_value_are_found():
    assert not any(agrees(case, met=True) for case in CASES if case[1] and case[-1] is not None)


@pytest.mark.parametrize("planes", [None, OVER])
@pytest.mark.parametrize("level", [0.5, 0.9])
def test_intervals_hold_as_often_as_they_say(planes, level):
    """Exactly, over every tally that may come."""
    for held in (0, 3, 8):
        one, missed = of(8, 2, 0.25, 5, planes), Fraction(0)
        for seen, chance in enumerate(distribution(8, held, 2, 0.25, 5, planes)):
            tally = Tally(np.full(9, seen), 21)
            each = estimate_counts(one, tally, 8, level=level).individual
            missed += chance * (not each.lower[0] <= held <= each.upper[0])
        assert missed <= 1 - Fraction(level)


PARTS = {
    "in clear": contracts.replaced(20, most_set=3, share=0.25),
    "over planes": contracts.over_planes(300, 7, most_set=3, coin=0, share=0.25),
}


def drawn(part, people=60_000):
    """Standard scores of how many messages point at a value that half of all people hold, and at
    one that nobody holds.
    """
    chance, sets = SeededChance(7), np.full((people, 3), -1)
    sets[::2] = [3, 7, 11]
    if part.planes is None:
        rows = np.zeros((people, 3), dtype=np.uint8)
        for bin_index in (3, 7, 11):
            rows[::2, bin_index // 8] |= 1 << bin_index % 8
        sent = part.layout.codes(randomize_records(part, rows, chance))
        seen = [(sent == one).sum() for one in (7, 5)]
    else:
        sent = part.layout.codes(randomize_records(part, sets, chance))
        places = points_at(part.planes.device_planes, np.array([7, 5]), part.bins)
        seen = [
            planes_hold_points(part.planes, sent, np.full(len(sent), one)).sum() for one in places
        ]
    mechanism = part.mechanism(fakes=0, crowd=people)
    off = mechanism.debias_counts(np.array(seen), 3 * people) - [people // 2, 0]
    return off / [math.sqrt(mechanism.variance_at(3 * people, n)) for n in (people // 2, 0)]


@pytest.mark.parametrize("name", PARTS)
def test_as_they_are_drawn(name, plant):
    """False alarm: below 10^-8, two scores within six. The twin replaces nothing."""
    assert np.all(np.abs(drawn(PARTS[name])) < 6)
    plant(parts, "_replace_randomly", lambda *given: given[2])
    assert np.any(np.abs(drawn(PARTS[name])) > 20)


@pytest.mark.parametrize(
    ("size", "bins", "planes"), [(17, 40, None), (4, 3, None), (4, 9, OVER), (0, 9, None)]
)
def test_a_set_that_is_too_large_is_refused(size, bins, planes):
    with pytest.raises(ParameterError, match="max set"):
        of(5, size, 0.25, 0, planes, bins)
