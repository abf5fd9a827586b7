"""The exact delta of one record in clear, if the number of fakes in each bin is log-concave.

``exact_delta`` uses the table ``NOISES``. Let F(k) be the probability of k fakes in a bin, with
ratios F(k + 1) / F(k) that do not increase in k (F is log-concave). Let P(s) and Q(s) be the
probabilities that a bin has s messages with and without the person's record.

For a bit, the observer sees the sum of the bit and the fakes, so P(s) = F(s - 1) and Q(s) = F(s).
Delta is the larger of the two directions, P against Q and Q against P.

For a one-hot record, the bins of the two neighboring records differ, and their fakes are
independent. Let b be the probability that the mix keeps a message, and [x]_+ = max(0, x). Then

    P(s) = (1 - b) F(s) + b F(s - 1),    Q(s) = F(s),
    delta = sum over (s, t) of [P(s) Q(t) - e^eps Q(s) P(t)]_+

in either direction, where s and t are the numbers of messages in the two bins. The ratio P / Q
increases if F is log-concave. The records of other people add independent numbers to both bins,
which never increases delta.

F is computed from its mode outwards by the ratios of neighboring values. These ratios decrease. So
beyond each end the sum of the cut-off values is at most a geometric series.

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
"""The probability, relative to that of the mode, below which the tail is cut off."""
_STEP_ERROR = 2.0**-50
"""The relative error of a ratio and its product, which have at most five roundings."""

Ratio = Callable[[Floats], Floats]
"""The function F(k) / F(k - 1) of k."""


class FakeNumbers(NamedTuple):
    """Probabilities of consecutive numbers of fakes.

    ``cut`` bounds the probability of all other numbers. ``error`` is the relative error of each
    entry.
    """

    pmf: Floats
    cut: float
    error: float

    def spread(self) -> float:
        """Return the standard deviation of the number of fakes."""
        k = np.arange(float(len(self.pmf)))
        mean = float((k * self.pmf).sum())
        return math.sqrt(float(((k - mean) ** 2 * self.pmf).sum()))


def _build_distribution(ratio: Ratio, mode: int) -> FakeNumbers:
    """Return the distribution F with F(k) / F(k - 1) = ``ratio(k)`` and the given ``mode``.

    The ratio must decrease, and must be at least 1 up to the mode and at most 1 beyond it.
    """
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
    """Return an upper bound of the sum of all terms after the term ``last``.

    Each of these terms is at most ``ratio`` < 1 times the term before.
    """
    return last * ratio / (1.0 - ratio)


def binomial(users: int, fakes: float) -> FakeNumbers:
    """Return Bin(users, fakes / users).

    ``fakes`` is the mean number of users who send a fake. For a formula by which most users send a
    fake, ``fakes`` is the mean number of users who send none.
    """
    odds = fakes / (users - fakes)
    return _build_distribution(
        lambda k: np.maximum(users + 1.0 - k, 0.0) / k * odds,
        math.floor((users + 1.0) * (fakes / users)),
    )


def poisson(fakes: float) -> FakeNumbers:
    """Return the Poisson distribution with mean ``fakes``."""
    return _build_distribution(lambda k: fakes / k, math.floor(fakes))


def negative_binomial(shape: float, decay: float) -> FakeNumbers:
    """Return NB(shape, decay), as in ``fakes_per_bin``, for a shape of at least 1.

    For a shape below 1, the distribution is not log-concave.
    """
    mode = math.floor((shape - 1.0) * decay / (1.0 - decay))
    return _build_distribution(lambda k: (k + (shape - 1.0)) / k * decay, mode)


def two_sided(mode: int, left: float, right: float) -> FakeNumbers:
    """Return a two-sided geometric distribution around ``mode``.

    Each step away from the mode multiplies the probability by ``left`` below the mode, and by
    ``right`` above it.
    """
    return _build_distribution(
        lambda k: np.where(k <= mode, 1.0 / left if left else math.inf, right), mode
    )


def bit_delta(fake_numbers: FakeNumbers, epsilon: float) -> Bracket:
    """Return delta(epsilon) of a bit, if the observer sees the sum of the bit and the fakes."""
    pair, grow = _pair(fake_numbers, 1.0), math.exp(epsilon)
    return larger(*(divergence(way, grow) for way in (pair, pair.swap())))


def one_hot_delta(fake_numbers: FakeNumbers, epsilon: float, keep: float = 1.0) -> Bracket:
    """Return delta(epsilon) of a one-hot record with fakes in every bin.

    A message is kept with probability ``keep``.
    """
    pair = prepare_pair(_pair(fake_numbers, keep))
    return exchange_divergence(pair, pair, math.exp(epsilon))


def _pair(fake_numbers: FakeNumbers, keep: float) -> Pair:
    without = np.concatenate([fake_numbers.pmf, [0.0]])
    record = np.concatenate([[0.0], fake_numbers.pmf])
    return Pair(
        (1.0 - keep) * without + keep * record, without, fake_numbers.cut, fake_numbers.error
    )


class FakeNumberFamily(NamedTuple):
    """A family of distributions of the number of fakes per bin.

    Attributes
    ----------
    counts : callable
        A function of epsilon, the number of users and the value of a formula. It returns the
        distribution, or None if the distribution is not log-concave.
    delta : callable
        A function of a distribution and epsilon that returns delta.
    unit : float
        The resolution in a search for the least value of a formula that keeps a guarantee.
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
"""The families by protocol, for an observer who sees all messages."""
