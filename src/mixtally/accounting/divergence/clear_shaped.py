"""The exact divergence of clear-shaped, in integer arithmetic, for the observer ``messages``.

``in_clear`` uses this file. A mix adds k fakes to a bin with probability F(k), a table of integers
over 2^64 from which the mix really draws.

*One value.* Two bins differ. They show s and t messages with probability P = F(s-1) F(t) under one
dataset and Q = F(s) F(t-1) under the other. So delta = sum of (P - e^eps Q)_+. A pair (s, t)
contributes if the ratio F(s-1) / F(s) exceeds e^eps times the ratio F(t-1) / F(t). Sorted ratios
and cumulative sums make the work O(M log M) for a table of M numbers.

Two events reveal the value with certainty: the bin that lost the record has no fakes, with
probability F(0), or the bin that gained it has more fakes than the table allows, with probability
F(M), about 2^-64. For a discrete Laplace distribution whose decay is at most eps / 2 no other pair
contributes, and delta is nearly F(0).

*A set of at most k of d bins* is sent as k messages of different cells out of d + k: its members,
and the first of the last k cells in place of missing members. Every cell has separate fakes. So a
cell that two sets share shows the same distribution under both, independent of all others, and is
left out. Of the cells of two sets U and V, r <= k of each remain. Pairing u_i with v_i, the
observer has the product of r independent pairs as above. This product results from k pairs by
ignoring k - r of them. Two sets without a common cell have k pairs; as d >= k, the full and the
empty set are an example. So *disjoint sets are the worst*. Delta is that of k composed messages, at
every epsilon and for both orders. The messages of other people are known and hide nobody. Each of
several collections contributes k messages. (Pads without fakes, or all in one cell, would reveal
the size of a set.)

Source: notes 004 (5.1)-(5.3) with F in place of the binomial; Prop. 3.1 for any dataset. The result
on sets is proved here.
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
GROW_BITS = 128
_MOST_BYTES = 64_000_000


class _RankedOutcomes(NamedTuple):
    """The possible counts s of one bin, sorted by rising ratio F(s-1) / F(s), for any epsilon.

    ``ratios`` has the ratio of each s in units of 2^-256. ``first`` has F(s-1) and ``second`` has
    F(s). ``sum_first`` and ``sum_second`` have cumulative sums of ``first`` and ``second``: entry i
    is the sum of the first i numbers, and the last entry is the sum of all numbers.
    """

    ratios: tuple[int, ...]
    first: tuple[int, ...]
    second: tuple[int, ...]
    sum_first: tuple[int, ...]
    sum_second: tuple[int, ...]

    @property
    def nbytes(self) -> int:
        """An upper bound of the memory of the integers, in bytes."""
        return 400 * len(self.ratios)


def _rank_outcomes(weights: tuple[int, ...]) -> _RankedOutcomes:
    """Return the outcomes by rising ratio for the table P[k] = weights[k] / 2^64."""
    cells = [(a, b) for a, b in zip((0, *weights), (*weights, 0), strict=True) if a or b]
    ratios = [_ratio(cell) for cell in cells]
    order = sorted(range(len(cells)), key=ratios.__getitem__)
    first, second = ([cells[i][side] for i in order] for side in (0, 1))
    sums = (tuple(accumulate(side, initial=0)) for side in (first, second))
    return _RankedOutcomes(tuple(ratios[i] for i in order), tuple(first), tuple(second), *sums)


def delta(weights: tuple[int, ...], epsilon: float, memo: Memo | None = None) -> Bracket:
    """Return delta(epsilon) if every bin gets k fakes with P[k] = weights[k] / 2^64.

    The distribution is symmetric under exchange of the two bins, so both orders have this delta.
    ``memo`` keeps the sorted table for later calls.
    """
    memo = memo or Memo(_MOST_BYTES)
    found: _RankedOutcomes = memo.get(("shaped", weights), lambda: _rank_outcomes(weights))
    grow, (ends, first, second, sum_first, sum_second) = exp_rounded_down(epsilon), found
    # In the second bin the roles are exchanged: F(t) belongs to P and F(t-1) to Q. For every s
    # count the t whose ratio times e^eps is below that of s; their number rises with s.
    none = bisect_right(ends, 0)  # t that are impossible under Q; most s count only these
    least = -(-(ends[none] + 1) * grow >> GROW_BITS)
    end = len(ends) - second.count(0)  # later s are impossible under Q: all t count
    begin = min(bisect_left(ends, least), end)
    limits = ((ratio << GROW_BITS) // grow for ratio in ends[begin:end])
    counts = [*map(bisect_left, repeat(ends), limits), *repeat(len(ends), len(ends) - end)]
    gained = sum_first[begin] * sum_second[none] + _products(first[begin:], sum_second, counts)
    lost = _products(second[begin:], sum_first, counts)
    # A pair within the rounding of the ratios may be counted; its contribution is below 2^-180.
    total = max((gained << GROW_BITS) - grow * lost, 0)
    return bracket(total / (SCALE * SCALE << GROW_BITS), cut=2.0**-60 / SCALE)


def _products(weights: Sequence[int], sums: Sequence[int], counts: Sequence[int]) -> int:
    return sum(map(mul, weights, map(sums.__getitem__, counts)))


def _ratio(cell: tuple[int, int]) -> int:
    """Return F(s-1) / F(s) in fixed point, or a ratio above all others if F(s) is 0."""
    a, b = cell
    return (a << _RATIO_BITS) // b if b else SCALE << (2 * _RATIO_BITS)


def exp_rounded_down(epsilon: float) -> int:
    """Return e^epsilon times 2^128, rounded down.

    A smaller factor makes a larger divergence, so rounding down gives an upper bound of it.
    """
    context = Context(prec=80, rounding=ROUND_FLOOR)
    power = context.exp(Decimal(epsilon))
    return int(context.multiply(power, Decimal(1 << GROW_BITS))) - 1
