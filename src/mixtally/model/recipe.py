"""Recipes: the fakes that a mix adds to a stream of messages.

A fake is a dummy message. The recipe and the layout are all that a mix knows about the question.
"""

import msgspec

from mixtally.errors import ParameterError
from mixtally.model.shape import AnyShape
from mixtally.primitives.fixed_point import check_threshold

MOST_DRAWN = 10_000_000_000


class NoRecipe(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="none"):
    """The recipe of a mix that adds nothing, because people provide the cover."""


class UniformRecipe(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="uniform"):
    """``count`` messages in clear, in [1, 10^10], each uniform among all possible messages."""

    count: int

    def __post_init__(self) -> None:
        _check_count(self.count, "uniform messages")


class BlanksRecipe(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="blanks"):
    """``count`` messages with no bit set, each bit of which is then flipped independently.

    ``count`` is in [1, 10^10]. ``threshold`` is the flip probability times 2^64, in [2^24, 2^63].
    """

    count: int
    threshold: int

    def __post_init__(self) -> None:
        check_threshold(self.threshold)
        _check_count(self.count, "blanks")


def most_fakes(recipe: "Recipe", bins: int) -> int:
    """Return the maximum number of fakes that a hop adds to a part with this number of bins."""
    match recipe:
        case NoRecipe():
            return 0
        case BlanksRecipe(count) | UniformRecipe(count):
            return count
        case _:
            return recipe.most * (bins // 2 if recipe.paired else bins)


def _check_count(count: int, what: str) -> None:
    if not 1 <= count <= MOST_DRAWN:
        raise ParameterError(
            "recipe",
            expected=f"1 to {MOST_DRAWN:,} {what}",
            got=f"{count:,}",
            do="make the contract again",
        )


Recipe = NoRecipe | AnyShape | BlanksRecipe | UniformRecipe
CountedRecipe = BlanksRecipe | UniformRecipe
"""Recipes in which every hop adds a number of messages that the contract fixes."""
