"""The largest of several divergences, most of them ruled out by Chernoff's bound.

Their distributions are taken in the order of the bounds, until none that is left can exceed what
was found.
"""

from collections.abc import Callable, Iterable

from mixtally.privacy.numerics.bracket import Bracket, larger
from mixtally.privacy.numerics.saddle_point import Distribution, ceiling, saddle_point_upper


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
    """The distributions below their bounds, the largest first."""
    pairs = [(ceiling(distribution, count), distribution) for distribution in distributions]
    return sorted(pairs, key=lambda pair: -pair[0])
