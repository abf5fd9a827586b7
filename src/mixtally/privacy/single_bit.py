"""A single bit, flipped with q, among fake zeros and, if counted, the crowd's own flipped bits.

With m ones and z zeros in the background the tallied sum is Bin(m, p) + Bin(z, q) plus the person's
bit; ``messages`` and ``sums`` see the same. The law of the background is log-concave, so the
likelihood ratio rises with the sum and the divergence is a sum over a tail, in both directions.

Fakes alone cover every dataset. With the crowd counted the worst number of ones is searched, and a
branch and bound over it proves the upper end.

Source: notes 004 section 4 and Prop. 3.1.
"""

import math
from functools import lru_cache

from mixtally.ground.fixed import SCALE
from mixtally.privacy.bracket import Bracket, larger
from mixtally.privacy.two_laws import binomial_sum, divergence, own_bits
from mixtally.privacy.worst_case import NEGLIGIBLE, Cell, worst

SOURCE = "exact law of the sum of flipped bits (Notes 2020, section 4); Prop. 3.1 for any dataset"


def delta(
    users: int,
    fakes: int,
    threshold: int,
    epsilon: float,
    ones: int | None = None,
    *,
    count_crowd: bool = False,
    repeats: int = 1,
) -> Bracket:
    """delta(epsilon) of one bit.

    where
      fakes         flipped zeros that surely arrive
      ones          how many of the other ``users`` - 1 people hold a one; None for the worst
      count_crowd   whether other people's flips are counted on; without it only fakes hide
      repeats       how often every record is sent, each time randomized afresh
    """
    if not count_crowd and ones is None:
        return _background(0, fakes, threshold, epsilon, repeats)
    others = users - 1
    if ones is not None:
        return _background(ones, others - ones + fakes, threshold, epsilon, repeats)

    def price(cell: Cell) -> Bracket:
        ((least, most),) = cell
        return _background(least, others - most + fakes, threshold, epsilon, repeats)

    return worst(price, ((0, others),), NEGLIGIBLE)


@lru_cache(maxsize=4096)
def _background(ones: int, zeros: int, threshold: int, epsilon: float, repeats: int) -> Bracket:
    """Both directions, the larger, for a known background."""
    q, p = threshold / SCALE, (SCALE - threshold) / SCALE
    law, cut = binomial_sum([(repeats * ones, p), (repeats * zeros, q)])
    pair, grow = own_bits(law, cut, p, q, repeats), math.exp(epsilon)
    return larger(divergence(pair, grow), divergence(pair.swapped(), grow))
