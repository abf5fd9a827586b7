"""Distributions of W = w_u - e^eps w_v for flipped records: what the master identity sums.

Where u and v differ from the background x, a set of positions matters only by its size: ``only_u``
positions in which u alone differs from x, ``only_v`` likewise, ``both`` in which both do. With t
risen bits among them w_u = r^(2 t_u - only_u) r^(2 t_both - both), and w_v with its own t_v.
"""

from math import comb
from typing import NamedTuple

import numpy as np

from mixtally.accounting.numerics.small_support import Distribution
from mixtally.primitives.tails import Floats


class Orbit(NamedTuple):
    """Sizes of the sets of positions that distinguish u, v and the background."""

    only_u: int
    only_v: int
    both: int


def small_binomial(trials: int, probability: float) -> Floats:
    """P(Bin(trials, probability) = 0..trials) for a few trials."""
    p = 1.0 - probability
    return np.array(
        [comb(trials, t) * probability**t * p ** (trials - t) for t in range(trials + 1)]
    )


_TIE_SHARE, _ROUNDING = 1e-4, 1e-13
"""Where two weights are so near each other, relatively, that rounding matters to their difference,
and more than that rounding."""


def excess(w_u: Floats, w_v: Floats, grow: float) -> Floats:
    """w_u - ``grow`` w_v, upwards where both are nearly alike: zero or less only where it is."""
    values = w_u - grow * w_v
    near = (w_u > w_v) & (np.abs(values) <= _TIE_SHARE * w_u)
    return np.asarray(np.where(near, values + _ROUNDING * w_u, values))


def flip_distribution(orbit: Orbit, q: float, grow: float) -> Distribution:
    """The distribution of W when the background record is flipped with q."""
    r = (1.0 - q) / q
    chances, exponents = [], []
    for size in orbit:
        chances.append(small_binomial(size, q))
        exponents.append(2.0 * np.arange(size + 1) - size)
    u = exponents[0][:, None, None] + exponents[2][None, None, :]
    v = exponents[1][None, :, None] + exponents[2][None, None, :]
    chance = chances[0][:, None, None] * chances[1][None, :, None] * chances[2][None, None, :]
    values = excess(r**u, r**v, grow)
    return Distribution(np.broadcast_to(values, chance.shape).ravel(), chance.ravel())


def uniform_distribution(bits: int, differing: int, q: float, grow: float) -> Distribution:
    """The distribution of W over uniform vectors when u and v differ in ``apart`` of ``bits``
    positions.

    w_u = 2^L R(u)(y), with j of the positions where they agree kept and t of the others kept by u.
    """
    p = 1.0 - q
    agreeing = np.arange(bits - differing + 1)[:, None]
    t = np.arange(differing + 1)[None, :]
    common = (2.0 * p) ** agreeing * (2.0 * q) ** (bits - differing - agreeing)
    w_u = common * (2.0 * p) ** t * (2.0 * q) ** (differing - t)
    w_v = common * (2.0 * q) ** t * (2.0 * p) ** (differing - t)
    chance = (
        small_binomial(bits - differing, 0.5)[:, None] * small_binomial(differing, 0.5)[None, :]
    )
    return Distribution(excess(w_u, w_v, grow).ravel(), chance.ravel())


def dilute(distribution: Distribution, share: float) -> Distribution:
    """The distribution of W times an independent coin that is one with probability ``share``."""
    return Distribution(
        np.append(distribution.values, 0.0),
        np.append(share * distribution.probabilities, 1.0 - share),
    )
