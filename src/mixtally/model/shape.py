"""How many fakes a mix adds to a bin: a discrete Laplace or Gaussian distribution, cut at 0.

A shape is also a recipe: what a mix is told. Its table of integers over 2^64 is what the mix draws
from, what is priced, and whose moments the estimate uses: its mean is not quite the shift.
"""

import math
from functools import cached_property

import msgspec

from mixtally.device.contract.shape import (
    MOST_SHIFT,
    MOST_VARIANCE,
    gaussian_weights,
    laplace_weights,
)
from mixtally.errors import ParameterError, in_range
from mixtally.primitives.fixed_point import SCALE

LEAST_DECAY, MOST_DECAY = 1e-6, 40.0
_VARIANCE = "twice the collections over the square of epsilon, some dozen times, is usual"


class Shape(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """To every bin k messages in clear with chance ``weights[k]`` / 2^64, bins independent."""

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """The chances of k = 0, 1, .. times 2^64: they sum to 2^64, the last is not 0."""
        raise NotImplementedError

    def facts(self) -> dict[str, float]:
        """Its numbers, by the names of their options."""
        raise NotImplementedError

    @property
    def most(self) -> int:
        """The most fakes of a bin."""
        return len(self.weights) - 1

    @cached_property
    def mean(self) -> float:
        """Fakes of a bin on average: the exact sum of the table, rounded once."""
        return self._sum / SCALE

    @cached_property
    def _sum(self) -> int:
        return sum(k * weight for k, weight in enumerate(self.weights))

    def mean_of(self, bins: int) -> int:
        """Fakes of so many bins on average, to the nearest integer."""
        return (2 * bins * self._sum + SCALE) // (2 * SCALE)

    @cached_property
    def spread(self) -> float:
        """The variance of the fakes of a bin: the exact one of the table, rounded once."""
        squares = sum(k * k * weight for k, weight in enumerate(self.weights))
        return (squares * SCALE - self._sum**2) / SCALE**2


class LaplaceShape(Shape, frozen=True, forbid_unknown_fields=True, dict=True, tag="shaped"):
    """P[k] ~ (ratio / 2^64)^|k - shift|: the least spread for a question that is asked seldom.

    where
      ratio   exp(-c) times 2^64 for the decay c, in [1, 2^64)
      shift   the most likely number of fakes in a bin, and nearly their mean, in [1, 10^5]

    Raises ParameterError outside of these.
    """

    ratio: int
    shift: int

    def __post_init__(self) -> None:
        if not (1 <= self.ratio < SCALE and 1 <= self.shift <= MOST_SHIFT):
            raise ParameterError(
                "shape",
                expected=f"a decay ratio in [1, 2^64) and a shift in [1, {MOST_SHIFT:,}]",
                got=f"ratio {self.ratio / SCALE:.3g} x 2^64 and shift {self.shift:,}",
                do="a decay of epsilon / 2 suits a guarantee of epsilon",
            )

    @property
    def decay(self) -> float:
        """The nats c by which the distribution falls from one number to the next."""
        return math.log(SCALE / self.ratio)

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """The chances of k = 0, 1, .. times 2^64."""
        return laplace_weights(self.ratio, self.shift)

    def facts(self) -> dict[str, float]:
        """Decay, shift, and the ratio that everything is computed from."""
        return {
            "shape_decay": self.decay,
            "shape_shift": self.shift,
            "shape_ratio": self.ratio,
        }


class GaussianShape(Shape, frozen=True, forbid_unknown_fields=True, dict=True, tag="gaussian"):
    """P[k] ~ exp(-(k - shift)^2 / (2 variance)): the least spread where questions are repeated.

    where
      variance   of the distribution before it is cut, in [1, 10^9]
      shift      as of the Laplace shape

    Raises ParameterError outside of these.
    """

    variance: int
    shift: int

    def __post_init__(self) -> None:
        in_range("shape variance", self.variance, 1, MOST_VARIANCE, _VARIANCE)
        in_range("shape shift", self.shift, 1, MOST_SHIFT, "six standard deviations are usual")

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """The chances of k = 0, 1, .. times 2^64."""
        return gaussian_weights(self.variance, self.shift)

    def facts(self) -> dict[str, float]:
        """Variance and shift."""
        return {"shape_variance": self.variance, "shape_shift": self.shift}


AnyShape = LaplaceShape | GaussianShape


def ratio_of(decay: float) -> int:
    """exp(-decay) times 2^64, to the nearest integer; raises ParameterError unless decay > 0."""
    in_range(
        "shape decay", decay, LEAST_DECAY, MOST_DECAY, "epsilon / 2 suits a guarantee of epsilon"
    )
    return round(math.exp(-decay) * SCALE)
