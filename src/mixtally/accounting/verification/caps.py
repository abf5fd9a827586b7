"""What a cap on the ones of a message costs, in balls.

A message with more than ``cap`` ones is drawn again: its distribution is the free one given that
there are no more, which is as far from the free one, in total variation, as a free draw is likely
to have more. M such messages, independent, are M times as far at most. So for two collections that
differ in one record, P and Q when free and P', Q' when capped, and every event E,

    P'(E) <= P(E) + D <= e^eps Q(E) + delta + D <= e^eps Q'(E) + delta + (1 + e^eps) D,

and the other way round: the two deltas differ by (1 + e^eps) D at most, D the sum of the chances.
"""

from fractions import Fraction

from mixtally.accounting.verification.balls import arb, exact_ball
from mixtally.accounting.verification.binomials import Binomial

_SCALE = 1 << 64


def overflow_chance(bins: int, ones: int, threshold: int, cap: int) -> arb:
    """The chance that of ``bins`` flipped bits, ``ones`` of them set before, more than ``cap`` are.

    where
      threshold   flip probability times 2^64
    """
    if cap >= bins:
        return arb(0)
    flip = Fraction(threshold, _SCALE)
    stays = Binomial(ones, 1 - flip).points(0, ones) if ones else [arb(1)]
    rises = Binomial(bins - ones, flip)
    total = arb(0)
    for kept, chance in enumerate(stays):
        total += chance * _at_least(rises, cap - kept + 1)
    return total


def _at_least(binomial: Binomial, k: int) -> arb:
    return binomial.at_least(k) if binomial.trials else exact_ball(int(k <= 0))
