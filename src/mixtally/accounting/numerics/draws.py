"""How many independent copies of a number W are added up, and what their sum is divided by.

A fixed number N of them, or N = sure + B, B ~ Bin(trials, share): a record and the fakes beside it,
next to the free blanks of a crowd. The transform of such a sum, divided by its own N, is

    E[M(z)^N / N],    M(z)^N = M^sure M^B.

A polynomial stands in the place of 1 / N, so that the transform is one of powers,

    E[weight(N) M^N] = M^sure (1 - s + s M)^trials E[weight(sure + B_v)],    B_v ~ Bin(trials, v),

where v = s M / (1 - s + s M) and the last factor, factorial moments of a binomial, is a polynomial
in v. The weight is

    weight(N) = (1 - (1 - N/l) prod (1 - N/m) (1 - N/(m+1))) / N,

l the least N and m a few near its mean. The product is never negative for integers N >= l, and zero
at its roots: there the weight is at least 1 / N, and hardly more where N mostly lies. Fewer copies
than l are as rare as what a window cuts off; there it is between 0 and 1 / N.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from mixtally.primitives import tails
from mixtally.primitives.tails import Floats

_ALMOST_NONE = -1.0 + 2.0**-52
"""Where the transform is zero its logarithm would not be a number; this is above it."""
_LARGE = 1.0
_MOST_NATS = 700.0
_LEAST = 1e-300
_MANY = 64
_NODES = (-2.6, -1.2, 0.3, 1.8)
"""Where m are, in standard deviations of N."""

Complexes = NDArray[np.complex128]
Numbers = TypeVar("Numbers", Floats, Complexes)


class Spread(NamedTuple):
    """Mean and variance."""

    mean: float
    variance: float


@dataclass(frozen=True)
class Draws:
    """``sure`` copies, and Bin(trials, share) more; their sum is divided by their number."""

    certain: int
    trials: int = 0
    share: float = 0.0

    @cached_property
    def most(self) -> int:
        """Of more the chance is nothing."""
        return self.certain + (tails.window(self.trials, self.share).last if self.trials else 0)

    @cached_property
    def numbers(self) -> list[tuple[int, float]]:
        """How many there may be, with their chances; none where these are many.

        Those that are left out have a chance of ``tails.CUT_TAIL`` on either side.
        """
        if not self.trials:
            return [(self.certain, 1.0)]
        first, last = tails.window(self.trials, self.share)
        if last - first >= _MANY:
            return []
        chances = tails.pmf(self.trials, self.share, first, last)
        return [(self.certain + i, float(chance)) for i, chance in enumerate(chances, first)]

    @property
    def divisor(self) -> int:
        """What is left to divide by: a random number has its weights."""
        return 1 if self.trials else self.certain

    def nats(self, log_m: float) -> float:
        """Logarithm of the transform times ``over``, where that of M is ``log_m``."""
        if not self.trials:
            return self.certain * log_m
        if log_m > _LARGE:  # where M itself may be no number
            crowd = log_m + math.log(self.share + (1.0 - self.share) * math.exp(-log_m))
        else:
            crowd = math.log1p(self.share * math.expm1(log_m))
        return (
            self.certain * log_m
            + self.trials * crowd
            + math.log(sum(self._moments(self._weight_differences, log_m)))
        )

    def rise(self, low: float, high: float) -> float:
        """By how much ``nats`` are more at ``high``."""
        if not self.trials:
            return self.certain * (high - low)
        return self.nats(high) - self.nats(low)

    def spread(self, log_m: float) -> Spread:
        """Where N lies when each copy weighs M."""
        if not self.trials:
            return Spread(self.certain, 0.0)
        share = self._tilt_share(log_m)
        return Spread(self.certain + self.trials * share, self.trials * share * (1.0 - share))

    def power(self, log_m: float) -> "Power":
        """The transform as it turns, over its value where that of M is ``log_m``."""
        if not self.trials:
            return Power(self.certain)
        moments = np.array(self._moments(self._weight_differences, log_m))
        return Power(self.certain, self.trials, self._tilt_share(log_m), moments / moments.sum())

    def cancellation(self, log_m: float) -> float:
        """How many times its sum the terms of the weight are, which cancel."""
        if not self.trials:
            return 0.0
        moments = self._moments(self._weight_differences, log_m)
        return sum(map(abs, moments)) / sum(moments)

    def relative_frequency(self, log_m: float) -> float:
        """E[N weight(N)] over E[weight(N)] and ``over``: how often a copy is one that is rare,
        for each time that one copy is.
        """
        if not self.trials:
            return 1.0
        return sum(self._moments(self._count_differences, log_m)) / sum(
            self._moments(self._weight_differences, log_m)
        )

    def _tilt_share(self, log_m: float) -> float:
        """The share of the crowd that is there when each copy weighs M."""
        rest = (1.0 - self.share) * math.exp(min(-log_m, _MOST_NATS))
        return self.share / (self.share + rest)

    def _moments(self, differences: list[float], log_m: float) -> list[float]:
        """The terms of the expectation of a polynomial in B_v, by powers of v."""
        v, moment, found = self._tilt_share(log_m), 1.0, []
        for j, part in enumerate(differences):
            found.append(part * moment)
            moment *= (self.trials - j) * v
        return found

    @cached_property
    def _roots(self) -> list[int]:
        """The least N that matters, and pairs of neighbors near the mean."""
        roots = [self.certain + tails.window(self.trials, self.share).first]
        mean, variance = self.spread(0.0)
        for place in _NODES:
            near = max(roots[-1] + 1, math.floor(mean + place * math.sqrt(variance)))
            roots += (near, near + 1)
        return roots

    @cached_property
    def _weight_differences(self) -> list[float]:
        """Divided differences of the weight at sure, sure + 1, .."""
        return self._differences(0)

    @cached_property
    def _count_differences(self) -> list[float]:
        """The same of N times the weight."""
        return self._differences(1)

    def _differences(self, power: int) -> list[float]:
        """Newton's divided differences of N^``power`` times the weight, a polynomial.

        In integers: nothing cancels before it is divided.
        """
        roots, found = self._roots, []
        whole = math.prod(roots)
        points = range(self.certain, self.certain + len(roots) + power)
        row = [(whole - math.prod(root - n for root in roots)) * n**power // n for n in points]
        for j in range(len(points)):
            found.append(row[0] / (whole * math.factorial(j)))
            row = [after - before for before, after in pairwise(row)]
        return found


@dataclass(frozen=True)
class Power:
    """A transform over its value at a point, as phi = M(z) / M(point) turns: phi^``sure`` times
    that of a tilted crowd.

    where
      weight   the terms of the weight at the point, by powers; they add up to one
    """

    certain: int
    trials: int = 0
    share: float = 0.0
    weight: Floats | None = None

    def of(self, growth: Complexes) -> tuple[Floats, Floats]:
        """Logarithm of the modulus, and the angle, at phi = 1 + ``growth``."""
        nats, angle = _log_power(growth, self.certain)
        if self.weight is None:
            return nats, angle
        crowd, turned = _log_power(self.share * growth, self.trials)
        ratio = (1.0 + growth) / (1.0 + self.share * growth)
        weight = _polynomial(self.weight, ratio)
        size = np.log(np.maximum(np.abs(weight), _LEAST))
        return nats + crowd + size, angle + turned + np.angle(weight)

    def ceiling(self, moduli: Floats) -> Floats:
        """Bounds on the logarithm of the modulus where |phi| is at most ``moduli``.

        All chances and weights are positive, so that it is largest where phi is its modulus.
        """
        nats: Floats = self.certain * np.log(moduli)
        if self.weight is None:
            return nats
        rest = 1.0 + self.share * (moduli - 1.0)
        weight = _polynomial(self.weight, moduli / rest)
        return np.asarray(nats + self.trials * np.log(rest) + np.log(np.maximum(weight, _LEAST)))


def _polynomial(terms: Floats, at: Numbers) -> Numbers:
    """The sum of terms[i] times at^i."""
    found: Numbers = np.full_like(at, terms[-1])
    for term in terms[-2::-1]:
        found *= at
        found += term
    return found


def _log_power(growth: Complexes, count: int) -> tuple[Floats, Floats]:
    """Logarithm of the modulus, and the angle, of (1 + growth)^count."""
    real, imaginary = growth.real, growth.imag
    # Not log1p of the complex number, which rounds at 1e-16: it is taken N times.
    square = np.maximum(2.0 * real + real * real + imaginary * imaginary, _ALMOST_NONE)
    return 0.5 * count * np.log1p(square), count * np.arctan2(imaginary, 1.0 + real)
