"""Planes of Z_p^t as messages: what is counted of a value in them.

A message names a plane, of a direction that its sender drew. It points at a value when the plane
holds it. Every person draws a direction of their own, so that of n people and m fakes

    S_x = n_x + Bin(n - n_x, kappa) + Bin(m, 1/p)

messages point at the value x that n_x people hold: the very distribution, whatever others hold.

Source: ``contract.planes``; kappa is the same for every pair of values.

*Sets of at most k values.* A record is k messages, of its members and of reserved points for those
it lacks. Member y_l draws its direction a among those under which it meets no other own member. So
another record's message points at x with

    P[<a, x - y_l> = 0] = 1/p    where x, y_1, .., y_k are affinely independent:

the numbers <a, x - y_l>, <a, y_i - y_l> are then those of a uniform vector of Z_p^k whose last
k - 1 are not 0, k >= 2. What is close in a list lies on a line, and all of a list of p^2 numbers in
a plane; so points are hashes (``contract.planes``), and t > k. With a chance of at most
(p^k - 1)/((p - 1) p^t) a record and x are dependent: the i-th point lies in the span of those
before, p^(i-1) of p^t points. The chance of each of the k messages is then from 0 to
kappa/(1 - (k-1) kappa), at most 1/p away from 1/p as 2k <= p; and with a chance of at most
k (k + 1)/2 p^t two of these points are one. One message more or less moves the sum of all others,
whose distribution is log-concave, by at most its largest chance c in total variation, and with the
variance v that is at most 2 / root(1 + 4 v). So over the hash, taken as random, the distribution of

    S_x = n_x + Bin(k (n - n_x) + m, 1/p)

is off, in total variation, by at most n k ((k + 1)/2 + c p^(k-1)/(p - 1)) / p^t, which intervals
add to their error. With t < k no x is independent of a full set.

*Sets of texts* of an open domain: points of texts are keyed hashes (``encode.hashed``). Texts of a
person that share a point are one, and where a text has the point of what stands for a lacking one,
the next takes its place. So a record is of k different points whatever texts there are, which is
all that its divergence rests on. Whoever holds x points at it once, as before. Of others a record
changes only where two of x, their texts and what these lack are one point: that chance is counted
above.

Source: proved here; Levin, Peres, Wilmer, Markov Chains and Mixing Times (2009), chapter 4 (total
variation of products); Bobkov, Marsiglietti, Melbourne, Concentration Functions and Entropy Bounds
for Discrete Log-Concave Distributions (2022), theorem 1.1 (the largest chance).
"""

import math

import msgspec
import numpy as np
from numpy.typing import NDArray

from mixtally.contract import planes


class Planes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Z_p^t and its planes.

    where
      prime    p, the planes of a direction, in [2, 10^7]
      digits   t, in [2, 62]
    """

    prime: int
    digits: int

    @property
    def bare(self) -> planes.Planes:
        """As devices know them."""
        return planes.Planes(self.prime, self.digits)

    @property
    def points(self) -> int:
        """Values that can be told apart, p^t."""
        return self.bare.points

    @property
    def messages(self) -> int:
        """Different messages, and different fakes."""
        return self.bare.messages

    def unsure(self, people: int, most_set: int = 1, variance: float = 0.0) -> float:
        """A bound of how far, in total variation, the count of one value is from its distribution,
        where other messages than one record's add noise of this ``variance`` at least.

        Of one value a record what is lost is that two share a point.
        """
        each: float = 1.0
        if most_set > 1:
            largest = min(1.0, 2.0 / math.sqrt(1.0 + 4.0 * variance))
            spans = float(self.prime) ** (most_set - 1) / (self.prime - 1)
            each = most_set * (0.5 * (most_set + 1) + largest * spans)
        return people * each / self.points

    @property
    def meeting(self) -> float:
        """kappa: the share of directions in which two values lie in one plane."""
        return (self.points // self.prime - 1) / (self.points - 1)


def points_at(over: planes.Planes, cells: NDArray[np.int64], values: int) -> NDArray[np.int64]:
    """The points of bins of sets of ``values`` and, from there on, of what sets lack, as ``cells``.

    Each that is there is hashed once.
    """
    names, places = np.unique(cells, return_inverse=True)
    points = np.array([over.member(one, values) for one in names.tolist()], dtype=np.int64)
    return points[places].reshape(cells.shape)
