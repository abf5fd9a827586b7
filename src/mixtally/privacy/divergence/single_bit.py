"""A single bit, flipped with q, among fake zeros and, if counted, the crowd's own flipped bits.

With m ones and z zeros in the background the tallied sum is Bin(m, p) + Bin(z, q) plus the person's
bit; ``messages`` and ``sums`` see the same. The distribution of the background is log-concave, so
the likelihood ratio rises with the sum and the divergence is a sum over a tail, in both directions.

Fakes alone cover every dataset. With the crowd counted the worst number of ones is searched, and
cells of them prove the upper bound: of people whose bits differ within a cell the observer is told
all but the fair coins, which they flip whatever they hold. With all bits exchanged m ones and z
zeros are z ones and m zeros, seen in the other direction: only the fewer of the two need to be
searched.

Source: notes 004 section 4 and Prop. 3.1.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mixtally.errors import EffortError
from mixtally.ground import tails
from mixtally.ground.fixed import SCALE
from mixtally.ground.memo import Memo
from mixtally.privacy.numerics.binomial_pairs import (
    UpperTail,
    own_bits,
    tail_divergence,
    tail_divergences,
    upper_tail,
)
from mixtally.privacy.numerics.bracket import Bracket, Ends, larger, larger_ends
from mixtally.privacy.numerics.gap import NEGLIGIBLE, Gap
from mixtally.privacy.numerics.search import usual_cover
from mixtally.privacy.numerics.two_binomials import sure_coins, with_coins
from mixtally.privacy.numerics.worst_on_line import worst_on_line
from mixtally.records.guarantee import LEAST_EPSILON

_MOST_PRODUCTS = 1 << 30
"""Allowed for the distribution of one crowd, about a second; a proof looks at hundreds."""
_MOST_BYTES = 64_000_000
_NEVER = 1e-30
_TIMES_ENOUGH = 4.0
SOURCE = (
    "exact distribution of the sum of flipped bits (Notes 2020, section 4); Prop. 3.1 for any "
    "dataset"
)
_GAP = Gap(1e-3)
_LONG = 6_000
"""Integers in a distribution of which a proof looks at fewer, to end within a second or so."""
_OWN = 64.0
"""So many of a person's own bits take as long as the others."""
_PARTS = 8
_FINEST, _FINEST_OF_LONG = 1 << 8, 1 << 5
"""Of so many parts the one nearest to the worst is below it by less than one in 10^5, in 10^3."""


def delta(
    users: int,
    fakes: int,
    threshold: int,
    epsilon: float,
    ones: int | None = None,
    *,
    count_crowd: bool = False,
    repeats: int = 1,
    memo: Memo | None = None,
    lower_alone: bool = False,
) -> Bracket:
    """delta(epsilon) of one bit.

    where
      fakes         flipped zeros that certainly arrive
      ones          how many of the other ``users`` - 1 people hold a one; None for the worst
      count_crowd   whether other people's flips are counted on; without it only fakes hide
      repeats       how often every record is sent, each time randomized afresh
      memo          what this and later calls compute once
      lower_alone   whether the upper bound may be one where the worst crowd is searched for
    """
    memo = memo or Memo(_MOST_BYTES)
    if not count_crowd and ones is None:
        return _background(0, fakes, threshold, epsilon, repeats, memo)
    others = users - 1
    if ones is not None:
        return _background(ones, others - ones + fakes, threshold, epsilon, repeats, memo)
    most = _enough(threshold, epsilon, repeats)
    if lower_alone:
        crowd = others, fakes, threshold, epsilon, repeats, memo
        return Bracket(0.0 if others + fakes > most else _largest_known(*crowd), 1.0)
    if others + fakes > most:
        fewer = min(others, most) + 1, max(0, most - others), threshold, epsilon
        found = delta(*fewer, count_crowd=True, repeats=repeats, memo=memo)
        return Bracket(0.0, found.upper)
    quick = any_crowd(users, fakes, threshold, epsilon, repeats=repeats, memo=memo)
    if quick <= NEGLIGIBLE:
        return Bracket(0.0, quick)
    worst: Bracket = memo.get(
        ("worst", users, fakes, threshold, epsilon, repeats),
        lambda: at_once(users, fakes, threshold, [epsilon], repeats=repeats, memo=memo)[0],
    )
    return worst


def at_once(
    users: int,
    fakes: int,
    threshold: int,
    epsilons: Sequence[float],
    *,
    repeats: int = 1,
    memo: Memo | None = None,
) -> list[Bracket]:
    """``delta`` of the worst crowd at several epsilons, whose proofs share their distributions."""
    memo, others = memo or Memo(_MOST_BYTES), users - 1
    check_work(others + fakes, threshold, repeats)
    grows = np.exp(np.array(epsilons))
    crowd = (others, fakes, threshold)
    suspects = [_suspects(*crowd, epsilon, repeats, memo) for epsilon in epsilons]
    most = suspects[0][0]

    def divergences(least: int, last: int) -> Ends:
        known = (least, others - last + fakes, threshold, repeats, memo)
        # Points serve other searches. Cells are many, and all epsilons are here.
        if least == last:
            pair = remembered(*known)
        else:
            pair = _directions(*known, sure_coins(repeats * (last - least), threshold))
        return larger_ends(*(tail_divergences(one, grows) for one in pair))

    peaks = sorted({peak for _, peak in suspects})
    gap = _gap(others + fakes, threshold, repeats)
    return worst_on_line(divergences, most, gap, epsilons, peaks).each()


def expected_upper(
    users: int,
    fakes: int,
    threshold: int,
    epsilon: float,
    *,
    repeats: int = 1,
    memo: Memo | None = None,
) -> float:
    """What ``delta`` should prove of the worst crowd; a search may use it and prove its end.

    It falls as q grows, and the upper bound of ``delta`` is above it only if another crowd is worse
    than all that were tried, by more than the gap that the proof leaves.
    """
    memo = memo or Memo(_MOST_BYTES)
    most = _enough(threshold, epsilon, repeats)
    fakes = min(fakes, max(0, most - users + 1))
    others = min(users - 1, most)
    found = _largest_known(others, fakes, threshold, epsilon, repeats, memo)
    gap = _gap(others + fakes, threshold, repeats)
    return min(1.0, float(gap.ceilings(np.array(found))))


def _largest_known(
    others: int, fakes: int, threshold: int, epsilon: float, repeats: int, memo: Memo
) -> float:
    """The largest divergence of the crowds that may be the worst."""
    check_work(others + fakes, threshold, repeats)
    return max(
        _background(ones, others - ones + fakes, threshold, epsilon, repeats, memo).lower
        for ones in (0, *_suspects(others, fakes, threshold, epsilon, repeats, memo))
    )


def any_crowd(
    users: int,
    fakes: int,
    threshold: int,
    epsilon: float,
    *,
    repeats: int = 1,
    memo: Memo | None = None,
) -> float:
    """One bound for every crowd at once: half of the others hide, those who hold the same.

    The fewer of ones and zeros are dropped, which never helps the person; so it is far above the
    divergence of any crowd, and costs one distribution.
    """
    others = users - 1 + fakes
    fewer = min(others - others // 2, _enough(threshold, epsilon, repeats))
    memo = memo or Memo(_MOST_BYTES)
    return _background(0, fewer, threshold, epsilon, repeats, memo).upper


def _gap(others: int, threshold: int, repeats: int) -> Gap:
    """How far above the largest divergence known a proof may end.

    Cells are as many as the gap is narrow, and each takes as long as its distribution.
    """
    longer = max(1.0, _length(others, threshold, repeats) / _LONG)
    return _GAP.wider(longer**1.5)


def _length(others: int, threshold: int, repeats: int) -> float:
    """Integers in the distribution of so many others, and what a person's own repeats add to it."""
    first, last = tails.window(repeats * others, threshold / SCALE)
    return (last - first) * (1.0 + repeats / _OWN)


def check_work(others: int, threshold: int, repeats: int) -> None:
    """Raises EffortError where the distribution of half ones, half zeros is too long."""
    q = threshold / SCALE
    first, last = tails.window(repeats * (others // 2), q)
    work = (last - first + 1) * (last - first + 1 + 2 * repeats)
    if work > _MOST_PRODUCTS:
        raise EffortError(
            "single bits",
            wanted=f"a distribution that takes at most {_MOST_PRODUCTS:.1e} products",
            got=f"{work:.1e} for {others:,} others sent {repeats:,} times with flips of {q:.3g}",
            do="repeat less often, count on fewer people, or flip less for a larger epsilon",
        )


def _background(
    ones: int,
    zeros: int,
    threshold: int,
    epsilon: float,
    repeats: int,
    memo: Memo,
) -> Bracket:
    """Both directions, the larger, for a known background."""
    pair = remembered(ones, zeros, threshold, repeats, memo)
    grow = math.exp(epsilon)
    return larger(*(tail_divergence(one, grow) for one in pair))


def remembered(ones: int, zeros: int, threshold: int, repeats: int, memo: Memo) -> "_Directions":
    """Both directions for a known background."""
    found: _Directions = memo.get(
        ("bit", ones, zeros, threshold, repeats),
        lambda: _directions(ones, zeros, threshold, repeats, memo),
    )
    return found


class _Directions(NamedTuple):
    """The pair of a known background in both directions: a composition needs many epsilons."""

    forward: UpperTail
    backward: UpperTail

    @property
    def nbytes(self) -> int:
        """What their arrays take, a hundred kilobytes or so at most."""
        return self.forward.nbytes + self.backward.nbytes


def _directions(
    ones: int, zeros: int, threshold: int, repeats: int, memo: Memo, coins: int = 0
) -> _Directions:
    """Of a known background, or of a cell, of whose bits at least ``coins`` are fair."""
    q, p = threshold / SCALE, (SCALE - threshold) / SCALE
    pmf, cut, error = with_coins(repeats * ones, repeats * zeros, coins, threshold, memo)
    pair = own_bits(pmf, cut, p, q, repeats, error)
    return _Directions(upper_tail(pair), upper_tail(pair.swapped()))


def _enough(threshold: int, epsilon: float, repeats: int) -> int:
    """So many other records hide a bit beyond all deltas that are promised.

    To drop records never helps the person, so more of them need not be looked at. Repeated k times
    a person moves the sum k times as far, and k times as many others hide as well.
    """
    if epsilon < LEAST_EPSILON:  # far below, where compositions look, everything counts
        return 1 << 62
    return math.ceil(_TIMES_ENOUGH * repeats * usual_cover(epsilon, _NEVER) * SCALE / threshold)


def _suspects(
    others: int, fakes: int, threshold: int, epsilon: float, repeats: int, memo: Memo
) -> tuple[int, int]:
    """The most ones that need to be searched, and a number of them that may be the worst.

    A one more moves the sum's mean by 1 - 2q and its lattice by 1. The divergence follows this
    difference: it rises and falls once until the difference is 1, at 1 / (2q) ones, and then again,
    less high. Eighths of this are tried, then halves of them on both sides of the best, and so on:
    on one lattice for all epsilons, so that the distributions of one serve the next.
    """
    known: dict[int, float] = {}

    def exact(part: int) -> float:
        ones = period * part // parts
        if ones not in known:
            zeros = others - ones + fakes
            known[ones] = _background(ones, zeros, threshold, epsilon, repeats, memo).lower
        return known[ones]

    most = min(others, (others + fakes) // 2)
    period = min(most, SCALE // (2 * threshold * repeats))
    parts = _PARTS
    finest = _FINEST_OF_LONG if _length(others + fakes, threshold, repeats) >= _LONG else _FINEST
    best = max(range(parts + 1), key=exact)
    while parts < finest and parts < 2 * period:
        parts, best = 2 * parts, 2 * best
        near = (best, max(0, best - 1), min(parts, best + 1))
        best = max(near, key=exact)
    return most, period * best // parts
