"""Power: the most that any test could prove with as many runs, and the event to count for it.

Of an event with chances P and Q in the two worlds, the pair (p, q) on the edge of the promise,
p = e^epsilon q + delta, from which n runs in each world are hardest to distinguish is the one with
the least D = n (kl(P, p) + kl(Q, q)). Against it the most powerful test weighs the two counts by
their log-likelihood ratio, and half of all repetitions show a p-value below Lugannani and Rice's

    1 - Phi(w) + phi(w) (1 / u - 1 / w),   w = sqrt(2 D),   u the ratio's standard deviation,

and below e^-D, which Markov's inequality gives and which holds where the ratio hardly varies.

What half of all repetitions prove is the epsilon at which this is the allowed error. The most over
all events "the likelihood ratio is at least c" is the most over all tests, nearly: the worlds on
the edge that are hardest to distinguish from the true ones differ from them by a factor on such an
event and another off it, so nothing but the count distinguishes them.

Chances of events are taken from runs of the distribution, both worlds together: with L the
log-likelihood ratio a run from either weighs 2 / (1 + e^-L) for u and 2 / (1 + e^L) for v.
"""

import math
from dataclasses import dataclass

import numpy as np

from mixtally.lab.attacks.worlds import Worlds, candidate_cuts
from mixtally.primitives.tails import Floats

_MOST_EPSILON = 60.0
_CLOSE = 1e-13
_STEPS = 50
_SETTLED = 1e-9
"""Relative to a chance: after so small a step of Newton's method nothing is left to gain."""


@dataclass(frozen=True, slots=True)
class Event:
    """A statistic of at least ``cut``, or of at most where it ``favors_u`` not, and its power.

    where
      epsilon   what half of all repetitions prove at most, whatever the test
    """

    cut: float
    favors_u: bool
    epsilon: float


def best_event(pilot: Worlds, runs: int, delta: float, error: float) -> Event:
    """The event that proves most from ``runs`` runs in each world, by runs of the distribution."""
    seen = np.sort(np.concatenate([pilot.u, pilot.v]))
    with np.errstate(over="ignore"):
        in_u, in_v = 2.0 / (1.0 + np.exp(-seen)), 2.0 / (1.0 + np.exp(seen))
    found = []
    for favors_u in (True, False):
        cuts = candidate_cuts(seen)
        shares = [_event_chances(seen, weights, cuts, favors_u) for weights in (in_u, in_v)]
        p, q = shares if favors_u else shares[::-1]
        place, proved = most_powerful(p, q, runs, delta, error)
        found.append(Event(float(cuts[place]), favors_u, proved))
    return max(found, key=lambda event: event.epsilon)


def _event_chances(seen: Floats, weights: Floats, cuts: Floats, above: bool) -> Floats:
    """The weight of the sorted values that are at least (or at most) each cut."""
    total = np.concatenate([[0.0], np.cumsum(weights)]) / len(seen)
    if above:
        return np.asarray(total[-1] - total[np.searchsorted(seen, cuts, side="left")])
    return np.asarray(total[np.searchsorted(seen, cuts, side="right")])


def most_powerful(p: Floats, q: Floats, runs: int, delta: float, error: float) -> tuple[int, float]:
    """Which event of these chances proves most, and how much; the first where none does.

    The p-value of every event rises with epsilon, and so does the smallest of them.
    """
    from scipy.optimize import brentq

    p, q = _clip_chances(p), _clip_chances(q)

    def excess(epsilon: float) -> float:
        smallest = float(_median_p_value(p, q, epsilon, runs, delta).min())
        return math.log(max(smallest, 1e-300) / error)

    if excess(0.0) > 0.0:
        return 0, 0.0
    kept = _least_kept_epsilon(p, q, delta)
    found = kept if excess(kept) <= 0.0 else float(brentq(excess, 0.0, kept, xtol=_CLOSE))
    return int(np.argmin(_median_p_value(p, q, found, runs, delta))), found


def _clip_chances(chances: Floats) -> Floats:
    return np.clip(chances, 1e-300, 1.0 - 1e-16)


def _least_kept_epsilon(p: Floats, q: Floats, delta: float) -> float:
    """The epsilon from which on the promise is kept for every event."""
    ratio = float((np.maximum(p - delta, 0.0) / q).max())
    return min(_MOST_EPSILON, math.log(max(1.0, ratio)))


def _median_p_value(p: Floats, q: Floats, epsilon: float, runs: int, delta: float) -> Floats:
    """The p-value that half of all repetitions show, 1 where the promise is kept."""
    from scipy.special import log_ndtr, ndtr

    found = np.ones(len(p))
    grow = math.exp(epsilon)
    broken = np.flatnonzero((p - delta) / grow > q)
    p, q = p[broken], q[broken]
    near = _clip_chances(nearest_on_edge(p, q, grow, delta))
    edge = _clip_chances(grow * near + delta)
    distance, variance = np.zeros(len(p)), np.zeros(len(p))
    for true, other in ((p, edge), (q, near)):
        one, none = np.log(true / other), np.log1p(-true) - np.log1p(-other)
        distance += runs * (true * one + (1.0 - true) * none)
        variance += runs * true * (1.0 - true) * (one - none) ** 2
    w = np.sqrt(2.0 * np.maximum(distance, 1e-12))
    u = np.sqrt(np.maximum(variance, 1e-12))
    density = np.exp(-0.5 * w * w) / math.sqrt(2.0 * math.pi)
    tail = np.where(w < 30.0, ndtr(-w), np.exp(log_ndtr(-w))) + density * (1.0 / u - 1.0 / w)
    found[broken] = np.where(w < 0.1, 1.0, np.minimum(tail, np.exp(-distance)))
    return found


def nearest_on_edge(p: Floats, q: Floats, grow: float, delta: float) -> Floats:
    """The q of the pair on the edge of the promise that has the least D; p exceeds grow q + delta.

    With c where the edge is at p, a where it is at 0 and e where it is at 1, D has slope zero at
    the middle root of the cubic

        (x - c) x (1 - x) + (x - q) (x - a) (e - x),   a <= 0 <= q < c < e,

    which is above zero at a, below at 0 and q, above at c and below at last. From its inflection
    (or from the end, q or c, on the way to it) Newton's method reaches the middle root from one
    side.
    """
    c, a, e = (p - delta) / grow, -delta / grow, (1.0 - delta) / grow
    x = np.clip((1.0 + c + q + a + e) / 6.0, q, c)
    for _ in range(_STEPS):
        past_c, past_q, past_a = x - c, x - q, x - a
        to_one, to_e = 1.0 - x, e - x
        height = past_c * x * to_one + past_q * past_a * to_e
        slope = (x + past_c) * to_one - past_c * x + (past_q + past_a) * to_e - past_q * past_a
        step = height / slope
        x = x - step
        if np.all(np.abs(step) <= _SETTLED * x):
            break
    return x
