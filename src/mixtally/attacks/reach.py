"""The most that any test could prove with as many runs, and the event to count for it.

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

from mixtally.attacks.worlds import Worlds, places_to_cut
from mixtally.ground.tails import Floats

_MOST_EPSILON = 60.0
_HALVINGS = 50


@dataclass(frozen=True, slots=True)
class Event:
    """A statistic of at least ``cut``, or of at most where it ``favors_u`` not, and its reach.

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
        cuts = places_to_cut(seen)
        shares = [_shares(seen, weights, cuts, favors_u) for weights in (in_u, in_v)]
        p, q = shares if favors_u else shares[::-1]
        reached = reach(p, q, runs, delta, error)
        place = int(np.argmax(reached))
        found.append(Event(float(cuts[place]), favors_u, float(reached[place])))
    return max(found, key=lambda event: event.epsilon)


def _shares(seen: Floats, weights: Floats, cuts: Floats, above: bool) -> Floats:
    """The weight of the sorted values that are at least (or at most) each cut."""
    total = np.concatenate([[0.0], np.cumsum(weights)]) / len(seen)
    if above:
        return np.asarray(total[-1] - total[np.searchsorted(seen, cuts, side="left")])
    return np.asarray(total[np.searchsorted(seen, cuts, side="right")])


def reach(p: Floats, q: Floats, runs: int, delta: float, error: float) -> Floats:
    """What half of all repetitions prove of events with these chances; 0 where nothing."""
    p, q = np.clip(p, 1e-300, 1.0 - 1e-16), np.clip(q, 1e-300, 1.0 - 1e-16)
    low = np.zeros(len(p))
    with np.errstate(divide="ignore"):
        high = np.clip(np.log(np.maximum(p - delta, 0.0) / q), 0.0, _MOST_EPSILON)
    first = _p_value(p, q, low, runs, delta) <= error
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        significant = _p_value(p, q, middle, runs, delta) <= error
        low, high = np.where(significant, middle, low), np.where(significant, high, middle)
    return np.where(first, low, 0.0)


def _p_value(p: Floats, q: Floats, epsilon: Floats, runs: int, delta: float) -> Floats:
    """The p-value that half of all repetitions show, 1 where the promise is kept."""
    from scipy.special import log_ndtr, ndtr

    grow = np.exp(epsilon)
    low, high = q, np.minimum((p - delta) / grow, (1.0 - delta) / grow)
    holds = high <= low
    high = np.maximum(low, high)
    for _ in range(_HALVINGS):  # the slope of D along the edge rises from below to above zero
        middle = 0.5 * (low + high)
        edge = np.clip(grow * middle + delta, 1e-300, 1.0 - 1e-16)
        slope = grow * (edge - p) / (edge * (1.0 - edge)) + (middle - q) / (middle * (1.0 - middle))
        low, high = np.where(slope < 0.0, middle, low), np.where(slope < 0.0, high, middle)
    near = np.clip(0.5 * (low + high), 1e-300, 1.0 - 1e-16)
    edge = np.clip(grow * near + delta, 1e-300, 1.0 - 1e-16)
    distance, variance = np.zeros(len(p)), np.zeros(len(p))
    for true, other in ((p, edge), (q, near)):
        one, none = np.log(true / other), np.log1p(-true) - np.log1p(-other)
        distance += runs * (true * one + (1.0 - true) * none)
        variance += runs * true * (1.0 - true) * (one - none) ** 2
    w = np.sqrt(2.0 * np.maximum(distance, 1e-12))
    u = np.sqrt(np.maximum(variance, 1e-12))
    density = np.exp(-0.5 * w * w) / math.sqrt(2.0 * math.pi)
    tail = np.where(w < 30.0, ndtr(-w), np.exp(log_ndtr(-w))) + density * (1.0 / u - 1.0 / w)
    return np.where(holds | (w < 0.1), 1.0, np.minimum(tail, np.exp(-distance)))
