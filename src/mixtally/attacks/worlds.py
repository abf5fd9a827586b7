"""An attacker's statistic in two worlds, how often it passes a cut, and its curve of power."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.ground.tails import Floats

_CANDIDATES = 400
_ROC_POINTS = 120


@dataclass(frozen=True, slots=True)
class Worlds:
    """An attacker's statistic, larger where u is likelier, shape (runs,) in each world.

    The runs of both worlds are independent: no noise serves two of them.
    """

    u: Floats
    v: Floats


def places_to_cut(values: Floats) -> Floats:
    """Places to cut: all that were seen, or the ranks that lie dense in both tails."""
    seen = np.unique(values)
    if len(seen) <= _CANDIDATES:
        return seen
    tail = np.unique(np.geomspace(1, len(seen), _CANDIDATES // 2).astype(np.intp)) - 1
    ranks = np.unique(np.concatenate([tail, len(seen) - 1 - tail]))
    return np.asarray(seen[ranks])


def passing(ranked: Floats, cuts: Floats, above: bool) -> Floats:
    """How many of the sorted values are at least (or at most) each cut."""
    if above:
        return np.asarray(len(ranked) - np.searchsorted(ranked, cuts, side="left"), dtype=float)
    return np.asarray(np.searchsorted(ranked, cuts, side="right"), dtype=float)


def roc(worlds: Worlds) -> tuple[tuple[float, float], ...]:
    """(false-alarm rate, power) of the events "at least c" for u, all runs, few points."""
    cuts = np.concatenate([[np.inf], np.unique(np.concatenate([worlds.u, worlds.v]))[::-1]])
    alarms = passing(np.sort(worlds.v), cuts, True) / len(worlds.v)
    power = passing(np.sort(worlds.u), cuts, True) / len(worlds.u)
    keep = _spread(alarms)
    return tuple((float(a), float(p)) for a, p in zip(alarms[keep], power[keep], strict=True))


def _spread(alarms: Floats) -> NDArray[np.intp]:
    """The last point of each rate, then few of them, dense at small rates."""
    last = np.flatnonzero(np.append(np.diff(alarms) > 0.0, True))
    if len(last) <= _ROC_POINTS:
        return last
    ranks = np.geomspace(1, len(last), _ROC_POINTS).astype(np.intp) - 1
    return last[np.unique(ranks)]


def power_at(worlds: Worlds, rate: float) -> float:
    """Share of runs in world u above all but a share ``rate`` of the runs in world v."""
    ranked = np.sort(worlds.v)
    allowed = math.floor(rate * len(ranked))
    return float(np.mean(worlds.u > ranked[len(ranked) - 1 - allowed]))
