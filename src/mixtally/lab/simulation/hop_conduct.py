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

    ``leaves_out`` is the share, in [0, 1], of other people's messages that the first dishonest hop
    leaves out. Only a hop before every honest hop can leave them out, because an honest hop hides
    whose message each one is. ``draws`` says whether dishonest hops draw the fakes of their recipe;
    they reveal these fakes to the observer. ``declares`` says whether they claim to have drawn the
    fakes.

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
