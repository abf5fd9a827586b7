"""Random variables with few values.

The identity of ``docs/explanation/accounting.md`` writes delta as an expectation of a sum of
independent copies of one random variable W. This module stores W, merges and coarsens its values,
and computes its moments and exponential tilts. ``saddle_point`` and the divergences use it.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import AccountingError
from mixtally.primitives.tails import Floats

_MOST_VALUE = 1e150
"""Largest value whose square, and sums of such squares, do not overflow."""
_MOST_NATS = 600.0
"""Largest exponent for which ``exp`` and sums of its values do not overflow."""
_FEW = 8
"""Number of values below which a Python loop is faster than NumPy and gives the same digits."""


class Distribution(NamedTuple):
    """The values of a random variable W and their probabilities, which sum to one.

    ``raised`` bounds how much the mean of W grew because values were rounded upwards. As (x + y)_+
    <= x_+ + y_+, the positive part of the mean of N copies grew by at most as much. Lower bounds
    subtract it.
    """

    values: Floats
    probabilities: Floats
    raised: float = 0.0


def is_too_large(values: Floats) -> bool:
    """Return whether squares of the ascending ``values`` would overflow."""
    return max(-float(values[0]), float(values[-1])) > _MOST_VALUE


def merge_values(distribution: Distribution) -> Distribution:
    """Return the distribution with ascending distinct values of positive probability.

    Raises AccountingError if a value is not finite or the probabilities do not sum to one.
    """
    total = float(distribution.probabilities.sum())
    if not (
        np.isfinite(distribution.values).all()
        and (distribution.probabilities >= 0.0).all()
        and abs(total - 1.0) < 1e-9
    ):
        raise AccountingError(
            f"saddle point: expected finite values and a distribution that sums to 1, got {total}"
        )
    order = distribution.values.argsort(kind="stable")
    values, chances = distribution.values[order], distribution.probabilities[order]
    later = values[1:] > values[:-1]
    if not later.all():
        first = np.concatenate([[True], later])
        values, chances = values[first], np.bincount(first.cumsum() - 1, chances).astype(np.float64)
    keep = chances > 0.0
    if not keep.all():
        values, chances = values[keep], chances[keep]
    return Distribution(values, chances, distribution.raised)


def coarsen_above(distribution: Distribution, most: int) -> Distribution:
    """Return a distribution of at most ``most`` values that is larger in convex order.

    The mean stays the same, and E[f] does not decrease for any convex f. Evenly chosen values are
    kept. The probability of a value between two kept values goes to both, in the proportions that
    preserve the mean. A sum of independent copies keeps the order: replace one copy at a time,
    given the others.
    """
    kept, at = _thin_values(distribution, most)
    if kept is None:
        return distribution
    share = (distribution.values - kept[at]) / (kept[at + 1] - kept[at])
    # Rounding may leave the unit interval.
    share = np.clip(share, 0.0, 1.0)
    chances: Floats = np.zeros(len(kept))
    np.add.at(chances, at, distribution.probabilities * (1.0 - share))
    np.add.at(chances, at + 1, distribution.probabilities * share)
    return Distribution(kept, chances, distribution.raised)


def coarsen_below(distribution: Distribution, most: int) -> Distribution:
    """Return a distribution of at most ``most`` values that is smaller in convex order.

    The values between two kept values are replaced by their mean, so E[f] does not increase for
    convex f.
    """
    kept, at = _thin_values(distribution, most)
    if kept is None:
        return distribution
    mass, sums = np.zeros(len(kept)), np.zeros(len(kept))
    np.add.at(mass, at, distribution.probabilities)
    np.add.at(sums, at, distribution.probabilities * distribution.values)
    there = mass > 0.0
    return Distribution(sums[there] / mass[there], mass[there], distribution.raised)


def _thin_values(distribution: Distribution, most: int) -> tuple[Floats | None, NDArray[np.int64]]:
    """Return evenly chosen values, including both ends, and an index for each value.

    The index is that of the lower one of the two chosen values between which the value lies.

    The chosen values are None if the distribution has at most ``most`` values.
    """
    values = np.unique(distribution.values)
    if len(values) <= most:
        return None, np.zeros(0, dtype=np.int64)
    kept = values[np.unique(np.linspace(0, len(values) - 1, most).round().astype(np.int64))]
    at = np.searchsorted(kept, distribution.values, side="right") - 1
    return kept, np.minimum(at, len(kept) - 2)


def moments(weights: Floats, values: Floats) -> tuple[float, float]:
    """Return the mean and the variance of ``values`` with these ``weights``."""
    if len(values) < _FEW:  # NumPy adds up short arrays in this order too
        pairs = list(zip(weights.tolist(), values.tolist(), strict=True))
        mean = sum(weight * value for weight, value in pairs)
        return mean, sum(weight * ((value - mean) * (value - mean)) for weight, value in pairs)
    mean = float((weights * values).sum())
    return mean, float((weights * (values - mean) ** 2).sum())


def tilt_distribution(values: Floats, chances: Floats, t: float) -> tuple[float, Floats]:
    """Return log M(t) with M(t) = E e^{tW}, and the probabilities tilted by e^{tW}.

    ``values`` must be ascending, so that the largest exponent is the last one for t > 0.
    """
    exponent = t * values
    top = float(exponent[-1])
    if top < _MOST_NATS:  # M - 1 is often tiny: expm1 and log1p keep its digits
        growth = float((chances * np.expm1(exponent)).sum())
        if growth > -0.5:
            return math.log1p(growth), chances * np.exp(exponent) / (1.0 + growth)
    weights = chances * np.exp(exponent - top)
    total = float(weights.sum())
    return top + math.log(total), weights / total
