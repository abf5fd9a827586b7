"""The divergence of two laws on the integers whose ratio rises, and of products of such pairs."""

from typing import NamedTuple

import numpy as np

from mixtally.ground import tails
from mixtally.ground.tails import Floats
from mixtally.privacy.bracket import Bracket, bracket

_POINT_ERROR = 1e-12
"""Bound on the relative error of a probability made by convolving Loader's form."""


class Pair(NamedTuple):
    """P and Q on the same integers, all but ``cut`` of either; P / Q never falls."""

    p: Floats
    q: Floats
    cut: float

    def swapped(self) -> "Pair":
        """The other direction, on the integers counted backwards so that the ratio rises again."""
        return Pair(self.q[::-1], self.p[::-1], self.cut)


def binomial_sum(parts: list[tuple[int, float]]) -> tuple[Floats, float]:
    """The law of a sum of independent Bin(trials, probability), and what was cut off.

    Starts at the sum of the windows' first integers; the start is of no matter to a divergence.
    """
    law, cut = np.ones(1), 0.0
    for trials, probability in parts:
        if trials > 0:
            window = tails.window(trials, probability)
            law = np.convolve(law, tails.pmf(trials, probability, *window))
            cut += 2.0 * tails.CUT_TAIL
    return law, cut


def own_bits(background: Floats, cut: float, p: float, q: float, copies: int = 1) -> Pair:
    """The sum with a person's bit, sent ``copies`` times: one under P, zero under Q."""
    ones, zeros = np.array([q, p]), np.array([p, q])
    one = zero = background
    for _ in range(copies):
        one, zero = np.convolve(one, ones), np.convolve(zero, zeros)
    return Pair(one, zero, cut)


def divergence(pair: Pair, grow: float) -> Bracket:
    """Return sum [P - grow Q]_+ with its ends."""
    gain = pair.p - grow * pair.q
    positive = gain > 0.0
    return bracket(
        float(gain[positive].sum()),
        cut=pair.cut,
        rounding=_POINT_ERROR * float(pair.p[positive].sum()) + 1e-300,
    )


def product_divergence(first: Pair, second: Pair, grow: float) -> Bracket:
    """Return the sum over (s, t) of [P1(s) P2(t) - grow Q1(s) Q2(t)]_+, both ratios rising.

    For every t the s that count are those from some s* on, and s* falls as t grows.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(first.q > 0.0, first.p / first.q, np.inf)
        wanted = np.where(second.p > 0.0, grow * second.q / second.p, np.inf)
    ratio = np.maximum.accumulate(ratio)  # rounding must not undo the order
    start = np.searchsorted(ratio, wanted, side="right")
    tail_p = np.append(np.cumsum(first.p[::-1])[::-1], 0.0)[start]
    tail_q = np.append(np.cumsum(first.q[::-1])[::-1], 0.0)[start]
    gain = second.p * tail_p - grow * second.q * tail_q
    return bracket(
        max(0.0, float(gain.sum())),
        cut=first.cut + second.cut,
        rounding=2.0 * _POINT_ERROR * float(np.dot(second.p, tail_p)) + 1e-300,
    )
