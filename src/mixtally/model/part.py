"""A part of a plan: one stream of messages, as devices make it and as every hop extends it.

A record is sent as one message, or as one message for each bit or attribute. Each of these is a
part, with mixes, fakes (dummy messages) and a tally of its own. A hop is a mix at its position in
the chain. The *cover* is what protects a person: fakes, or the random flips of other people.
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
    """The record of a fake before its bits are flipped."""

    BLANK = "blank"
    """No bit is set."""
    UNIFORM = "uniform"
    """One uniformly random bin."""


class OwnFakes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The fakes that a device adds: ``whole`` fakes, and with some probability one more.

    ``whole`` is in [0, 1000]. ``coin`` is this probability times 2^64, in [0, 2^64). At least one
    of the two numbers is positive.
    """

    record: FakeRecord
    whole: int
    coin: int

    @property
    def mean(self) -> float:
        """The mean number of fakes that a device adds."""
        return self.whole + self.coin / SCALE

    def mean_for(self, people: int) -> int:
        """Return the mean number of fakes that ``people`` devices add together, rounded down."""
        return people * (self.whole * SCALE + self.coin) // SCALE

    @property
    def most(self) -> int:
        """The maximum number of fakes that a device adds."""
        return self.whole + (self.coin > 0)


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One stream of messages.

    Raises PlanError if there is no proof for the combination.

    Attributes
    ----------
    bins : int
        The number of bins of a record, in [2, 10^7]; of free bits, in [1, 64]; or of points of an
        open domain.
    most_set : int or None
        The maximum number of bins that a record sets, in [1, 16]. None for free bits.
    threshold : int or None
        The flip probability times 2^64. None if bins are sent in clear.
    repeats : int
        How often a record is sent, each time with new flips, in [1, 1000]. It is above 1 only if
        the cover is other people's flips.
    own : OwnFakes or None
        The fakes that a device adds.
    recipe : Recipe
        The fakes that every hop adds.
    layout : Layout
        The message format. For sets in clear it has ``most_set`` additional bins, the pads. Each
        missing member of a set is sent as a pad.
    planes : Planes or None
        The planes that messages name in place of bins.
    replaced : int or None
        The probability that a uniform bin replaces a value, times 2^64, in [1, 2^64). Each member
        of a set is replaced independently. None if values are not replaced.
    slots : int or None
        The number m, in [1, k), of bins that a device sends, out of the k = ``most_set`` different
        bins of a record. The device draws them anew each time. None if it sends all of them. For
        attributes and bits, ``most_set`` is the number of attributes or bits, at most 64; ``bins``
        is the number of values of all of them together; and there are no pads.
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
    slots: int | None = None

    def __post_init__(self) -> None:
        check_readable(partial(read_part, place="part"), self)

    @property
    def by_mixes(self) -> bool:
        """Whether every hop draws fakes, which are then the cover."""
        return not isinstance(self.recipe, NoRecipe)

    @property
    def is_randomized(self) -> bool:
        """Whether records are flipped or replaced, so that records of others can hide a person."""
        return self.threshold is not None or self.replaced is not None

    @property
    def protocol(self) -> str:
        """The public name of the mechanism."""
        return self.mechanism(fakes=1, crowd=self._least_crowd).name

    @property
    def _least_crowd(self) -> int:
        """The least crowd with which the mechanism can be made: 2 or 0.

        It is 2 if values are replaced, or if neither devices nor hops add fakes.
        """
        return 2 if (self.own is None and not self.by_mixes) or self.replaced is not None else 0

    @property
    def record_messages(self) -> int:
        """The number of messages of a record.

        A set in clear has one for each member and pad, or for each slot that is sent.
        """
        if self.slots is not None:
            return self.slots
        return self.repeats if self.threshold is not None else self.most_set or 1

    @property
    def largest_record(self) -> int:
        """The maximum number of bins of a record."""
        return self.bins if self.most_set is None else self.most_set

    @property
    def is_full(self) -> bool:
        """Whether slots are sampled from records that all have exactly ``most_set`` bins."""
        return self.slots is not None and self.layout.bins == self.bins

    @property
    def cells(self) -> int:
        """The number of planes of a direction or, without planes, of bins; pads are not counted."""
        return self.planes.prime if self.planes is not None else self.bins

    @property
    def pads(self) -> int:
        """The number of bins, or points, that are sent for missing members of a set in clear."""
        most = self.most_set or 1
        return most if self.threshold is None and most > 1 and not self.is_full else 0

    @property
    def least(self) -> int:
        """The minimum number of messages that a device sends."""
        return self.record_messages + (0 if self.own is None else self.own.whole)

    @property
    def most(self) -> int:
        """The maximum number of messages that a device sends: the slots of the part in a bundle."""
        return self.record_messages + (0 if self.own is None else self.own.most)

    @property
    def mean_sent(self) -> float:
        """The mean number of messages that a device sends."""
        return self.record_messages + (0.0 if self.own is None else self.own.mean)

    @property
    def has_fixed_count(self) -> bool:
        """Whether the contract fixes how many messages a hop adds, which is ``mean_added``."""
        recipe = self.recipe
        return isinstance(recipe, CountedRecipe) or (isinstance(recipe, Shape) and recipe.paired)

    @property
    def mean_added(self) -> int:
        """The mean number of messages that a hop adds."""
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
        """Return the standard error of a bin with ``count`` of ``users`` people, in counts.

        It is computed for the mechanism that ``make_expected_mechanism`` returns. If ``summed`` is
        not None, the estimate uses the known sum of the counts of ``summed`` bins.
        """
        return self.make_expected_mechanism(users, hops, crowd).standard_error(users, count, summed)

    def make_expected_mechanism(self, users: int, hops: int, crowd: int) -> Shuffled:
        """Return the mechanism if ``users`` people answer and all ``hops`` follow the recipe.

        The proof relies on the flips or replacements of ``crowd`` people.
        """
        fakes = 0 if self.own is None else round(users * self.own.mean)
        if isinstance(self.recipe, CountedRecipe):
            fakes = self.recipe.count * hops
        return self.mechanism(fakes=fakes, crowd=crowd, mixes=hops)

    def mechanism(self, *, fakes: int, crowd: int = 0, mixes: int = 1) -> Shuffled:
        """Return the mechanism for a given number of fakes.

        Parameters
        ----------
        fakes : int
            The total number of blank or uniform fakes, from people or hops. It is ignored if fakes
            are shaped.
        crowd : int
            The number of people whose flips or replacements the proof relies on.
        mixes : int
            The number of hops that drew fakes. It is ignored unless fakes are shaped.
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
                slots=self.slots,
                full=self.is_full,
            )
        # Blank fakes may come from devices or from hops; the mechanism is the same.
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
        """The epsilon that remains if a message is linked to its sender.

        The result ignores the cap of the layout. A message with more set bits than the cap is drawn
        again, and the privacy loss that this causes is not included.
        """
        return self.mechanism(fakes=0, crowd=self._least_crowd).local_epsilon
