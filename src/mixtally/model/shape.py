"""Shapes: the distribution of the number of fakes that a mix adds to each bin.

A fake is a dummy message. The distribution is discrete Laplace or Gaussian, truncated at 0. A shape
is also a recipe for mixes. It is stored as a table of integers over 2^64. The mix draws from this
table, the accountant computes delta from it, and the estimator uses its moments. Truncation makes
the mean differ slightly from the *shift*, the mode of the distribution.

A *paired* shape is for exactly two bins. A mix draws k for the first bin and adds 2 s - k fakes to
the second, where s is the shift. So it always adds 2 s fakes. The table is cut off at both ends, so
that it is symmetric and its mean is exactly the shift.
"""

import math
from functools import cached_property
from typing import ClassVar

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
_VARIANCE = "a common choice is about a dozen times 2 x collections / epsilon^2"


# dict=True gives instances a __dict__, which cached_property needs.
class Shape(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """A distribution of the fakes in a bin: P[k fakes] = ``weights[k]`` / 2^64.

    The numbers of fakes in different bins are independent. A ``paired`` shape has two bins, whose
    fakes always add up to ``most``.
    """

    paired: ClassVar[bool] = False

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """The probability of k fakes in a bin, for k = 0, 1, .., as integers over 2^64.

        The integers add up to 2^64. The last one is not 0, unless the shape is paired.
        """
        raise NotImplementedError

    def facts(self) -> dict[str, float]:
        """Return the parameters by the names of their options."""
        raise NotImplementedError

    @property
    def _total_facts(self) -> dict[str, float]:
        return {"shape_total": self.most} if self.paired else {}

    @property
    def most(self) -> int:
        """The maximum number of fakes in a bin."""
        return len(self.weights) - 1

    @cached_property
    def mean(self) -> float:
        """The mean number of fakes in a bin: the exact value of the table, rounded once."""
        return self._sum / SCALE

    @cached_property
    def _sum(self) -> int:
        return sum(k * weight for k, weight in enumerate(self.weights))

    def mean_of(self, bins: int) -> int:
        """Return the mean number of fakes in ``bins`` bins, rounded to the nearest integer."""
        return (2 * bins * self._sum + SCALE) // (2 * SCALE)

    @cached_property
    def spread(self) -> float:
        """The variance of the fakes in a bin: the exact value of the table, rounded once."""
        # Integers up to the last step: the difference of large terms would lose digits.
        squares = sum(k * k * weight for k, weight in enumerate(self.weights))
        return (squares * SCALE - self._sum**2) / SCALE**2


class LaplaceShape(Shape, frozen=True, forbid_unknown_fields=True, dict=True, tag="shaped"):
    """A discrete Laplace distribution, P[k] ~ (ratio / 2^64)^|k - shift|.

    This shape has the smallest variance for a question that is asked rarely. ``ratio`` is exp(-c)
    times 2^64 for the decay c, in [1, 2^64). ``shift`` is the mode and approximate mean of the
    fakes in a bin, in [1, 10^5]. Raises ParameterError for other numbers.
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
        """The decay c of the distribution per fake, in nats."""
        return math.log(SCALE / self.ratio)

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """The probabilities of k fakes in a bin, for k = 0, 1, .., times 2^64."""
        return laplace_weights(self.ratio, self.shift, paired=self.paired)

    def facts(self) -> dict[str, float]:
        """Return the decay, the shift, and the ratio from which the weights are computed."""
        return {
            "shape_decay": self.decay,
            "shape_shift": self.shift,
            "shape_ratio": self.ratio,
            **self._total_facts,
        }


class GaussianShape(Shape, frozen=True, forbid_unknown_fields=True, dict=True, tag="gaussian"):
    """A discrete Gaussian distribution, P[k] ~ exp(-(k - shift)^2 / (2 variance)).

    This shape has the smallest variance for a question that is asked often. ``variance`` is the
    variance before truncation at 0, in [1, 10^9]. ``shift`` is as in ``LaplaceShape``. Raises
    ParameterError for other numbers.
    """

    variance: int
    shift: int

    def __post_init__(self) -> None:
        in_range("shape variance", self.variance, 1, MOST_VARIANCE, _VARIANCE)
        in_range("shape shift", self.shift, 1, MOST_SHIFT, "six standard deviations are usual")

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """The probabilities of k fakes in a bin, for k = 0, 1, .., times 2^64."""
        return gaussian_weights(self.variance, self.shift, paired=self.paired)

    def facts(self) -> dict[str, float]:
        """Return the variance and the shift."""
        return {
            "shape_variance": self.variance,
            "shape_shift": self.shift,
            **self._total_facts,
        }


class PairedLaplaceShape(
    LaplaceShape, frozen=True, forbid_unknown_fields=True, dict=True, tag="paired"
):
    """A Laplace shape of two bins whose fakes always add up to twice the shift."""

    paired: ClassVar[bool] = True


class PairedGaussianShape(
    GaussianShape, frozen=True, forbid_unknown_fields=True, dict=True, tag="paired-gaussian"
):
    """A Gaussian shape of two bins whose fakes always add up to twice the shift."""

    paired: ClassVar[bool] = True


AnyShape = LaplaceShape | GaussianShape | PairedLaplaceShape | PairedGaussianShape


def ratio_of(decay: float) -> int:
    """Return the integer nearest to exp(-decay) times 2^64.

    Raise ParameterError if the decay is not in [1e-6, 40].
    """
    in_range(
        "shape decay", decay, LEAST_DECAY, MOST_DECAY, "epsilon / 2 suits a guarantee of epsilon"
    )
    return round(math.exp(-decay) * SCALE)
