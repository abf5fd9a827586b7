"""What the privacy blanket of the crowd leaves of a divergence that falls with the number of fakes.

Source: Balle, Bell, Gascon, Nissim 2019; maths of ``one_hot`` and ``k_hot`` for what the blanket
is.
"""

import math
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from mixtally.ground import tails
from mixtally.ground.tails import Floats

_CELLS = 32
_FEW = 8
_FLOOR = 1e-300
_NEGLIGIBLE = 1e-10
"""Relative to the whole: far less than cells lose anyway."""
_ALIKE = 1e-6
_EVENLY = 0.2
"""The cells that are laid evenly, for each that goes where the mass is."""


def expected(upper: Callable[[int], float], trials: int, share: float) -> float:
    """An upper bound of E[upper(B)], B ~ Bin(trials, share), for a divergence that falls with B.

    The values of B are put into cells, each bounded at its least one: the fewest hide worst.
    """
    if share >= 1.0:
        return upper(trials)
    low, high = tails.window(trials, share)
    pmf = tails.pmf(trials, share, low, high)
    total, most = 2.0 * tails.CUT_TAIL, upper(low)
    if most - upper(high) <= _ALIKE * most:  # so few that it does not matter how many
        return min(1.0, total + most)
    known = {-1: 1.0, 0: most}
    shares = [(float(pmf[cell].sum()), cell.start) for cell in cells(pmf)]
    for chance, start in sorted(shares, reverse=True):
        # The last one with fewer fakes is bounded no lower: enough where chances are tiny.
        most = known[max(before for before in known if before < start)]
        if chance * most > _NEGLIGIBLE * total:
            most = known[start] = upper(low + start)
        total += chance * most
    return min(1.0, total)


def interpolated(
    upper: Callable[[int], float], trials: int, share: float
) -> Callable[[int], float]:
    """About ``upper`` where Bin(trials, share) lies, from a few of its values: for a search.

    Its logarithm is laid through them in straight lines, in the root of the number.
    """
    low, high = tails.window(trials, min(share, 1.0))
    if high - low < 2 * _FEW:
        return upper
    places = np.unique(np.linspace(low**0.5, high**0.5, _FEW).round(0).astype(int) ** 2)
    places = np.unique(np.clip(np.append(places, [low, high]), low, high))
    logs = [math.log(max(upper(int(place)), _FLOOR)) for place in places]
    roots = np.sqrt(places)
    return lambda more: math.exp(float(np.interp(more**0.5, roots, logs)))


def cells(pmf: Floats) -> Iterator[slice]:
    """The distribution's range cut into few cells, narrow where it has its mass.

    A falling function taken at one end of each cell is off by its slope times the width. At a given
    number of cells the sum of these, weighed by the distribution, is least with widths in
    proportion to one over the root of the distribution; some even ones keep the tails' few from
    being too wide.
    """
    root = np.sqrt(pmf)
    shares = np.cumsum(root / root.sum() + _EVENLY / len(pmf))
    inner = np.searchsorted(shares, shares[-1] * np.arange(1, _CELLS) / _CELLS)
    edges = np.unique(np.concatenate([[0], inner, [len(pmf)]]))
    return (slice(int(a), int(b)) for a, b in pairwise(edges))
