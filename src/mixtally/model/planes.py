"""Planes of Z_p^t as messages: the distribution of the count of a value.

Values are points of the vector space Z_p^t. To send a value, a device draws a random direction a,
which partitions the space into p parallel planes. The message names the plane of this direction
that contains the value. A message *points at* every value in its plane. Every message has a
direction of its own. Let n_x of n people have the value x, and let there be m fakes (dummy
messages). Then the number of messages that point at x is distributed exactly as

    S_x = n_x + Bin(n - n_x, kappa) + Bin(m, 1/p),

whatever the other values are, because kappa, the probability that a direction puts two different
values in one plane, is equal for all pairs (``device.contract.planes``).

*Sets of at most k values.* A record is k messages: one for each member, and one for a reserved
point in place of each missing member. For a member y_l, let v_i = y_i - y_l for the other members
y_i. Write <a, v> for the inner product modulo p. The direction a of the message for y_l is drawn
among those under which y_l shares no plane with another member, so no <a, v_i> is 0. Let x be a
value that is not in the record, and let w = x - y_l. The message points at x with probability
P[<a, w> = 0], which is

    1/p                                    if w is not in the span of the v_i, because then <a, w>
                                           is uniform conditionally on all <a, v_i>;
    (1/p)(1 + (-1)^s (p - 1)^(1 - s))      if the v_i are independent and w is a linear combination
                                           of s of them with nonzero coefficients, because the
                                           <a, v_i> are uniform nonzero numbers.

If points were numbers of labels, neighbors in a list would lie on a line, and a list of p^2 labels
in one plane. So points are hashes (``device.contract.planes``), and are treated as independent and
uniform here. Three events change the probability 1/p:

- w is a linear combination of s of the v_i. C(k-1, s)(p - 1)^s of the p^t points w are such
  combinations. Averaged over w, this changes the probability by (1 - 1/p)(2^(k-1) - 1) / p^t.
- The v_i are dependent, with probability below p^(k-1)/((p - 1) p^t), and w is one of at most
  p^(k-2) points in their span. This changes the probability by at most 1/p, because kappa/(1 -
  (k-1) kappa) <= 2/p.
- Two of the k + 1 points, x and those of the record, are equal. This has probability at most
  k (k + 1) / (2 p^t).

So the total variation distance between the distribution of S_x and that of

    n_x + Bin(k (n - n_x) + m, 1/p)

is at most n k ((k + 1)/2 + 2^(k-1) - 1 + p^(2k-4)/((p - 1) p^t)) / p^t. Confidence intervals add
this distance to their error probability. If messages are sometimes replaced, the distance is
smaller.

*Fewer digits than members.* Messages of 16 bytes have about 2^127 values, and t may then be k or
less. Then the sums above give no bound, but a second moment does. Let y_l be fixed, and let A be
the set of directions under which y_l shares no plane with another member. The point x is a hash, so
w is uniform in Z_p^t and independent of A. For each direction a, P[<a, w> = 0] over w is 1/p. Any
two directions are linearly independent, so these events are pairwise independent. The message
points at x with probability |{a in A: <a, w> = 0}| / |A|. So this probability has the mean 1/p and
the variance (1/p)(1 - 1/p) / |A|. As p >= 2k, A has at least half of all J directions. The expected
distance of this probability from 1/p is thus at most sqrt(2 / (J p)). The total variation distance
is at most

    n k (sqrt(2 / (J p)) + (k + 1) / (2 p^t)).

Texts are then hashed to 2^62 bins, which replaces p^t in the last term.

*Sets of texts* of an open domain have keyed hashes as points (``protocol.encode.hashed``). Texts of
a person that share a point are sent once. If a text has the point that is reserved for a missing
member, the next reserved point is used. So a record always consists of k different points. The
divergence uses no other property of records. A person who has x sends exactly one message that
points at x, as before. The distribution for other people differs from the one above only if two of
x, the texts and the reserved points are equal. The bound above includes this probability.

Source: proved here; Levin, Peres, Wilmer, Markov Chains and Mixing Times (2009), chapter 4 (total
variation of products).
"""

import math

import msgspec
import numpy as np
from numpy.typing import NDArray

from mixtally.device.contract import planes
from mixtally.device.contract.scatter import LARGEST_LIST, ROUNDS, round_shift, side_of
from mixtally.primitives.draw import Integers
from mixtally.primitives.wide import Numbers, digits_in_base, is_wide, make_numbers, multiply_add


class Planes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The space Z_p^t and its planes.

    Attributes
    ----------
    prime : int
        p, the number of planes of a direction, in [2, 2^31).
    digits : int
        t, the dimension, in [2, 62].
    """

    prime: int
    digits: int

    @property
    def device_planes(self) -> planes.Planes:
        """These planes as an instance of ``device.contract.planes.Planes``."""
        return planes.Planes(self.prime, self.digits)

    @property
    def points(self) -> int:
        """The number of distinct values, p^t."""
        return self.device_planes.points

    @property
    def messages(self) -> int:
        """The number of distinct messages, which is the number of distinct fakes."""
        return self.device_planes.messages

    def total_variation_bound(self, people: int, most_set: int = 1) -> float:
        """Return an upper bound of the error in the stated distribution of a value's count S_x.

        The docstring of the module states this distribution. The error is its total variation
        distance from the true distribution. ``people`` is n, and ``most_set`` is k. For k = 1, the
        only error is that two values may share a point.
        """
        each: float = 1.0
        if self.messages > planes.MOST_MESSAGES:
            same = 0.5 * (most_set + 1) / min(self.points, planes.TEXT_BINS)
            return people * most_set * (math.sqrt(2.0 / self.messages) + same)
        if most_set > 1:
            p, sums = float(self.prime), 2.0 ** (most_set - 1) - 1.0
            dependent = p ** (2 * most_set - 4 - self.digits) / (p - 1.0)
            each = most_set * (0.5 * (most_set + 1) + sums + dependent)
        return people * each / self.points

    @property
    def collision_probability(self) -> float:
        """kappa, the share of directions in which two different values are in one plane."""
        return (self.points // self.prime - 1) / (self.points - 1)


def points_at(over: planes.Planes, cells: NDArray[np.int64], values: int) -> Numbers:
    """Return the points of cells, which are bins and pads of sets. Each cell is hashed once.

    Parameters
    ----------
    over : Planes
        The planes, which determine the number of points.
    cells : ndarray of int64
        The cells, of any shape; the result has the same shape.
    values : int
        The number of bins. Cells from this number on are pads, which are sent for missing members.
    """
    names, places = np.unique(cells, return_inverse=True)
    points = make_numbers((over.member(one, values) for one in names.tolist()), over.points)
    return points[places].reshape(cells.shape)


def bin_points(over: planes.Planes, bins: NDArray[np.int64], values: int) -> NDArray[np.int64]:
    """Return the points of bins of a question with one value per person.

    This is the vectorized form of ``device.contract.scatter.point_of``.

    Parameters
    ----------
    over : Planes
        The planes, which determine the number of points.
    bins : ndarray of int64
        The bins, of any shape; the result has the same shape.
    values : int
        The number of bins of the question.
    """
    if values > LARGEST_LIST:
        return bins
    return points_on_curve(over, permute_bins(bins, values))


def permute_bins(bins: NDArray[np.int64], values: int) -> NDArray[np.int64]:
    """Return the images of bins under the public permutation of the numbers below ``values``.

    The permutation is a Feistel network. Each of its ``ROUNDS`` rounds hashes only one half of a
    bin's number, and about sqrt(d) halves exist for d labels. So all bins together need about
    ``ROUNDS`` * sqrt(d) hashes.

    Parameters
    ----------
    bins : ndarray of int64
        The bins, in [0, ``values``).
    values : int
        The number of labels of the list.
    """
    side, found = side_of(values), bins.copy()
    # Cycle walking: the network permutes a larger range, so it is applied again to numbers
    # outside of the list until they are inside.
    walking = np.arange(bins.size)
    while walking.size:
        found.flat[walking] = _apply_feistel(found.flat[walking], values, side)
        walking = walking[found.flat[walking] >= values]
    return found


def _apply_feistel(numbers: NDArray[np.int64], values: int, side: int) -> NDArray[np.int64]:
    """Return the images of numbers below side^2 under all rounds of the Feistel network."""
    high, low = np.divmod(numbers, side)
    shifts = np.zeros(side, dtype=np.int64)
    for one in range(ROUNDS):
        halves = np.flatnonzero(np.bincount(high, minlength=side))
        shifts[halves] = [round_shift(one, values, half) % side for half in halves.tolist()]
        low, high = high, (low + shifts[high]) % side
    return high * side + low


def points_on_curve(over: planes.Planes, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the points on the curve with the ``numbers``, which lie in [0, p^t).

    This is the vectorized form of ``device.contract.scatter.point_on_curve``.
    """
    unit = over.prime ** (over.digits - 1)
    last, others = np.divmod(numbers, unit)
    found: NDArray[np.int64] = others + (last + (numbers % over.prime) ** 2) % over.prime * unit
    return found


def directions(numbers: Numbers, prime: int, digits: int) -> Integers:
    """Return the directions of Z_p^t with these ``numbers``, shape (digits, numbers).

    ``prime`` is p, and ``digits`` is the dimension t.
    """
    if is_wide(numbers):
        return _wide_directions(numbers, prime, digits)
    blocks = [prime ** (digits - 1 - lead) for lead in range(digits)]
    ends = np.cumsum(np.array(blocks, dtype=np.int64))
    (late,) = np.nonzero(numbers >= blocks[0])  # the few directions that do not begin with 1
    leads, rest = np.searchsorted(ends[:-1], numbers[late], side="right"), numbers.copy()
    rest[late] -= ends[leads - 1]
    found = np.stack([rest // block % prime for block in blocks])  # 0 before the leading 1
    found[0] = numbers < blocks[0]
    found[leads, late] = 1
    return found


def _wide_directions(numbers: Numbers, prime: int, digits: int) -> Integers:
    """Return the directions with these ``numbers``, which have 16 bytes each.

    There are 1 + p + .. + p^(t-1) directions. In base p this number has t digits, all of them 1. So
    the digits of a smaller number begin with ones, if any, and then have a 0. The place of this 0
    is the place of the leading 1 of the direction.
    """
    found = digits_in_base(numbers, prime, digits)[::-1]
    late = found[0] == 1  # the few directions that do not begin with 1
    some = found[:, late]
    leads, places = (some != 1).argmax(axis=0), np.arange(digits)[:, None]
    found[0] = 1
    found[:, late] = np.where(places > leads, some, places == leads)
    return found


def multiply(vectors: Integers, places: Integers, prime: int) -> Integers:
    """Return the inner products of directions and points modulo p, shape (points,).

    Parameters
    ----------
    vectors : Integers
        The digits of the directions, shape (digits, points).
    places : Integers
        The digits of the points, shape (digits, points).
    prime : int
        The modulus p.
    """
    products = vectors * places
    if len(vectors) * prime * prime >= 1 << 63:  # their sum would not fit in 64 bits
        products %= prime
    found: Integers = products.sum(axis=0) % prime
    return found


def plane_messages(points: Numbers, numbers: Numbers, prime: int, digits: int) -> Numbers:
    """Return the message that each point has under a direction, shape (points,).

    Parameters
    ----------
    points : Numbers
        The points of Z_p^t as integers.
    numbers : Numbers
        The number of the direction for each point.
    prime : int
        The modulus p.
    digits : int
        The dimension t.
    """
    places, vectors = digits_in_base(points, prime, digits), directions(numbers, prime, digits)
    return multiply_add(numbers, prime, multiply(vectors, places, prime))
