"""The exact divergence of a message with two outputs, in any crowd.

A person with value x sends output 1 with chance a_x. Let l be the least and h the largest of these
chances. Everybody else holds any value, and there are fakes whose law depends on no value. The
observer sees how many messages are 1. Then delta(epsilon), the largest over all crowds, both
values of the person and both directions, is the largest over m = 0..n-1 of the divergence between

    Bin(m, h) + Bin(n-1-m, l) + F + Bernoulli(h)  and  Bin(m, h) + Bin(n-1-m, l) + F + Bernoulli(l),

with F the number of ones among the fakes.

*Proof.* For a fixed set S of counts, P_u(S) - e^eps P_v(S) is affine in a_i of each other person i.
So moving each a_i in turn to l or to h, whichever is better, does not lower it, and only the number
m of people at h matters for the counts. The same difference is affine in a_u and in a_v of the
person as well, so that their extremes (l, h) and (h, l) are the worst. A sum of independent bits
has log-concave chances, so that the likelihood ratio rises with the count: the divergence is a sum
over a tail, in both directions. Fakes change the law of the background alone, which stays
log-concave where they are independent bits.

*The worst m* is searched for, and cells of values of m prove it. For the people whose values differ
within a cell, the observer is told all but the messages that they would send whatever they hold
(``sure_coins``): that never helps the person. Where l = 1 - h and all fakes are fair coins,
exchanging both outputs turns m into n-1-m and exchanges the directions: half of all m need to be
searched.

Source: proved here. For flipped bits among zeros: Notes 004, section 4 and Prop. 3.1.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mixtally.accounting.numerics.binomial_pairs import (
    BitChances,
    UpperTail,
    add_own_bits,
    tail_divergence,
    tail_divergences,
    upper_tail,
)
from mixtally.accounting.numerics.bracket import BoundArrays, Bracket, larger, larger_bounds
from mixtally.accounting.numerics.gap import NEGLIGIBLE, Gap
from mixtally.accounting.numerics.search import usual_cover
from mixtally.accounting.numerics.two_binomials import (
    add_binomial,
    add_certain_coins,
    count_certain_coins,
)
from mixtally.accounting.numerics.worst_datasets_1d import find_worst_1d
from mixtally.errors import EffortError
from mixtally.model.guarantee import LEAST_EPSILON
from mixtally.primitives import tails
from mixtally.primitives.memo import Memo

_MOST_PRODUCTS = 1 << 30
"""Allowed for the distribution of one crowd, about a second; a proof looks at hundreds."""
_MOST_FAIR = 1 << 24
"""Allowed for adding fair fakes to it: some hundredths of a second, as no recurrence does it."""
_MOST_BYTES = 64_000_000
_NEGLIGIBLE_DELTA = 1e-30
_TIMES_ENOUGH = 4.0
_GAP = Gap(1e-3)
_LONG = 6_000
"""Integers in a distribution of which a proof looks at fewer, to end within a second or so."""
_OWN = 64.0
"""So many of a person's own bits take as long as the others."""
_PARTS = 8
_FINEST, _FINEST_OF_LONG = 1 << 8, 1 << 5
"""Of so many parts the one nearest to the worst is below it by less than one in 10^5, in 10^3."""


class TwoOutputMessage(NamedTuple):
    """A message with two outputs.

    where
      chances   of output 1, for both values of a person
      repeats   how often every record is sent, each time randomized afresh
      fair      fakes that are a fair coin each
    """

    chances: BitChances
    repeats: int = 1
    fair: int = 0


class Directions(NamedTuple):
    """The two distributions of a known background in both directions, for many epsilons."""

    forward: UpperTail
    backward: UpperTail

    @property
    def nbytes(self) -> int:
        """Return the size of the arrays, a hundred kilobytes or so at most."""
        return self.forward.nbytes + self.backward.nbytes


def delta_in_known_crowd(
    bit: TwoOutputMessage, ones: int, zeros: int, epsilon: float, memo: Memo
) -> Bracket:
    """Return delta(epsilon) for a known background, the larger of both directions.

    Parameters
    ----------
    bit : Bit
        The message.
    ones, zeros : int
        How many other records hold the value with the higher and with the lower chance.
    epsilon : float
        Privacy loss in nats, at least 0.
    memo : Memo
        Keeps the distributions for later calls.
    """
    pair, grow = load_directions(bit, ones, zeros, memo), math.exp(epsilon)
    return larger(*(tail_divergence(one, grow) for one in pair))


def delta(
    bit: TwoOutputMessage,
    others: int,
    zeros: int,
    epsilon: float,
    memo: Memo | None = None,
    *,
    lower_only: bool = False,
) -> Bracket:
    """Return bounds of delta(epsilon) in the worst crowd.

    Parameters
    ----------
    bit : Bit
        The message.
    others : int
        People besides the person, who may hold any value.
    zeros : int
        Fakes that send what the value with the lower chance of a 1 sends.
    epsilon : float
        Privacy loss in nats, at least 0.
    memo : Memo, optional
        Keeps the distributions for later calls.
    lower_only : bool
        Whether the upper bound may be 1, which takes less time.

    Raises
    ------
    EffortError
        If the distribution of one crowd would take too long.
    """
    memo = memo or Memo(_MOST_BYTES)
    if bit.fair > (most := _count_enough_fair(bit, epsilon)):
        fewer = bit._replace(fair=most)
        upper = 1.0 if lower_only else delta_in_known_crowd(fewer, 0, 0, epsilon, memo).upper
        return Bracket(0.0, upper)
    most = _count_enough_records(bit, epsilon)
    if lower_only:
        given = bit, others, zeros, epsilon, memo
        return Bracket(0.0 if others + zeros > most else _largest_candidate_divergence(*given), 1.0)
    if others + zeros > most:
        found = delta(bit, min(others, most), max(0, most - others), epsilon, memo)
        return Bracket(0.0, found.upper)
    quick = any_crowd_upper(bit, others, zeros, epsilon, memo)
    if quick <= NEGLIGIBLE:
        return Bracket(0.0, quick)
    worst: Bracket = memo.get(
        ("worst", bit, others, zeros, epsilon),
        lambda: delta_at_several(bit, others, zeros, [epsilon], memo)[0],
    )
    return worst


def delta_at_several(
    bit: TwoOutputMessage,
    others: int,
    zeros: int,
    epsilons: Sequence[float],
    memo: Memo | None = None,
) -> list[Bracket]:
    """Return ``delta`` at several epsilons, whose proofs share their distributions.

    Raises EffortError as ``delta`` does.
    """
    memo = memo or Memo(_MOST_BYTES)
    check_work(bit, others + zeros)
    grows = np.exp(np.array(epsilons))
    suspects = {m for one in epsilons for m in _candidate_crowds(bit, others, zeros, one, memo)}

    def divergences(least: int, last: int) -> BoundArrays:
        given = bit, least, others - last + zeros, memo
        # Points serve other searches. Cells are many, and all epsilons are here.
        if least == last:
            pair = load_directions(*given)
        else:
            pair = _directions(
                *given, count_certain_coins(bit.repeats * (last - least), bit.chances)
            )
        return larger_bounds(*(tail_divergences(one, grows) for one in pair))

    gap, last = _gap(bit, others + zeros), _largest_ones(bit, others, zeros)
    return find_worst_1d(divergences, last, gap, epsilons, sorted(suspects)).to_list()


def expected_upper(
    bit: TwoOutputMessage, others: int, zeros: int, epsilon: float, memo: Memo | None = None
) -> float:
    """Return the upper bound that ``delta`` most likely proves, for searches that prove their end.

    It falls as messages tell less, and the upper bound of ``delta`` is above it only if another
    crowd is worse than all that were tried, by more than the gap that the proof leaves.
    """
    memo = memo or Memo(_MOST_BYTES)
    if bit.fair > _count_enough_fair(bit, epsilon):
        return delta(bit, others, zeros, epsilon, memo).upper
    most = _count_enough_records(bit, epsilon)
    zeros = min(zeros, max(0, most - others))
    others = min(others, most)
    found = _largest_candidate_divergence(bit, others, zeros, epsilon, memo)
    return min(1.0, float(_gap(bit, others + zeros).ceilings(np.array(found))))


def _largest_candidate_divergence(
    bit: TwoOutputMessage, others: int, zeros: int, epsilon: float, memo: Memo
) -> float:
    """Return the largest divergence of the crowds that may be the worst."""
    check_work(bit, others + zeros)
    points = (
        0,
        _largest_ones(bit, others, zeros),
        *_candidate_crowds(bit, others, zeros, epsilon, memo),
    )
    return max(
        delta_in_known_crowd(bit, m, others - m + zeros, epsilon, memo).lower for m in points
    )


def any_crowd_upper(
    bit: TwoOutputMessage, others: int, zeros: int, epsilon: float, memo: Memo | None = None
) -> float:
    """Return one bound for every crowd at once: half of the others hide, those with equal values.

    The fewer of ones and zeros are dropped, which never helps the person; so it is far above the
    divergence of any crowd, and costs one distribution, or two where outputs are not alike.
    """
    memo, every = memo or Memo(_MOST_BYTES), others + zeros
    fewer = min(every - every // 2, _count_enough_records(bit, epsilon))
    ways = ((0, fewer),) if bit.chances.is_symmetric else ((0, fewer), (fewer, 0))
    return max(delta_in_known_crowd(bit, *way, epsilon, memo).upper for way in ways)


def _largest_ones(bit: TwoOutputMessage, others: int, zeros: int) -> int:
    """Return the largest m that needs to be searched."""
    return min(others, (others + zeros) // 2) if bit.chances.is_symmetric else others


def _gap(bit: TwoOutputMessage, others: int) -> Gap:
    """Return how far above the largest divergence known a proof may end.

    Cells are as many as the gap is narrow, and each takes as long as its distribution.
    """
    longer = max(1.0, _length(bit, others) / _LONG)
    return _GAP.widen(longer**1.5)


def _length(bit: TwoOutputMessage, others: int) -> float:
    """Return how many integers a distribution has, with what a person's own repeats add to it."""
    return max(_widths(bit, others)) * (1.0 + bit.repeats / _OWN)


def _widths(bit: TwoOutputMessage, others: int) -> tuple[int, int]:
    """Return the lengths of the windows of so many zeros, and of so many ones."""
    chances = bit.chances
    rarer = (chances.low / chances.scale, chances.high_complement / chances.scale)
    low, high = (tails.window(bit.repeats * others, one) for one in rarer)
    return low.last - low.first, high.last - high.first


def check_work(bit: TwoOutputMessage, others: int) -> None:
    """Raise EffortError where the distribution of half ones, half zeros is too long."""
    low, high = _widths(bit, others // 2)
    work = (low + 1) * (high + 1 + 2 * bit.repeats)
    first, last = tails.window(bit.fair, 0.5)
    added = (low + high + 1) * (last - first)
    if work > _MOST_PRODUCTS or added > _MOST_FAIR:
        most, got = (_MOST_PRODUCTS, work) if work > _MOST_PRODUCTS else (_MOST_FAIR, added)
        chance = bit.chances.low / bit.chances.scale
        raise EffortError(
            "single bits",
            expected=f"a distribution that takes at most {most:.1e} products",
            got=f"{got:.1e} for {others:,} others sent {bit.repeats:,} times "
            f"with flips of {chance:.3g}",
            do="repeat less often, count on fewer people, or flip less for a larger epsilon",
        )


def load_directions(bit: TwoOutputMessage, ones: int, zeros: int, memo: Memo) -> Directions:
    """Return both directions for a known background."""
    found: Directions = memo.get(
        ("bit", bit, ones, zeros), lambda: _directions(bit, ones, zeros, memo)
    )
    return found


def _directions(
    bit: TwoOutputMessage, ones: int, zeros: int, memo: Memo, coins: int = 0
) -> Directions:
    """Return both directions of a known background, or of a cell with at least ``coins`` sure
    coins.
    """
    times, chances = bit.repeats, bit.chances
    found = add_certain_coins(times * ones, times * zeros, coins, chances, memo)
    pmf, cut, error = add_binomial(found, bit.fair, 1, 2, memo)
    pair = add_own_bits(pmf, cut, chances, times, error)
    return Directions(upper_tail(pair), upper_tail(pair.swap()))


def _count_enough_records(bit: TwoOutputMessage, epsilon: float) -> int:
    """Return how many other records hide a bit beyond all deltas that are promised.

    To drop records never helps the person, so more of them need not be looked at. Repeated k times
    a person moves the sum k times as far, and k times as many others hide as well.
    """
    chances = bit.chances
    return _required_cover(bit, epsilon, min(chances.low, chances.high_complement), chances.scale)


def _count_enough_fair(bit: TwoOutputMessage, epsilon: float) -> int:
    """Return how many fair coins do so."""
    return _required_cover(bit, epsilon, 1, 2)


def _required_cover(bit: TwoOutputMessage, epsilon: float, rarer: int, scale: int) -> int:
    if epsilon < LEAST_EPSILON:  # far below, where compositions look, everything counts
        return 1 << 62
    return math.ceil(
        _TIMES_ENOUGH * bit.repeats * usual_cover(epsilon, _NEGLIGIBLE_DELTA) * scale / rarer
    )


def _candidate_crowds(
    bit: TwoOutputMessage, others: int, zeros: int, epsilon: float, memo: Memo
) -> list[int]:
    """Return values of m that may be the worst.

    A one more moves the sum's mean by h - l and its lattice by 1. The divergence follows this
    difference: it rises and falls once until the difference is 1, at 1 / (1 - h + l) ones, and then
    again, less high. Eighths of this are tried, then halves of them on both sides of the best, and
    so on: on one lattice for all epsilons, so that the distributions of one serve the next. Where
    the outputs are not alike, zeros among ones are tried in the same way.
    """
    most, chances = _largest_ones(bit, others, zeros), bit.chances
    period = min(most, chances.scale // ((chances.low + chances.high_complement) * bit.repeats))
    finest = _FINEST_OF_LONG if _length(bit, others + zeros) >= _LONG else _FINEST

    def nearest(*, from_above: bool) -> int:
        lowers: dict[int, float] = {}
        parts = _PARTS

        def point(part: int) -> int:
            ones = period * part // parts
            return most - ones if from_above else ones

        def exact(part: int) -> float:
            if (ones := point(part)) not in lowers:
                lowers[ones] = delta_in_known_crowd(
                    bit, ones, others - ones + zeros, epsilon, memo
                ).lower
            return lowers[ones]

        best = max(range(parts + 1), key=exact)
        while parts < finest and parts < 2 * period:
            parts, best = 2 * parts, 2 * best
            near = (best, max(0, best - 1), min(parts, best + 1))
            best = max(near, key=exact)
        return point(best)

    ends = (False,) if chances.is_symmetric else (False, True)
    return [nearest(from_above=end) for end in ends]
