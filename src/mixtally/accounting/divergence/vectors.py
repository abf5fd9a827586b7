"""Free vectors of L bits, every bit flipped with q, no fakes, observer ``messages``.

Lower bound: everybody else holds the same vector x. For a homogeneous crowd the master identity is
exact; the largest divergence over the orbits tried is a lower bound for the worst dataset.

Upper bound, any dataset: a flipped vector is a uniform one with probability (2q)^L, whatever it
was. So the crowd holds a privacy blanket of Bin(n-1, (2q)^L) uniform fakes.

There two vectors that differ everywhere are the worst. A position in which they agree multiplies
both weights by the same X, 2p or 2q with equal chances: W = (a - g b) X given all else, which is
a - g b plus or minus (p - q) (a - g b), g = e^epsilon. Where they differ one has X and the other
2 - X: W' = a X - g b (2 - X) is a - g b plus or minus (p - q) (a + g b). Of two fair coins with one
mean the wider has the larger E[f] for every convex f, so E[f(W)] <= E[f(W')], for each of the draws
and for each position in turn.

Source: sufficient DP 000 (3.1)-(3.6); Balle, Bell, Gascon, Nissim 2019.
"""

import math

from mixtally.accounting.numerics import blanket
from mixtally.accounting.numerics.bracket import Bracket, larger
from mixtally.accounting.numerics.draws import Draws
from mixtally.accounting.numerics.flip_ratios import (
    Orbit,
    flip_distribution,
    uniform_distribution,
)
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
_MOST_NATS = 320.0
"""Likelihood ratios and e^epsilon times them can be squared up to here."""


def homogeneous_delta(users: int, bits: int, threshold: int, epsilon: float) -> Bracket:
    """All ones against all zeros in a crowd of zeros, both directions.

    Source: sufficient DP 000 (3.6).
    """
    seen = _count_observable_bits(bits, threshold)
    bounds = larger(
        orbit_delta(users, Orbit(seen, 0, 0), threshold, epsilon),
        orbit_delta(users, Orbit(0, seen, 0), threshold, epsilon),
    )
    return bounds if seen == bits else Bracket(bounds.lower, 1.0)


def orbit_delta(users: int, orbit: Orbit, threshold: int, epsilon: float) -> Bracket:
    """delta_{u over v}(epsilon) in a homogeneous crowd, exact."""
    return saddle_point_bounds(
        flip_distribution(orbit, threshold / SCALE, math.exp(epsilon)), users
    )


def _count_observable_bits(bits: int, threshold: int) -> int:
    """All bits, or the most whose likelihood ratios are numbers: who sees fewer bits learns no
    more.
    """
    odds = math.log((SCALE - threshold) / threshold)
    return bits if bits * odds <= _MOST_NATS else int(_MOST_NATS / odds)


def list_orbits(bits: int) -> list[Orbit]:
    """All orbits of few bits; of many, those with few or all bits, where the worst were found."""
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
    """The largest divergence over the orbits tried: a lower bound.

    Who forgets a position turns an orbit of all bits into one of fewer, which reveals less.
    """
    q, grow = threshold / SCALE, math.exp(epsilon)
    seen = _count_observable_bits(bits, threshold)
    whole = (orbit for orbit in list_orbits(seen) if sum(orbit) == seen)
    return largest(
        (flip_distribution(orbit, q, grow) for orbit in whole), users, saddle_point_bounds
    )


def any_dataset_delta(users: int, bits: int, threshold: int, epsilon: float) -> Bracket:
    """Both bounds for any dataset of ``users`` vectors."""
    upper = blanket_upper(users, bits, threshold, epsilon)
    return Bracket(
        min(worst_homogeneous_delta(users, bits, threshold, epsilon).lower, upper), upper
    )


def blanket_upper(
    users: int, bits: int, threshold: int, epsilon: float, smoothed: float = 0.0
) -> float:
    """Upper bound for any dataset: that of two vectors which differ everywhere.

    ``smoothed`` as ``largest_upper`` has it.
    """
    q, grow = threshold / SCALE, math.exp(epsilon)
    pair = uniform_distribution(bits, bits, q, grow)
    return blanket.upper([pair], users, 0, (2.0 * q) ** bits, smoothed)


def estimate_products(users: int, bits: int, threshold: int) -> int:
    """About how many products one point of the curve takes at epsilon 0, where a Gaussian may add
    some thousandths.
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
