"""The divergence of records with at most k set bits, flipped, among flipped blanks.

Every bit is flipped with probability q, and r = (1-q)/q. A *blank* is a fake with no set bits. Let
u and v be two records of a person. The sums X_u and X_v of the identity
(``docs/explanation/accounting.md``) are sums of N draws of powers of r. An *orbit* consists of the
numbers of bits that only u has, that only v has, and that both have; all orbits must be considered.
Two facts leave few of them. ``bit_flips`` and ``plans.honest_part`` use this file. Write g =
e^epsilon.

*Fewer bits.* An observer who ignores a position turns an orbit into one with one bit fewer.
Ignoring a position is post-processing, so the orbit with fewer bits is not worse.

*Common bits.* A common bit multiplies both weights by the same X, which is r or 1/r. Given
everything else, W = a X - g b X. Replace it by two bits, one of u and one of v: W' = a X - g b X'
with an independent copy X' of X. Let f be convex. Among all pairs (X, X') with these distributions,
equal X and X' make E[f(a X - g b X')] smallest, since a X and -g b X' then move in opposite
directions. So E[f(W)] <= E[f(W')], for each of the N draws in turn. If a bin is free, orbits with a
common bit need not be considered.

Hence two disjoint sets of k bits are the worst if there are at least 2k bins. Otherwise the worst
is among the orbits that fill all bins.

*Crowd.* If the crowd counts, its privacy blanket hides as well: a flipped record with k set bits is
a flipped blank with probability (q/p)^k. Without fakes each draw is then W or zero. With fakes the
number of draws is random. Both facts apply to these sums too.

Source: sufficient DP 000 (3.1) with blank fakes as background; Balle, Bell, Gascon, Nissim 2019.
"""

import math
from collections.abc import Iterator, Sequence
from functools import partial

from mixtally.accounting.numerics import blanket
from mixtally.accounting.numerics.bracket import Bracket, join_ends
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
"""How many sizes of the common set are tried when the worst orbit is only estimated."""


def list_orbits(most: int, bins: int | None = None) -> Iterator[Orbit]:
    """Yield the orbits of two different records with at most ``most`` set bits in ``bins`` bins.

    Orbits are omitted if a bit can be added, or if a common bit can be replaced by two bits: the
    resulting orbit has no smaller divergence.
    """
    filled = 0 if bins is None else 2 * most - bins  # more common bits would leave a free bin
    for both in range(min(most, max(0, filled) + 1)):
        own_bits = most - both
        room = 2 * own_bits if bins is None else min(2 * own_bits, bins - both)
        for only_u in range(max(0, room - own_bits), min(own_bits, room) + 1):
            if room > 0:
                yield Orbit(only_u, room - only_u, both)


def _list_orbits_both_directions(most: int, bins: int | None = None) -> Iterator[Orbit]:
    """Yield the orbits, and those of a full set and an empty set in both orders.

    The upper bound does not need the two orbits of a full set and an empty set. For these orbits W
    has few values, so their lower bound can be near one.
    """
    size = most if bins is None else min(most, bins)
    yield from (*list_orbits(most, bins), Orbit(size, 0, 0), Orbit(0, size, 0))


def delta_among_blanks(
    fakes: int, most: int, threshold: int, epsilon: float, bins: int | None = None
) -> Bracket:
    """Return delta(epsilon) of one record with at most ``most`` bits among flipped blanks."""
    q, grow = threshold / SCALE, math.exp(epsilon)
    return largest(
        (flip_distribution(o, q, grow) for o in _list_orbits_both_directions(most, bins)),
        fakes + 1,
        saddle_point_bounds,
    )


def delta_in_crowd(
    users: int, fakes: int, most: int, threshold: int, epsilon: float, bins: int | None = None
) -> Bracket:
    """Return delta(epsilon) of a record among those of ``users`` people and ``fakes`` blanks.

    The lower bound is that of a crowd of empty sets. With fakes only the upper bound is known, and
    the lower bound is 0.
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
    return join_ends(bounds.lower, bound)


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
    """Return the upper bound of delta among flipped blanks and, if counted, other people's records.

    ``fakes`` is the number of flipped blanks. ``users`` is the number of people whose records are
    counted, or 0.

    With ``expected_only``, only the orbits that were always found to be the worst are tried, so the
    result is not proved. The bound may be larger by the relative amount ``smoothed``, which saves
    time.
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
    """Return ``upper`` at several epsilons, larger by less than some thousandths."""
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
    """Return upper bounds among blanks, averaged over coins that add blanks.

    Each of ``people`` sends one more blank with probability ``coin``. The two records do not depend
    on the coins, so the bound is the largest of the averages. The result is larger than this
    average by less than some thousandths.
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
    """Return upper bounds if each of the others is a free blank with probability ``share``.

    A *free blank* is a message with the distribution of a blank, whatever the person's record is.
    """
    q, found = threshold / SCALE, list(list_orbits(most, bins))

    def bound_orbit(orbit: Orbit, epsilon: float, least: float) -> float:
        pair = flip_distribution(orbit, q, math.exp(epsilon))
        return blanket.upper([pair], users, fakes, share, NEAR, least)

    ranked = dict.fromkeys((*_probable_worst_orbits(found, most, _SOME), *found))
    return largest_curve((partial(bound_orbit, orbit) for orbit in ranked), epsilons)


def _probable_worst_orbits(found: list[Orbit], most: int, sizes: int) -> list[Orbit]:
    """Return the orbits that are nearly always the worst.

    These are up to ``sizes`` of the orbits in which u has ``most`` bits, for various numbers of
    common bits, and the first of the ``found`` orbits, in which u alone has the fewest bits.
    """
    full = [orbit for orbit in found if orbit.only_u + orbit.both == most]
    some = {round(i * (len(full) - 1) / (sizes - 1)) for i in range(sizes)}
    return list(dict.fromkeys((*(full[i] for i in sorted(some)), found[0])))


def blank_share(threshold: int, most: int) -> float:
    """Return (q/p)^most: with this probability a flipped record counts as a flipped blank.

    This is so for every record with at most ``most`` bits, whichever bits these are.
    """
    return (threshold / (SCALE - threshold)) ** most
