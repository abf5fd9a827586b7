"""The largest of several divergences, most of them ruled out by Chernoff's bound.

Their distributions are taken in the order of the bounds, those of few values first where bounds are
equal, until none that is left can exceed what was found; nothing exceeds one.
"""

from collections.abc import Callable, Iterable

from mixtally.privacy.numerics.bracket import RELATIVE_SLACK, Bracket, larger
from mixtally.privacy.numerics.saddle_point import Distribution, ceiling, merged, saddle_point_upper

_ONE = 1.0 - 2.0 * RELATIVE_SLACK
"""No lower bound is nearer to one than the slack of its own and of the upper bound allow."""


def largest(
    distributions: Iterable[Distribution],
    count: int,
    bounds_of: Callable[[Distribution, int], Bracket],
) -> Bracket:
    """The largest of (1/count) E[(sum of ``count`` draws)_+], each by ``bounds_of``."""
    found = Bracket(0.0, 0.0)
    for most, distribution in _ranked(distributions, count):
        if most <= found.lower:
            break
        if found.lower >= _ONE:
            return Bracket(found.lower, max(found.upper, most))
        found = larger(found, bounds_of(distribution, count))
    return found


def largest_upper(distributions: Iterable[Distribution], count: int) -> float:
    """Its upper bound alone."""
    found = 0.0
    for most, distribution in _ranked(distributions, count):
        if most <= found:
            break
        found = max(found, saddle_point_upper(distribution, count, found))
    return found


def _ranked(distributions: Iterable[Distribution], count: int) -> list[tuple[float, Distribution]]:
    """The distributions with their merged values below their bounds, the largest first."""
    each = map(merged, distributions)
    pairs = [(min(1.0, ceiling(one, count)), one) for one in each]
    return sorted(pairs, key=lambda pair: (-pair[0], len(pair[1].values)))
