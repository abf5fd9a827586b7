"""One stream of messages of a contract: how a device makes them and what every hop adds.

A record travels as one message, or as one message a bit or attribute; each is a part, with mixes,
fakes and a tally of its own.
"""

from enum import StrEnum

import msgspec

from mixtally.errors import ParameterError, PlanError
from mixtally.ground.fixed import SCALE, checked_threshold
from mixtally.records.layout import Form, Layout
from mixtally.records.mechanism import (
    BitFlips,
    BlankFakes,
    InClear,
    NoFakes,
    ShapedFakes,
    Shuffled,
    UniformFakes,
)
from mixtally.records.question import MOST_BITS, MOST_SET, checked_bins
from mixtally.records.recipe import BlanksRecipe, NoRecipe, Recipe, ShapedRecipe

MOST_OWN = 1000


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
      coin    the chance of one more, times 2^64, in [0, 2^64)

    Raises ParameterError outside these ranges, and for fakes that are never drawn.
    """

    record: FakeRecord
    whole: int
    coin: int

    def __post_init__(self) -> None:
        if not 0 <= self.whole <= MOST_OWN or not 0 <= self.coin < SCALE:
            raise ParameterError(
                "fakes of a device",
                wanted=f"at most {MOST_OWN:,} whole ones and a coin in [0, 2^64)",
                got=f"{self.whole:,} and a coin of {self.coin}",
                do="a coin of 2^64 is one more whole fake",
            )
        if not self.whole and not self.coin:
            raise ParameterError(
                "fakes of a device", wanted="some", got="none", do="leave them out instead"
            )

    @property
    def mean(self) -> float:
        """Fakes of a device on average."""
        return self.whole + self.coin / SCALE

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

    def __post_init__(self) -> None:
        if self.most_set is None and not 1 <= self.bins <= MOST_BITS:
            raise _impossible(f"1 to {MOST_BITS} free bits", f"{self.bins:,}")
        checked_bins(self.bins, 1 if self.most_set is None else 2)
        most = min(MOST_SET, self.bins)
        if self.most_set is not None and not 1 <= self.most_set <= most:
            raise _impossible(f"records that set 1 to {most} bins", f"{self.most_set}")
        if self.layout.bins != self.bins:
            raise _impossible(f"a layout of {self.bins:,} bins", f"{self.layout.bins:,}")
        if self.own is not None and not isinstance(self.recipe, NoRecipe):
            raise _impossible("fakes of devices or of hops", "both")
        if self.threshold is None:
            self._check_clear()
        else:
            self._check_flips(checked_threshold(self.threshold))

    def _check_clear(self) -> None:
        if self.most_set != 1 or self.layout.form is not Form.INDEX:
            raise _impossible("one bin a message in clear, written as its number", "another form")
        if self.own is None and not isinstance(self.recipe, ShapedRecipe):
            raise _impossible("shaped fakes of hops, or uniform ones of devices", "no fakes")
        if self.own is not None and self.own.record is not FakeRecord.UNIFORM:
            raise _impossible("uniform fakes among bins in clear", "blank ones")

    def _check_flips(self, threshold: int) -> None:
        if threshold * 2 == SCALE:
            raise _impossible("flips that leave something to count", "a probability of 1/2")
        if self.layout.form is Form.INDEX:
            raise _impossible("flipped bits, packed or as positions", "the number of one bin")
        if self.layout.cap is not None and self.layout.cap < (self.most_set or self.bins):
            raise _impossible("a cap of no less than a record sets", f"{self.layout.cap}")
        if isinstance(self.recipe, ShapedRecipe) or (
            isinstance(self.recipe, BlanksRecipe) and self.recipe.threshold != threshold
        ):
            raise _impossible("blanks of hops, flipped as records are", "other fakes")
        if self.own is not None and self.own.record is FakeRecord.UNIFORM and self.most_set != 1:
            raise _impossible("uniform fakes among records that set one bin", "other records")
        covered = self.own is not None or not isinstance(self.recipe, NoRecipe)
        if covered and self.most_set is None and self.bins > 1:
            raise _impossible("free bits one by one among fakes", f"{self.bins} in a message")

    @property
    def by_mixes(self) -> bool:
        """Whether every hop draws the cover."""
        return not isinstance(self.recipe, NoRecipe)

    @property
    def protocol(self) -> str:
        """The name of its mechanism, as people type it."""
        people = 2 if self.own is None and not self.by_mixes else 0
        return self.mechanism(fakes=1, crowd=people).name

    def mechanism(self, *, fakes: int, crowd: int = 0, mixes: int = 1) -> Shuffled:
        """The mechanism with so many fakes in its stream.

        where
          fakes   fakes of people, or blanks of hops, in all; not read where they are shaped
          crowd   people whose flips are counted on
          mixes   hops that drew shaped fakes
        """
        if self.threshold is None:
            if isinstance(self.recipe, ShapedRecipe):
                drawn = ShapedFakes(self.recipe.ratio, self.recipe.shift, mixes)
                return InClear(bins=self.bins, fakes=drawn)
            return InClear(bins=self.bins, fakes=UniformFakes(fakes))
        kind: NoFakes | BlankFakes | UniformFakes = BlankFakes(fakes)
        if self.own is not None and self.own.record is FakeRecord.UNIFORM:
            kind = UniformFakes(fakes)
        elif self.own is None and not self.by_mixes:
            kind = NoFakes()
        return BitFlips(
            bins=self.bins, threshold=self.threshold, max_set=self.most_set, fakes=kind, crowd=crowd
        )

    @property
    def local_epsilon(self) -> float:
        """What is left of the promise for a message that is known to be someone's, caps aside."""
        people = 2 if self.own is None and not self.by_mixes else 0
        return self.mechanism(fakes=0, crowd=people).local_epsilon


def _impossible(wanted: str, got: str) -> PlanError:
    return PlanError("part of the contract", wanted=wanted, got=got, do="make the contract again")
