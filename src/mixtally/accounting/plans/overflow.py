"""What a cap on the ones of a message costs: a draw with more of them is drawn again.

A message that is drawn again follows its distribution given that it has at most ``cap`` ones, which
lies within P(overflow) of the free one in total variation. Of two collections that differ in one
record, each with M messages that the proof counts, the free ones keep delta, so those of capped
messages keep

    delta + (1 + e^eps) sum over the M messages of P(overflow),

once for each of the two collections. Other messages follow from no one's record, or are only
post-processing, and need nothing. Over parts and collections the distances add up, with the epsilon
of all of them together.

A record's local epsilon grows as well where records of different size overflow differently: by the
logarithm of the ratio of what is left.
"""

import math

from mixtally.primitives import tails
from mixtally.primitives.fixed_point import SCALE

_SLACK = 1.0 + 1e-9


def overflow_chance(bins: int, ones: int, threshold: int, cap: int) -> float:
    """An upper bound of the chance that a message names more than ``cap`` of ``bins`` bins.

    where
      ones        bins that the record sets, before the flips
      threshold   flip probability times 2^64
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
        # more than cap - kept zeros rise
        first = max(low, cap - kept + 1)
        total += float(chance) * (_upper_tail(rises, low, high, first) + tails.CUT_TAIL)
    return min(1.0, total * _SLACK)


def _upper_tail(rises: "tails.Floats | list[float]", low: int, high: int, first: int) -> float:
    """P(low <= X <= high and X >= first), from the small ones up."""
    if first > high:
        return 0.0
    return math.fsum(float(one) for one in rises[first - low :])


def local_growth(bins: int, most_set: int | None, threshold: int, cap: int) -> float:
    """How much the local epsilon of a message may grow by being drawn again."""
    sizes = range((bins if most_set is None else most_set) + 1)
    left = [overflow_chance(bins, ones, threshold, cap) for ones in sizes]
    if max(left) >= 1.0:
        return math.inf
    return -math.log1p(-max(left)) * _SLACK
