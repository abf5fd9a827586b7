"""Planes of Z_p^t for many messages at once, as ``device.contract.planes`` has them one by one."""

import numpy as np

from mixtally.primitives.draw import Integers


def digits_of(points: Integers, prime: int, digits: int) -> Integers:
    """The digits of points of Z_p^t, the least first, shape (digits, points)."""
    return np.stack([points // prime**place % prime for place in range(digits)])


def directions(numbers: Integers, prime: int, digits: int) -> Integers:
    """The directions that have these numbers, shape (digits, numbers)."""
    blocks = [prime ** (digits - 1 - lead) for lead in range(digits)]
    ends = np.cumsum(np.array(blocks, dtype=np.int64))
    (late,) = np.nonzero(numbers >= blocks[0])  # few: those that do not begin with 1
    leads, rest = np.searchsorted(ends[:-1], numbers[late], side="right"), numbers.copy()
    rest[late] -= ends[leads - 1]
    found = np.stack([rest // block % prime for block in blocks])  # nothing up to a leading 1
    found[0] = numbers < blocks[0]
    found[leads, late] = 1
    return found


def messages(points: Integers, numbers: Integers, prime: int, digits: int) -> Integers:
    """The message of each point under the direction of its number, shape (points,)."""
    products = directions(numbers, prime, digits) * digits_of(points, prime, digits)
    found: Integers = numbers * prime + products.sum(axis=0) % prime
    return found
