"""People's fakes by coins: how many arrive, and the divergence averaged over that.

Every honest device sends w whole fakes and one more with probability phi, so S of them send
K = S w + Bin(S, phi), whatever their values are. Whoever learns K, or which device sent how many,
learns nothing of a value, and given K the divergence is delta(K). So what an observer of messages
and K together can do is exactly

    delta = E[delta(K)].

More fakes never hurt, so a K rounded down bounds delta from above, one rounded up from below: the
binomial is cut into few cells, each taken at its end, and what lies outside is added.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mixtally.errors import AccountingError
from mixtally.ground import tails
from mixtally.ground.fixed import SCALE
from mixtally.privacy.numerics.bracket import Bracket

_SLACK = 1.0 + 1e-10
"""Above the error of every probability and of their sums."""
FINE, COARSE = 16.0, 2.0
"""Cells of a standard deviation: for one message, and where many are composed."""


class Cell(NamedTuple):
    """K in [least, most] with a probability of at most ``chance``."""

    least: int
    most: int
    chance: float


def cells(people: int, whole: int, coin: int, grain: float = FINE) -> tuple[Cell, ...]:
    """All values of K in few cells, the most fakes first.

    where
      people   honest devices, S
      coin     phi times 2^64, in [0, 2^64)
      grain    cells of a standard deviation
    """
    sure = people * whole
    if coin == 0:
        return (Cell(sure, sure, 1.0),)
    phi = coin / SCALE
    low, high = tails.window(people, phi)
    spread = math.sqrt(people * phi * (1.0 - phi))
    starts = np.arange(low, high + 1, max(1, math.floor(spread / grain)))
    chances = np.add.reduceat(tails.pmf(people, phi, low, high), starts - low) * _SLACK
    chances[-1] += tails.CUT_TAIL
    ends = np.append(starts[1:] - 1, people)
    found = [
        Cell(sure + int(first), sure + int(last), float(chance))
        for first, last, chance in zip(starts, ends, chances, strict=True)
    ]
    if low > 0:
        found.insert(0, Cell(sure, sure + low - 1, tails.CUT_TAIL))
    total = math.fsum(cell.chance for cell in found)
    if not 1.0 <= total <= 1.0 + 1e-9 or min(cell.chance for cell in found) < 0.0:
        raise AccountingError(
            f"coins: wanted chances that add up to one, got {total} for {people:,} people and a "
            f"coin of {phi:.3g}; nothing may be promised from them"
        )
    return tuple(reversed(found))


def average(found: tuple[Cell, ...], delta: Callable[[int], Bracket]) -> Bracket:
    """Bounds of E[delta(K)], ``delta`` falling as K rises."""
    upper = lower = 0.0
    for cell in found:
        if cell.chance > 0.0:
            upper += cell.chance * delta(cell.least).upper
            lower += cell.chance / _SLACK * delta(cell.most).lower
    return Bracket(min(lower, upper, 1.0) * (1.0 - 1e-9), min(1.0, upper))


def average_upper(found: tuple[Cell, ...], upper: Callable[[int], float]) -> float:
    """The upper bound of E[delta(K)] alone."""
    return min(1.0, math.fsum(c.chance * upper(c.least) for c in found if c.chance > 0.0))
