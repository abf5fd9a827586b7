"""The mean of products of likelihood ratios over all ways in which some messages may be one
person's.

A person sends k of the messages of a batch, shuffled among the others. With w(y) the chance of y
under the person's record over that under the hiding distribution,

    P(multiset) / P_hiding(multiset) = e_k(w(y_1), .., w(y_N)) / C(N, k),

e_k the elementary symmetric polynomial: for k = 1 the mean ratio, for k repeats of one record the
mean over k-subsets. Messages of one kind share their ratio, so that e_k is the coefficient of t^k
in the product of (1 + w t)^c over kinds, which is

    e_k = P(sum of Bin(c, w t / (1 + w t)) = k) product of (1 + w t)^c / t^k,

a sum of positive numbers near the middle of its distribution when t makes the mean about k.
"""

import numpy as np
from scipy.special import gammaln

from mixtally.primitives.tails import Floats


def log_sum(log_ratios: Floats, counts: Floats, times: int) -> Floats:
    """Log of e_times, shape (runs,), where ``counts[run, kind]`` messages have each likelihood
    ratio.

    Every run has at least ``times`` messages.
    """
    with np.errstate(divide="ignore"):
        plan = log_ratios + np.log(counts)
    first = np.logaddexp.reduce(plan, axis=1)
    return first if times == 1 else _coefficient(log_ratios, counts, times, first)


def _coefficient(log_ratios: Floats, counts: Floats, times: int, first: Floats) -> Floats:
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
