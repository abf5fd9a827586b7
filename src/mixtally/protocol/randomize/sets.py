"""Messages for sets over planes: for each member, a random plane that contains no other member.

``randomize.parts`` calls ``draw_set_planes``. Each member of a set is sent as a plane that contains
the point of the member (``device.contract.planes``). The direction of the plane is random. It is
drawn again if the plane would contain another member of the same set; the proof in
``accounting/divergence/set_in_clear.py`` needs this. ``device/client/draw.py`` draws planes from
the same distribution for one person.
"""

import numpy as np
from numpy.typing import NDArray

from mixtally.device.contract.planes import Planes
from mixtally.model.planes import directions, plane_messages, points_at
from mixtally.primitives.bits import spans
from mixtally.primitives.chance import Chance
from mixtally.primitives.draw import Integers
from mixtally.primitives.wide import (
    Numbers,
    digits_in_base,
    draw_numbers,
    make_numbers,
    number_type,
)

# Sets that are drawn at a time, to limit memory.
_SPAN_SETS = 1 << 14


def draw_set_planes(planes: Planes, cells: Integers, values: int, chance: Chance) -> Numbers:
    """Draw a plane for each member of each set, shape (people, messages of a set) as ``cells``.

    ``cells`` has the numbers of the bins of each set, all below ``values``. For missing members it
    has numbers from ``values`` on.
    """
    out = np.empty(cells.shape, dtype=number_type(planes.messages))
    for span in spans(len(cells), _SPAN_SETS):
        points = _set_points(planes, cells[span], values)
        numbers = np.empty(points.shape, dtype=number_type(planes.directions))
        again = np.ones(points.shape, dtype=np.bool_)
        while again.any():
            numbers[again] = draw_numbers(chance, planes.directions, int(again.sum()))
            some = again.any(axis=1)
            again[some] = _find_collisions(planes, points[some], numbers[some])
        named = plane_messages(points.ravel(), numbers.ravel(), *planes)
        out[span] = named.reshape(points.shape)
    return out


def _set_points(planes: Planes, cells: Integers, values: int) -> Numbers:
    """Return the points of the cells of sets, all different within a set.

    If two cells of a set share a point, ``Planes.members`` replaces one by the point of a pad.
    """
    found = points_at(planes, cells, values)
    ordered = np.sort(found, axis=1)
    for row in np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1)):
        own = [int(one) for one in cells[row] if one < values]
        members = planes.members(own, values, cells.shape[1])
        found[row] = make_numbers(members, planes.points)
    return found


def _find_collisions(planes: Planes, points: Numbers, numbers: Numbers) -> NDArray[np.bool_]:
    """Return whether each point shares the plane in its direction with another point of its set."""
    p, t = planes
    vectors = directions(numbers.ravel(), p, t).reshape(t, *numbers.shape)
    digits = digits_in_base(points.ravel(), p, t).reshape(t, *points.shape)
    if t * p * p < 1 << 63:
        products = np.einsum("tsi,tsj->sij", vectors, digits) % p
    else:  # A sum of all products would not fit in 64 bits.
        every = (a[:, :, None] * b[:, None, :] % p for a, b in zip(vectors, digits, strict=True))
        products = sum(every, np.int64(0)) % p
    own = np.diagonal(products, axis1=1, axis2=2)
    return np.asarray((products == own[:, :, None]).sum(axis=2) > 1)
