"""What a mix adds to a stream of messages: all that it needs to know of the question."""

from functools import cached_property

import msgspec

from mixtally.contract.shape import shape_weights
from mixtally.errors import ParameterError
from mixtally.ground.fixed import SCALE, checked_threshold

MOST_DRAWN = 10_000_000_000
MOST_DRAWN_SHIFT = 100_000


class NoRecipe(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="none"):
    """Nothing: people bring the cover."""


class ShapedRecipe(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="shaped", dict=True
):
    """To every bin k messages in clear, P[k] ~ (ratio / 2^64)^|k - shift| for k in 0..2 shift.

    where
      ratio   in [1, 2^64)
      shift   the mean number of fakes in a bin, in [1, 10^5]
    """

    ratio: int
    shift: int

    def __post_init__(self) -> None:
        if not (1 <= self.ratio < SCALE and 1 <= self.shift <= MOST_DRAWN_SHIFT):
            raise ParameterError(
                "recipe",
                wanted=f"a ratio in [1, 2^64) and a shift in [1, {MOST_DRAWN_SHIFT:,}]",
                got=f"ratio {self.ratio} and shift {self.shift:,}",
                do="make the contract again",
            )

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """P[k] times 2^64 for k = 0..2 shift."""
        return shape_weights(self.ratio, self.shift)


class UniformRecipe(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="uniform"):
    """``count`` messages in clear, in [1, 10^10], each uniform among all that there are."""

    count: int

    def __post_init__(self) -> None:
        _check_count(self.count, "uniform messages")


class BlanksRecipe(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="blanks"):
    """``count`` messages with no bit set, each bit then flipped with probability threshold / 2^64.

    where
      count       in [1, 10^10]
      threshold   in [2^24, 2^63]
    """

    count: int
    threshold: int

    def __post_init__(self) -> None:
        checked_threshold(self.threshold)
        _check_count(self.count, "blanks")


def _check_count(count: int, what: str) -> None:
    if not 1 <= count <= MOST_DRAWN:
        raise ParameterError(
            "recipe",
            wanted=f"1 to {MOST_DRAWN:,} {what}",
            got=f"{count:,}",
            do="make the contract again",
        )


Recipe = NoRecipe | ShapedRecipe | BlanksRecipe | UniformRecipe
CountedRecipe = BlanksRecipe | UniformRecipe
"""Those of which every hop adds a number that the contract fixes."""
