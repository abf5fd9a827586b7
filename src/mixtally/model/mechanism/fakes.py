"""Fakes, messages that belong to nobody and hide somebody's: which, how many, drawn by whom."""

from enum import StrEnum

import msgspec

from mixtally.errors import in_range
from mixtally.model.guarantee import MOST_USERS
from mixtally.model.shape import AnyShape

MOST_FAKES = 1000 * MOST_USERS
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
        check_fakes(self.count)


class UniformFakes(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="uniform"):
    """``count`` records of a uniformly random bin; people draw and send them."""

    count: int

    def __post_init__(self) -> None:
        check_fakes(self.count)


class ShapedFakes(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="shaped"):
    """Every one of ``mixes`` mixes adds to every bin a number of fakes of its own drawing.

    The number follows ``shape``, a table of integers over 2^64, so that the mix and the accountant
    use the very same one. One honest mix among them suffices.

    where
      mixes   in [1, 100]
    """

    shape: AnyShape
    mixes: int = 1

    def __post_init__(self) -> None:
        in_range("mixes", self.mixes, 1, MOST_MIXES, "it is how many mixes add fakes")


def check_fakes(fakes: int) -> int:
    """``fakes`` itself when it lies in [0, 10^13]; raises ParameterError otherwise."""
    in_range("fakes", fakes, 0, MOST_FAKES, "it is the number of fakes in the whole collection")
    return fakes
