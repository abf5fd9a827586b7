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

Without sent fakes the crowd's privacy blanket is counted: a flipped record with k set bits is a
flipped blank with probability (q/p)^k. That draws W or nothing, and both facts hold for it as well.

Source: sufficient DP 000 (3.1) with blank fakes as background; Balle, Bell, Gascon, Nissim 2019.
"""

import math
from collections.abc import Iterator

from mixtally.ground.fixed import SCALE
from mixtally.privacy.numerics.blanket import expected, interpolated
from mixtally.privacy.numerics.bracket import Bracket
from mixtally.privacy.numerics.flip_ratios import Orbit, diluted, flip_distribution
from mixtally.privacy.numerics.largest import largest, largest_upper
from mixtally.privacy.numerics.saddle_point import ROUGH, saddle_point_bounds

SOURCE = (
    "exact law over flipped blanks, every orbit of two k-hot records (Sufficient Differential "
    "Privacy 2017, (3.1)); Notes 2020, Prop. 3.1 for any dataset"
)
_MOST_COMMON = 3
"""Where more bits than these must be common there are fifteen orbits and more."""
_FEW = 0.4
"""Of the set bits: where so few must be common, to take them apart costs an eighth of epsilon."""
CROWD_SOURCE = "free blank fakes of the crowd, any dataset; every orbit of two k-hot records"


def orbits(most: int, bins: int | None = None) -> Iterator[Orbit]:
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


def _orbits_both(most: int, bins: int | None = None) -> Iterator[Orbit]:
    """``orbits``, and a full set against none, in both directions.

    The upper bound does not need these; they have few values, so that a lower bound near one is
    known.
    """
    size = most if bins is None else min(most, bins)
    yield from (*orbits(most, bins), Orbit(size, 0, 0), Orbit(0, size, 0))


def _widened(most: int, bins: int | None) -> int | None:
    """None, for as many bins as records need, where some but few of their bits must be common.

    Records of few bins are records of more, so the one orbit of these bounds the many of those.
    That is taken where an upper bound is all that is known, and one of dozens of sums.
    """
    common = 0 if bins is None else 2 * most - bins
    return None if _MOST_COMMON < common <= _FEW * most else bins


def among_blanks(
    fakes: int, most: int, threshold: int, epsilon: float, bins: int | None = None
) -> Bracket:
    """delta(epsilon) of one record with at most ``most`` set bits among flipped blanks."""
    q, grow = threshold / SCALE, math.exp(epsilon)
    return largest(
        (flip_distribution(o, q, grow) for o in _orbits_both(most, bins)),
        fakes + 1,
        saddle_point_bounds,
    )


def blanks_upper(
    fakes: int, most: int, threshold: int, epsilon: float, bins: int | None = None
) -> float:
    """The upper bound of ``among_blanks`` alone."""
    q, grow = threshold / SCALE, math.exp(epsilon)
    return largest_upper((flip_distribution(o, q, grow) for o in orbits(most, bins)), fakes + 1)


def expected_blanks_upper(
    fakes: int, most: int, threshold: int, epsilon: float, bins: int | None = None
) -> float:
    """``blanks_upper`` over the orbits that have always been the worst; not proved to be so."""
    q, grow = threshold / SCALE, math.exp(epsilon)
    found = list(orbits(most, bins))
    few = [o for o in found if o.both in (found[0].both, found[-1].both)]
    return largest_upper((flip_distribution(o, q, grow) for o in few), fakes + 1)


def rough_blanks_upper(
    users: int, fakes: int, most: int, threshold: int, epsilon: float, bins: int | None = None
) -> float:
    """``expected_blanket_upper``, or ``expected_blanks_upper`` without people, to a few hundredths:
    interpolated between a handful of numbers of blanks.
    """
    q, grow = threshold / SCALE, math.exp(epsilon)
    found = list(orbits(most, _widened(most, bins) if users else bins))
    few = [flip_distribution(o, q, grow) for o in found if o.both in (0, found[-1].both)]

    def upper(blanks: int) -> float:
        return largest_upper(few, fakes + blanks + 1, ROUGH)

    if not users:
        return upper(0)
    share = (threshold / (SCALE - threshold)) ** most
    return expected(interpolated(upper, users - 1, share), users - 1, share)


def among_blanket_blanks(
    users: int, fakes: int, most: int, threshold: int, epsilon: float, bins: int | None = None
) -> Bracket:
    """delta(epsilon) among ``fakes`` flipped blanks and the privacy blanket of ``users`` such
    records.

    Only the upper bound is known.
    """
    share, bins = (threshold / (SCALE - threshold)) ** most, _widened(most, bins)

    def upper(blanks: int) -> float:
        return blanks_upper(fakes + blanks, most, threshold, epsilon, bins)

    return Bracket(0.0, expected(upper, users - 1, share))


def expected_blanket_upper(
    users: int, fakes: int, most: int, threshold: int, epsilon: float, bins: int | None = None
) -> float:
    """Its upper bound over the orbits that have always been the worst; not proved to be so."""
    share, bins = (threshold / (SCALE - threshold)) ** most, _widened(most, bins)

    def upper(blanks: int) -> float:
        return expected_blanks_upper(fakes + blanks, most, threshold, epsilon, bins)

    return expected(upper, users - 1, share)


def in_crowd(
    users: int, most: int, threshold: int, epsilon: float, bins: int | None = None
) -> Bracket:
    """delta(epsilon) among ``users`` such records and no fakes; only the upper bound is known.

    The lower bound is that of a crowd that holds nothing at all.
    """
    q, grow = threshold / SCALE, math.exp(epsilon)
    upper = crowd_upper(users, most, threshold, epsilon, bins)
    bounds = largest(
        (flip_distribution(o, q, grow) for o in _orbits_both(most, bins)),
        users,
        saddle_point_bounds,
    )
    return Bracket(min(bounds.lower, upper), upper)


def crowd_upper(
    users: int,
    most: int,
    threshold: int,
    epsilon: float,
    bins: int | None = None,
    smoothed: float = 0.0,
) -> float:
    """The upper bound of ``in_crowd`` alone; ``smoothed`` as ``saddle_point_upper`` has it."""
    q, p = threshold / SCALE, (SCALE - threshold) / SCALE
    share, grow = (q / p) ** most, math.exp(epsilon)
    distributions = (
        diluted(flip_distribution(orbit, q, grow), share) for orbit in orbits(most, bins)
    )
    return min(1.0, largest_upper(distributions, users, smoothed) / share)
