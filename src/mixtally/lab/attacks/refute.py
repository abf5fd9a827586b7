"""An exact test of the hypothesis P <= e^epsilon Q + delta, from counts of one event.

``epsilon_proof`` calls this test. The event has probability P in the world that it favors, and Q in
the other world. It occurs in X of n runs in the first world and in Y of m runs in the second, and
all runs are independent. Given X + Y, the distribution of X depends on P and Q only through their
odds ratio P (1 - Q) / (Q (1 - P)): it is Fisher's noncentral hypergeometric distribution. Larger
values of X become more likely as the odds ratio grows.

Under the hypothesis, the odds ratio is at most that of (e^epsilon Q + delta, Q). As Q grows, this
bound first falls and then rises. So its maximum over an interval of Q is at an end of the interval.
Such an interval follows from the counts: Y gives the upper end Q_high, and X gives the lower end
(P_low - delta) / e^epsilon. Each end may be wrong with a twentieth of the allowed error. The
remaining nine tenths of the error are the level of the conditional test. An empty interval refutes
the hypothesis without this test.

The p-value increases with epsilon. So if one epsilon is refuted, every smaller epsilon is refuted.

Source: Fisher (1935) for the conditional distribution; Berger, Boos, P Values Maximized Over a
Confidence Set for the Nuisance Parameter (1994); Clopper, Pearson (1934) for the bounds.
"""

import math

import numpy as np
from scipy.special import betainccinv, betaincinv, gammaln

from mixtally.primitives.tails import Floats

_ENDS = 0.1
"""The share of the error that the two ends of the interval use."""
_SLACK = 1.0 + 1e-5
"""A factor that increases p-values by more than the rounding errors of log-gammas at 10^8 runs."""
_MOST_EPSILON = 700.0
"""The largest epsilon, below the exponent at which doubles overflow."""
_HALVINGS = 40


def clopper_pearson_lower(hits: Floats, trials: int, error: float) -> Floats:
    """Return a lower confidence bound of a probability; it is wrong with chance ``error``."""
    hits = np.asarray(hits, dtype=np.float64)
    some = np.maximum(hits, 1.0)
    return np.where(hits > 0, betaincinv(some, trials - some + 1.0, error), 0.0)


def clopper_pearson_upper(hits: Floats, trials: int, error: float) -> Floats:
    """Return an upper confidence bound of a probability; it is wrong with chance ``error``."""
    hits = np.asarray(hits, dtype=np.float64)
    some = np.minimum(hits, trials - 1.0)
    return np.where(hits < trials, betainccinv(some + 1.0, trials - some, error), 1.0)


class EventCounts:
    """The counts of one event: ``hits`` in the world that it favors, ``alarms`` in the other world.

    ``trials`` has the numbers of runs in these two worlds.
    """

    def __init__(self, hits: int, alarms: int, trials: tuple[int, int]) -> None:
        self.hits, self.alarms, self.trials = hits, alarms, trials
        n, m = trials
        self._values = np.arange(max(0, hits + alarms - m), min(n, hits + alarms) + 1.0)
        k, rest = self._values, hits + alarms - self._values
        # Logarithms of C(n, k) C(m, rest), without constants, which cancel in tail().
        self._ways = -gammaln(k + 1) - gammaln(n - k + 1)
        self._ways -= gammaln(rest + 1) + gammaln(m - rest + 1)

    def tail(self, log_odds: float) -> float:
        """Return P[X >= hits | X + Y] at the given logarithm of the odds ratio."""
        logs = self._ways + self._values * log_odds
        # The largest term becomes 1, so nothing overflows.
        chances = np.exp(logs - logs.max())
        return float(chances[self._values >= self.hits].sum() / chances.sum())

    def refutes(self, epsilon: float, delta: float, error: float) -> bool:
        """Return whether P <= e^epsilon Q + delta is refuted.

        A true hypothesis is refuted with probability at most ``error``.
        """
        each = 0.5 * _ENDS * error
        low = float(clopper_pearson_lower(np.array(self.hits), self.trials[0], each)) - delta
        high = float(clopper_pearson_upper(np.array(self.alarms), self.trials[1], each))
        if low <= 0.0:
            return False
        low *= math.exp(-epsilon)
        if low > high:
            return True
        largest = max(_log_odds(q, epsilon, delta) for q in (low, high))
        # The slack increases the p-value, so rounding never refutes a true hypothesis.
        return largest < math.inf and self.tail(largest) * _SLACK <= (1.0 - _ENDS) * error

    def epsilon(self, delta: float, error: float) -> float:
        """Return the largest epsilon that is refuted at ``delta``; 0 if none is."""
        low, high = 0.0, 1.0
        if not self.refutes(low, delta, error):
            return 0.0
        while high < _MOST_EPSILON and self.refutes(high, delta, error):
            low, high = high, 2.0 * high
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.refutes(middle, delta, error) else (low, middle)
            if high - low <= 1e-7 * high:
                break
        # ``low`` itself was refuted, so returning it rounds the bound down.
        return low


def _log_odds(q: float, epsilon: float, delta: float) -> float:
    """Return the log odds ratio of (e^epsilon q + delta, q); infinity if one of them reaches 1."""
    p = math.exp(epsilon) * q + delta
    if p >= 1.0 or q >= 1.0:
        return math.inf
    return math.log(p) + math.log1p(-q) - math.log(q) - math.log1p(-p)
