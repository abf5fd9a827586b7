"""Planes of a finite geometry as messages: a random direction, and the product of a value with it.

Values are points x of the vector space Z_p^t, where p is prime. A direction a is a vector whose
first nonzero digit is 1. There are J = (p^t - 1)/(p - 1) directions. A device draws the number j of
a direction uniformly, and sends

    message = j p + c,    c = <a, x> mod p,

which names the plane of all points with this product. A plane has one p-th of all points. Any two
points lie in a common plane for a fraction kappa = (p^(t-1) - 1)/(p^t - 1) of the directions. A
fake (dummy message) is a uniform integer below J p.

*Numbering.* A point is an integer below p^t. Its vector has the digits of this integer in base p,
least significant first. Directions are ordered by the place of their leading 1: place 0 has the
first p^(t-1) numbers, place 1 the next p^(t-2), and so on. Within a place, the digits after the
leading 1 are an integer in base p, most significant first.

*Labels of a closed list* become points of which only a few lie in any one plane (``scatter``), so
that the estimates of neighbors in the list do not have a common error.

*Members of sets* become points by a hash: the SHA-256 of their number, modulo p^t (``model.planes``
has the reason). Sets use about 2^63 points or more, among which hashes almost never collide. A list
of single values uses few points, and needs a map without collisions.

Source: Carter, Wegman, Universal Classes of Hash Functions (1979), for families with equal
collision probabilities. Kappa follows from counting the directions orthogonal to x - y.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

from mixtally.device.contract.scatter import point_of

LARGEST_PRIME = (1 << 31) - 1
"""The largest prime. A sum of t products of digits fits a signed integer of 8 bytes if there are at
most ``MOST_MESSAGES`` messages."""
MOST_MESSAGES, MOST_WIDE_MESSAGES = 1 << 63, 1 << 127
"""Maximum numbers of distinct messages, so that a message fits a signed integer of 8 or 16 bytes.
Only sets have messages of more than 8 bytes.
"""
TEXT_BINS = 1 << 62
"""The number of bins to which texts are hashed if there are more than 2^63 points."""


class Planes(NamedTuple):
    """The space Z_p^t and its planes.

    ``prime`` is p, the number of planes of a direction. ``digits`` is the dimension t, at least 2.
    """

    prime: int
    digits: int

    @property
    def points(self) -> int:
        """The number of points, p^t."""
        return int(self.prime**self.digits)

    @property
    def directions(self) -> int:
        """The number of directions, J."""
        return (self.points - 1) // (self.prime - 1)

    @property
    def text_bins(self) -> int:
        """The number of bins to which texts of an open domain are hashed.

        This is the number of points, or less if a point does not fit into an integer of 8 bytes.
        """
        return self.points if self.points < MOST_MESSAGES else TEXT_BINS

    @property
    def messages(self) -> int:
        """The number of distinct messages, J p, which is the number of distinct fakes."""
        return self.directions * self.prime

    def point(self, number: int, values: int) -> int:
        """Return the point of a bin, for a question with ``values`` bins and one value a person."""
        return point_of(number, values, self.prime, self.digits)

    def member(self, number: int, values: int) -> int:
        """Return the point of a bin or a pad, for a question about sets with ``values`` bins.

        Pads are sent for missing members, and have the numbers from ``values`` on. If there are as
        many bins as points, the number of each bin is its point.
        """
        if number < values == self.points:
            return number
        return int.from_bytes(sha256(str(number).encode()).digest(), "big") % self.points

    def members(self, bins: Sequence[int], values: int, most: int) -> list[int]:
        """Return up to ``most`` distinct points: those of a set's bins, and then those of pads."""
        every = (*bins, *range(values, values + most))
        return list(dict.fromkeys(self.member(one, values) for one in every))[:most]

    def has_collision(self, point: int, others: Sequence[int], number: int) -> bool:
        """Return whether one of ``others`` is in the plane of ``point`` in direction ``number``."""
        mine = self.message(point, number)
        return any(other != point and self.message(other, number) == mine for other in others)

    def direction(self, number: int) -> list[int]:
        """Return the vector of the direction with this number, in [0, J)."""
        p, rest = self.prime, self.digits - 1
        while number >= p**rest:
            number, rest = number - p**rest, rest - 1
        return [0] * (self.digits - 1 - rest) + [
            1,
            *(number // p**place % p for place in reversed(range(rest))),
        ]

    def message(self, point: int, number: int) -> int:
        """Return the message of ``point``, in [0, p^t), for the direction with this number."""
        p = self.prime
        product = 0
        for one in self.direction(number):
            point, digit = divmod(point, p)
            product += one * digit
        return number * p + product % p


def is_prime(number: int) -> bool:
    """Return whether ``number``, at least 2, is prime, by trial division."""
    return all(number % one for one in range(2, int(number**0.5) + 1))


def most_digits(prime: int, most: int = MOST_MESSAGES) -> int:
    """Return the maximum dimension t for which there are at most ``most`` messages.

    The result is 1 if there are more messages even for the minimum dimension, 2.

    Parameters
    ----------
    prime : int
        The modulus p.
    most : int
        The maximum number of different messages.
    """
    digits = 1
    while Planes(prime, digits + 1).messages <= most:
        digits += 1
    return digits


def digits_for(prime: int, values: int) -> int:
    """Return the minimum dimension t >= 2 with at least ``values`` points.

    Parameters
    ----------
    prime : int
        The modulus p.
    values : int
        The required number of points, p^t.
    """
    digits = 2
    while prime**digits < values:
        digits += 1
    return digits
