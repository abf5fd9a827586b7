"""(1/N) E[(W_1 + .. + W_N)_+] for independent copies of a number W that takes few values.

The master identity makes every divergence of one record among N an expectation of this form; N is
fixed, or random as in ``draws``. It is the integral of M(z)^N / z^2 along a vertical line through
the saddle point, M(z) = E e^{zW}; the trapezoid rule on that line converges geometrically. Every
approximation made here is an upper bound:

- a Gaussian of standard deviation ``SMOOTHING`` times that of the tilted sum is added to it: by
  Jensen's inequality the expectation of a convex function only grows, and the integrand dies out
  where a lattice would have kept it alive;
- the trapezoid rule with period P adds the aliases e^{-tkP} E[(S + kP)_+], all positive;
- what lies beyond the last frequency, what is skipped before it and what values too rare to matter
  change is bounded and added.

For the lower bound the Gaussian's effect is taken off again: it is at most E[g(S)] with
g(s) = spread phi(s / spread), whose integral has the same form without 1 / z^2. Where that is too
much, because rare heavy values keep the sum's atoms apart, their counts are gone through instead.
"""

import math
from typing import NamedTuple

import numpy as np

from mixtally.accounting.numerics.bracket import RELATIVE_SLACK, Bracket, cap_at_one
from mixtally.accounting.numerics.draws import Draws
from mixtally.accounting.numerics.saddle_line import ENOUGH, EXACT, Saddle
from mixtally.accounting.numerics.small_support import Distribution, is_too_large, merge_values
from mixtally.accounting.numerics.smoothing import SmoothingEffect, decay_power

SMOOTHING = 0.004
NOTHING = 1e-50
"""Nothing below this is distinguishable from zero: it is the least upper bound."""
MAX_PRODUCTS, _MAX_NEAR_PRODUCTS, _OVERHEAD = 1 << 24, 6_000_000, 16
"""Products that may be spent on bounds which lie nearer to each other; on points of a curve, where
a frequency takes as long as so many products besides.
"""

_MOST_SMOOTHED = 1e-3
ROUGH, NEAR = 1e-2, 3e-3
"""What a Gaussian may add, relatively, where a search asks and where points are composed."""
_LITTLE_SMOOTHED = 3e-4
"""What a Gaussian may add, relatively, where much of it would be to sums of nothing but zeros."""
_TARGET_SHARE, _NEARLY = 0.85, 1.3
"""Where it is aimed, and what is near enough to it: what it adds is bounded twice too high."""
_LITTLE_MORE = 4.0
_ROOM, _NARROWING_LIMIT = 1.01, 0.8
"""The narrowest Gaussian that the work of a point is spent on, where it is so much narrower."""
_ROUGHLY = 0.1
"""A Gaussian this wide rules most sums out in a twentieth of the frequencies."""


def saddle_point_bounds(distribution: Distribution, count: int) -> Bracket:
    """Both bounds of (1/count) E[(sum of ``count`` draws)_+], for a distribution whose mean is
    negative.

    Raises AccountingError when the distribution is no distribution or the work would not end.
    """
    return _bounds(prepare_expectation(distribution, Draws(count)), 0.0)


def ceiling(distribution: Distribution, count: int) -> float:
    """A quick upper bound: Chernoff's bound, or the sum of the positive parts."""
    return prepare_expectation(distribution, Draws(count)).ceiling


class PreparedExpectation(NamedTuple):
    """What is known of an expectation without an integral.

    where
      ceiling   Chernoff's bound, or E[W_+]: (sum of W)_+ <= sum of W_+
      saddle    None where nothing closer is looked for
      values    how many different ones there are
    """

    ceiling: float
    saddle: "Saddle | None"
    values: int


def prepare_expectation(
    distribution: Distribution, draws: Draws, smoothed: float = 0.0
) -> PreparedExpectation:
    """For bounds that are ``smoothed`` so much, relatively, as ``prepared_upper`` has it.

    Raises AccountingError when the distribution is no distribution.
    """
    values, chances = merge_values(distribution)
    single = float((chances * np.maximum(values, 0.0)).sum()) * (1.0 + RELATIVE_SLACK)
    if single <= NOTHING:
        return PreparedExpectation(NOTHING if single else 0.0, None, len(values))
    if is_too_large(values):
        return PreparedExpectation(single, None, len(values))
    saddle = Saddle(values, chances, draws, care=ENOUGH if smoothed > _MOST_SMOOTHED else EXACT)
    return PreparedExpectation(min(single, max(NOTHING, saddle.ceiling())), saddle, len(values))


def upper_of_prepared(one: PreparedExpectation, least: float, smoothed: float = 0.0) -> float:
    """The upper bound, or a cheaper one that is at most ``least``.

    Where more is ``smoothed``, relatively, than otherwise it may be that much larger.
    """
    return _bounds(one, least, smoothed).upper


def rough_upper(one: PreparedExpectation, least: float) -> float:
    """A quick upper bound, the closer where it might be at most ``least``."""
    if one.saddle is None or not NOTHING < least < one.ceiling:
        return one.ceiling
    value, _, cut = one.saddle.integral(one.saddle.spread(_ROUGHLY))
    return min(one.ceiling, max(NOTHING, cap_at_one(value, cut).upper))


def _bounds(one: PreparedExpectation, least: float, enough: float = 0.0) -> Bracket:
    """Both bounds; from an upper bound of at most ``least`` on they may be wide."""
    most, saddle = one.ceiling, one.saddle
    enough = max(enough, _MOST_SMOOTHED)
    if saddle is None or most <= max(NOTHING, least):
        return Bracket(0.0, min(1.0, max(NOTHING, most)) if most else 0.0)
    near = enough > _MOST_SMOOTHED
    values = len(saddle.live)
    worth = _MAX_NEAR_PRODUCTS * values // (values + _OVERHEAD) if near else MAX_PRODUCTS
    first, usual, fall = first_spread(saddle, enough), saddle.spread(SMOOTHING), 2.0
    spread = max(first, saddle.spread(_ROUGHLY)) if least > NOTHING else first
    value, smoothed, cut = saddle.integral(spread)
    if value + cut > least and (closer := saddle.refine(value, cut)) is not None:
        # As wide a Gaussian is affordable then: bounds of a curve fall smoothly.
        worth = worth * closer.work(spread) // saddle.work(spread)
        saddle = closer
        value, smoothed, cut = saddle.integral(spread)
    # Rare heavy values stretch the saddle's scale far past the bulk of the sum.
    while value + cut > least:
        zeros = 0.0 if near else saddle.smoothing_of_zeros(spread)  # these are taken off
        added = SmoothingEffect(smoothed, zeros, enough * value, _LITTLE_SMOOTHED * value)
        nearly = near and spread < first and smoothed <= _NEARLY * enough * value
        if nearly or (not added.is_too_wide and (near or spread <= first)):
            break
        if spread <= min(first, usual) and (counted := saddle.sum_by_counts(worth)) is not None:
            value, smoothed, cut = counted
            break
        narrower = first if first < spread else spread / added.narrowing_factor(fall)
        if near and saddle.work(narrower) >= worth:
            narrower = spread * saddle.work(spread) / worth * _ROOM
        hopeless = value * saddle.work(spread) ** 2 > most * worth**2  # when all work is spent
        if saddle.work(narrower) >= worth or narrower > _NARROWING_LIMIT * spread or hopeless:
            break
        before, spread, wider = smoothed, narrower, spread
        value, smoothed, cut = saddle.integral(spread)
        if wider <= first:
            fall = decay_power(before, smoothed, spread / wider)
    bounds, more = cap_at_one(value, cut), smoothed + cut + saddle.alias_bound(value)
    upper = max(NOTHING, min(bounds.upper, most))
    return Bracket(max(0.0, min(bounds.lower - more, upper)), upper)


def first_spread(saddle: Saddle, enough: float) -> float:
    """A Gaussian's standard deviation that likely adds no more than ``enough``, relatively.

    Where much is enough a wide one, which a smooth sum bears, or one so wide that it costs little
    beside the usual; otherwise a narrower one, where that takes little more work. A Gaussian adds
    at most its square times the density of the sum at zero; where this is nearly a Gaussian's, the
    expectation is this density over the square of the point.
    """
    usual, likely = saddle.spread(SMOOTHING), _TARGET_SHARE * math.sqrt(enough) / saddle.point
    if likely > usual:
        wide = min(likely, saddle.spread(_ROUGHLY))
        tried = saddle.heaviest < saddle.deviation or wide > _LITTLE_MORE * usual
        return wide if enough > _MOST_SMOOTHED and tried else usual
    return likely if enough < ROUGH and likely > usual / _LITTLE_MORE else usual
