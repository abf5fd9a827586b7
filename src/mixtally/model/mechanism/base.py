"""What every mechanism can say about itself: its messages, its fakes, how its counts are debiased.

A mechanism is how a record is sent, which fakes hide it, and what of the crowd is counted on. It
holds integers only and no privacy number: ``accounting.divergence`` has those.
"""

import math
from abc import ABCMeta, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, NamedTuple, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from mixtally.errors import in_range
from mixtally.model.layout import Layout
from mixtally.model.mechanism.fakes import FakeSource, ShapedFakes
from mixtally.model.mechanism.parameters import (
    MOST_REPEATS,
    Parameter,
    ParameterRules,
    ParameterSpec,
)
from mixtally.model.planes import Planes
from mixtally.model.question import check_bins


class _Meta(msgspec.StructMeta, ABCMeta):
    """Frozen structs with abstract methods."""


class Noise(NamedTuple):
    """What a tally adds to a bin's true count, as a sum of independent parts.

    where
      constant   added for certain
      gained     (trials, chance) of every binomial that adds
      lost       (trials, chance) of every binomial that takes away
      tables     (weights over 2^64, how many draws) of every distribution on 0, 1, 2, .. that adds
    """

    constant: int
    gained: tuple[tuple[int, float], ...] = ()
    lost: tuple[tuple[int, float], ...] = ()
    tables: tuple[tuple[tuple[int, ...], int], ...] = ()


class Mechanism(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, metaclass=_Meta
):
    """One way of answering a question of ``bins`` bins; the fields are its integers.

    ``PARAMETERS`` is the table of what people give for it, ``PROTOCOLS`` says by name which of its
    protocols takes what.
    """

    PARAMETERS: ClassVar[tuple[ParameterSpec, ...]] = ()
    PROTOCOLS: ClassVar[Mapping[str, ParameterRules]] = {}

    bins: int

    def __post_init__(self) -> None:
        check_bins(self.bins, self.least_bins)

    @property
    def name(self) -> str:
        """The protocol's name, as people type it: where there are several, one of them."""
        return next(iter(self.PROTOCOLS))

    @property
    def rules(self) -> ParameterRules:
        """Which parameters its protocol takes."""
        return self.PROTOCOLS[self.name]

    @property
    def least_bins(self) -> int:
        """The fewest bins that can be asked."""
        return 2

    @abstractmethod
    def facts(self) -> dict[str, float]:
        """Its noise in the field's terms, for people and for JSON."""

    @property
    @abstractmethod
    def layout(self) -> Layout:
        """The form of its messages."""


class Shuffled(Mechanism, frozen=True, kw_only=True):
    """One whose messages travel through mixes, among fakes or other people's messages.

    where
      repeats   how often every record is sent, each time randomized afresh among fakes of its own,
                in [1, 1000]

    A bin that truly holds z people is counted ``gain * z + offset`` times on average.
    """

    repeats: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        in_range("repeats", self.repeats, 1, MOST_REPEATS, "plan again")

    @property
    def max_set(self) -> int | None:
        """The most bins of a record; None for free bits, any of which may be set."""
        return 1

    @property
    def most_set(self) -> int:
        """The most bits that a record may set: the promise covers no more."""
        return self.bins if self.max_set is None else self.max_set

    @property
    def crowd(self) -> int:
        """Honest people whose own randomness is counted on, 0 for none."""
        return 0

    @property
    def flip_threshold(self) -> int | None:
        """Flip probability times 2^64, None where no bit is flipped."""
        return None

    @property
    def replaced(self) -> int | None:
        """Replacement chance times 2^64, None where no value is replaced."""
        return None

    @property
    @abstractmethod
    def local_epsilon(self) -> float:
        """What is left of the promise when every mix colludes with the collector."""

    @property
    def replacement_probability(self) -> float:
        """The chance that a value is replaced, 0 where none is."""
        return 0.0

    @property
    def keep_probability(self) -> float:
        """The chance that a value is not replaced."""
        return 1.0

    @property
    def flip_probability(self) -> float:
        """The chance that a bit is flipped, 0 where none is."""
        return 0.0

    @property
    def contrast(self) -> float:
        """What a set bit of one message adds to its expected count, above one that is not set."""
        return 1.0

    @property
    def fake_bits(self) -> tuple[tuple[int, float], ...]:
        """Fakes whose bits are not flipped zeros: how many, and how likely one sets a bit."""
        return ()

    @property
    def is_in_clear(self) -> bool:
        """Whether messages are the records themselves, neither flipped nor replaced."""
        return self.flip_threshold is None and self.replaced is None

    @property
    def planes(self) -> Planes | None:
        """The planes that messages name; None where they name bins or have a bit a bin."""
        return None

    @property
    def cells(self) -> int:
        """What a uniform fake may hold: bins, pads of sets, planes of a direction."""
        return self.bins

    @property
    def collision_probability(self) -> float:
        """The chance that another's message points at a value."""
        return 0.0

    @property
    def takes_fakes(self) -> bool:
        """Whether its protocol has people's fakes, be their number zero."""
        return "fakes" in self.rules.required | self.rules.optional

    @property
    def fakes_promised(self) -> int:
        """Fakes of the whole collection; a mean where mixes draw their number."""
        return 0

    @property
    def fake_source(self) -> FakeSource:
        """Who draws them: people, where no mix does."""
        return FakeSource.USERS if self.shaped_fakes is None else FakeSource.MIX

    @property
    def own_fakes(self) -> bool:
        """Whether a part of a plan that sends it has people's fakes."""
        return self.takes_fakes

    @property
    def uniform_fakes(self) -> bool:
        """Whether a person's fakes are records of uniformly random bins; blank ones otherwise."""
        return False

    def with_honest(self, honest_share: float) -> Self:  # noqa: ARG002
        """Return this mechanism with only the fakes that certainly arrive.

        Raises TypeError where there are fakes and the class does not say which of them arrive.
        """
        if self.fakes_promised:
            raise TypeError(f"{self.name}: nothing says how many fakes arrive")
        return self

    def with_parameter(self, parameter: Parameter, value: int) -> Self:
        """Return this mechanism with another value of ``parameter``.

        Raises TypeError when it has no such parameter.
        """
        if parameter.field not in self.__struct_fields__:
            raise TypeError(f"{self.name} has no {parameter}")
        return msgspec.structs.replace(self, **{parameter.field: value})

    def parameter_value(self, parameter: Parameter) -> int:
        """Return the integer of ``parameter``; raises TypeError when it has no such parameter."""
        if parameter.field not in self.__struct_fields__:
            raise TypeError(f"{self.name} has no {parameter}")
        return int(getattr(self, parameter.field))

    def get_parameter_values(self, parameter: Parameter) -> dict[str, float]:
        """Return what a calibration found for ``parameter``, by the names that people give."""
        return {
            one.name: parameter.to_public_value(self.parameter_value(parameter))
            for one in self.PARAMETERS
            if one.sought == parameter
        }

    def noise_facts(self) -> dict[str, float]:
        """Return the numbers of its noise that a calibration may find, people's fakes aside.

        A probability comes with the integer over 2^64 behind it.
        """
        every: dict[str, float] = {}
        for one in self.PARAMETERS:
            if one.sought and one.name in self.rules.sought and one.sought != Parameter.FAKES:
                every |= self.get_parameter_values(one.sought)
                if one.sought.denominator > 1:
                    every[f"{one.name}_threshold"] = self.parameter_value(one.sought)
        return every

    def facts(self) -> dict[str, float]:
        """Its noise in the field's terms, for people and for JSON."""
        return self.noise_facts()

    @property
    @abstractmethod
    def gain(self) -> float:
        """Expected counts a person adds to the bin they are in, above one they are not."""

    @abstractmethod
    def offset(self, messages: int) -> float:
        """Expected count of an empty bin among ``messages`` messages."""

    @abstractmethod
    def variance(self, messages: int) -> float:
        """Variance of the unbiased estimate of an empty bin, in counts squared."""

    @abstractmethod
    def noise(self, messages: int, count: int) -> Noise:
        """Tallied minus true count of a bin that ``count`` people hold, among ``messages``."""

    def noise_of_bins(self, messages: int, bins: int, count: int) -> Noise:  # noqa: ARG002
        """Return the tallied minus the true count of ``bins`` bins together, ``count`` the latter.

        A table of shaped fakes is drawn ``bins`` times as often. Raises TypeError for a mechanism
        of which this is not known.
        """
        raise TypeError(f"{self.name}: totals are not known")

    def variance_at(self, messages: int, count: int) -> float:  # noqa: ARG002
        """The same of a bin that ``count`` people hold: of most mechanisms that of an empty one."""
        return self.variance(messages)

    def variance_given_total(self, messages: int, bins: int, count: int = 0) -> float:  # noqa: ARG002
        """Return the variance of a count once the sum of ``bins`` counts is used.

        With n people in all bins and Z the sum of the unbiased counts, each count gives up
        (Z - n) / bins. Where Z is always n, this changes nothing.
        """
        return self.variance_at(messages, count)

    @property
    def noise_by_count(self) -> bool:
        """Whether the noise of a bin changes with the number of people who hold it."""
        return self.flip_threshold is not None

    @property
    def shaped_fakes(self) -> ShapedFakes | None:
        """The fakes that every mix is to draw; None where mixes draw none."""
        return None

    @property
    def fakes_sent(self) -> int:
        """Fakes that people send; a mix's are not told apart from people's messages."""
        return self.fakes_promised if self.fake_source is FakeSource.USERS else 0

    @property
    def true_fakes(self) -> float:
        """Fakes that people send and that truly hold a bin, on average: K / d of uniform ones."""
        return self.fakes_sent / self.bins if self.uniform_fakes else 0.0

    @property
    def record_messages(self) -> int:
        """Messages that a record travels as."""
        return self.repeats

    def people_among(self, messages: int) -> int:
        """The most people who can have sent so many messages together with their fakes."""
        return (messages - self.fakes_sent) // self.record_messages

    def debias_counts(self, counts: NDArray[np.int64], messages: int) -> NDArray[np.float64]:
        """Estimates of the true counts, shape as ``counts``, unbiased, so they may be negative.

        Source: notes 004 (5.20).
        """
        return (counts.astype(np.float64) - self.offset(messages)) / self.gain

    def standard_error(self, users: int, count: int = 0, summed: int | None = None) -> float:
        """Return the standard error of a bin that ``count`` of ``users`` people hold, in counts.

        ``summed`` bins have a known sum, which the estimate uses; None for no such sum.
        """
        messages = users * self.record_messages + self.fakes_promised
        if summed is None:
            return math.sqrt(self.variance_at(messages, count))
        return math.sqrt(self.variance_given_total(messages, summed, count))
