"""Planes of many messages at once are those of one at a time."""

import numpy as np
import pytest

from mixtally.device.contract.planes import Planes
from mixtally.model.planes import digits_of, directions, plane_messages

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
    assert digits_of(points, prime, digits)[0].tolist() == (points % prime).tolist()
    wanted = [family.message(*pair) for pair in zip(points.tolist(), chosen.tolist(), strict=True)]
    assert plane_messages(points, chosen, prime, digits).tolist() == wanted
