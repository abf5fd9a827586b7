"""The largest of several divergences, most of them ruled out by Chernoff's bound.

Their distributions are taken in the order of the bounds, those of few values first where bounds are
equal, until none that is left can exceed what was found; nothing exceeds one.
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
"""No lower bound is nearer to one than the slack of its own and of the upper bound allow."""


def largest(
    distributions: Iterable[Distribution],
    count: int,
    bounds_of: Callable[[Distribution, int], Bracket],
) -> Bracket:
    """The largest of (1/count) E[(sum of ``count`` draws)_+], each by ``bounds_of``."""
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
    """The upper bound alone, of as many ``draws``, or a cheaper one that is at most ``least``.

    Where more is ``smoothed``, relatively, than otherwise it may be that much larger.
    """
    found = 0.0
    for one, _ in _rank_by_ceiling(distributions, draws, smoothed):
        if min(1.0, one.ceiling) <= max(found, least):
            return max(found, min(1.0, one.ceiling))  # that of all others is not above it
        found = max(found, upper_of_prepared(one, max(found, least), smoothed))
    return found


def _rank_by_ceiling(
    distributions: Iterable[Distribution], draws: Draws, smoothed: float = 0.0
) -> list[tuple[PreparedExpectation, Distribution]]:
    """The distributions and what is known of their sums, those of the largest bounds first."""
    pairs = [(prepare_expectation(one, draws, smoothed), one) for one in distributions]
    return sorted(pairs, key=lambda pair: (-min(1.0, pair[0].ceiling), pair[0].values))
