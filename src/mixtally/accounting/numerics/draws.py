"""The number of independent copies in a sum, and the division by this number.

The identity divides the sum of N copies of W by N. Among fakes alone N is fixed. Among the free
blanks of a crowd N = certain + B with B ~ Bin(trials, share): the person's record and the fakes are
certain, and every other person is a free blank with probability ``share``. ``saddle_line`` and
``frequencies`` use this module for the transform of the sum. With M(z) = E e^{zW}, the transform of
the sum divided by its own N is

    E[M(z)^N / N],    M(z)^N = M^certain M^B.

*The weight.* A polynomial weight(N) replaces 1 / N, because the expectation then has a closed form:

    E[weight(N) M^N] = M^certain (1 - s + s M)^trials E[weight(certain + B_v)].

Here s is ``share``, v = s M / (1 - s + s M), and B_v ~ Bin(trials, v). The last factor consists of
factorial moments of a binomial number, so it is a polynomial in v. The weight is

    weight(N) = (1 - (1 - N/l) prod (1 - N/m) (1 - N/(m+1))) / N,

where l is the least N that matters and the product is over a few integers m near the mean of N.

*Upper bound.* Let N >= l be an integer. The first factor (1 - N/l) is not positive. Every pair (1 -
N/m) (1 - N/(m+1)) is not negative, since no integer lies between its roots. So the weight is at
least 1 / N there. It equals 1 / N at the roots and is hardly larger where N mostly lies. An N below
l has a probability that a window cuts off, and there the weight is between 0 and 1 / N.
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
"""Least argument of ``log1p``: a zero of the transform would have no logarithm."""
_LARGE = 1.0
"""Value of log M above which M itself may overflow."""
_MOST_NATS = 700.0
_LEAST = 1e-300
"""Least number of which a logarithm is taken."""
_MANY = 64
"""Number of values of N from which on they are not enumerated."""
_NODES = (-2.6, -1.2, 0.3, 1.8)
"""Places of the roots m, in standard deviations of N from its mean."""

Complexes = NDArray[np.complex128]
Numbers = TypeVar("Numbers", Floats, Complexes)


class Spread(NamedTuple):
    """The mean and the variance of a random number."""

    mean: float
    variance: float


@dataclass(frozen=True)
class Draws:
    """The number of independent copies in a sum, ``certain`` + Bin(trials, share).

    The sum is divided by this number.
    """

    certain: int
    trials: int = 0
    share: float = 0.0

    @cached_property
    def most(self) -> int:
        """Return the largest number of copies; the tail above is below ``tails.CUT_TAIL``."""
        return self.certain + (tails.window(self.trials, self.share).last if self.trials else 0)

    @cached_property
    def numbers(self) -> list[tuple[int, float]]:
        """Return the possible numbers of copies with their probabilities; empty if there are many.

        The numbers left out on either side have a probability of at most ``tails.CUT_TAIL``.
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
        """The number by which results must still be divided.

        It is N if N is fixed. It is 1 if N is random, because the weight has then divided by N.
        """
        return 1 if self.trials else self.certain

    def nats(self, log_m: float) -> float:
        """Return log E[weight(N) M^N], or log M^N if N is fixed, for ``log_m`` = log M.

        The exponential of the result, divided by ``divisor``, is the transform of the divided sum.
        """
        if not self.trials:
            return self.certain * log_m
        if log_m > _LARGE:  # M itself may overflow
            crowd = log_m + math.log(self.share + (1.0 - self.share) * math.exp(-log_m))
        else:
            crowd = math.log1p(self.share * math.expm1(log_m))
        return (
            self.certain * log_m
            + self.trials * crowd
            + math.log(sum(self._moments(self._weight_differences, log_m)))
        )

    def rise(self, low: float, high: float) -> float:
        """Return the increase of ``nats`` from log M = ``low`` to log M = ``high``."""
        if not self.trials:
            return self.certain * (high - low)
        return self.nats(high) - self.nats(low)

    def spread(self, log_m: float) -> Spread:
        """Return the mean and variance of the number of copies if each copy has the weight M."""
        if not self.trials:
            return Spread(self.certain, 0.0)
        share = self._tilt_share(log_m)
        return Spread(self.certain + self.trials * share, self.trials * share * (1.0 - share))

    def power(self, log_m: float) -> "Power":
        """Return the transform relative to its value at the point where log M is ``log_m``."""
        if not self.trials:
            return Power(self.certain)
        moments = np.array(self._moments(self._weight_differences, log_m))
        return Power(self.certain, self.trials, self._tilt_share(log_m), moments / moments.sum())

    def cancellation(self, log_m: float) -> float:
        """Return the sum of the moduli of the weight's terms, divided by their sum."""
        if not self.trials:
            return 0.0
        moments = self._moments(self._weight_differences, log_m)
        return sum(map(abs, moments)) / sum(moments)

    def relative_frequency(self, log_m: float) -> float:
        """Return E[N weight(N) M^N] / E[weight(N) M^N], relative to ``divisor``.

        The ratio bounds how often a rare value occurs in the sum, per occurrence in a single copy.
        """
        if not self.trials:
            return 1.0
        return sum(self._moments(self._count_differences, log_m)) / sum(
            self._moments(self._weight_differences, log_m)
        )

    def _tilt_share(self, log_m: float) -> float:
        """Return v = s M / (1 - s + s M) for M = exp(``log_m``) and s = ``share``."""
        rest = (1.0 - self.share) * math.exp(min(-log_m, _MOST_NATS))
        return self.share / (self.share + rest)

    def _moments(self, differences: list[float], log_m: float) -> list[float]:
        """Return the terms of the expectation of a polynomial in B_v, by powers of v."""
        v, moment, found = self._tilt_share(log_m), 1.0, []
        for j, part in enumerate(differences):
            found.append(part * moment)
            moment *= (self.trials - j) * v
        return found

    @cached_property
    def _roots(self) -> list[int]:
        """Return the roots: l, the least N that matters, and pairs m, m + 1 near the mean."""
        roots = [self.certain + tails.window(self.trials, self.share).first]
        mean, variance = self.spread(0.0)
        for place in _NODES:
            near = max(roots[-1] + 1, math.floor(mean + place * math.sqrt(variance)))
            roots += (near, near + 1)
        return roots

    @cached_property
    def _weight_differences(self) -> list[float]:
        """Return the divided differences of the weight at certain, certain + 1, ..."""
        return self._differences(0)

    @cached_property
    def _count_differences(self) -> list[float]:
        """Return the divided differences of N weight(N)."""
        return self._differences(1)

    def _differences(self, power: int) -> list[float]:
        """Return Newton's divided differences of the polynomial N -> N^``power`` * weight(N).

        The nodes are the whole numbers from ``certain`` on.

        The differences are computed in integers, so that nothing cancels before the division.
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
    """The transform of a divided sum, relative to its value at one real point.

    With phi = M(z) / M(point), the transform is phi^certain times that of a tilted crowd, in which
    a free blank has probability ``share``. ``weight`` has the terms of the weight at the point, by
    powers of v, which sum to one. It is None for a fixed number of copies.
    """

    certain: int
    trials: int = 0
    share: float = 0.0
    weight: Floats | None = None

    def of(self, growth: Complexes) -> tuple[Floats, Floats]:
        """Return the logarithm of the modulus, and the angle, at phi = 1 + ``growth``."""
        nats, angle = _log_power(growth, self.certain)
        if self.weight is None:
            return nats, angle
        crowd, turned = _log_power(self.share * growth, self.trials)
        ratio = (1.0 + growth) / (1.0 + self.share * growth)
        weight = _polynomial(self.weight, ratio)
        size = np.log(np.maximum(np.abs(weight), _LEAST))
        return nats + crowd + size, angle + turned + np.angle(weight)

    def ceiling(self, moduli: Floats) -> Floats:
        """Return bounds on the logarithm of the modulus where |phi| is at most ``moduli``.

        All probabilities are positive, so the modulus is largest where phi is real and positive.
        """
        nats: Floats = self.certain * np.log(moduli)
        if self.weight is None:
            return nats
        rest = 1.0 + self.share * (moduli - 1.0)
        weight = _polynomial(self.weight, moduli / rest)
        return np.asarray(nats + self.trials * np.log(rest) + np.log(np.maximum(weight, _LEAST)))


def _polynomial(terms: Floats, at: Numbers) -> Numbers:
    """Return the sum of terms[i] at^i, by Horner's scheme."""
    found: Numbers = np.full_like(at, terms[-1])
    for term in terms[-2::-1]:
        found *= at
        found += term
    return found


def _log_power(growth: Complexes, count: int) -> tuple[Floats, Floats]:
    """Return the logarithm of the modulus, and the angle, of (1 + growth)^count."""
    real, imaginary = growth.real, growth.imag
    # log1p of the complex number has an absolute error of 1e-16, which ``count`` multiplies.
    square = np.maximum(2.0 * real + real * real + imaginary * imaginary, _ALMOST_NONE)
    return 0.5 * count * np.log1p(square), count * np.arctan2(imaginary, 1.0 + real)
