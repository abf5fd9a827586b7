"""The proof of an attack: a lower bound of epsilon from the frequency of one event.

``lab.attacks.outcome`` calls ``prove`` with the statistics of a game. In world u one person has the
record u, and in world v the record v. Many runs of the game in each world give values of the
statistic. The event is selected first: from extra draws of the statistic if its distribution is
known, and otherwise from a quarter of the runs. The event is then counted in all runs that were not
used to select it. Let P be the probability of the event in the world that it favors, and Q in the
other world. The hypothesis P <= e^epsilon Q + delta is tested exactly (``refute``). A mechanism
that is (epsilon, delta)-private satisfies the hypothesis for every event. So each refuted epsilon
is below the true one.

Source: Jagielski, Ullman, Oprea, Auditing Differentially Private Machine Learning (2020), section
3, for the lower bound at a given delta from the probabilities of one event.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from mixtally.errors import ParameterError
from mixtally.lab.attacks.power import best_event
from mixtally.lab.attacks.refute import EventCounts, clopper_pearson_lower, clopper_pearson_upper
from mixtally.lab.attacks.worlds import Worlds, candidate_cuts, count_passing
from mixtally.primitives.tails import Floats

LEAST_RUNS = 100
"""The fewest runs that are accepted."""


@dataclass(frozen=True, slots=True)
class Proof:
    """A lower bound of epsilon, and the event that proves it.

    Attributes
    ----------
    epsilon : float
        The lower bound at delta; 0 if nothing was proved.
    hits : int
        How often the event occurred in the world that it favors, in ``trials`` runs.
    alarms : int
        How often the event occurred in the other world.
    favors : str
        "u" if the event is a statistic of at least ``cut``, "v" if it is one of at most ``cut``.
    best : float or None
        The epsilon that the most powerful test would prove in half of all repetitions of these
        runs (see ``power``). None if the distribution of the statistic is unknown.
    """

    epsilon: float
    hits: int
    alarms: int
    trials: int
    cut: float
    favors: str
    best: float | None = None


def prove(worlds: Worlds, delta: float, error: float, pilot: Worlds | None = None) -> Proof:
    """Return the largest epsilon that the runs prove at ``delta``.

    The proof is wrong with probability at most ``error``. ``pilot`` has other runs, with counts
    drawn from their distribution, whose statistic is the log-likelihood ratio. These runs select
    the event. If ``pilot`` is None, every fourth run of ``worlds`` selects the event.

    Raises
    ------
    ParameterError
        If there are fewer than 100 runs, or if a statistic is not a number.
    """
    runs = len(worlds.u)
    if runs < LEAST_RUNS or len(worlds.v) != runs:
        raise ParameterError(
            "runs",
            expected=f"at least {LEAST_RUNS}, as many in both worlds",
            got=runs,
            do="add some",
        )
    if np.isnan(worlds.u).any() or np.isnan(worlds.v).any():
        raise ParameterError(
            "statistic", expected="numbers", got="NaN", do="correct the attack's likelihood"
        )
    counted, best = worlds, None
    if pilot is not None:
        event = best_event(pilot, runs, delta, error)
        cut, favors_u, best = event.cut, event.favors_u, event.epsilon
    else:
        first = np.arange(runs) % 4 == 0
        cut, favors_u = _choose_event(Worlds(worlds.u[first], worlds.v[first]), delta, error)
        counted = Worlds(worlds.u[~first], worlds.v[~first])
    trials, cuts = len(counted.u), np.array([cut])
    sides = (counted.u, counted.v) if favors_u else (counted.v, counted.u)
    hits, alarms = (int(count_passing(np.sort(one), cuts, favors_u)[0]) for one in sides)
    proved = EventCounts(hits, alarms, (trials, trials)).epsilon(delta, error)
    return Proof(proved, hits, alarms, trials, cut, "u" if favors_u else "v", best)


def prove_either(worlds: Worlds, delta: float, error: float, pilot: Worlds) -> Proof:
    """Return the better of two proofs, each with half of ``error``.

    One selects the event from a quarter of the runs, the other from ``pilot``.
    """
    own, by_distribution = (prove(worlds, delta, error / 2.0, source) for source in (None, pilot))
    better = own if own.epsilon > by_distribution.epsilon else by_distribution
    return replace(better, best=best_event(pilot, len(worlds.u), delta, error).epsilon)


def _choose_event(worlds: Worlds, delta: float, error: float) -> tuple[float, bool]:
    """Return the cut with the best score in these runs, and whether the event favors u."""
    u, v = np.sort(worlds.u), np.sort(worlds.v)
    cuts = candidate_cuts(np.concatenate([u, v]))
    best: tuple[float, float, bool] = (-math.inf, math.inf, True)
    for favors_u in (True, False):
        hits, alarms = (
            count_passing(one, cuts, favors_u) for one in ((u, v) if favors_u else (v, u))
        )
        scores = _score_events(hits, alarms, len(u), delta, error)
        place = int(np.argmax(scores))
        if scores[place] > best[0]:
            best = float(scores[place]), float(cuts[place]), favors_u
    return best[1:]


def _score_events(hits: Floats, alarms: Floats, trials: int, delta: float, error: float) -> Floats:
    """Return ln((P_low - delta) / Q_high), or -infinity if P_low does not exceed delta.

    P_low and Q_high are the confidence bounds of the event's probabilities in the world that it
    favors and in the other world, from ``hits`` and ``alarms`` in ``trials`` runs each.
    """
    low = clopper_pearson_lower(hits, trials, error / 2.0) - delta
    high = clopper_pearson_upper(alarms, trials, error / 2.0)
    # The least value only avoids the logarithm of a negative number in the other branch.
    return np.asarray(np.where(low > 0.0, np.log(np.maximum(low, 1e-300) / high), -np.inf))
