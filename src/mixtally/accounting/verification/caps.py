"""The cost of a cap on the number of ones in a message, in balls.

``derive`` uses this module. A message with more than ``cap`` ones is drawn again, so it has the
free distribution given at most ``cap`` ones. Its total variation distance from the free
distribution is the probability of a redraw. For M independent messages the distance is at most the
sum D of these probabilities. Let P and Q be the free distributions of two datasets that differ in
one record, and P' and Q' the capped ones. For every event E,

    P'(E) <= P(E) + D <= e^eps Q(E) + delta + D <= e^eps Q'(E) + delta + (1 + e^eps) D.

The same is true with free and capped exchanged, so the two deltas differ by at most (1 + e^eps) D.
"""

from fractions import Fraction

from mixtally.accounting.verification.balls import SCALE, arb, exact_ball
from mixtally.accounting.verification.binomials import Binomial


def overflow_chance(bins: int, ones: int, threshold: int, cap: int) -> arb:
    """Return the probability that more than ``cap`` of ``bins`` flipped bits are set.

    ``ones`` of the bits were set before the flips; ``threshold`` is the flip probability times
    2^64.
    """
    if cap >= bins:
        return arb(0)
    flip = Fraction(threshold, SCALE)
    stays = Binomial(ones, 1 - flip).points(0, ones) if ones else [arb(1)]
    rises = Binomial(bins - ones, flip)
    total = arb(0)
    for kept, chance in enumerate(stays):
        total += chance * _at_least(rises, cap - kept + 1)
    return total


def _at_least(binomial: Binomial, k: int) -> arb:
    return binomial.at_least(k) if binomial.trials else exact_ball(int(k <= 0))
