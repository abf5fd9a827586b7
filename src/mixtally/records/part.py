"""One stream of messages of a contract: how a device makes them and what every hop adds.

A record travels as one message, or as one message a bit or attribute; each is a part, with mixes,
fakes and a tally of its own.
"""

from enum import StrEnum
from functools import partial

import msgspec

from mixtally.contract.part import read_part
from mixtally.ground.fixed import SCALE
from mixtally.records.layout import Layout
from mixtally.records.mechanism import (
    BitFlips,
    BlankFakes,
    InClear,
    NoFakes,
    ShapedFakes,
    Shuffled,
    UniformFakes,
)
from mixtally.records.recipe import BlanksRecipe, NoRecipe, Recipe
from mixtally.records.shape import Shape
from mixtally.records.spelling import check


class FakeRecord(StrEnum):
    """What a fake is before its bits are flipped."""

    BLANK = "blank"
    """No bit is set."""
    UNIFORM = "uniform"
    """One bin, each as likely as any other."""


class OwnFakes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The fakes that a device adds to its message: ``whole``, and one more by a coin.

    where
      whole   in [0, 1000]
      coin    the chance of one more, times 2^64, in [0, 2^64); one of the two is not 0
    """

    record: FakeRecord
    whole: int
    coin: int

    @property
    def mean(self) -> float:
        """Fakes of a device on average."""
        return self.whole + self.coin / SCALE

    def of(self, people: int) -> int:
        """Fakes of so many devices on average, rounded down."""
        return people * (self.whole * SCALE + self.coin) // SCALE

    @property
    def most(self) -> int:
        """The most fakes that a device draws."""
        return self.whole + (self.coin > 0)


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A stream of messages.

    where
      bins        what a message may name, in [2, 10^7], or [1, 64] free bits
      most_set    the most bins that a record sets, in [1, 16]; None for free bits, any of them set
      threshold   the chance that a bit is flipped, times 2^64; None where bins travel in clear
      repeats     how often a record is sent, each time flipped afresh, in [1, 1000]; more than once
                  only among other people's flips
      own         fakes that a device adds; None where it adds none
      recipe      what every hop adds
      layout      how a message is written

    Raises PlanError for a part that has no proof.
    """

    bins: int
    most_set: int | None
    threshold: int | None
    own: OwnFakes | None
    recipe: Recipe
    layout: Layout
    repeats: int

    def __post_init__(self) -> None:
        check(partial(read_part, place="part"), self)

    @property
    def by_mixes(self) -> bool:
        """Whether every hop draws the cover."""
        return not isinstance(self.recipe, NoRecipe)

    @property
    def protocol(self) -> str:
        """The name of its mechanism, as people type it."""
        people = 2 if self.own is None and not self.by_mixes else 0
        return self.mechanism(fakes=1, crowd=people).name

    @property
    def least(self) -> int:
        """The fewest messages that a device sends."""
        return self.repeats + (0 if self.own is None else self.own.whole)

    @property
    def most(self) -> int:
        """The most messages that a device sends."""
        return self.repeats + (0 if self.own is None else self.own.most)

    @property
    def sent(self) -> float:
        """Messages that a device sends on average."""
        return self.repeats + (0.0 if self.own is None else self.own.mean)

    @property
    def drawn(self) -> int:
        """Messages that a hop adds, on average where their number is drawn."""
        match self.recipe:
            case BlanksRecipe():
                return self.recipe.count
            case Shape():
                return self.recipe.mean_of(self.bins)
            case _:
                return 0

    def standard_error(self, users: int, hops: int, crowd: int) -> float:
        """Of an empty bin in counts, if ``users`` people answer and ``crowd`` people's flips count.

        All ``hops`` draw what the recipe says.
        """
        fakes = 0 if self.own is None else round(users * self.own.mean)
        if isinstance(self.recipe, BlanksRecipe):
            fakes = self.recipe.count * hops
        made = self.mechanism(fakes=fakes, crowd=crowd, mixes=hops)
        return made.standard_error(users)

    def mechanism(self, *, fakes: int, crowd: int = 0, mixes: int = 1) -> Shuffled:
        """The mechanism with so many fakes in its stream.

        where
          fakes   fakes of people, or blanks of hops, in all; not read where they are shaped
          crowd   people whose flips are counted on
          mixes   hops that drew shaped fakes
        """
        if self.threshold is None:
            if isinstance(self.recipe, Shape):
                return InClear(bins=self.bins, fakes=ShapedFakes(self.recipe, mixes))
            return InClear(bins=self.bins, fakes=UniformFakes(fakes))
        kind: NoFakes | BlankFakes | UniformFakes = BlankFakes(fakes)
        if self.own is not None and self.own.record is FakeRecord.UNIFORM:
            kind = UniformFakes(fakes)
        elif self.own is None and not self.by_mixes and crowd:
            kind = NoFakes()
        return BitFlips(
            bins=self.bins,
            threshold=self.threshold,
            max_set=self.most_set,
            fakes=kind,
            crowd=crowd,
            repeats=self.repeats,
        )

    @property
    def local_epsilon(self) -> float:
        """What is left of the promise for a message that is known to be someone's, caps aside."""
        people = 2 if self.own is None and not self.by_mixes else 0
        return self.mechanism(fakes=0, crowd=people).local_epsilon
