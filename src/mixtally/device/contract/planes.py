"""Planes of a finite geometry as messages: a random direction, and a value's product with it.

Values are points x of Z_p^t, p prime. A direction a is a vector whose first nonzero digit is 1;
there are J = (p^t - 1)/(p - 1) of them. A person draws one uniformly and sends

    message = j p + c,    j the number of the direction, c = <a, x> mod p,

which names the plane of all points with that product: one p-th of them. Any two points lie in a
common plane of as many directions, kappa = (p^(t-1) - 1)/(p^t - 1) of all. A fake is a uniform
integer below J p.

Digits of a point are those of an integer below p^t, the least first. Directions are numbered by
the place of their leading 1: place 0 has the first p^(t-1) numbers, place 1 the next p^(t-2), ..;
within a place the digits that follow are an integer in base p, the most significant first.

*Labels of a closed list* are points in general position (``scatter``), so that the counts of
neighbors in the list do not err together.

*Members of sets* are points in general position too: SHA-256 of their number, modulo p^t
(``model.planes`` says why). A set has 2^63 points or nearly so, among which hashes hardly ever
collide; a list of single values has few points, and needs a map without collisions.

Source: Carter, Wegman, Universal Classes of Hash Functions (1979), for families under which any two
values meet alike; kappa by counting points of the hyperplane of directions orthogonal to x - y.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

from mixtally.device.contract.scatter import point_of

MOST_MESSAGES = 1 << 63
"""Messages of a family of planes: their number fits 8 bytes, signed."""


class Planes(NamedTuple):
    """Z_p^t and its planes.

    where
      prime    p, the planes of a direction
      digits   t, at least 2
    """

    prime: int
    digits: int

    @property
    def points(self) -> int:
        """p^t."""
        return int(self.prime**self.digits)

    @property
    def directions(self) -> int:
        """J."""
        return (self.points - 1) // (self.prime - 1)

    @property
    def messages(self) -> int:
        """J p: different messages, and different fakes."""
        return self.directions * self.prime

    def point(self, number: int, values: int) -> int:
        """Return the point of a bin of a question that has ``values`` bins, one to a person."""
        return point_of(number, values, self.prime, self.digits)

    def member(self, number: int, values: int) -> int:
        """The point of a bin of sets of ``values``, or, from there on, of what they lack.

        Of as many values as there are points each is one itself.
        """
        if number < values == self.points:
            return number
        return int.from_bytes(sha256(str(number).encode()).digest(), "big") % self.points

    def members(self, bins: Sequence[int], values: int, most: int) -> list[int]:
        """The points of a set: the first ``most`` that differ of its bins' and of what it lacks."""
        every = (*bins, *range(values, values + most))
        return list(dict.fromkeys(self.member(one, values) for one in every))[:most]

    def has_collision(self, point: int, others: Sequence[int], number: int) -> bool:
        """Whether ``point`` lies in one plane with any other point, under a direction's number."""
        mine = self.message(point, number)
        return any(other != point and self.message(other, number) == mine for other in others)

    def direction(self, number: int) -> list[int]:
        """The vector of the direction that has this number, in [0, J)."""
        p, rest = self.prime, self.digits - 1
        while number >= p**rest:
            number, rest = number - p**rest, rest - 1
        return [0] * (self.digits - 1 - rest) + [
            1,
            *(number // p**place % p for place in reversed(range(rest))),
        ]

    def message(self, point: int, number: int) -> int:
        """The message of ``point``, in [0, p^t), under the direction of this number."""
        p = self.prime
        product = 0
        for one in self.direction(number):
            point, digit = divmod(point, p)
            product += one * digit
        return number * p + product % p


def is_prime(number: int) -> bool:
    """Whether ``number``, at least 2, is prime: by trial division."""
    return all(number % one for one in range(2, int(number**0.5) + 1))


def most_digits(prime: int) -> int:
    """The most digits with which there are no more than ``MOST_MESSAGES``; 1 for none."""
    digits = 1
    while Planes(prime, digits + 1).messages <= MOST_MESSAGES:
        digits += 1
    return digits


def digits_for(prime: int, values: int) -> int:
    """The fewest digits, at least 2, with which so many values are points."""
    digits = 2
    while prime**digits < values:
        digits += 1
    return digits
