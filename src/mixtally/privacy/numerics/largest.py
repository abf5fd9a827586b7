"""The largest of several divergences, most of them ruled out by Chernoff's bound.

Their laws are taken in the order of the bounds, until none that is left can exceed what was found.
"""

from collections.abc import Callable, Iterable

from mixtally.privacy.numerics.bracket import Bracket, larger
from mixtally.privacy.numerics.saddle_point import Law, ceiling, hinge_upper


def largest(laws: Iterable[Law], count: int, price: Callable[[Law, int], Bracket]) -> Bracket:
    """The ends of the largest of (1/count) E[(sum of ``count`` draws)_+], each by ``price``."""
    found = Bracket(0.0, 0.0)
    for most, law in _ranked(laws, count):
        if most <= found.lower:
            break
        found = larger(found, price(law, count))
    return found


def largest_upper(laws: Iterable[Law], count: int) -> float:
    """Its upper end alone."""
    found = 0.0
    for most, law in _ranked(laws, count):
        if most <= found:
            break
        found = max(found, hinge_upper(law, count, found))
    return found


def _ranked(laws: Iterable[Law], count: int) -> list[tuple[float, Law]]:
    """The laws below their bounds, the largest first."""
    pairs = [(ceiling(law, count), law) for law in laws]
    return sorted(pairs, key=lambda pair: -pair[0])
