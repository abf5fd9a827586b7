"""Planes of Z_p^t for many messages at once, as ``contract.planes`` has them one by one."""

import numpy as np

from mixtally.ground.draw import Integers


def digits_of(points: Integers, prime: int, digits: int) -> Integers:
    """The digits of points of Z_p^t, the least first, shape (digits, points)."""
    return np.stack([points // prime**place % prime for place in range(digits)])


def directions(numbers: Integers, prime: int, digits: int) -> Integers:
    """The directions that have these numbers, shape (digits, numbers)."""
    found = np.zeros((digits, len(numbers)), dtype=np.int64)
    first = 0
    for lead in range(digits):
        block = prime ** (digits - 1 - lead)
        (here,) = np.nonzero((numbers >= first) & (numbers < first + block))
        rest = numbers[here] - first
        found[lead, here] = 1
        for place in range(lead + 1, digits):
            found[place, here] = rest // prime ** (digits - 1 - place) % prime
        first += block
    return found


def messages(points: Integers, numbers: Integers, prime: int, digits: int) -> Integers:
    """The message of each point under the direction of its number, shape (points,)."""
    products = directions(numbers, prime, digits) * digits_of(points, prime, digits)
    found: Integers = numbers * prime + products.sum(axis=0) % prime
    return found
