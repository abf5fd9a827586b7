"""The expectation of the positive part of a sum, by an integral through the saddle point.

The identity of ``docs/explanation/accounting.md`` writes every divergence of one record among N
messages as

    (1/N) E[(W_1 + .. + W_N)_+]

for independent copies of a number W that takes few values. N is fixed, or random as in ``draws``.
The divergences of flipped records and the published formulas in ``lab.formulas`` call this module.

*Integral.* With M(z) = E e^{zW}, the expectation is the integral of M(z)^N / z^2 along a vertical
line through the saddle point. The trapezoid rule on this line converges geometrically.

*Direction of errors.* Every approximation is an upper bound:

- A Gaussian with a standard deviation of ``SMOOTHING`` times that of the tilted sum is added to the
  sum. By Jensen's inequality the expectation of a convex function only grows. The integrand then
  decays also where the values of the sum form a lattice.
- The trapezoid rule with period P adds the aliases e^{-tkP} E[(S + kP)_+], which are all positive.
- The frequencies beyond the last one, the skipped ones, and values too rare to matter change the
  result by an amount that is bounded and added.

*Lower bound.* The increase from the Gaussian is subtracted again. It is at most E[g(S)] with g(s) =
spread phi(s / spread), where phi is the standard normal density. This integral has the same form
without 1 / z^2. Where rare heavy values keep the atoms of the sum far from each other, this
increase is too large. Then the counts of the values are enumerated (``count_enumeration``).
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
"""Usual standard deviation of the Gaussian, divided by that of the tilted sum."""
NOTHING = 1e-50
"""Least positive upper bound; smaller numbers cannot be distinguished from zero."""
MAX_PRODUCTS, _MAX_NEAR_PRODUCTS, _OVERHEAD = 1 << 24, 6_000_000, 16
"""Limits of the work, counted in products of a frequency and a value.

The first limits the products that are spent on closer bounds, and the second does so for points of
a curve. The third is the number of products that take as long as the fixed cost of one frequency.
"""

_MOST_SMOOTHED = 1e-3
"""Relative increase by the Gaussian that is always accepted."""
ROUGH, NEAR = 1e-2, 3e-3
"""Relative increase that is accepted in a search, and for the points of a composed curve."""
_LITTLE_SMOOTHED = 3e-4
"""Relative increase that is accepted where most of the increase is from sums of zeros only."""
_TARGET_SHARE, _NEARLY = 0.85, 1.3
"""Share of the limit that is aimed at, and the excess that is accepted.

The increase is bounded by about twice its value, so a small excess does no harm.
"""
_LITTLE_MORE = 4.0
"""Factor of work up to which the width that probably suffices is tried at once."""
_ROOM, _NARROWING_LIMIT = 1.01, 0.8
"""Margin on the narrowest affordable Gaussian, and the factor of its width below which a new
integral is worth its time.
"""
_ROUGHLY = 0.1
"""Width of a Gaussian that takes a twentieth of the frequencies and rules out most sums."""


def saddle_point_bounds(distribution: Distribution, count: int) -> Bracket:
    """Return both bounds of (1/count) E[(sum of ``count`` draws)_+].

    Parameters
    ----------
    distribution : Distribution
        The number W. Its mean must be negative.
    count : int
        Number of independent copies, N.

    Raises
    ------
    AccountingError
        If the probabilities do not sum to one, or the work would be too much.
    """
    lower, upper = _bounds(prepare_expectation(distribution, Draws(count)), 0.0)
    return Bracket(max(0.0, lower - distribution.raised), upper)


def ceiling(distribution: Distribution, count: int) -> float:
    """Return a quick upper bound: Chernoff's bound, or the sum of the positive parts.

    Parameters
    ----------
    distribution : Distribution
        The distribution of one draw.
    count : int
        The number of draws.
    """
    return prepare_expectation(distribution, Draws(count)).ceiling


class PreparedExpectation(NamedTuple):
    """What is known about an expectation before any integral is computed.

    ``ceiling`` is the smaller of Chernoff's bound and E[W_+], as (sum of W)_+ <= sum of W_+.
    ``saddle`` is the line of integration, or None where no closer bound is computed. ``values`` is
    the number of values of W.
    """

    ceiling: float
    saddle: "Saddle | None"
    values: int


def prepare_expectation(
    distribution: Distribution, draws: Draws, smoothed: float = 0.0
) -> PreparedExpectation:
    """Return the quick bounds of an expectation, and its line of integration.

    ``smoothed`` is the relative increase that will be accepted, as in ``upper_of_prepared``. Raises
    AccountingError if the probabilities do not sum to one.
    """
    values, chances, _ = merge_values(distribution)
    single = float((chances * np.maximum(values, 0.0)).sum()) * (1.0 + RELATIVE_SLACK)
    if single <= NOTHING:
        return PreparedExpectation(NOTHING if single else 0.0, None, len(values))
    if is_too_large(values):
        return PreparedExpectation(single, None, len(values))
    saddle = Saddle(values, chances, draws, care=ENOUGH if smoothed > _MOST_SMOOTHED else EXACT)
    return PreparedExpectation(min(single, max(NOTHING, saddle.ceiling())), saddle, len(values))


def upper_of_prepared(one: PreparedExpectation, least: float, smoothed: float = 0.0) -> float:
    """Return the upper bound of a prepared expectation.

    A cheaper bound is returned if that bound is at most ``least``. The Gaussian may increase the
    bound by the relative amount ``smoothed``.
    """
    return _bounds(one, least, smoothed).upper


def rough_upper(one: PreparedExpectation, least: float) -> float:
    """Return a quick upper bound of a prepared expectation.

    The bound is refined only if the refined one might be at most ``least``.
    """
    if one.saddle is None or not NOTHING < least < one.ceiling:
        return one.ceiling
    value, _, cut = one.saddle.integral(one.saddle.spread(_ROUGHLY))
    return min(one.ceiling, max(NOTHING, cap_at_one(value, cut).upper))


def _bounds(one: PreparedExpectation, least: float, enough: float = 0.0) -> Bracket:
    """Return both bounds; they may be wide once the upper one is at most ``least``."""
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
        # The same width stays affordable, so the bounds along a curve fall smoothly.
        worth = worth * closer.work(spread) // saddle.work(spread)
        saddle = closer
        value, smoothed, cut = saddle.integral(spread)
    # Rare heavy values stretch the saddle's scale far beyond the bulk of the sum, so the Gaussian
    # is narrowed until it adds little.
    while value + cut > least:
        zeros = 0.0 if near else saddle.smoothing_of_zeros(spread)  # near bounds subtract them
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
        hopeless = value * saddle.work(spread) ** 2 > most * worth**2  # even if all work is spent
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
    """Return a standard deviation of the Gaussian that probably increases the result by ``enough``.

    ``enough`` is relative. A Gaussian adds at most its variance times the density of the sum at
    zero. Where the sum is nearly Gaussian, the expectation is this density divided by the square of
    the saddle point. If a large increase is accepted, the Gaussian is wide, provided that the sum
    is smooth or the width saves much work. Otherwise it is narrower, if that takes little more
    work.
    """
    usual, target_spread = (
        saddle.spread(SMOOTHING),
        _TARGET_SHARE * math.sqrt(enough) / saddle.point,
    )
    if target_spread > usual:
        wide = min(target_spread, saddle.spread(_ROUGHLY))
        tried = saddle.heaviest < saddle.deviation or wide > _LITTLE_MORE * usual
        return wide if enough > _MOST_SMOOTHED and tried else usual
    return target_spread if enough < ROUGH and target_spread > usual / _LITTLE_MORE else usual
