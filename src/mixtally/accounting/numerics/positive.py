"""The probability that a sum of many small independent numbers is positive.

Bounds of P(W_1 + .. + W_N > 0), for independent copies of a number W with few values. The formulas
of the literature (``lab.formulas.privacy_ratio``) need them.

*Bounds.* Let S be the sum, and E an independent Gaussian of standard deviation e. Shifting S by 7e
in either direction gives

    P(S > 0) <= P(S + E > -7e) / P(E <= 7e),
    1 - P(S > 0) <= P(S + E <= 7e) / P(E <= 7e).

Both right-hand sides are integrals along the line through the saddle point of M(z)^N / z, as in
``saddle_point``. Rare heavy values stretch the scale of the saddle point far beyond the bulk of the
sum. So e is decreased until the bounds are close, or until the work would become too much.
"""

import math

from mixtally.accounting.numerics.bracket import Bracket
from mixtally.accounting.numerics.draws import Draws
from mixtally.accounting.numerics.saddle_line import Saddle
from mixtally.accounting.numerics.saddle_point import MAX_PRODUCTS, NOTHING
from mixtally.accounting.numerics.small_support import Distribution, is_too_large, merge_values

_SMOOTHING = 5e-4
"""First width e of the Gaussian, in standard deviations of the tilted sum."""
_SHIFT = 7.0
"""Shift of the sum, in standard deviations e."""
_NARROWER = 4.0
"""Factor by which e is decreased."""
_MAX_RELATIVE_GAP = 0.01
"""Relative distance of the bounds at which the iteration stops."""
_MISS_CHANCE = 0.5 * math.erfc(_SHIFT / math.sqrt(2.0))
"""The probability P(E > 7e)."""


def chance_positive(distribution: Distribution, count: int, target: float | None = None) -> Bracket:
    """Return bounds of the probability that a sum of independent draws is positive.

    Parameters
    ----------
    distribution : Distribution
        The distribution of one draw, with a negative mean.
    count : int
        The number of draws.
    target : float or None
        The bounds are refined only while this number lies between them; None refines them fully.
    """
    values, chances, _ = merge_values(distribution)
    if not len(values) or values[-1] <= 0.0:
        return Bracket(0.0, 0.0)
    if is_too_large(values):
        return Bracket(0.0, 1.0)
    saddle = Saddle(values, chances, Draws(count), order=1)
    if saddle.ceiling() <= NOTHING:
        return Bracket(0.0, NOTHING)
    spread = saddle.spread(_SMOOTHING)
    bounds = _smooth_bounds(Distribution(values, chances), count, spread)
    while bounds.upper - bounds.lower > _MAX_RELATIVE_GAP * bounds.upper:
        spread /= _NARROWER
        settled = target is not None and not bounds.lower <= target < bounds.upper
        if settled or saddle.work(spread) >= MAX_PRODUCTS:
            break
        finer = _smooth_bounds(Distribution(values, chances), count, spread)
        upper = min(bounds.upper, finer.upper)
        bounds = Bracket(min(upper, max(bounds.lower, finer.lower)), upper)
    return bounds


def _smooth_bounds(distribution: Distribution, count: int, spread: float) -> Bracket:
    """Return the bounds computed with a Gaussian of standard deviation ``spread``."""
    found = []
    for shift in (-_SHIFT * spread, _SHIFT * spread):
        saddle = Saddle(
            distribution.values + shift / count, distribution.probabilities, Draws(count), order=1
        )
        value, _, cut = saddle.integral(spread)
        found += [count * (value - cut - saddle.alias_bound(value)), count * (value + cut)]
    lower = (found[0] - _MISS_CHANCE) / (1.0 - _MISS_CHANCE)
    return Bracket(max(0.0, min(1.0, lower)), max(0.0, min(1.0, found[3] / (1.0 - _MISS_CHANCE))))
