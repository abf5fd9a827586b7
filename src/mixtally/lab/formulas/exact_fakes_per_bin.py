"""The exact delta of one record in clear among fakes whose number per bin is log-concave.

Of a bit the sum is seen: P(s) = F(s - 1) and Q(s) = F(s), and delta is the larger of both
directions. Of a one-hot record two bins differ, whose fakes are independent; with b the chance that
a message is kept at all,

    P(s) = (1 - b) F(s) + b F(s - 1),    Q(s) = F(s),
    delta = sum over (s, t) of [P(s) Q(t) - e^eps Q(s) P(t)]_+

in either direction. The ratio P / Q rises wherever F is log-concave. Other people's records add
independent numbers to both bins and only help.

F is built from its mode outwards by the ratios of neighbors, which fall, so that beyond an end the
rest is at most that of a geometric series.

Source: notes 004 (5.1)-(5.3) with F in place of the binomial; Prop. 3.1 for any dataset.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mixtally.accounting.numerics.binomial_pairs import (
    CONVOLUTION_ERROR,
    Pair,
    divergence,
    exchange_divergence,
    prepare_pair,
)
from mixtally.accounting.numerics.bracket import Bracket, larger
from mixtally.lab.formulas import fakes_per_bin
from mixtally.primitives.tails import Floats

_NOTHING = 1e-32
"""Where a chance is so small beside the mode's, the rest is cut off."""
_STEP_ERROR = 2.0**-50
"""Of a ratio and its product, at most five roundings."""

Ratio = Callable[[Floats], Floats]
"""F(k) / F(k - 1) at every k."""


class FakeNumbers(NamedTuple):
    """Chances of consecutive numbers of fakes, all but ``cut``, each wrong by ``error`` of it."""

    pmf: Floats
    cut: float
    error: float

    def spread(self) -> float:
        """The standard deviation."""
        k = np.arange(float(len(self.pmf)))
        mean = float((k * self.pmf).sum())
        return math.sqrt(float(((k - mean) ** 2 * self.pmf).sum()))


def _build_distribution(ratio: Ratio, mode: int) -> FakeNumbers:
    """The distribution whose neighbors have ``ratio``, which falls and passes 1 at ``mode``."""
    reach = 64
    while True:
        above = np.cumprod(ratio(mode + np.arange(1.0, reach + 1.0)))
        below = np.cumprod(1.0 / ratio(mode - np.arange(min(reach, mode), dtype=np.float64)))
        if above[-1] <= _NOTHING and (reach >= mode or below[-1] <= _NOTHING):
            break
        reach *= 2
    cut = _bound_rest(float(above[-1]), float(ratio(np.array([mode + reach + 1.0]))[0]))
    if reach < mode:
        cut += _bound_rest(float(below[-1]), 1.0 / float(ratio(np.array([float(mode - reach)]))[0]))
    pmf = np.concatenate([below[::-1], [1.0], above])
    return FakeNumbers(pmf / pmf.sum(), cut, CONVOLUTION_ERROR + _STEP_ERROR * len(pmf))


def _bound_rest(last: float, ratio: float) -> float:
    """Bound on all that follows ``last`` where no ratio is above ``ratio``, which is below 1."""
    return last * ratio / (1.0 - ratio)


def binomial(users: int, fakes: float) -> FakeNumbers:
    """Bin(users, fakes / users); ``fakes`` at most half of the users, or as many as are absent."""
    odds = fakes / (users - fakes)
    return _build_distribution(
        lambda k: np.maximum(users + 1.0 - k, 0.0) / k * odds,
        math.floor((users + 1.0) * (fakes / users)),
    )


def poisson(fakes: float) -> FakeNumbers:
    """Poisson with so many expected."""
    return _build_distribution(lambda k: fakes / k, math.floor(fakes))


def negative_binomial(shape: float, decay: float) -> FakeNumbers:
    """NB(shape, decay), whose shape is at least 1: below, it is not log-concave."""
    mode = math.floor((shape - 1.0) * decay / (1.0 - decay))
    return _build_distribution(lambda k: (k + (shape - 1.0)) / k * decay, mode)


def two_sided(mode: int, left: float, right: float) -> FakeNumbers:
    """F(k) falling by ``left`` a step below the mode, down to 0, and by ``right`` above it."""
    return _build_distribution(
        lambda k: np.where(k <= mode, 1.0 / left if left else math.inf, right), mode
    )


def bit_delta(found: FakeNumbers, epsilon: float) -> Bracket:
    """delta(epsilon) of a bit whose sum has ``found`` added."""
    pair, grow = _pair(found, 1.0), math.exp(epsilon)
    return larger(*(divergence(way, grow) for way in (pair, pair.swap())))


def one_hot_delta(found: FakeNumbers, epsilon: float, kept: float = 1.0) -> Bracket:
    """delta(epsilon) of a one-hot record with ``found`` in every bin, kept with the chance."""
    pair = prepare_pair(_pair(found, kept))
    return exchange_divergence(pair, pair, math.exp(epsilon))


def _pair(found: FakeNumbers, kept: float) -> Pair:
    without = np.concatenate([found.pmf, [0.0]])
    record = np.concatenate([[0.0], found.pmf])
    return Pair((1.0 - kept) * without + kept * record, without, found.cut, found.error)


class FakeNumberFamily(NamedTuple):
    """A distribution of the number of fakes per bin.

    where
      counts   the distribution, of epsilon, users and the number that a formula asks; None where
               it is not log-concave
      delta    its delta(epsilon)
      unit     what is counted in, where the least number is searched
    """

    counts: Callable[[float, int, float], FakeNumbers | None]
    delta: Callable[[FakeNumbers, float], Bracket]
    unit: float = 2.0**-32


def _negative_binomial_family(epsilon: float, _users: int, fakes: float) -> FakeNumbers | None:
    p = fakes_per_bin.decay(epsilon)
    shape = fakes * (1.0 - p) / p
    return negative_binomial(shape, p) if shape >= 1.0 else None


NOISES: dict[str, FakeNumberFamily] = {
    "bit, binomial fakes": FakeNumberFamily(
        lambda _, users, fakes: binomial(users, fakes), bit_delta
    ),
    "one-hot, binomial fakes": FakeNumberFamily(
        lambda _, users, fakes: binomial(users, fakes), one_hot_delta
    ),
    "bit, Poisson fakes": FakeNumberFamily(lambda _, __, fakes: poisson(fakes), bit_delta),
    "bit, negative binomial fakes": FakeNumberFamily(_negative_binomial_family, bit_delta),
    "one-hot, two-sided geometric fakes": FakeNumberFamily(
        lambda epsilon, _, mode: two_sided(math.ceil(mode), *fakes_per_bin.sides(epsilon, 1.0)),
        one_hot_delta,
        unit=1.0,
    ),
    "sampled one-hot, geometric fakes": FakeNumberFamily(
        lambda _, __, fakes: two_sided(0, 0.0, fakes / (1.0 + fakes)),
        lambda found, epsilon: one_hot_delta(found, epsilon, fakes_per_bin.sample(epsilon)),
    ),
}
"""By protocol; the observer is who sees all messages."""
