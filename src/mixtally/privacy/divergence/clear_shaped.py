"""The exact divergence of clear-shaped, in integer arithmetic, observer ``messages``.

The two bins that differ show s and t with P = F(s-1) F(t) under one dataset, Q = F(s) F(t-1) under
the other, so delta = sum of (P - e^eps Q)_+. A pair counts when the ratio of the first coordinate
exceeds e^eps times the ratio of the second; sorting the ratios and summing cumulatively makes the
work O(M log M). F is the very table of integers over 2^64 that the mix draws from.

Source: notes 004 (5.1)-(5.3) with F in place of the binomial; Prop. 3.1 for any dataset.
"""

from bisect import bisect_left
from decimal import ROUND_FLOOR, Context, Decimal
from itertools import accumulate

from mixtally.ground.fixed import SCALE
from mixtally.privacy.numerics.bracket import Bracket, bracket

SOURCE = (
    "exact sum over the shaped law's integers (Notes 2020, section 5.1, with a shaped law); any "
    "other records only help (Notes 2020, Prop. 3.1)"
)
_RATIO_BITS = 256
_GROW_BITS = 128


def delta(weights: tuple[int, ...], epsilon: float) -> Bracket:
    """delta(epsilon) of one record when every bin gets k fakes with P[k] = weights[k] / 2^64.

    The distribution is symmetric under exchange of the two bins, so both directions are this
    number.
    """
    grow = _exp_below(epsilon)
    with_record = (0, *weights)  # F(s-1)
    without = (*weights, 0)  # F(s)
    cells = [(a, b) for a, b in zip(with_record, without, strict=True) if a or b]
    ratios = [_ratio(cell) for cell in cells]
    # For the second bin the roles are swapped: Q counts F(t-1), P counts F(t).
    order = sorted(range(len(cells)), key=ratios.__getitem__)
    ranked = [ratios[i] for i in order]
    sum_p = list(accumulate((cells[i][1] for i in order), initial=0))
    sum_q = list(accumulate((cells[i][0] for i in order), initial=0))
    total = 0
    for (a, b), ratio in zip(cells, ratios, strict=True):
        # how many t have ratio(t) e^eps < ratio(s)
        count = bisect_left(ranked, (ratio << _GROW_BITS) // grow) if b else len(ranked)
        if count:
            gain = (a * sum_p[count] << _GROW_BITS) - grow * b * sum_q[count]
            total += max(gain, 0)  # a tie at the limit of the ratio's digits, below 2^-200
    return bracket(total / (SCALE * SCALE << _GROW_BITS), cut=2.0**-60 / SCALE)


def _ratio(cell: tuple[int, int]) -> int:
    """F(s-1) / F(s) in fixed point; a ratio above any other when F(s) is 0."""
    a, b = cell
    return (a << _RATIO_BITS) // b if b else SCALE << (2 * _RATIO_BITS)


def _exp_below(epsilon: float) -> int:
    """e^epsilon times 2^128, rounded down: a smaller factor makes a larger divergence."""
    context = Context(prec=80, rounding=ROUND_FLOOR)
    power = context.exp(Decimal(epsilon))
    return int(context.multiply(power, Decimal(1 << _GROW_BITS))) - 1
