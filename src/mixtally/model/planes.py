"""Planes of Z_p^t as messages: what is counted of a value in them.

A message names a plane, of a direction that its sender drew. It points at a value when the plane
holds it. Every person draws a direction of their own, so that of n people and m fakes

    S_x = n_x + Bin(n - n_x, kappa) + Bin(m, 1/p)

messages point at the value x that n_x people hold: the very distribution, whatever others hold.

Source: ``device.contract.planes``; kappa is the same for every pair of values.

*Sets of at most k values.* A record is k messages, of its members and of reserved points for those
it lacks. Member y_l draws its direction a among those under which it meets no other own member:
<a, v_i> is not 0 for v_i = y_i - y_l. With w = x - y_l another record's message points at x with
the chance P[<a, w> = 0], which is

    1/p                                    where w is not in the span of the v_i, as <a, w> is then
                                           uniform whatever they are;
    (1/p)(1 + (-1)^s (p - 1)^(1 - s))      where the v_i are independent and w is a sum of s of
                                           them: <a, v_i> are uniform numbers but 0.

What is close in a list lies on a line, and all of a list of p^2 numbers in a plane; so points are
hashes (``device.contract.planes``), taken as random. C(k-1, s)(p - 1)^s of p^t points w are such
sums, so that the chance is off by (1 - 1/p)(2^(k-1) - 1) / p^t on average. Where the v_i are
dependent, with a chance below p^(k-1)/((p - 1) p^t), and w is in their span, at most p^(k-2)
points, it is off by at most 1/p, as kappa/(1 - (k-1) kappa) <= 2/p. And with a chance of at most k
(k + 1)/2 p^t two of the record's points and x are one. So the distribution of

    S_x = n_x + Bin(k (n - n_x) + m, 1/p)

is off, in total variation, by at most n k ((k + 1)/2 + 2^(k-1) - 1 + p^(2k-4)/((p - 1) p^t)) / p^t,
which intervals add to their error. A message that is replaced now and then is off by less.

*Sets of texts* of an open domain: points of texts are keyed hashes (``protocol.encode.hashed``).
Texts of a person that share a point are one, and where a text has the point of what stands for a
lacking one, the next takes its place. So a record is of k different points whatever texts there
are, which is all that its divergence rests on. Whoever holds x points at it once, as before. Of
others a record changes only where two of x, their texts and what these lack are one point: that
chance is counted above.

Source: proved here; Levin, Peres, Wilmer, Markov Chains and Mixing Times (2009), chapter 4 (total
variation of products).
"""

import msgspec
import numpy as np
from numpy.typing import NDArray

from mixtally.device.contract import planes
from mixtally.device.contract.scatter import LARGEST_LIST, ROUNDS, round_shift, side_of
from mixtally.primitives.draw import Integers


class Planes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Z_p^t and its planes.

    where
      prime    p, the planes of a direction, in [2, 10^7]
      digits   t, in [2, 62]
    """

    prime: int
    digits: int

    @property
    def device_planes(self) -> planes.Planes:
        """As devices know them."""
        return planes.Planes(self.prime, self.digits)

    @property
    def points(self) -> int:
        """Values that can be told apart, p^t."""
        return self.device_planes.points

    @property
    def messages(self) -> int:
        """Different messages, and different fakes."""
        return self.device_planes.messages

    def total_variation_bound(self, people: int, most_set: int = 1) -> float:
        """A bound of how far, in total variation, the count of one value is from its distribution.

        Of one value a record what is lost is that two share a point.
        """
        each: float = 1.0
        if most_set > 1:
            p, sums = float(self.prime), 2.0 ** (most_set - 1) - 1.0
            dependent = p ** (2 * most_set - 4 - self.digits) / (p - 1.0)
            each = most_set * (0.5 * (most_set + 1) + sums + dependent)
        return people * each / self.points

    @property
    def collision_probability(self) -> float:
        """kappa: the share of directions in which two values lie in one plane."""
        return (self.points // self.prime - 1) / (self.points - 1)


def points_at(over: planes.Planes, cells: NDArray[np.int64], values: int) -> NDArray[np.int64]:
    """The points of cells of sets, shape as ``cells``: of bins below ``values``, and from there on
    of what stands for members that a set lacks. Each cell is hashed once.
    """
    names, places = np.unique(cells, return_inverse=True)
    points = np.array([over.member(one, values) for one in names.tolist()], dtype=np.int64)
    return points[places].reshape(cells.shape)


def bin_points(over: planes.Planes, bins: NDArray[np.int64], values: int) -> NDArray[np.int64]:
    """Return the points of bins of a question with one value to a person, shape as ``bins``.

    The vectorized form of ``device.contract.scatter.point_of``.
    """
    if values > LARGEST_LIST:
        return bins
    return points_on_curve(over, permute_bins(bins, values))


def permute_bins(bins: NDArray[np.int64], values: int) -> NDArray[np.int64]:
    """Return the places of ``bins`` in the permutation of 0..``values`` - 1.

    Each half of a number is hashed once a round, so that a list of d labels takes 6 sqrt(d) hashes.
    """
    side, found = side_of(values), bins.copy()
    walking = np.arange(bins.size)
    while walking.size:
        found.flat[walking] = _apply_feistel(found.flat[walking], values, side)
        walking = walking[found.flat[walking] >= values]
    return found


def _apply_feistel(numbers: NDArray[np.int64], values: int, side: int) -> NDArray[np.int64]:
    """Return the numbers below ``side`` squared after all rounds of the Feistel network."""
    high, low = np.divmod(numbers, side)
    shifts = np.zeros(side, dtype=np.int64)
    for one in range(ROUNDS):
        halves = np.flatnonzero(np.bincount(high, minlength=side))
        shifts[halves] = [round_shift(one, values, half) % side for half in halves.tolist()]
        low, high = high, (low + shifts[high]) % side
    return high * side + low


def points_on_curve(over: planes.Planes, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the points of numbers in [0, p^t), as ``device.contract.scatter.curved`` does."""
    unit = over.prime ** (over.digits - 1)
    last, others = np.divmod(numbers, unit)
    found: NDArray[np.int64] = others + (last + (numbers % over.prime) ** 2) % over.prime * unit
    return found


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


def plane_messages(points: Integers, numbers: Integers, prime: int, digits: int) -> Integers:
    """The message of each point under the direction of its number, shape (points,)."""
    products = directions(numbers, prime, digits) * digits_of(points, prime, digits)
    found: Integers = numbers * prime + products.sum(axis=0) % prime
    return found
