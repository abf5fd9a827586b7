"""Sets over planes, many at once: a direction for each member in which it meets no other.

``device/client/draw.py`` draws the same for one person, ``accounting/divergence/set_in_clear.py``
says why.
"""

import numpy as np
from numpy.typing import NDArray

from mixtally.device.contract.planes import Planes
from mixtally.model.planes import digits_of, directions, plane_messages, points_at
from mixtally.primitives.bits import spans
from mixtally.primitives.chance import Chance
from mixtally.primitives.draw import Integers, draw_below

_SPAN_SETS = 1 << 14


def draw_set_planes(planes: Planes, cells: Integers, values: int, chance: Chance) -> Integers:
    """The planes that sets name, shape (people, messages of a set) as ``cells`` has.

    ``cells`` are bins below ``values`` and, from there on, what stands for those that a set lacks.
    """
    out = np.empty_like(cells)
    for span in spans(len(cells), _SPAN_SETS):
        points = _set_points(planes, cells[span], values)
        numbers = np.empty_like(points)
        again = np.ones(points.shape, dtype=np.bool_)
        while again.any():
            numbers[again] = draw_below(chance, planes.directions, int(again.sum()))
            again = _find_collisions(planes, points, numbers)
        named = plane_messages(points.ravel(), numbers.ravel(), *planes)
        out[span] = named.reshape(points.shape)
    return out


def _set_points(planes: Planes, cells: Integers, values: int) -> Integers:
    """The points of sets; where two of one are the same, as ``Planes.members`` says."""
    found = points_at(planes, cells, values)
    ordered = np.sort(found, axis=1)
    for row in np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1)):
        own = [int(one) for one in cells[row] if one < values]
        found[row] = planes.members(own, values, cells.shape[1])
    return found


def _find_collisions(planes: Planes, points: Integers, numbers: Integers) -> NDArray[np.bool_]:
    """Whether each point lies in one plane with another of its set, in the direction beside it."""
    p, t = planes
    vectors = directions(numbers.ravel(), p, t).reshape(t, *numbers.shape)
    digits = digits_of(points.ravel(), p, t).reshape(t, *points.shape)
    products = np.einsum("tsi,tsj->sij", vectors, digits) % p
    own = np.diagonal(products, axis1=1, axis2=2)
    return np.asarray((products == own[:, :, None]).sum(axis=2) > 1)
