"""The divergence of free vectors of L bits without fakes, for the observer ``messages``.

``bit_flips`` and the published formulas use this file. Every bit is flipped with probability q.

*Lower bound.* Let all others hold the same vector x. The identity is exact for such a homogeneous
crowd. The largest divergence over the orbits tried is a lower bound for the worst dataset.

*Upper bound for any dataset.* A flipped vector is a uniform one with probability (2q)^L, whatever
it was. So the crowd contains a privacy blanket of Bin(n-1, (2q)^L) uniform fakes.

*The worst pair* in this blanket are two vectors that differ everywhere. A position in which they
agree multiplies both weights by the same X, which is 2p or 2q with probability 1/2 each. Given
everything else, W = (a - g b) X with g = e^epsilon, which is a - g b plus or minus (p - q) (a - g
b). If they differ there, one is multiplied by X and the other by 2 - X. Then W' = a X - g b (2 - X)
is a - g b plus or minus (p - q) (a + g b). If two fair coins have the same mean, the wider one has
the larger E[f] for every convex f. So E[f(W)] <= E[f(W')], for each draw and each position in turn.

Source: sufficient DP 000 (3.1)-(3.6); Balle, Bell, Gascon, Nissim 2019.
"""

import math

from mixtally.accounting.numerics import blanket
from mixtally.accounting.numerics.bracket import Bracket, join_ends, larger
from mixtally.accounting.numerics.draws import Draws
from mixtally.accounting.numerics.flip_ratios import Orbit, flip_distribution, uniform_distribution
from mixtally.accounting.numerics.largest import largest
from mixtally.accounting.numerics.saddle_point import (
    NEAR,
    first_spread,
    prepare_expectation,
    saddle_point_bounds,
)
from mixtally.primitives.fixed_point import SCALE

SOURCE = (
    "privacy blanket of uniform vectors, any dataset (upper end); worst homogeneous crowd found"
)
_EVERY_ORBIT = 6
"""Number of bits up to which all orbits are tried."""
_MOST_NATS = 320.0
"""Largest logarithm of a likelihood ratio; its square times e^epsilon does not overflow."""


def homogeneous_delta(users: int, bits: int, threshold: int, epsilon: float) -> Bracket:
    """Return delta for all ones against all zeros in a crowd of zeros, in the worse order.

    Source: sufficient DP 000 (3.6).

    Parameters
    ----------
    users : int
        The number of people.
    bits : int
        The number of bits of a vector.
    threshold : int
        The flip probability times 2^64.
    epsilon : float
        The privacy loss in nats, at least 0.
    """
    seen = _count_observable_bits(bits, threshold)
    bounds = larger(
        orbit_delta(users, Orbit(seen, 0, 0), threshold, epsilon),
        orbit_delta(users, Orbit(0, seen, 0), threshold, epsilon),
    )
    return bounds if seen == bits else Bracket(bounds.lower, 1.0)


def orbit_delta(users: int, orbit: Orbit, threshold: int, epsilon: float) -> Bracket:
    """Return the exact divergence of u from v if all other people hold one vector.

    ``orbit`` has the numbers of positions in which only u, only v, and both differ from this
    vector.
    """
    return saddle_point_bounds(
        flip_distribution(orbit, threshold / SCALE, math.exp(epsilon)), users
    )


def _count_observable_bits(bits: int, threshold: int) -> int:
    """Return the largest number of bits whose likelihood ratios do not overflow.

    Observing fewer bits is post-processing, so the lower bound remains valid.
    """
    odds = math.log((SCALE - threshold) / threshold)
    return bits if bits * odds <= _MOST_NATS else int(_MOST_NATS / odds)


def list_orbits(bits: int) -> list[Orbit]:
    """Return the orbits of two vectors of ``bits`` bits; for many bits, only a selection of them.

    In the selection each number of positions is nearly 0, half of ``bits``, or nearly ``bits``.
    Such orbits are usually the worst.
    """
    every = bits <= _EVERY_ORBIT
    sizes = range(bits + 1) if every else sorted({0, 1, 2, bits // 2, bits - 2, bits - 1, bits})
    return [
        Orbit(u, v, both)
        for u in sizes
        for v in sizes
        for both in sizes
        if u + v > 0 and u + v + both <= bits and (every or both == 0 or u + v + both == bits)
    ]


def worst_homogeneous_delta(users: int, bits: int, threshold: int, epsilon: float) -> Bracket:
    """Return the largest divergence over the orbits tried, a lower bound.

    Ignoring a position turns an orbit of all bits into one with fewer bits, which is
    post-processing. So only orbits of all bits are tried.
    """
    q, grow = threshold / SCALE, math.exp(epsilon)
    seen = _count_observable_bits(bits, threshold)
    whole = (orbit for orbit in list_orbits(seen) if sum(orbit) == seen)
    return largest(
        (flip_distribution(orbit, q, grow) for orbit in whole), users, saddle_point_bounds
    )


def any_dataset_delta(users: int, bits: int, threshold: int, epsilon: float) -> Bracket:
    """Return bounds of delta for the worst dataset of vectors.

    Parameters
    ----------
    users : int
        The number of people.
    bits : int
        The number of bits of a vector.
    threshold : int
        The flip probability times 2^64.
    epsilon : float
        The privacy loss in nats, at least 0.
    """
    upper = blanket_upper(users, bits, threshold, epsilon)
    return join_ends(worst_homogeneous_delta(users, bits, threshold, epsilon).lower, upper)


def blanket_upper(
    users: int, bits: int, threshold: int, epsilon: float, smoothed: float = 0.0
) -> float:
    """Return the upper bound for any dataset, from two vectors that differ everywhere.

    The bound may be larger by the relative amount ``smoothed``, which saves time.
    """
    q, grow = threshold / SCALE, math.exp(epsilon)
    pair = uniform_distribution(bits, bits, q, grow)
    return blanket.upper([pair], users, 0, (2.0 * q) ** bits, smoothed)


def estimate_products(users: int, bits: int, threshold: int) -> int:
    """Estimate the number of products that one point of the curve takes at epsilon 0.

    It is assumed that the Gaussian of the saddle point may increase the bound by some thousandths.

    Parameters
    ----------
    users : int
        The number of people.
    bits : int
        The number of bits of a vector.
    threshold : int
        The flip probability times 2^64.
    """
    q = threshold / SCALE
    crowd = Draws(1, users - 1, (2.0 * q) ** bits)
    saddle = prepare_expectation(uniform_distribution(bits, bits, q, 1.0), crowd, NEAR).saddle
    if saddle is None:
        return 0
    spread = first_spread(saddle, NEAR)
    value, smoothed, _ = saddle.integral(spread)
    narrower = math.sqrt(smoothed / (NEAR * value)) if value > 0.0 else 1.0
    return saddle.work(spread / max(1.0, narrower))
