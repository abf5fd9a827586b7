"""The largest of several divergences, most of which Chernoff's bound rules out.

The candidates are computed in descending order of their quick upper bounds. Of candidates with
equal bounds, those with fewer values of W are computed first. The computation ends as soon as no
remaining bound exceeds the largest result.
The divergences of worst pairs, such as ``k_hot`` and ``vectors``, use this module.
"""

from collections.abc import Callable, Iterable

from mixtally.accounting.numerics.bracket import RELATIVE_SLACK, Bracket, larger
from mixtally.accounting.numerics.draws import Draws
from mixtally.accounting.numerics.saddle_point import (
    PreparedExpectation,
    prepare_expectation,
    rough_upper,
    upper_of_prepared,
)
from mixtally.accounting.numerics.small_support import Distribution

_NEARLY_ONE = 1.0 - 2.0 * RELATIVE_SLACK
"""Largest lower bound that the relative slack of a bracket allows."""


def largest(
    distributions: Iterable[Distribution],
    count: int,
    bounds_of: Callable[[Distribution, int], Bracket],
) -> Bracket:
    """Return bounds of the largest (1/count) E[(sum of ``count`` draws)_+].

    ``bounds_of`` returns the bounds of this expectation for one of ``distributions``.
    """
    found = Bracket(0.0, 0.0)
    for one, distribution in _rank_by_ceiling(distributions, Draws(count)):
        if min(1.0, one.ceiling) <= found.lower:
            break
        if found.lower >= _NEARLY_ONE:
            return Bracket(found.lower, max(found.upper, min(1.0, one.ceiling)))
        if rough_upper(one, found.lower) > found.lower:
            found = larger(found, bounds_of(distribution, count))
    return found


def largest_upper(
    distributions: Iterable[Distribution],
    draws: Draws,
    smoothed: float = 0.0,
    least: float = 0.0,
) -> float:
    """Return an upper bound of the largest expectation.

    A cheaper bound is returned if that bound is at most ``least``. The Gaussian of the saddle point
    may increase the bound by the relative amount ``smoothed``.
    """
    found = 0.0
    for one, _ in _rank_by_ceiling(distributions, draws, smoothed):
        if min(1.0, one.ceiling) <= max(found, least):
            return max(found, min(1.0, one.ceiling))  # no other one is larger
        found = max(found, upper_of_prepared(one, max(found, least), smoothed))
    return found


def _rank_by_ceiling(
    distributions: Iterable[Distribution], draws: Draws, smoothed: float = 0.0
) -> list[tuple[PreparedExpectation, Distribution]]:
    """Return the prepared expectations with their distributions, largest quick bounds first."""
    pairs = [(prepare_expectation(one, draws, smoothed), one) for one in distributions]
    return sorted(pairs, key=lambda pair: (-min(1.0, pair[0].ceiling), pair[0].values))
