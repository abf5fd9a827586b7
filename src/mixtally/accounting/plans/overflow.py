"""The cost of a cap on the number of ones in a message.

``terms`` and the planner use this module. A draw with more than ``cap`` ones is repeated. The
message then has the free distribution given at most ``cap`` ones, whose total variation distance
from the free one is at most P(overflow). Take two datasets that differ in one record, each with M
messages that the proof counts. If the free messages satisfy delta, the capped ones satisfy

    delta + (1 + e^eps) sum over the M messages of P(overflow).

The factor 1 is for the distance under one dataset, and e^eps for that under the other. All other
messages depend on no record or are post-processing, and cost nothing. Over parts and collections
the distances add up, and eps is the total epsilon.

The local epsilon of a record grows too if records of different size overflow with different
probability. It grows by the logarithm of the ratio of the remaining probabilities.
"""

import math

from mixtally.primitives import tails
from mixtally.primitives.fixed_point import SCALE

_SLACK = 1.0 + 1e-9


def overflow_chance(bins: int, ones: int, threshold: int, cap: int) -> float:
    """Return an upper bound of the probability that a message has more than ``cap`` ones.

    Parameters
    ----------
    bins : int
        Number of bits of a message.
    ones : int
        Number of bits that the record sets, before the flips.
    threshold : int
        Flip probability times 2^64.
    cap : int
        Largest number of ones that is sent.
    """
    if cap >= bins:
        return 0.0
    q = threshold / SCALE
    zeros = bins - ones
    low, high = tails.window(zeros, q) if zeros else (0, 0)
    rises = tails.pmf(zeros, q, low, high) if zeros else [1.0]
    total = 0.0
    stays = tails.pmf(ones, 1.0 - q, 0, ones) if ones else [1.0]
    for kept, chance in enumerate(stays):
        # overflow: more than cap - kept zeros become ones
        first = max(low, cap - kept + 1)
        total += float(chance) * (_upper_tail(rises, low, high, first) + tails.CUT_TAIL)
    return min(1.0, total * _SLACK)


def _upper_tail(rises: "tails.Floats | list[float]", low: int, high: int, first: int) -> float:
    """Return P(first <= X <= high), with terms that are added up exactly."""
    if first > high:
        return 0.0
    return math.fsum(float(one) for one in rises[first - low :])


def local_growth(bins: int, most_set: int | None, threshold: int, cap: int) -> float:
    """Return a bound on the increase of a message's local epsilon due to the cap.

    The result is infinite if ``overflow_chance`` is 1 for some record.
    """
    sizes = range((bins if most_set is None else most_set) + 1)
    overflows = [overflow_chance(bins, ones, threshold, cap) for ones in sizes]
    if max(overflows) >= 1.0:
        return math.inf
    return -math.log1p(-max(overflows)) * _SLACK
