"""Records that are sent k times, each time randomized afresh, all rounds mixed together.

k rounds are a composition of one with itself, and mixing them is post-processing: that bounds every
distribution from above. Two things are known exactly or from below.

*Flipped blanks.* The likelihood ratio of a message for u depends on its bit a alone, so P_u / P_b,
the mean over k-subsets of products of ratios, depends on the number A of messages with that bit,
P_v / P_b on the number B. A is Bin(k fakes, q) plus the person's own k bits, B likewise,
independent: a product of two distributions on the integers, exact.

*One kind of message.* The divergence of the count of one kind of message is a lower bound: a sum of
binomials, one a sender of the others, plus Bin(k, u) or Bin(k, v).

Source: 003, k-randomization, section 4; post-processing.
"""

import math
from typing import NamedTuple

import numpy as np

from mixtally.accounting.numerics.binomial_pairs import (
    CONVOLUTION_ERROR,
    Pair,
    add_own_bits,
    convolve_flipped_bits,
    divergence,
    flip_chances,
    product_divergence,
)
from mixtally.accounting.numerics.bracket import Bracket, larger
from mixtally.model.guarantee import Observer
from mixtally.model.mechanism import BitFlips, UniformFakes
from mixtally.primitives import tails
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.memo import Memo

_MOST_PRODUCTS = 1 << 28
"""That are spent on a lower bound of repeated shaped fakes: a fifth of a second."""
_MOST_WORK = 1 << 22
"""Steps that are spent on a lower bound of repeated records: a fifth of a second."""
_BEST_KIND_FACTOR = 2
"""So many times as long may the distribution be of the kind that tells most."""
_MOST_KINDS = 24
_PRODUCTS = 64
"""Convolving takes as long as a step for so many products."""
_DEVIATIONS, _UNIT = 16.0, 2.0**-50
"""How far counts lie from their mean at most, and what a chance is wrong by, relatively."""
_UNKNOWN = 1e-3
"""With so much rounding nothing is known."""


class MessageKind(NamedTuple):
    """A kind of message: the chance that one is sent.

    where
      others   how many other senders there are, and the chance for each of them
      u, v     the chances of the person with either record
    """

    others: list[tuple[int, float]]
    u: float
    v: float


def delta_among_blanks(
    fakes: int, threshold: int, epsilon: float, copies: int, memo: Memo | None = None
) -> Bracket:
    """delta(epsilon) of one one-hot record sent ``copies`` times among as many flipped blanks."""
    chances = flip_chances(threshold)
    pair = add_own_bits(*convolve_flipped_bits(0, copies * fakes, chances, memo), chances, copies)
    return product_divergence(pair, pair.swap(), math.exp(epsilon))


def lower_bound(kinds: list[MessageKind], epsilon: float, copies: int) -> float:
    """The largest divergence of the count of one of ``kinds``, for a record sent ``copies``
    times; 0 where all are too long.

    Any of them is a lower bound: the one that tells most is looked at, then a few others and rare
    ones, whose distributions are short, while all together are not too long.
    """
    found, work = 0.0, 0
    ranked = sorted(kinds, key=_distinguishability, reverse=True)
    lengths = [(_length(kind, copies), kind) for kind in ranked]
    rare = sorted(lengths[_MOST_KINDS:], key=lambda pair: pair[0])[:_MOST_KINDS]
    some = [
        (cells // (1 if i else _BEST_KIND_FACTOR), kind) for i, (cells, kind) in enumerate(lengths)
    ]
    for cells, kind in sorted((*some[:_MOST_KINDS], *rare), key=lambda pair: pair[0]):
        work += cells
        if work > _MOST_WORK:
            break
        found = max(found, _kind_lower_bound(kind, epsilon, copies))
    return found


def _distinguishability(kind: MessageKind) -> float:
    """How far apart the chances of both records are, in deviations of what others send."""
    spread = math.sqrt(math.fsum(n * chance * (1.0 - chance) for n, chance in kind.others))
    return abs(kind.u - kind.v) / max(spread, 1.0)


def _length(kind: MessageKind, copies: int) -> int:
    """How many steps the distribution of its count takes."""
    windows = [tails.window(copies * n, chance) for n, chance in kind.others if n > 0]
    lengths = [last - first + 1 for first, last in windows]
    return sum(lengths) * (1 + copies) + (len(lengths) > 1) * math.prod(lengths) // _PRODUCTS


def _kind_lower_bound(kind: MessageKind, epsilon: float, copies: int) -> float:
    """A chance near one is known to some units in the last place of one: it tells as little of
    those who do not send the kind.
    """
    background, cut, error = np.ones(1), 0.0, CONVOLUTION_ERROR
    for count, chance in kind.others:
        if count > 0 and 0.0 < chance < 1.0:
            window = tails.window(copies * count, chance)
            background = np.convolve(background, tails.pmf(copies * count, chance, *window))
            cut += 2.0 * tails.CUT_TAIL
            error += _DEVIATIONS * _UNIT * math.sqrt(copies * count * chance / (1.0 - chance))
        elif chance >= 1.0:
            cut += copies * count * _UNIT
    high, low = max(kind.u, kind.v), min(kind.u, kind.v)
    if high < 1.0:
        error += copies * _UNIT / (1.0 - high)
    else:
        cut += copies * _UNIT
    if cut + error > _UNKNOWN:
        return 0.0
    pair = Pair(
        _convolve_person(background, high, copies),
        _convolve_person(background, low, copies),
        cut,
        error,
    )
    grow = math.exp(epsilon)
    return larger(divergence(pair, grow), divergence(pair.swap(), grow)).lower


def _convolve_person(background: tails.Floats, chance: float, copies: int) -> tails.Floats:
    """The background and a person who sends the kind ``copies`` times with ``chance``."""
    own = np.ones(1)
    for _ in range(copies):
        own = np.convolve(own, [1.0 - chance, chance])
    return np.convolve(background, own)


def shaped_lower_bound(weights: tuple[int, ...], epsilon: float, copies: int) -> float:
    """The divergence of one bin of ``copies`` rounds of shaped fakes; 0 where that is too long a
    sum.
    """
    if (len(weights) * copies) ** 2 > 2 * _MOST_PRODUCTS:
        return 0.0
    pmf = np.array([weight / SCALE for weight in weights])
    background = np.ones(1)
    for _ in range(copies):
        background = np.convolve(background, pmf)
    own = np.zeros(copies + 1)
    own[-1] = 1.0
    pair = Pair(np.convolve(background, own), np.convolve(background, own[::-1]), 0.0)
    return divergence(pair, math.exp(epsilon)).lower


def bit_count_kinds(distance: int, q: float, senders: list[tuple[int, float]]) -> list[MessageKind]:
    """Messages with at least t of ``distance`` bits that u has and nobody else, t = 1, 2, ..

    The chances that stand beside ``senders`` are those of one such bit.
    """

    def at_least(chance: float) -> list[float]:
        if not 0.0 < chance < 1.0:
            return [float(chance)] * (distance + 1)
        pmf = tails.pmf(distance, chance, 0, distance)
        return [min(1.0, float(tail)) for tail in np.cumsum(pmf[::-1])[::-1]]

    every = [at_least(chance) for _, chance in senders]
    u, v = at_least(1.0 - q), at_least(q)
    return [
        MessageKind([(n, tail[t]) for (n, _), tail in zip(senders, every, strict=True)], u[t], v[t])
        for t in range(1, distance + 1)
    ]


def flip_kinds(m: BitFlips, observer: Observer, known_ones: int | None) -> list[MessageKind]:
    """Kinds of one message of flipped bits, in the crowds that are known to be bad.

    ``known_ones`` of the others are known to hold a one, None for any crowd.
    """
    fakes, q, p = m.fakes.count, m.threshold / SCALE, (SCALE - m.threshold) / SCALE
    crowd = [(m.crowd - 1, q)] if m.crowd else []
    if observer is Observer.SUMS:  # random fakes are no worst case
        return [] if fakes else [MessageKind([(m.crowd - 1, q)], p, q)]
    if isinstance(m.fakes, UniformFakes):
        return [MessageKind([(fakes, q + (p - q) / m.bins), *crowd], p, q)]
    if m.max_set is None:
        distances = range(1, m.bins + 1) if known_ones is None else [m.bins]
        return [kind for d in distances for kind in bit_count_kinds(d, q, crowd)]
    most = min(m.max_set, m.bins)
    if not crowd:
        return bit_count_kinds(most, q, [(fakes, q)])
    if m.bins < 2 * most:
        return []
    # All others hold v: of its bits all are clear and of u's all are set.
    others = [(crowd[0][0], (q * q) ** most), (fakes, (p * q) ** most)]
    return [MessageKind(others, (p * p) ** most, (q * q) ** most)]
