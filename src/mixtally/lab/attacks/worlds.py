"""The statistic in two worlds: how often it passes a cut, its ROC curve and its power.

The games return ``Worlds``; ``epsilon_proof`` and ``outcome`` evaluate them.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from mixtally.lab.attacks.refute import clopper_pearson_lower, clopper_pearson_upper
from mixtally.primitives.tails import Floats

_CANDIDATES, _ROC_POINTS = 400, 120
"""The largest number of cuts that are compared, and of points of a drawn curve."""
_BAND_RANKS = 60
"""The number of ranks at which a confidence band is computed.

More ranks make the band wider at each of them.
"""

Points = tuple[tuple[float, float], ...]
"""Pairs of a false-alarm rate and a power."""


@dataclass(frozen=True, slots=True)
class Worlds:
    """The statistic of many runs in each world, shape (runs,); large values suggest world u.

    The runs of both worlds are independent: no drawn noise is used in two runs.
    """

    u: Floats
    v: Floats


def candidate_cuts(values: Floats) -> Floats:
    """Return the cuts that are compared, in ascending order.

    The cuts are all different values or, if there are many, a selection that is dense in both
    tails.
    """
    seen = np.unique(values)
    if len(seen) <= _CANDIDATES:
        return seen
    tail = np.unique(np.geomspace(1, len(seen), _CANDIDATES // 2).astype(np.intp)) - 1
    ranks = np.unique(np.concatenate([tail, len(seen) - 1 - tail]))
    return np.asarray(seen[ranks])


def count_passing(ranked: Floats, cuts: Floats, above: bool) -> Floats:
    """Return, for each cut, the number of sorted values that are at least (or at most) the cut."""
    if above:
        return np.asarray(len(ranked) - np.searchsorted(ranked, cuts, side="left"), dtype=float)
    return np.asarray(np.searchsorted(ranked, cuts, side="right"), dtype=float)


def roc(worlds: Worlds) -> Points:
    """Return a few points (false-alarm rate, power) of the ROC curve.

    The events are "the statistic is at least c", and their rates are taken over all runs.
    """
    cuts = np.concatenate([[np.inf], np.unique(np.concatenate([worlds.u, worlds.v]))[::-1]])
    alarms = count_passing(np.sort(worlds.v), cuts, True) / len(worlds.v)
    power = count_passing(np.sort(worlds.u), cuts, True) / len(worlds.u)
    keep = _thin_out(alarms)
    return tuple((float(a), float(p)) for a, p in zip(alarms[keep], power[keep], strict=True))


def roc_band(worlds: Worlds, error: float) -> tuple[Points, Points]:
    """Return a simultaneous confidence band of the ROC curve: its lower and its upper end.

    The band contains the true curve at every false-alarm rate at once.

    Parameters
    ----------
    worlds : Worlds
        The statistic in both worlds, from m independent runs in v and n in u.
    error : float
        The largest probability that the band misses the true curve anywhere, in (0, 1).

    Returns
    -------
    tuple of two Points
        Corners of both ends, each a staircase that rises from left to right.

    Notes
    -----
    Let V_(1) >= V_(2) >= .. be the statistic in world v in descending order. Let k be a rank that
    is fixed before the runs, and E the event {statistic > V_(k+1)}. The probability of E in v is at
    most the (k+1)-th smallest of m independent uniform numbers, even with ties. So it is at most
    the Clopper-Pearson upper bound for k hits in m runs, except with the allowed error. Given the
    runs in v, the event E is fixed. So its probability in u is at least the Clopper-Pearson lower
    bound for its hits in the n runs in u. An event that contains E has at least this power. Hence
    the two bounds are the coordinates of a corner of the lower staircase. In the same way, the
    probability in v of the event {statistic >= V_(k)} is at least the lower bound for k hits in m
    runs, which gives a corner of the upper staircase. All bounds share the error equally
    (Bonferroni).

    References
    ----------
    .. [1] Clopper, Pearson, "The use of confidence or fiducial limits", Biometrika, 1934.
    """
    u, v = np.sort(worlds.u), np.sort(worlds.v)
    n, m = len(u), len(v)
    ranks = np.unique(np.geomspace(1, m, _BAND_RANKS).astype(np.intp))
    inner = np.concatenate([[0], ranks[ranks < m]])
    # Two bounds for each corner of either staircase.
    each = error / (2 * (len(inner) + len(ranks)))
    beyond = n - np.searchsorted(u, v[m - 1 - inner], side="right")
    least = clopper_pearson_lower(beyond.astype(float), n, each)
    lower = zip(clopper_pearson_upper(inner.astype(float), m, each), least, strict=True)
    within = n - np.searchsorted(u, v[m - ranks], side="left")
    most = clopper_pearson_upper(within.astype(float), n, each)
    upper = zip(clopper_pearson_lower(ranks.astype(float), m, each), most, strict=True)
    return _steps_after([*lower, (1.0, 1.0)]), _steps_before([(0.0, 0.0), *upper, (1.0, 1.0)])


def _steps_after(corners: list[tuple[float, float]]) -> Points:
    """Return a staircase that keeps the power of each corner until the rate of the next corner."""
    found = [corners[0]]
    for (_, power), (rate, higher) in pairwise(corners):
        found += [(rate, power), (rate, max(power, higher))]
    return tuple((float(rate), float(power)) for rate, power in found)


def _steps_before(corners: list[tuple[float, float]]) -> Points:
    """Return a staircase that has the power of each corner from the rate of the previous corner."""
    found = [corners[0]]
    for (rate, _), (later, power) in pairwise(corners):
        found += [(rate, power), (later, power)]
    return tuple((float(rate), float(power)) for rate, power in found)


def _thin_out(alarms: Floats) -> NDArray[np.intp]:
    """Return the indices of at most ``_ROC_POINTS`` points, denser at small false-alarm rates.

    Of several points with the same rate, only the last one is kept.
    """
    last = np.flatnonzero(np.append(np.diff(alarms) > 0.0, True))
    if len(last) <= _ROC_POINTS:
        return last
    ranks = np.geomspace(1, len(last), _ROC_POINTS).astype(np.intp) - 1
    return last[np.unique(ranks)]


def power_at(worlds: Worlds, rate: float) -> float:
    """Return the power at a false-alarm rate.

    The cut is the statistic that this share of the runs in world v exceeds. The power is the share
    of the runs in world u that exceed it.
    """
    ranked = np.sort(worlds.v)
    allowed = math.floor(rate * len(ranked))
    return float(np.mean(worlds.u > ranked[len(ranked) - 1 - allowed]))
