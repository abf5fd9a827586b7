"""The exact divergence of a message with two outputs, in the worst crowd.

``single_bit``, ``one_hot`` and ``kary_response`` use this file.

*Statement.* A person with value x sends output 1 with probability a_x. Let l be the smallest and h
the largest of these probabilities. All other people hold arbitrary values, and the distribution of
the fakes depends on no value. The observer sees how many messages are 1. Then delta(epsilon), the
largest over all crowds, both values of the person and both orders, is the largest over m = 0..n-1
of the divergence between

    Bin(m, h) + Bin(n-1-m, l) + F + Bernoulli(h)  and  Bin(m, h) + Bin(n-1-m, l) + F + Bernoulli(l),

with F the number of ones among the fakes.

*Proof.* For a fixed set S of counts, P_u(S) - e^eps P_v(S) is affine in the a_i of each other
person i. So moving each a_i in turn to l or to h, whichever is better, does not lower it. Then only
the number m of people at h matters. The same difference is affine in the a_u and the a_v of the
person, so the extremes (l, h) and (h, l) are the worst. A sum of independent bits has log-concave
probabilities, so the likelihood ratio rises with the count. Therefore the divergence is a sum over
a tail, for both orders. Fakes only change the distribution of the background, which stays
log-concave if they are independent bits.

*The worst m* is found by a search and proved by cells of values of m. For the people whose values
differ within a cell, the observer learns all messages except those that do not depend on the value
(``count_certain_coins``). This never lowers the divergence. If l = 1 - h and all fakes are fair
coins, exchanging both outputs turns m into n-1-m and exchanges the orders. Then half of all m are
sufficient.

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
"""Products allowed for the distribution of one crowd, about a second; a proof computes hundreds."""
_MOST_FAIR = 1 << 24
"""Products allowed for adding fair fakes: some hundredths of a second, as no recurrence exists."""
_MOST_BYTES = 64_000_000
_NEGLIGIBLE_DELTA = 1e-30
_TIMES_ENOUGH = 4.0
"""Safety factor on the number of records that makes delta negligible."""
_GAP = Gap(1e-3)
_LONG = 6_000
"""Length of a distribution from which on proofs use fewer cells, to end within about a second."""
_OWN = 64.0
"""Number of a person's own bits that take as long as all others."""
_PARTS = 8
"""Number of parts into which the range of m is first divided."""
_FINEST, _FINEST_OF_LONG = 1 << 8, 1 << 5
"""Number of parts in the finest division of the range of m, for short and long distributions.

The best of these parts is below the worst crowd by less than 10^-5, or 10^-3, relatively.
"""


class TwoOutputMessage(NamedTuple):
    """A message with two outputs.

    ``chances`` are the probabilities of output 1 for both values of a person. Every record is sent
    ``repeats`` times, randomized anew each time. ``fair`` fakes are fair coins.
    """

    chances: BitChances
    repeats: int = 1
    fair: int = 0


class Directions(NamedTuple):
    """The tails of both distributions for a known background, for each order of the two values."""

    forward: UpperTail
    backward: UpperTail

    @property
    def nbytes(self) -> int:
        """The size of the arrays, about a hundred kilobytes at most."""
        return self.forward.nbytes + self.backward.nbytes


def delta_in_known_crowd(
    bit: TwoOutputMessage, ones: int, zeros: int, epsilon: float, memo: Memo
) -> Bracket:
    """Return delta(epsilon) for a known background, for the worse order of the values.

    ``ones`` and ``zeros`` are the numbers of other records with the higher and the lower
    probability of output 1. ``memo`` keeps the distributions for later calls.
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
    bit : TwoOutputMessage
        The probabilities of output 1 for both values, the repeats, and the fakes that are fair
        coins.
    others : int
        The number of other people, who may hold any value.
    zeros : int
        The number of fakes with the distribution of the value that sends a 1 less often.
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
        # Only single datasets are kept in the memo: no other search uses the many cells.
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
    """Return the upper bound that ``delta`` probably proves, for searches that prove their result.

    The bound falls as messages reveal less. The proved bound is larger only if some other crowd is
    worse than all that were tried, by more than the gap of the proof.
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
    ones = find_worst_candidate(bit, others, zeros, epsilon, memo)
    return delta_in_known_crowd(bit, ones, others - ones + zeros, epsilon, memo).lower


def find_worst_candidate(
    bit: TwoOutputMessage, others: int, zeros: int, epsilon: float, memo: Memo
) -> int:
    """Return the number of others with the higher probability, in the worst crowd that was tried.

    Raises EffortError as ``delta`` does.
    """
    check_work(bit, others + zeros)
    points = (
        0,
        _largest_ones(bit, others, zeros),
        *_candidate_crowds(bit, others, zeros, epsilon, memo),
    )
    return max(
        points,
        key=lambda m: delta_in_known_crowd(bit, m, others - m + zeros, epsilon, memo).lower,
    )


def any_crowd_upper(
    bit: TwoOutputMessage, others: int, zeros: int, epsilon: float, memo: Memo | None = None
) -> float:
    """Return one upper bound that covers every crowd.

    At least half of the others hold equal values. The rest of the others are dropped, which never
    lowers the divergence. The bound is far above the divergence of any crowd. It takes one
    distribution, or two if the outputs are not symmetric.
    """
    memo, every = memo or Memo(_MOST_BYTES), others + zeros
    fewer = min(every - every // 2, _count_enough_records(bit, epsilon))
    ways = ((0, fewer),) if bit.chances.is_symmetric else ((0, fewer), (fewer, 0))
    return max(delta_in_known_crowd(bit, *way, epsilon, memo).upper for way in ways)


def _largest_ones(bit: TwoOutputMessage, others: int, zeros: int) -> int:
    """Return the largest number of others with the higher probability that must be searched."""
    return min(others, (others + zeros) // 2) if bit.chances.is_symmetric else others


def _gap(bit: TwoOutputMessage, others: int) -> Gap:
    """Return the accepted distance of a proved bound from the largest divergence found.

    The number of cells is inversely proportional to the gap, and each takes as long as its
    distribution.
    """
    longer = max(1.0, _length(bit, others) / _LONG)
    return _GAP.widen(longer**1.5)


def _length(bit: TwoOutputMessage, others: int) -> float:
    """Return the number of integers in a distribution, including the person's own repeats."""
    return max(_widths(bit, others)) * (1.0 + bit.repeats / _OWN)


def _widths(bit: TwoOutputMessage, others: int) -> tuple[int, int]:
    """Return the window lengths of two sums of ``others`` bits, for all zeros and for all ones."""
    chances = bit.chances
    rarer = (chances.low / chances.scale, chances.high_complement / chances.scale)
    low, high = (tails.window(bit.repeats * others, one) for one in rarer)
    return low.last - low.first, high.last - high.first


def check_work(bit: TwoOutputMessage, others: int) -> None:
    """Raise EffortError if the distribution of half ones, half zeros is too long."""
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
    """Return the tail sums of the pair (P, Q) and of the pair (Q, P), from ``memo`` if it has them.

    The background is known: ``ones`` other people have a one, and ``zeros`` others have a zero.
    """
    found: Directions = memo.get(
        ("bit", bit, ones, zeros), lambda: _directions(bit, ones, zeros, memo)
    )
    return found


def _directions(
    bit: TwoOutputMessage, ones: int, zeros: int, memo: Memo, coins: int = 0
) -> Directions:
    """Return the tails in both orders for a known background, or for a cell of backgrounds.

    In a cell, ``coins`` further messages have a distribution that is the same for both values.
    """
    times, chances = bit.repeats, bit.chances
    found = add_certain_coins(times * ones, times * zeros, coins, chances, memo)
    pmf, cut, error = add_binomial(found, bit.fair, 1, 2, memo)
    pair = add_own_bits(pmf, cut, chances, times, error)
    return Directions(upper_tail(pair), upper_tail(pair.swap()))


def _count_enough_records(bit: TwoOutputMessage, epsilon: float) -> int:
    """Return a number of other records that makes delta negligible.

    Dropping records never lowers the divergence, so more records need not be considered. If every
    record is repeated k times, the person moves the sum k times as far, and k times as many records
    hide it.
    """
    chances = bit.chances
    return _required_cover(bit, epsilon, min(chances.low, chances.high_complement), chances.scale)


def _count_enough_fair(bit: TwoOutputMessage, epsilon: float) -> int:
    """Return a number of fair coins that makes delta negligible."""
    return _required_cover(bit, epsilon, 1, 2)


def _required_cover(bit: TwoOutputMessage, epsilon: float, rarer: int, scale: int) -> int:
    """Return how many records make delta negligible.

    Each of these records hides the person's record with probability ``rarer`` / ``scale``.
    """
    if epsilon < LEAST_EPSILON:  # compositions evaluate such epsilons, where all records count
        return 1 << 62
    return math.ceil(
        _TIMES_ENOUGH * bit.repeats * usual_cover(epsilon, _NEGLIGIBLE_DELTA) * scale / rarer
    )


def _candidate_crowds(
    bit: TwoOutputMessage, others: int, zeros: int, epsilon: float, memo: Memo
) -> list[int]:
    """Return values of m that may be the worst.

    One more person at h moves the mean of the sum by h - l and its lattice by 1. The divergence
    depends on the difference between both moves, which is m (1 - h + l) for m people. The
    divergence rises and falls once until this difference is 1, at m = 1 / (1 - h + l), and then
    again, less high. Eighths of this period are tried, then halves of them on both sides of the
    best, and so on. The tried m are the same for all epsilons, so that distributions are reused. If
    the outputs are not symmetric, a few zeros among ones are tried in the same way.
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
