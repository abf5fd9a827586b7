"""One stream of messages of a contract: how a device makes them and what every hop adds.

A record travels as one message, or as one message a bit or attribute; each is a part, with mixes,
fakes and a tally of its own.
"""

from enum import StrEnum
from functools import partial

import msgspec

from mixtally.device.contract.part import read_part
from mixtally.model.contract_json import check_readable
from mixtally.model.layout import Layout
from mixtally.model.mechanism import (
    BitFlips,
    BlankFakes,
    InClear,
    KaryResponse,
    NoFakes,
    ShapedFakes,
    Shuffled,
    UniformFakes,
)
from mixtally.model.planes import Planes
from mixtally.model.recipe import BlanksRecipe, CountedRecipe, NoRecipe, Recipe, UniformRecipe
from mixtally.model.shape import Shape
from mixtally.primitives.fixed_point import SCALE


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

    def mean_for(self, people: int) -> int:
        """Fakes of so many devices on average, rounded down."""
        return people * (self.whole * SCALE + self.coin) // SCALE

    @property
    def most(self) -> int:
        """The most fakes that a device draws."""
        return self.whole + (self.coin > 0)


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A stream of messages.

    where
      bins        what a record may hold, in [2, 10^7], or [1, 64] free bits, or points of planes
      most_set    the most bins that a record sets, in [1, 16]; None for free bits, any of them set
      threshold   the chance that a bit is flipped, times 2^64; None where bins travel in clear
      repeats     how often a record is sent, each time flipped afresh, in [1, 1000]; more than once
                  only among other people's flips
      own         fakes that a device adds; None where it adds none
      recipe      what every hop adds
      layout      how a message is written; of a set in clear ``most_set`` bins more are named than
                  there are: the first of these stand for members that it lacks, a pad each
      planes      those that messages name in place of bins in clear; None for bins themselves
      replaced    the chance, times 2^64, that a uniform bin is sent in place of one's own, each
                  of a set by itself, in [1, 2^64); None for never

    Raises PlanError for a part that has no proof.
    """

    bins: int
    most_set: int | None
    threshold: int | None
    own: OwnFakes | None
    recipe: Recipe
    layout: Layout
    repeats: int
    planes: Planes | None = None
    replaced: int | None = None

    def __post_init__(self) -> None:
        check_readable(partial(read_part, place="part"), self)

    @property
    def by_mixes(self) -> bool:
        """Whether every hop draws the cover."""
        return not isinstance(self.recipe, NoRecipe)

    @property
    def is_randomized(self) -> bool:
        """Whether records are flipped or replaced, so that those of others may hide a person."""
        return self.threshold is not None or self.replaced is not None

    @property
    def protocol(self) -> str:
        """The name of its mechanism, as people type it."""
        return self.mechanism(fakes=1, crowd=self._least_crowd).name

    @property
    def _least_crowd(self) -> int:
        """People enough for a mechanism where they are its cover."""
        return 2 if (self.own is None and not self.by_mixes) or self.replaced is not None else 0

    @property
    def record_messages(self) -> int:
        """Messages that a record travels as: of a set in clear one a member, and its pads."""
        return self.repeats if self.threshold is not None else self.most_set or 1

    @property
    def cells(self) -> int:
        """Among how many messages that are as likely a value hides."""
        return self.planes.prime if self.planes is not None else self.bins

    @property
    def pads(self) -> int:
        """Bins of a set in clear, or points, that stand for members which it lacks."""
        most = self.most_set or 1
        return most if self.threshold is None and most > 1 else 0

    @property
    def least(self) -> int:
        """The fewest messages that a device sends."""
        return self.record_messages + (0 if self.own is None else self.own.whole)

    @property
    def most(self) -> int:
        """The most messages that a device sends, which is the slots of its part in a bundle."""
        return self.record_messages + (0 if self.own is None else self.own.most)

    @property
    def mean_sent(self) -> float:
        """Messages that a device sends on average."""
        return self.record_messages + (0.0 if self.own is None else self.own.mean)

    @property
    def mean_added(self) -> int:
        """Messages that a hop adds, on average where their number is drawn."""
        match self.recipe:
            case BlanksRecipe() | UniformRecipe():
                return self.recipe.count
            case Shape():
                return self.recipe.mean_of(self.layout.bins)
            case _:
                return 0

    def standard_error(
        self, users: int, hops: int, crowd: int, count: int = 0, summed: int | None = None
    ) -> float:
        """Return the standard error of a bin that ``count`` of ``users`` people hold, in counts.

        The mechanism is the ``expected`` one; ``summed`` bins have a known sum, or None.
        """
        return self.make_expected_mechanism(users, hops, crowd).standard_error(users, count, summed)

    def make_expected_mechanism(self, users: int, hops: int, crowd: int) -> Shuffled:
        """The mechanism if ``users`` people answer, with ``crowd`` people's own noise counted on.

        All ``hops`` draw what the recipe says.
        """
        fakes = 0 if self.own is None else round(users * self.own.mean)
        if isinstance(self.recipe, CountedRecipe):
            fakes = self.recipe.count * hops
        return self.mechanism(fakes=fakes, crowd=crowd, mixes=hops)

    def mechanism(self, *, fakes: int, crowd: int = 0, mixes: int = 1) -> Shuffled:
        """The mechanism with so many fakes in its stream.

        where
          fakes   fakes of people, or blanks or uniform ones of hops, in all; not read where they
                  are shaped
          crowd   people whose flips or replacements are counted on
          mixes   hops that drew shaped fakes
        """
        if self.replaced is not None:
            return KaryResponse(
                bins=self.bins,
                replaced=self.replaced,
                fakes=UniformFakes(fakes),
                crowd=crowd,
                planes=self.planes,
                max_set=self.most_set or 1,
            )
        if self.threshold is None:
            if isinstance(self.recipe, Shape):
                shaped = ShapedFakes(self.recipe, mixes)
                return InClear(bins=self.bins, fakes=shaped, max_set=self.most_set or 1)
            return InClear(
                bins=self.bins,
                fakes=UniformFakes(fakes),
                planes=self.planes,
                max_set=self.most_set or 1,
            )
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
        return self.mechanism(fakes=0, crowd=self._least_crowd).local_epsilon
