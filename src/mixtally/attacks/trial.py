"""What an attack has proved: a lower bound on epsilon from how often one event was seen.

An attacker's statistic is drawn many times in world u and in world v. On one quarter of the runs
the event is chosen that promises most, on the others it is counted. If it has probability at
least P_low in one world and at most Q_high in the other, each surely to half the allowed error,
every epsilon' with P_low > e^epsilon' Q_high + delta is below the true one: a mechanism that is
(epsilon, delta) private with epsilon <= epsilon' would contradict the counts.

The two worlds may share their noise: the union bound over both counts needs no independence.

Source: Clopper, Pearson (1934); Jagielski, Ullman, Oprea, Auditing Differentially Private Machine
Learning (2020), section 3, for the lower bound at a given delta.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import ParameterError
from mixtally.ground.tails import Floats

_CANDIDATES = 400
_ROC_POINTS = 120
LEAST_RUNS = 100


def clopper_pearson_lower(hits: Floats, trials: int, error: float) -> Floats:
    """The probability below which so many hits have a chance of at most ``error``."""
    from scipy.special import betaincinv

    hits = np.asarray(hits, dtype=np.float64)
    some = np.maximum(hits, 1.0)
    return np.where(hits > 0, betaincinv(some, trials - some + 1.0, error), 0.0)


def clopper_pearson_upper(hits: Floats, trials: int, error: float) -> Floats:
    """The probability above which so few hits have a chance of at most ``error``."""
    from scipy.special import betainccinv

    hits = np.asarray(hits, dtype=np.float64)
    some = np.minimum(hits, trials - 1.0)
    return np.where(hits < trials, betainccinv(some + 1.0, trials - some, error), 1.0)


@dataclass(frozen=True, slots=True)
class Worlds:
    """An attacker's statistic, larger where u is likelier, shape (runs,) in each world."""

    u: Floats
    v: Floats


@dataclass(frozen=True, slots=True)
class Proof:
    """What was proved, and the event that proved it.

    where
      epsilon   the lower bound at delta; 0 when nothing was proved
      hits      how often the event came in the world that favors it, of ``trials``
      alarms    how often it came in the other
      favors    "u" when the event is a statistic of at least ``cut``, "v" when of at most
    """

    epsilon: float
    hits: int
    alarms: int
    trials: int
    cut: float
    favors: str


def prove(worlds: Worlds, delta: float, error: float) -> Proof:
    """The largest epsilon that the runs prove at ``delta``, wrong with chance at most ``error``.

    Every fourth run chooses the event, the others are counted. Raises ParameterError for fewer than
    100 runs or a statistic that is no number.
    """
    runs = len(worlds.u)
    if runs < LEAST_RUNS or len(worlds.v) != runs:
        raise ParameterError(
            "runs", wanted=f"at least {LEAST_RUNS}, as many in both worlds", got=runs, do="add some"
        )
    if np.isnan(worlds.u).any() or np.isnan(worlds.v).any():
        raise ParameterError(
            "statistic", wanted="numbers", got="NaN", do="mend the attack's likelihood"
        )
    first = np.arange(runs) % 4 == 0
    u, v = np.sort(worlds.u[first]), np.sort(worlds.v[first])
    best: tuple[float, float, bool] = (-math.inf, math.inf, True)
    for favors_u in (True, False):
        cuts = _cuts(u, v)
        hits, alarms = (_count(one, cuts, favors_u) for one in ((u, v) if favors_u else (v, u)))
        scores = _epsilon(hits, alarms, len(u), delta, error)
        place = int(np.argmax(scores))
        if scores[place] > best[0]:
            best = float(scores[place]), float(cuts[place]), favors_u
    _, cut, favors_u = best
    u, v = np.sort(worlds.u[~first]), np.sort(worlds.v[~first])
    at = np.array([cut])
    hits, alarms = (_count(one, at, favors_u) for one in ((u, v) if favors_u else (v, u)))
    proved = float(_epsilon(hits, alarms, len(u), delta, error)[0])
    return Proof(
        max(0.0, proved), int(hits[0]), int(alarms[0]), len(u), cut, "u" if favors_u else "v"
    )


def _cuts(u: Floats, v: Floats) -> Floats:
    """Places to cut: all that were seen, or the ranks that lie dense in both tails."""
    seen = np.unique(np.concatenate([u, v]))
    if len(seen) <= _CANDIDATES:
        return seen
    tail = np.unique(np.geomspace(1, len(seen), _CANDIDATES // 2).astype(np.intp)) - 1
    ranks = np.unique(np.concatenate([tail, len(seen) - 1 - tail]))
    return np.asarray(seen[ranks])


def _count(ranked: Floats, cuts: Floats, above: bool) -> Floats:
    """How many of the sorted values are at least (or at most) each cut."""
    if above:
        return np.asarray(len(ranked) - np.searchsorted(ranked, cuts, side="left"), dtype=float)
    return np.asarray(np.searchsorted(ranked, cuts, side="right"), dtype=float)


def _epsilon(hits: Floats, alarms: Floats, trials: int, delta: float, error: float) -> Floats:
    """Ln((P_low - delta) / Q_high), -infinity where P_low does not exceed delta."""
    low = clopper_pearson_lower(hits, trials, error / 2.0) - delta
    high = clopper_pearson_upper(alarms, trials, error / 2.0)
    return np.asarray(np.where(low > 0.0, np.log(np.maximum(low, 1e-300) / high), -np.inf))


def roc(worlds: Worlds) -> tuple[tuple[float, float], ...]:
    """(false-alarm rate, power) of the events "at least c" for u, all runs, few points."""
    cuts = np.concatenate([[np.inf], np.unique(np.concatenate([worlds.u, worlds.v]))[::-1]])
    alarms = _count(np.sort(worlds.v), cuts, True) / len(worlds.v)
    power = _count(np.sort(worlds.u), cuts, True) / len(worlds.u)
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
