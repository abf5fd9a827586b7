"""P(W_1 + .. + W_N > 0) for independent copies of a number W that takes few values.

With a Gaussian E of standard deviation e added to the sum S and S shifted by 7 e either way,
P(S > 0) <= P(S + E > -7e) / P(E <= 7e) and 1 - P(S > 0) <= P(S + E <= 7e) / P(E <= 7e). Both are
integrals along the line through the saddle point of M(z)^N / z, as in ``saddle_point_bounds``. Rare
heavy values stretch the saddle's scale far past the bulk of the sum, so e is made smaller until the
bounds are near each other, or more would be too much work.
"""

import math

from mixtally.accounting.numerics.bracket import Bracket
from mixtally.accounting.numerics.draws import Draws
from mixtally.accounting.numerics.saddle_line import Saddle
from mixtally.accounting.numerics.saddle_point import MAX_PRODUCTS, NOTHING
from mixtally.accounting.numerics.small_support import Distribution, is_too_large, merge_values

_SMOOTHING = 5e-4
_SHIFT = 7.0
_NARROWER = 4.0
_MAX_RELATIVE_GAP = 0.01
_MISS_CHANCE = 0.5 * math.erfc(_SHIFT / math.sqrt(2.0))
"""P(E > 7e)."""


def chance_positive(distribution: Distribution, count: int, target: float | None = None) -> Bracket:
    """Both bounds of P(sum of ``count`` draws > 0), for a distribution whose mean is negative.

    Where ``target`` is not between them they may be wide.
    """
    values, chances = merge_values(distribution)
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
    """The bounds with a Gaussian of this standard deviation."""
    found = []
    for shift in (-_SHIFT * spread, _SHIFT * spread):
        saddle = Saddle(
            distribution.values + shift / count, distribution.probabilities, Draws(count), order=1
        )
        value, _, cut = saddle.integral(spread)
        found += [count * (value - cut - saddle.alias_bound(value)), count * (value + cut)]
    lower = (found[0] - _MISS_CHANCE) / (1.0 - _MISS_CHANCE)
    return Bracket(max(0.0, min(1.0, lower)), max(0.0, min(1.0, found[3] / (1.0 - _MISS_CHANCE))))
