"""Fakes: dummy messages that carry no answer and protect the answers of people."""

from enum import StrEnum

import msgspec

from mixtally.errors import in_range
from mixtally.model.guarantee import MOST_USERS
from mixtally.model.shape import AnyShape

MOST_FAKES = 1000 * MOST_USERS
MOST_MIXES = 100


class FakeSource(StrEnum):
    """Who draws the fakes. The guarantee trusts these people or mixes to have drawn them."""

    USERS = "users"
    MIX = "mix"


class NoFakes(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="none"):
    """No fakes: only other people's randomness protects a person."""

    @property
    def count(self) -> int:
        """The number of fakes, 0."""
        return 0


class BlankFakes(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="blank"):
    """``count`` fake records with no bit set, in the whole collection or in each repeat."""

    count: int

    def __post_init__(self) -> None:
        check_fakes(self.count)


class UniformFakes(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="uniform"):
    """``count`` fake records of uniform bins, in the whole collection or in each repeat."""

    count: int

    def __post_init__(self) -> None:
        check_fakes(self.count)


class ShapedFakes(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="shaped"):
    """Fakes of mixes: each of ``mixes`` mixes adds a random number of fakes to every bin.

    The number follows ``shape``, a table of integers over 2^64, so the mix and the accountant use
    exactly the same distribution. One honest mix is sufficient. ``mixes`` is in [1, 100]. If the
    shape is paired, there are two bins, and each mix adds a fixed total of fakes to the two bins.
    """

    shape: AnyShape
    mixes: int = 1

    def __post_init__(self) -> None:
        in_range("mixes", self.mixes, 1, MOST_MIXES, "it is the number of mixes that add fakes")


def check_fakes(fakes: int) -> int:
    """Return ``fakes``, or raise ParameterError if it is not in [0, 10^13]."""
    in_range("fakes", fakes, 0, MOST_FAKES, "it is the number of fakes in the whole collection")
    return fakes
