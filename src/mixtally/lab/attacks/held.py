"""Which values the planes hold that messages name: what games and audits see of them."""

import numpy as np

from mixtally.model.contract import Part, Planes
from mixtally.model.planes import bin_points, points_at
from mixtally.primitives.bits import Counts, Rows
from mixtally.primitives.planes import digits_of, directions


def points_of(part: Part, planes: Planes, values: Counts) -> Counts:
    """Return the points of values; of sets also of what stands for members that they lack."""
    points = points_at if part.pads else bin_points
    return points(planes.bare, values, part.bins)


def first_values(part: Part, planes: Planes, codes: Counts, width: int) -> Rows:
    """Which of the first ``width`` values the plane of each message holds, as packed bits."""
    p, digits = planes.prime, planes.digits
    numbers, cells = np.divmod(codes, p)
    values = digits_of(points_of(part, planes, np.arange(width)), p, digits)
    held = (directions(numbers, p, digits).T @ values) % p == cells[:, None]
    return np.packbits(held, axis=1, bitorder="little")


def holds(planes: Planes, codes: Counts, points: Counts) -> np.ndarray:
    """Whether the plane of each message holds the point beside it, shape (messages,)."""
    p, digits = planes.prime, planes.digits
    numbers, cells = np.divmod(codes, p)
    products = directions(numbers, p, digits) * digits_of(points, p, digits)
    return np.asarray(products.sum(axis=0) % p == cells)
