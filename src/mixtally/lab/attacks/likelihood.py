"""The likelihood ratio of a batch in which several messages come from one person.

The counted games call ``log_sum``. A person sends k of the N messages of a batch, shuffled among
the others. Let w(y) be the probability of message y under the person's record, divided by its
probability under the hiding distribution. Let e_k be the elementary symmetric polynomial of degree
k. Averaging over all choices of k messages gives

    P(multiset) / P_hiding(multiset) = e_k(w(y_1), .., w(y_N)) / C(N, k).

For k = 1 the right side is the mean ratio. For k repeats of one record it is the mean over all
subsets of k messages. Messages of one kind have the same ratio w; let c be their number. Then e_k
is the coefficient of t^k in the product of (1 + w t)^c over the kinds. For every t > 0 this is

    e_k = P(sum of Bin(c, w t / (1 + w t)) = k) product of (1 + w t)^c / t^k.

The code selects t so that the mean of the sum is about k. Then the probability is near the middle
of its distribution, and all terms are positive, so no digits cancel.
"""

import numpy as np
from scipy.special import gammaln

from mixtally.primitives.tails import Floats


def log_sum(log_ratios: Floats, counts: Floats, times: int) -> Floats:
    """Return log e_k for k = ``times``, shape (runs,).

    ``counts[run, kind]`` is the number of messages with the log-likelihood ratio of that kind.
    Every run has at least ``times`` messages.
    """
    with np.errstate(divide="ignore"):
        plan = log_ratios + np.log(counts)
    first = np.logaddexp.reduce(plan, axis=1)
    return first if times == 1 else _coefficient(log_ratios, counts, times, first)


def _coefficient(log_ratios: Floats, counts: Floats, times: int, first: Floats) -> Floats:
    # The logarithm of t = k / e_1, which makes the mean of the sum about k.
    tilt = np.log(times) - first
    places = np.arange(times + 1)
    total = np.zeros((len(counts), times + 1))
    total[:, 0] = 1.0
    scale = -times * tilt
    for kind, log_ratio in enumerate(log_ratios):
        count = counts[:, kind]
        log_odds = (log_ratio + tilt)[:, None]
        some = np.minimum(places, count[:, None])
        combinations = gammaln(count + 1.0)[:, None] - gammaln(some + 1.0)
        combinations -= gammaln(count[:, None] - some + 1.0)
        log_both = np.logaddexp(0.0, log_odds)
        logs = combinations + some * log_odds - count[:, None] * log_both
        one = np.where(places <= count[:, None], np.exp(logs), 0.0)
        scale = scale + count * log_both[:, 0]
        joined = np.zeros_like(total)
        for place in places:
            joined[:, place:] += total[:, : times + 1 - place] * one[:, place, None]
        total = joined
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(total[:, times]) + scale)
