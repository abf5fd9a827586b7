"""The distribution of W = w_u - e^epsilon w_v for flipped records.

The identity of ``docs/explanation/accounting.md`` sums copies of W. The files ``one_hot``,
``k_hot``, ``vectors``, ``flip_uniform`` and ``kary_response`` take W from here.

Two records u and v are compared against a background record x; every bit is flipped with
probability q, and r = (1 - q) / q. Only the positions where u or v differs from x matter, and a set
of positions matters only by its size. Only u differs from x in ``only_u`` positions, only v in
``only_v`` positions, and both in ``both`` positions. If t_u, t_v and t_both of their bits were
flipped in the message of x, then

    w_u = r^(2 t_u - only_u) r^(2 t_both - both),    w_v = r^(2 t_v - only_v) r^(2 t_both - both).
"""

from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixtally.accounting.numerics.small_support import Distribution
from mixtally.primitives.tails import Floats


class Orbit(NamedTuple):
    """The numbers of positions in which only u, only v, and both differ from the background."""

    only_u: int
    only_v: int
    both: int


def small_binomial(trials: int, probability: float) -> Floats:
    """Return P(Bin(trials, probability) = t) for t = 0..trials, for a few trials."""
    p = 1.0 - probability
    return np.array(
        [comb(trials, t) * probability**t * p ** (trials - t) for t in range(trials + 1)]
    )


_TIE_SHARE, _ROUNDING = 1e-4, 1e-13
"""Relative difference of two weights below which rounding matters, and a bound on this rounding."""


def excess(w_u: Floats, w_v: Floats, grow: float) -> Floats:
    """Return w_u - grow w_v, rounded upwards where both terms are nearly equal.

    The result is zero or negative only if the exact difference is.
    """
    return _raise_ties(w_u, w_v, grow)[0]


def excess_distribution(w_u: Floats, w_v: Floats, grow: float, chances: Floats) -> Distribution:
    """Return the distribution of ``excess`` for values with these ``chances``.

    The field ``raised`` bounds the increase of the mean. It is twice what ``excess`` added, because
    the addition covers a rounding that may itself be upwards.
    """
    values, near = _raise_ties(w_u, w_v, grow)
    raised = 2.0 * _ROUNDING * float((chances * np.where(near, w_u, 0.0)).sum())
    return Distribution(np.broadcast_to(values, chances.shape).ravel(), chances.ravel(), raised)


def _raise_ties(w_u: Floats, w_v: Floats, grow: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Return ``excess``, and a mask of the values that are raised.

    A value is raised if w_u and grow w_v are nearly equal and w_u > w_v.
    """
    values = w_u - grow * w_v
    near: NDArray[np.bool_] = (w_u > w_v) & (np.abs(values) <= _TIE_SHARE * w_u)
    return np.asarray(np.where(near, values + _ROUNDING * w_u, values)), near


def flip_distribution(orbit: Orbit, q: float, grow: float) -> Distribution:
    """Return the distribution of W when the background record is flipped.

    Parameters
    ----------
    orbit : Orbit
        Numbers of positions that distinguish u, v and the background.
    q : float
        Flip probability, below 1/2.
    grow : float
        The factor e^epsilon.
    """
    r = (1.0 - q) / q
    chances, exponents = [], []
    for size in orbit:
        chances.append(small_binomial(size, q))
        exponents.append(2.0 * np.arange(size + 1) - size)
    u = exponents[0][:, None, None] + exponents[2][None, None, :]
    v = exponents[1][None, :, None] + exponents[2][None, None, :]
    chance = chances[0][:, None, None] * chances[1][None, :, None] * chances[2][None, None, :]
    return excess_distribution(r**u, r**v, grow, chance)


def uniform_distribution(bits: int, differing: int, q: float, grow: float) -> Distribution:
    """Return the distribution of W over uniform vectors, for u and v that differ in some bits.

    With L = ``bits`` the weight is w_u = 2^L R(u)(y). Where u and v agree, j positions keep their
    bit; of the ``differing`` others, t have the bit of u.
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
    return excess_distribution(w_u, w_v, grow, chance)


def dilute(distribution: Distribution, share: float) -> Distribution:
    """Return the distribution of W times an independent bit, which is 1 with chance ``share``."""
    return Distribution(
        np.append(distribution.values, 0.0),
        np.append(share * distribution.probabilities, 1.0 - share),
        share * distribution.raised,
    )
