"""The exact divergence of clear-shaped with paired fakes, in integer arithmetic.

``in_clear`` uses this file. There are two bins. A mix draws k with probability F(k) from a table on
0, 1, .., T of integers over 2^64. It adds k fakes to the first bin and T - k to the second.

The number of all messages is public and does not depend on anybody's answer. So the observer sees
no more than the count of the first bin, which is the number of people in it plus k. The answers of
others are known at worst. A person who moves to the first bin raises this count by one, and a
person who moves away from it lowers this count by one. So delta is the larger of

    sum over k of (F(k-1) - e^eps F(k))_+    and    sum over k of (F(k) - e^eps F(k-1))_+

with k = 0, .., T + 1 and F zero outside the table. A table that is symmetric, like those of paired
shapes, makes both equal. Any one mix that draws honestly is sufficient: the fakes of all others are
independent of k, so adding them is post-processing.

A discrete Laplace distribution has |ln F(k-1) / F(k)| equal to its decay inside the table. With a
decay of at most eps, delta is F(0), the probability that the first bin has no fakes. Independent
bins need half this decay, because the person changes two counts that are seen separately.

Source: the geometric mechanism of Ghosh, Roughgarden, Sundararajan (2009), cut at both ends; any
other records only help (Notes 2020, Prop. 3.1).
"""

from mixtally.accounting.divergence.clear_shaped import GROW_BITS, exp_rounded_down
from mixtally.accounting.numerics.bracket import Bracket, bracket
from mixtally.primitives.fixed_point import SCALE

SOURCE = (
    "exact sum over the integers of the fakes in one of two bins, whose total is fixed; any other "
    "records only help (Notes 2020, Prop. 3.1)"
)


def delta(weights: tuple[int, ...], epsilon: float) -> Bracket:
    """Return delta(epsilon) if one of two bins gets k fakes with P[k] = weights[k] / 2^64.

    The other bin gets the rest of a fixed total.
    """
    grow = exp_rounded_down(epsilon)
    pairs = list(zip((0, *weights), (*weights, 0), strict=True))
    total = max(
        sum(max((here << GROW_BITS) - grow * there, 0) for here, there in pairs),
        sum(max((there << GROW_BITS) - grow * here, 0) for here, there in pairs),
    )
    return bracket(total / (SCALE << GROW_BITS), cut=2.0**-60 / SCALE)
