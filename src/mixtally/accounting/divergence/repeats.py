"""Records that are sent k times, each time randomized anew, with all rounds mixed.

``bit_flips``, ``in_clear`` and ``kary_response`` use this file. The k rounds are a composition, and
mixing them is post-processing, so the composition is an upper bound. Two cases are known better.

*Flipped blanks, exact.* Let u be the record with bit a and v the record with bit b, and let P_0 be
the distribution if all messages are blanks. The likelihood ratio of a message for u depends only on
its bit a. P_u / P_0 is the mean over k-subsets of products of ratios. So it depends on the number A
of messages with this bit, and P_v / P_0 on the number B of messages with bit b. A is Bin(k fakes,
q) plus the person's own k bits, and B likewise. Both are independent, so the result is a product of
two distributions on the integers.

*One kind of message, lower bound.* The divergence of the number of messages of one kind is a lower
bound. This number is a sum of binomial numbers, one for each group of other senders, plus Bin(k, u)
or Bin(k, v).

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
"""Products allowed for a lower bound of repeated shaped fakes: a fifth of a second."""
_MOST_WORK = 1 << 22
"""Steps allowed for a lower bound of repeated records: a fifth of a second."""
_BEST_KIND_FACTOR = 2
"""Factor by which the distribution of the most informative kind may be longer than others."""
_MOST_KINDS = 24
_PRODUCTS = 64
"""Products of a convolution that take as long as one step."""
_DEVIATIONS, _UNIT = 16.0, 2.0**-50
"""Range of counts in standard deviations, and relative error of a probability."""
_UNKNOWN = 1e-3
"""Rounding error from which on no lower bound is stated."""


class MessageKind(NamedTuple):
    """A kind of message and the probabilities that it is sent.

    ``others`` has pairs: a number of other senders, and the probability with which each of them
    sends this kind. ``u`` and ``v`` are the probabilities for the person, with record u and with
    record v.
    """

    others: list[tuple[int, float]]
    u: float
    v: float


def delta_among_blanks(
    fakes: int, threshold: int, epsilon: float, copies: int, memo: Memo | None = None
) -> Bracket:
    """Return delta(epsilon) of a one-hot record sent ``copies`` times, as each blank is."""
    chances = flip_chances(threshold)
    pair = add_own_bits(*convolve_flipped_bits(0, copies * fakes, chances, memo), chances, copies)
    return product_divergence(pair, pair.swap(), math.exp(epsilon))


def lower_bound(kinds: list[MessageKind], epsilon: float, copies: int) -> float:
    """Return the largest divergence of the count of one kind, for a record sent ``copies`` times.

    Each kind gives a lower bound. The most informative kinds are tried, and of the other kinds
    those with the shortest distributions, as long as the work is small. The result is 0 if all
    distributions are too long.
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
    """Return the difference of u and v, divided by the standard deviation of the others' count.

    A standard deviation below 1 is replaced by 1.
    """
    spread = math.sqrt(math.fsum(n * chance * (1.0 - chance) for n, chance in kind.others))
    return abs(kind.u - kind.v) / max(spread, 1.0)


def _length(kind: MessageKind, copies: int) -> int:
    """Return the approximate number of operations that compute the distribution of the count."""
    windows = [tails.window(copies * n, chance) for n, chance in kind.others if n > 0]
    lengths = [last - first + 1 for first, last in windows]
    return sum(lengths) * (1 + copies) + (len(lengths) > 1) * math.prod(lengths) // _PRODUCTS


def _kind_lower_bound(kind: MessageKind, epsilon: float, copies: int) -> float:
    """Return the lower bound from the count of one kind.

    A probability near one is known to some units in its last place. So the number of senders who do
    *not* send the kind is inaccurate, which the error accounts for.
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
    """Return the distribution of the count after one person's messages are added.

    ``background`` is the distribution without this person. Each of the person's ``copies`` messages
    is of the counted kind with probability ``chance``.
    """
    own = np.ones(1)
    for _ in range(copies):
        own = np.convolve(own, [1.0 - chance, chance])
    return np.convolve(background, own)


def shaped_lower_bound(weights: tuple[int, ...], epsilon: float, copies: int) -> float:
    """Return a lower bound from one bin's count in ``copies`` rounds; 0 if it takes too long."""
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
    """Return one kind for each t = 1, 2, ..: messages with at least t of the bits that only u has.

    There are ``distance`` such bits. ``senders`` has pairs: a number of other senders, and the
    probability with which a message of one of them has a given one of these bits.
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
    """Return kinds of messages of flipped bits, in crowds that are known to hide little.

    ``known_ones`` of the others are known to hold a one; None for any crowd.
    """
    fakes, q, p = m.fakes.count, m.threshold / SCALE, (SCALE - m.threshold) / SCALE
    crowd = [(m.crowd - 1, q)] if m.crowd else []
    if observer is Observer.SUMS:  # random fakes are not the worst case
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
    # All others hold v. The kind has all bits of v clear and all bits of u set.
    others = [(crowd[0][0], (q * q) ** most), (fakes, (p * q) ** most)]
    return [MessageKind(others, (p * p) ** most, (q * q) ** most)]
