"""Conduct of dishonest hops in a simulated round.

A *hop* is one mix in the chain through which all messages pass. Its *recipe* says which fakes it
adds. (A *fake* is a dummy message that carries no answer.) ``play`` applies the conduct, and
``app.simulate`` sets it from the options.
"""

from collections.abc import Collection
from dataclasses import dataclass

from mixtally.errors import ParameterError, in_range


@dataclass(frozen=True, slots=True)
class HopConduct:
    """The behavior of dishonest hops.

    ``leaves_out`` is the share, in [0, 1], of other people's messages that the first of them leaves
    out. Only a hop before every honest hop can do so, because behind an honest hop it is unknown
    whose a message is. ``draws`` says whether they draw the fakes of their recipe, which they then
    reveal to the observer. ``declares`` says whether they claim to have drawn the fakes.

    Raises ParameterError if the share is out of range.
    """

    leaves_out: float = 1.0
    draws: bool = False
    declares: bool = True

    def __post_init__(self) -> None:
        in_range("share left out", self.leaves_out, 0.0, 1.0, "1 leaves out all but one person's")


WORST_CONDUCT = HopConduct()


@dataclass(frozen=True, slots=True)
class DishonestHops:
    """The numbers of the dishonest hops, counted from 1, and their conduct."""

    dishonest: Collection[int] = frozenset()
    conduct: HopConduct = WORST_CONDUCT

    def check(self, mixes: int) -> None:
        """Raise ParameterError for a dishonest hop whose number exceeds ``mixes``."""
        if strange := sorted(set(self.dishonest) - set(range(1, mixes + 1))):
            raise ParameterError(
                "dishonest hops",
                expected=f"numbers in 1..{mixes}",
                got=", ".join(map(str, strange)),
                do="hops are counted from 1",
            )


ALL_HONEST = DishonestHops()
