"""What hops do that do not keep to their recipe."""

from collections.abc import Collection
from dataclasses import dataclass

from mixtally.errors import ParameterError, in_range


@dataclass(frozen=True, slots=True)
class HopConduct:
    """What dishonest hops do.

    where
      leaves_out   share of other people's messages that the first of them leaves out, in [0, 1];
                   only ahead of every honest hop, behind which nobody knows whose a message is
      draws        whether they draw their recipe; then they tell the observer what they drew
      declares     whether they say that they drew it

    Raises ParameterError for a share outside [0, 1].
    """

    leaves_out: float = 1.0
    draws: bool = False
    declares: bool = True

    def __post_init__(self) -> None:
        in_range("share left out", self.leaves_out, 0.0, 1.0, "1 leaves out all but one person's")


WORST_CONDUCT = HopConduct()


@dataclass(frozen=True, slots=True)
class DishonestHops:
    """Which hops do not keep to their recipe, counted from 1, and what these do."""

    dishonest: Collection[int] = frozenset()
    conduct: HopConduct = WORST_CONDUCT

    def check(self, row: int) -> None:
        """Raises ParameterError for a dishonest hop that is none of ``row``."""
        if strange := sorted(set(self.dishonest) - set(range(1, row + 1))):
            raise ParameterError(
                "dishonest hops",
                expected=f"numbers in 1..{row}",
                got=", ".join(map(str, strange)),
                do="hops are counted from 1",
            )


ALL_HONEST = DishonestHops()
