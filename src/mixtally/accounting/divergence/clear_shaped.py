"""The exact divergence of clear-shaped, in integer arithmetic, observer ``messages``.

The two bins that differ show s and t with P = F(s-1) F(t) under one dataset, Q = F(s) F(t-1) under
the other, so delta = sum of (P - e^eps Q)_+. A pair counts when the ratio of the first coordinate
exceeds e^eps times the ratio of the second; sorting the ratios and summing cumulatively makes the
work O(M log M). F is the very table of integers over 2^64 that the mix draws from.

Two events tell for certain: the bin that lost the record shows no fakes, F(0), and the one that
gained it more than the table has, F(M), about 2^-64. Of a discrete Laplace whose decay is at most
eps / 2 no other pair counts, and delta is F(0) nearly.

*A set of at most k of d bins* is k messages of different cells of d + k: its members, and the first
of the last k cells for those that it lacks. Every cell has fakes of its own, so a cell that two
sets share shows one number in distribution whichever it is, apart from all others: it tells nothing
and is left out. Of U and V r cells each remain, r <= k, and with u_i and v_i exchanged for each
other the observer has the product of r independent pairs above. That is what is seen of k pairs by
whoever forgets k - r of them, and two sets that share no cell are as many: the full and the empty
one, as d >= k. So *disjoint sets are the worst*, delta is that of k messages composed, at every
epsilon and in both directions, and other people's messages, which are known, help nobody. Several
collections are k rounds each. (Pads without fakes, or all in one cell, would tell a set's size.)

Source: notes 004 (5.1)-(5.3) with F in place of the binomial; Prop. 3.1 for any dataset. Of sets
proved here.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from decimal import ROUND_FLOOR, Context, Decimal
from itertools import accumulate, repeat
from operator import mul
from typing import NamedTuple

from mixtally.accounting.numerics.bracket import Bracket, bracket
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.memo import Memo

SOURCE = (
    "exact sum over the shaped distribution's integers (Notes 2020, section 5.1, with a shaped "
    "distribution); any other records only help (Notes 2020, Prop. 3.1)"
)
_RATIO_BITS = 256
_GROW_BITS = 128
_MOST_BYTES = 64_000_000


class _RankedOutcomes(NamedTuple):
    """Both bins' chances by rising ratio F(s-1) / F(s), for any number of epsilons.

    where
      ratios        in units of 2^-256
      first         F(s-1) of each
      second        F(s) of each
      sum_first     of all before each place, the last of all
      sum_second    likewise
    """

    ratios: tuple[int, ...]
    first: tuple[int, ...]
    second: tuple[int, ...]
    sum_first: tuple[int, ...]
    sum_second: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """What its integers take, at most."""
        return 400 * len(self.ratios)


def _rank_outcomes(weights: tuple[int, ...]) -> _RankedOutcomes:
    """The chances of k fakes in a bin, P[k] = weights[k] / 2^64, by rising ratio."""
    cells = [(a, b) for a, b in zip((0, *weights), (*weights, 0), strict=True) if a or b]
    ratios = [_ratio(cell) for cell in cells]
    order = sorted(range(len(cells)), key=ratios.__getitem__)
    first, second = ([cells[i][side] for i in order] for side in (0, 1))
    sums = (tuple(accumulate(side, initial=0)) for side in (first, second))
    return _RankedOutcomes(tuple(ratios[i] for i in order), tuple(first), tuple(second), *sums)


def delta(weights: tuple[int, ...], epsilon: float, memo: Memo | None = None) -> Bracket:
    """delta(epsilon) of one record when every bin gets k fakes with P[k] = weights[k] / 2^64.

    The distribution is symmetric under exchange of the two bins, so both directions are this
    number. ``memo`` holds what further calls of the same weights need not sort again.
    """
    memo = memo or Memo(_MOST_BYTES)
    found: _RankedOutcomes = memo.get(("shaped", weights), lambda: _rank_outcomes(weights))
    grow, (ends, first, second, sum_first, sum_second) = _exp_rounded_down(epsilon), found
    # For the second bin the roles are swapped: Q counts F(t-1), P counts F(t). For every s count t
    # whose ratio times e^eps is below its own: more of them from one s to the next.
    none = bisect_right(ends, 0)  # t that Q never shows; most s count no other
    least = -(-(ends[none] + 1) * grow >> _GROW_BITS)
    end = len(ends) - second.count(0)  # beyond it s that Q never shows: all t count
    begin = min(bisect_left(ends, least), end)
    limits = ((ratio << _GROW_BITS) // grow for ratio in ends[begin:end])
    counts = [*map(bisect_left, repeat(ends), limits), *repeat(len(ends), len(ends) - end)]
    gained = sum_first[begin] * sum_second[none] + _products(first[begin:], sum_second, counts)
    lost = _products(second[begin:], sum_first, counts)
    # A pair at the limit of the ratios' digits may be taken for one beyond it: it is below 2^-180.
    total = max((gained << _GROW_BITS) - grow * lost, 0)
    return bracket(total / (SCALE * SCALE << _GROW_BITS), cut=2.0**-60 / SCALE)


def _products(weights: Sequence[int], sums: Sequence[int], counts: Sequence[int]) -> int:
    return sum(map(mul, weights, map(sums.__getitem__, counts)))


def _ratio(cell: tuple[int, int]) -> int:
    """F(s-1) / F(s) in fixed point; a ratio above any other when F(s) is 0."""
    a, b = cell
    return (a << _RATIO_BITS) // b if b else SCALE << (2 * _RATIO_BITS)


def _exp_rounded_down(epsilon: float) -> int:
    """e^epsilon times 2^128, rounded down: a smaller factor makes a larger divergence."""
    context = Context(prec=80, rounding=ROUND_FLOOR)
    power = context.exp(Decimal(epsilon))
    return int(context.multiply(power, Decimal(1 << _GROW_BITS))) - 1
