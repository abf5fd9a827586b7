"""Records with at most k set bits, every bit flipped with q, among flipped blanks.

X_u and X_v are sums of N draws of powers of r; every orbit (bits of u alone, of v alone, of both)
counts. Two facts leave few of them to bound.

*A bit less.* Who forgets a position turns an orbit into one with a bit less, and forgetting never
reveals more (post-processing).

*Bits apart.* A common bit multiplies both weights by the same X, which is r or 1/r: given all else
W = a X - g b X, g = e^epsilon. Two bits, one of u and one of v, have W' = a X - g b X' there, X' an
independent copy. For every convex f, of all pairs (X, X') with these distributions the equal one
makes E[f(a X - g b X')] least: a X and -g b X' then run against each other. So E[f(W)] <= E[f(W')],
for each of the N draws in turn, and where a bin is left a common bit need not be looked at.

Hence two disjoint sets of k bits are the worst where there are 2k bins; where there are fewer, the
orbits that fill them.

Where the crowd is counted its privacy blanket hides as well: a flipped record with k set bits is a
flipped blank with probability (q/p)^k. Without sent fakes that draws W or nothing, with them it is
a random number of draws, and both facts hold for these as well.

Source: sufficient DP 000 (3.1) with blank fakes as background; Balle, Bell, Gascon, Nissim 2019.
"""

import math
from collections.abc import Iterator, Sequence
from functools import partial

from mixtally.accounting.numerics import blanket
from mixtally.accounting.numerics.bracket import Bracket
from mixtally.accounting.numerics.flip_ratios import Orbit, flip_distribution
from mixtally.accounting.numerics.largest import largest
from mixtally.accounting.numerics.largest_curve import largest_curve
from mixtally.accounting.numerics.saddle_point import NEAR, saddle_point_bounds
from mixtally.primitives.fixed_point import SCALE

SOURCE = (
    "exact distribution over flipped blanks, every orbit of two k-hot records (Sufficient "
    "Differential Privacy 2017, (3.1)); Notes 2020, Prop. 3.1 for any dataset"
)
CROWD_SOURCE = "free blank fakes of the crowd, any dataset; every orbit of two k-hot records"


_FEW, _SOME = 2, 5
"""So many sizes of the common set are looked at where a worst orbit is only expected."""


def list_orbits(most: int, bins: int | None = None) -> Iterator[Orbit]:
    """Ways in which two different records with at most ``most`` set bits lie in ``bins``.

    Only those to which no bit can be added, and of which no common bit can be taken apart.
    """
    filled = 0 if bins is None else 2 * most - bins  # with more common bits there is a bin left
    for both in range(min(most, max(0, filled) + 1)):
        alone = most - both
        room = 2 * alone if bins is None else min(2 * alone, bins - both)
        for only_u in range(max(0, room - alone), min(alone, room) + 1):
            if room > 0:
                yield Orbit(only_u, room - only_u, both)


def _list_orbits_both_directions(most: int, bins: int | None = None) -> Iterator[Orbit]:
    """``orbits``, and a full set against none, in both directions.

    The upper bound does not need these; they have few values, so that a lower bound near one is
    known.
    """
    size = most if bins is None else min(most, bins)
    yield from (*list_orbits(most, bins), Orbit(size, 0, 0), Orbit(0, size, 0))


def delta_among_blanks(
    fakes: int, most: int, threshold: int, epsilon: float, bins: int | None = None
) -> Bracket:
    """delta(epsilon) of one record with at most ``most`` set bits among flipped blanks."""
    q, grow = threshold / SCALE, math.exp(epsilon)
    return largest(
        (flip_distribution(o, q, grow) for o in _list_orbits_both_directions(most, bins)),
        fakes + 1,
        saddle_point_bounds,
    )


def delta_in_crowd(
    users: int, fakes: int, most: int, threshold: int, epsilon: float, bins: int | None = None
) -> Bracket:
    """delta(epsilon) among ``users`` such records and ``fakes`` flipped blanks.

    The lower bound is that of a crowd that holds nothing at all; with fakes only the upper bound is
    known.
    """
    bound = upper(users, fakes, most, threshold, epsilon, bins)
    if fakes:
        return Bracket(0.0, bound)
    q, grow = threshold / SCALE, math.exp(epsilon)
    bounds = largest(
        (flip_distribution(o, q, grow) for o in _list_orbits_both_directions(most, bins)),
        users,
        saddle_point_bounds,
    )
    return Bracket(min(bounds.lower, bound), bound)


def upper(
    users: int,
    fakes: int,
    most: int,
    threshold: int,
    epsilon: float,
    bins: int | None = None,
    *,
    expected_only: bool = False,
    smoothed: float = 0.0,
) -> float:
    """The upper bound alone, among ``users`` such records, or none, and ``fakes`` flipped blanks.

    where
      likely     only the orbits are looked at that have always been the worst: not proved
      smoothed   as ``largest_upper`` has it
    """
    q, grow = threshold / SCALE, math.exp(epsilon)
    share = blank_share(threshold, most)
    found = list(list_orbits(most, bins))
    if expected_only:
        found = _probable_worst_orbits(found, most, _FEW if smoothed else _SOME)
    pairs = [flip_distribution(orbit, q, grow) for orbit in found]
    return blanket.upper(pairs, users, fakes, share, smoothed)


def upper_at_several(
    users: int,
    fakes: int,
    most: int,
    threshold: int,
    epsilons: Sequence[float],
    bins: int | None = None,
) -> list[float]:
    """``upper`` at several epsilons, above it by less than some thousandths."""
    return _upper_at_several(
        users, fakes, most, threshold, epsilons, bins, blank_share(threshold, most)
    )


def upper_over_coins(
    fakes: int,
    most: int,
    threshold: int,
    epsilons: Sequence[float],
    bins: int | None,
    people: int,
    coin: float,
) -> list[float]:
    """Upper bounds of ``among_blanks``, above it by less than some thousandths, averaged over the
    coins of ``people`` who draw one blank more with the chance ``coin``.

    Two records are the same whatever the coins show: it is the largest of their averages.
    """
    return _upper_at_several(people + 1, fakes, most, threshold, epsilons, bins, coin)


def _upper_at_several(
    users: int,
    fakes: int,
    most: int,
    threshold: int,
    epsilons: Sequence[float],
    bins: int | None,
    share: float,
) -> list[float]:
    """Each of the others is a free blank with the chance ``share``."""
    q, found = threshold / SCALE, list(list_orbits(most, bins))

    def bound_orbit(orbit: Orbit, epsilon: float, least: float) -> float:
        pair = flip_distribution(orbit, q, math.exp(epsilon))
        return blanket.upper([pair], users, fakes, share, NEAR, least)

    ranked = dict.fromkeys((*_probable_worst_orbits(found, most, _SOME), *found))
    return largest_curve((partial(bound_orbit, orbit) for orbit in ranked), epsilons)


def _probable_worst_orbits(found: list[Orbit], most: int, sizes: int) -> list[Orbit]:
    """Those where u has all its bits, of so many sizes of the common set, and that of the fewest
    bits of u alone: others are hardly ever the worst.
    """
    full = [orbit for orbit in found if orbit.only_u + orbit.both == most]
    some = {round(i * (len(full) - 1) / (sizes - 1)) for i in range(sizes)}
    return list(dict.fromkeys((*(full[i] for i in sorted(some)), found[0])))


def blank_share(threshold: int, most: int) -> float:
    """The chance that a record is a flipped blank, whatever its ``most`` bits or fewer are."""
    return (threshold / (SCALE - threshold)) ** most
