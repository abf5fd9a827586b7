"""Fakes, messages that belong to nobody and hide somebody's: which, how many, drawn by whom."""

import math
from enum import StrEnum
from functools import cached_property

import msgspec

from mixtally.contract.shape import shape_weights
from mixtally.errors import ParameterError, in_range
from mixtally.ground.fixed import SCALE
from mixtally.records.guarantee import MOST_USERS

MOST_FAKES = 1000 * MOST_USERS
MOST_SHIFT = 100_000
MOST_MIXES = 100


class FakeSource(StrEnum):
    """Who draws the fakes, and so who must be trusted to have done it."""

    USERS = "users"
    MIX = "mix"


class NoFakes(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="none"):
    """Nothing but other people's flips hides a person."""

    @property
    def count(self) -> int:
        """None."""
        return 0


class BlankFakes(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="blank"):
    """``count`` records with no bit set, in the whole collection; people draw and send them."""

    count: int

    def __post_init__(self) -> None:
        checked_fakes(self.count)


class UniformFakes(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="uniform"):
    """``count`` records of a uniformly random bin; people draw and send them."""

    count: int

    def __post_init__(self) -> None:
        checked_fakes(self.count)


class ShapedFakes(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="shaped", dict=True):
    """Every one of ``mixes`` mixes adds to every bin a number of fakes of its own drawing.

    The number follows a truncated discrete Laplace distribution on {0..2s}, P[k] ~ exp(-c)^|k - s|,
    written as integers over 2^64 so that the mix and the accountant use the very same one. One
    honest mix among them suffices.

    where
      ratio   exp(-c) times 2^64 for the decay c, in [1, 2^64)
      shift   s, a mix's mean number of fakes in a bin, in [1, 10^5]
      mixes   in [1, 100]
    """

    ratio: int
    shift: int
    mixes: int = 1

    def __post_init__(self) -> None:
        checked_shape(self.ratio, self.shift)
        in_range("mixes", self.mixes, 1, MOST_MIXES, "it is how many mixes add fakes")

    @property
    def decay(self) -> float:
        """The nats c by which the distribution falls from one number to the next."""
        return math.log(SCALE / self.ratio)

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """P[k] times 2^64 for k = 0..2s."""
        return shape_weights(self.ratio, self.shift)

    @cached_property
    def variance(self) -> float:
        """Of one mix's fakes in a bin."""
        return self.moment(2)

    def moment(self, order: int) -> float:
        """A central moment of one mix's fakes in a bin."""
        powers: list[int] = [w * (k - self.shift) ** order for k, w in enumerate(self.weights)]
        return sum(powers) / SCALE


def checked_fakes(fakes: int) -> int:
    """``fakes`` itself when it lies in [0, 10^13]; raises ParameterError otherwise."""
    in_range("fakes", fakes, 0, MOST_FAKES, "it is the number of fakes in the whole collection")
    return fakes


def checked_shape(ratio: int, shift: int) -> None:
    """Raises ParameterError unless ratio is in [1, 2^64) and shift in [1, 10^5]."""
    if not (1 <= ratio < SCALE and 1 <= shift <= MOST_SHIFT):
        raise ParameterError(
            "shape",
            wanted=f"a decay ratio in [1, 2^64) and a shift in [1, {MOST_SHIFT:,}]",
            got=f"ratio {ratio / SCALE:.3g} x 2^64 and shift {shift:,}",
            do="a decay of epsilon / 2 suits a guarantee of epsilon",
        )


def ratio_of(decay: float) -> int:
    """exp(-decay) times 2^64, to the nearest integer; raises ParameterError unless decay > 0."""
    in_range("shape decay", decay, 1e-6, 40.0, "epsilon / 2 suits a guarantee of epsilon")
    return round(math.exp(-decay) * SCALE)
