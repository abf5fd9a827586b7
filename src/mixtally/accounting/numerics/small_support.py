"""A number that takes few values."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import AccountingError
from mixtally.primitives.tails import Floats

_MOST_VALUE = 1e150
"""The largest that can be squared, with room."""
_MOST_NATS = 600.0
_FEW = 8
"""Loops over fewer values take less time than calls of NumPy, and come to the same digits."""


class Distribution(NamedTuple):
    """Values of W and their probabilities, which sum to one."""

    values: Floats
    probabilities: Floats


def is_too_large(values: Floats) -> bool:
    """Whether the ascending ``values`` have squares that are no numbers."""
    return max(-float(values[0]), float(values[-1])) > _MOST_VALUE


def merge_values(distribution: Distribution) -> Distribution:
    """Ascending distinct values with positive probability."""
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
    return (
        Distribution(values, chances) if keep.all() else Distribution(values[keep], chances[keep])
    )


def coarsen_above(distribution: Distribution, most: int) -> Distribution:
    """One of at most ``most`` values with the same mean whose E[f] is no smaller for convex f.

    Every so many of its values are kept; one between two of them goes to both so that its mean
    stays. Sums of copies keep the order: each copy in turn, the others given.
    """
    kept, at = _thin_values(distribution, most)
    if kept is None:
        return distribution
    share = (distribution.values - kept[at]) / (kept[at + 1] - kept[at])
    share = np.clip(share, 0.0, 1.0)
    chances: Floats = np.zeros(len(kept))
    np.add.at(chances, at, distribution.probabilities * (1.0 - share))
    np.add.at(chances, at + 1, distribution.probabilities * share)
    return Distribution(kept, chances)


def coarsen_below(distribution: Distribution, most: int) -> Distribution:
    """The same whose E[f] is no larger: the means of what lies between two that are kept."""
    kept, at = _thin_values(distribution, most)
    if kept is None:
        return distribution
    mass, sums = np.zeros(len(kept)), np.zeros(len(kept))
    np.add.at(mass, at, distribution.probabilities)
    np.add.at(sums, at, distribution.probabilities * distribution.values)
    there = mass > 0.0
    return Distribution(sums[there] / mass[there], mass[there])


def _thin_values(distribution: Distribution, most: int) -> tuple[Floats | None, NDArray[np.int64]]:
    """Every so many of the values, the ends among them, and for each value the one kept below.

    None where there are few already.
    """
    values = np.unique(distribution.values)
    if len(values) <= most:
        return None, np.zeros(0, dtype=np.int64)
    kept = values[np.unique(np.linspace(0, len(values) - 1, most).round().astype(np.int64))]
    at = np.searchsorted(kept, distribution.values, side="right") - 1
    return kept, np.minimum(at, len(kept) - 2)


def moments(weights: Floats, values: Floats) -> tuple[float, float]:
    """Mean and variance."""
    if len(values) < _FEW:  # added up in the order in which NumPy does it
        pairs = list(zip(weights.tolist(), values.tolist(), strict=True))
        mean = sum(weight * value for weight, value in pairs)
        return mean, sum(weight * ((value - mean) * (value - mean)) for weight, value in pairs)
    mean = float((weights * values).sum())
    return mean, float((weights * (values - mean) ** 2).sum())


def tilt_distribution(values: Floats, chances: Floats, t: float) -> tuple[float, Floats]:
    """Logarithm of M(t) = E e^{tW}, and the probabilities tilted by e^{tW}; ``values`` ascend."""
    exponent = t * values
    top = float(exponent[-1])
    if top < _MOST_NATS:  # log M is often a tiny difference: keep its digits
        growth = float((chances * np.expm1(exponent)).sum())
        if growth > -0.5:
            return math.log1p(growth), chances * np.exp(exponent) / (1.0 + growth)
    weights = chances * np.exp(exponent - top)
    total = float(weights.sum())
    return top + math.log(total), weights / total
