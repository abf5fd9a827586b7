"""A public map from the labels of a closed list to points, few of which lie in any one plane.

A device and a collector call ``point_of`` for a question whose values are sent as planes of Z_p^t
(``device.contract.planes``). The map from the d labels to points is injective and has two steps.

*Permutation.* The numbers 0..d - 1 of the labels are permuted. Let s be the least integer whose
square is at least d. A number is written as s high + low. A round of a Feistel network replaces the
pair (low, high) by (high, (low + F) mod s), where F is SHA-256 of a text that names the round, d
and high. Six rounds are a permutation of [0, s^2). They are applied again until the number is below
d (cycle walking). So regular patterns of labels, such as neighbors or every seventh label,
disappear.

*Curve.* A number has the digits l_0, .., l_(t-1) in base p, least significant first. Its point has
the same digits except the last, which is (l_(t-1) + l_0^2) mod p.

**No plane contains more than 2 d / p + 2 labels**, for d above p and the least t >= 2 with p^t >=
d. A plane is the set of points with <a, x> = c. A label lies in it if

    a_(t-1) l_0^2 + a_0 l_0 + a_1 l_1 + .. + a_(t-1) l_(t-1) = c  (mod p).

A *row* consists of the p numbers that differ only in l_0. The d labels are in at most d / p + 1
rows. Let p be odd (for p = 2 the bound exceeds d). If a_(t-1) is not 0, the equation is quadratic
in l_0, so there are at most two solutions in each row: 2 d / p + 2 in total. If a_(t-1) is 0, the
equation is linear in the other digits. Then p^(t-2) of the p^(t-1) numbers with the same last digit
solve the equation. With d = m p^(t-1) + r and r < p^(t-1), at most (m + 1) p^(t-2) labels do. Since
d > p^(t-1), m is at least 1, so this is at most 2 m p^(t-2) <= 2 d / p.

Without the curve, the points of the numbers 0..p - 1 would be a line, and their estimates would
have a common error. A hash in place of the permutation could map two labels to one point. The
permutation needs no key, because privacy does not depend on the map: for any two different points,
the delta of a message is that of a message that names one of p bins.

Source: Luby, Rackoff, How to Construct Pseudorandom Permutations (1988); Patarin, Security of
Random Feistel Schemes with 5 or More Rounds (2004), for six rounds; Black, Rogaway, Ciphers with
Arbitrary Finite Domains (2002), for cycle walking.
"""

from hashlib import sha256
from math import isqrt

LARGEST_LIST = 10_000_000
"""The maximum number of bins of a closed list. Open domains have more bins, and each of their bins
is a point."""
ROUNDS = 6  # enough for a pseudorandom permutation, by Patarin's theorem


def side_of(values: int) -> int:
    """Return the side s of the smallest square s x s with at least ``values`` places.

    A number is split into two halves, each in [0, s).
    """
    return isqrt(values - 1) + 1


def round_shift(number: int, values: int, half: int) -> int:
    """Return the hash F of one round of the permutation.

    The round adds F to one half of a number, modulo s. F is a hash of the other half.

    Parameters
    ----------
    number : int
        The number of the round, from 0.
    values : int
        The number of labels of the list.
    half : int
        The other half of the number, in [0, s).
    """
    text = f"mixtally point {number} {values} {half}"
    return int.from_bytes(sha256(text.encode()).digest(), "big")


def permute_bin(number: int, values: int) -> int:
    """Return the image of ``number`` under the permutation of 0..``values`` - 1."""
    side = side_of(values)
    while True:
        high, low = divmod(number, side)
        for one in range(ROUNDS):
            low, high = high, (low + round_shift(one, values, high)) % side
        number = high * side + low
        if number < values:
            return number


def point_on_curve(number: int, prime: int, digits: int) -> int:
    """Return the point of a number: the number with a different last digit.

    The square of the first digit is added to the last digit, modulo p.

    Parameters
    ----------
    number : int
        A number in [0, p^t).
    prime : int
        The modulus p.
    digits : int
        The dimension t.
    """
    rest, unit = number % prime, int(prime ** (digits - 1))
    last, others = divmod(number, unit)
    return others + (last + rest * rest) % prime * unit


def point_of(number: int, values: int, prime: int, digits: int) -> int:
    """Return the point of bin ``number`` of a question with ``values`` bins.

    If there are more than ``LARGEST_LIST`` bins, the domain is open and each bin is its own point.
    """
    if values > LARGEST_LIST:
        return number
    return point_on_curve(permute_bin(number, values), prime, digits)
