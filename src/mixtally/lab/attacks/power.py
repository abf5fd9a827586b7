"""The power of the best test: the largest epsilon that a test can prove, and the event to count.

``epsilon_proof`` calls ``best_event`` with runs from the distribution. Let P and Q be the true
probabilities of an event in the two worlds, and n the number of runs in each. A promise of epsilon
and delta allows P <= e^epsilon Q + delta. Its *edge* is the set of pairs (p, q) with p = e^epsilon
q + delta. Let kl(x, y) be the Kullback-Leibler divergence of coins with probabilities x and y. The
pair on the edge that n runs can least distinguish from (P, Q) minimizes D = n (kl(P, p) + kl(Q,
q)). Against this pair, the most powerful test uses the log-likelihood ratio of the two counts of
the event. Let w = sqrt(2 D), and let u be the standard deviation of this ratio. In half of all
repetitions, the p-value is below the approximation of Lugannani and Rice,

    1 - Phi(w) + phi(w) (1 / u - 1 / w),

where Phi and phi are the distribution function and the density of the standard normal distribution.
The p-value is also below e^-D by Markov's inequality, which is the better bound if the ratio hardly
varies.

The epsilon that half of all repetitions prove is the one at which this p-value equals the allowed
error. The maximum over all events "the likelihood ratio is at least c" is nearly the maximum over
all tests. The reason is the form of the worlds on the edge that are hardest to distinguish from the
true worlds: their densities differ from the true ones by one factor on such an event, and by
another factor outside. So only the count of the event distinguishes them.

The probabilities of events are estimated from runs of the distribution in both worlds together.
If L is the log-likelihood ratio of a run from either world, the run has the weight 2 / (1 + e^-L)
for world u and 2 / (1 + e^L) for world v.
"""

import math
from dataclasses import dataclass

import numpy as np

from mixtally.lab.attacks.worlds import Worlds, candidate_cuts
from mixtally.primitives.tails import Floats

_MOST_EPSILON, _CLOSE = 60.0, 1e-13
"""The largest epsilon that is considered, and the tolerance of the search for epsilon."""
_STEPS, _SETTLED = 50, 1e-9
"""Newton's method stops after ``_STEPS`` steps, or if a step is below this fraction of its value.
"""


@dataclass(frozen=True, slots=True)
class Event:
    """The event that a statistic is at least ``cut``, or at most ``cut``.

    If ``favors_u``, the event is a statistic of at least ``cut``. ``epsilon`` is the value that a
    test of this event proves in half of all repetitions.
    """

    cut: float
    favors_u: bool
    epsilon: float


def best_event(pilot: Worlds, runs: int, delta: float, error: float) -> Event:
    """Return the event that proves the largest epsilon with ``runs`` runs in each world.

    ``pilot`` has runs of the distribution whose statistic is the log-likelihood ratio.
    """
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
    """Return, for each cut, the estimated probability of the values at or beyond the cut.

    ``seen`` are the sorted values, and ``weights`` their weights, whose mean is about 1.
    """
    total = np.concatenate([[0.0], np.cumsum(weights)]) / len(seen)
    if above:
        return np.asarray(total[-1] - total[np.searchsorted(seen, cuts, side="left")])
    return np.asarray(total[np.searchsorted(seen, cuts, side="right")])


def most_powerful(p: Floats, q: Floats, runs: int, delta: float, error: float) -> tuple[int, float]:
    """Return the index of the event that proves the largest epsilon, and this epsilon.

    ``p`` and ``q`` have the probabilities of each event in the world that it favors and in the
    other world. The p-value of every event increases with epsilon. So the smallest p-value does,
    too, and epsilon is the root at which it equals ``error``. If no event proves a positive
    epsilon, index and epsilon are 0.
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
    """Return the least epsilon with p <= e^epsilon q + delta for every event."""
    ratio = float((np.maximum(p - delta, 0.0) / q).max())
    return min(_MOST_EPSILON, math.log(max(1.0, ratio)))


def _median_p_value(p: Floats, q: Floats, epsilon: float, runs: int, delta: float) -> Floats:
    """Return the median p-value of each event; 1 for events that satisfy the promise."""
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
    """Return the q of the pair on the edge with the least D, for events with p > grow q + delta.

    The edge and D are those of the module's docstring, with ``grow`` = e^epsilon.

    Let c be the q at which the edge reaches p, a the one at which it reaches 0, and e the one at
    which it reaches 1. The derivative of D is zero at the middle root of the cubic

        (x - c) x (1 - x) + (x - q) (x - a) (e - x),   a <= 0 <= q < c < e.

    The cubic is positive at a, negative at 0 and q, positive at c, and negative for large x.
    Newton's method starts at the inflection point of the cubic, or at q or c if the inflection
    point is not between them. From there it reaches the middle root from one side.
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
