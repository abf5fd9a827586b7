"""The base classes of mechanisms: messages, fakes, and the bias and variance of counts.

A mechanism is a way to send a record, the fakes that protect it, and the people on whose randomness
the proof relies. A fake is a dummy message. A mechanism consists of integers;
``accounting.divergence`` computes its delta. The estimator uses ``gain``, ``offset`` and
``variance``, and interval methods use ``noise``.

A record sets some bins. With planes (``model.planes``), a message names a set of values in place of
a bin, and *points at* each of them. If the *slots* of a record are sampled, a device draws some of
the record's bins anew each time and sends only these. A *pad* is an additional bin that is sent for
a missing member of a set.
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
    """A metaclass that permits abstract methods in frozen structs."""


class Noise(NamedTuple):
    """The difference between the tally of a bin and its true count, as a sum of independent parts.

    Attributes
    ----------
    constant : int
        A fixed number that is added.
    gained : tuple of pairs
        (trials, probability) of each binomial that is added.
    lost : tuple of pairs
        (trials, probability) of each binomial that is subtracted.
    tables : tuple of pairs
        (weights, number of draws) of each distribution on 0, 1, 2, .. from which independent draws
        are added. The weights are the probabilities times 2^64.
    """

    constant: int
    gained: tuple[tuple[int, float], ...] = ()
    lost: tuple[tuple[int, float], ...] = ()
    tables: tuple[tuple[tuple[int, ...], int], ...] = ()


class Mechanism(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, metaclass=_Meta
):
    """A way to answer a question of ``bins`` bins. The fields are the integers of the mechanism.

    A protocol is a name under which users choose a mechanism; a mechanism can have several.
    ``PARAMETERS`` lists the parameters that users give. ``PROTOCOLS`` states, for the name of each
    protocol, which of these parameters the protocol accepts.
    """

    PARAMETERS: ClassVar[tuple[ParameterSpec, ...]] = ()
    PROTOCOLS: ClassVar[Mapping[str, ParameterRules]] = {}

    bins: int

    def __post_init__(self) -> None:
        check_bins(self.bins, self.least_bins)

    @property
    def name(self) -> str:
        """The name of the protocol. If the class has several, the fields determine which it is."""
        return next(iter(self.PROTOCOLS))

    @property
    def rules(self) -> ParameterRules:
        """The parameters that the protocol accepts."""
        return self.PROTOCOLS[self.name]

    @property
    def least_bins(self) -> int:
        """The minimum number of bins."""
        return 2

    @abstractmethod
    def facts(self) -> dict[str, float]:
        """Return the noise parameters under their common names, for people and for JSON."""

    @property
    @abstractmethod
    def layout(self) -> Layout:
        """The format of the messages."""


class Shuffled(Mechanism, frozen=True, kw_only=True):
    """A mechanism whose messages are shuffled by mixes, with fakes or with other people's messages.

    If z people have a bin, the expected count of the bin is ``gain * z + offset``.

    Attributes
    ----------
    repeats : int
        How often a record is sent, each time randomized anew and with new fakes, in [1, 1000].
    """

    repeats: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        in_range("repeats", self.repeats, 1, MOST_REPEATS, "plan again")

    @property
    def max_set(self) -> int | None:
        """The maximum number of bins in a record; None for free bits, all of which may be set."""
        return 1

    @property
    def most_set(self) -> int:
        """The maximum number of bins in a record that the guarantee protects."""
        return self.bins if self.max_set is None else self.max_set

    @property
    def crowd(self) -> int:
        """The number of honest people on whose flips or replacements the proof relies; 0 for none.

        The person whose answer is protected is one of them.
        """
        return 0

    @property
    def flip_threshold(self) -> int | None:
        """The flip probability times 2^64; None if bits are not flipped."""
        return None

    @property
    def replaced(self) -> int | None:
        """The replacement probability times 2^64; None if values are not replaced."""
        return None

    @property
    @abstractmethod
    def local_epsilon(self) -> float:
        """The epsilon that remains if every mix colludes with the collector."""

    @property
    def replacement_probability(self) -> float:
        """The probability that a value is replaced; 0 if values are not replaced."""
        return 0.0

    @property
    def keep_probability(self) -> float:
        """The probability that a value is not replaced."""
        return 1.0

    @property
    def flip_probability(self) -> float:
        """The probability that a bit is flipped; 0 if bits are not flipped."""
        return 0.0

    @property
    def contrast(self) -> float:
        """The probability that a set bit is shown as set, minus the probability for an unset bit.

        It is 1 without flips.
        """
        return 1.0

    @property
    def fake_bits(self) -> tuple[tuple[int, float], ...]:
        """Pairs (number, probability), one for each kind of people's fakes that have a set bit.

        ``number`` is the number of these fakes. ``probability`` is the probability that one of them
        sets a given bit after its flips. Blank fakes are left out, because their bits are
        distributed as the unset bits of records.
        """
        return ()

    @property
    def is_in_clear(self) -> bool:
        """Whether messages are the records themselves, neither flipped nor replaced."""
        return self.flip_threshold is None and self.replaced is None

    @property
    def planes(self) -> Planes | None:
        """The planes that messages name; None if messages name bins."""
        return None

    @property
    def cells(self) -> int:
        """The number of equally likely values of a uniform fake.

        These are the bins and the pads of sets or, with planes, the planes of one direction.
        """
        return self.bins

    @property
    def collision_probability(self) -> float:
        """The probability that a message points at a given value that its sender does not have."""
        return 0.0

    @property
    def hiding_cells(self) -> float:
        """The inverse of the least probability that a uniform fake hides a given message.

        It is ``cells``, or ``cells`` / k if only one of the k slots of a record is sent.
        """
        return float(self.cells)

    @property
    def slots(self) -> int | None:
        """The number of slots of a record that are sent; None if a record is sent whole."""
        return None

    @property
    def sent_share(self) -> float:
        """The probability that a given member of a record is sent; below 1 for sampled slots."""
        return 1.0

    @property
    def takes_fakes(self) -> bool:
        """Whether the number of people's fakes is a parameter of the protocol; it may be zero."""
        return "fakes" in self.rules.required | self.rules.optional

    @property
    def fakes_promised(self) -> int:
        """The number of fakes of the whole collection; the mean number if mixes draw them."""
        return 0

    @property
    def fake_source(self) -> FakeSource:
        """Who draws the fakes: people, unless mixes do."""
        return FakeSource.USERS if self.shaped_fakes is None else FakeSource.MIX

    @property
    def own_fakes(self) -> bool:
        """Whether people draw the fakes if a part of a plan uses this mechanism."""
        return self.takes_fakes

    @property
    def uniform_fakes(self) -> bool:
        """Whether a person's fakes are records of uniformly random bins; if not, they are blank."""
        return False

    def with_honest(self, honest_share: float) -> Self:  # noqa: ARG002
        """Return this mechanism with only the people's fakes on which a guarantee may rely.

        ``honest_share`` is the share of people who follow the protocol and whose messages arrive.
        Raise TypeError if there are fakes and the class does not define how many of them arrive.
        """
        if self.fakes_promised:
            raise TypeError(f"{self.name}: nothing says how many fakes arrive")
        return self

    def with_parameter(self, parameter: Parameter, value: int) -> Self:
        """Return this mechanism with another value of ``parameter``.

        Raise TypeError if the mechanism has no such parameter.
        """
        if parameter.field not in self.__struct_fields__:
            raise TypeError(f"{self.name} has no {parameter}")
        return msgspec.structs.replace(self, **{parameter.field: value})

    def parameter_value(self, parameter: Parameter) -> int:
        """Return the integer of ``parameter``; raise TypeError if there is no such parameter."""
        if parameter.field not in self.__struct_fields__:
            raise TypeError(f"{self.name} has no {parameter}")
        return int(getattr(self, parameter.field))

    def get_parameter_values(self, parameter: Parameter) -> dict[str, float]:
        """Return the values that a calibration found for ``parameter``, by public name."""
        return {
            one.name: parameter.to_public_value(self.parameter_value(parameter))
            for one in self.PARAMETERS
            if one.sought == parameter
        }

    def noise_facts(self) -> dict[str, float]:
        """Return the noise parameters that a calibration may find, except the number of fakes.

        After each probability NAME, the entry ``NAME_threshold`` has the probability times 2^64.
        """
        every: dict[str, float] = {}
        for one in self.PARAMETERS:
            if one.sought and one.name in self.rules.sought and one.sought != Parameter.FAKES:
                every |= self.get_parameter_values(one.sought)
                if one.sought.denominator > 1:
                    every[f"{one.name}_threshold"] = self.parameter_value(one.sought)
        return every

    def facts(self) -> dict[str, float]:
        """Return the noise parameters under the names of their options, for people and for JSON."""
        return self.noise_facts()

    @property
    @abstractmethod
    def gain(self) -> float:
        """The increase of the expected count of a bin if one more person has the bin."""

    @abstractmethod
    def offset(self, messages: int) -> float:
        """Return the expected count of an empty bin among ``messages`` messages."""

    @abstractmethod
    def variance(self, messages: int) -> float:
        """Return the variance of the unbiased estimate of an empty bin, in counts squared."""

    @abstractmethod
    def noise(self, messages: int, count: int) -> Noise:
        """Return the distribution of tally minus true count, for a bin with ``count`` people.

        ``messages`` is the total number of messages, fakes included.
        """

    def noise_of_bins(self, messages: int, bins: int, count: int) -> Noise:  # noqa: ARG002
        """Return the distribution of a group's total tally minus its true total.

        The group has ``bins`` bins, and ``count`` is its true total. ``messages`` is the total
        number of messages. For shaped fakes, there is a draw for each bin of the group. Raise
        TypeError for a mechanism for which this distribution is not derived.
        """
        raise TypeError(f"{self.name}: totals are not known")

    def variance_at(self, messages: int, count: int) -> float:  # noqa: ARG002
        """Return the variance of the estimate of a bin with ``count`` people, in counts squared.

        For most mechanisms the variance does not depend on ``count``.
        """
        return self.variance(messages)

    def variance_given_total(self, messages: int, bins: int, count: int = 0) -> float:  # noqa: ARG002
        """Return the variance of a bin's estimate if the known sum of ``bins`` counts is used.

        ``count`` is the number of people in the bin. Let n be the known number of people in the
        ``bins`` bins together, and Z the sum of their unbiased counts. The estimate is the unbiased
        count minus (Z - n) / bins. If Z always equals n, using the sum changes neither the estimate
        nor its variance.
        """
        return self.variance_at(messages, count)

    def sampling_share(self, messages: int, bins: int) -> float:  # noqa: ARG002
        """Return which share of the variance of a sum of counts is due to the sampling of slots.

        The sum is that of ``bins`` bins, of which every person has exactly one. If slots are
        sampled, a person may not send this bin. The result is in [0, 1]. It is 0 if records are
        sent whole, or if too few people send the bin for the sum to be used.
        """
        return 0.0

    @property
    def noise_by_count(self) -> bool:
        """Whether the noise of a bin depends on the number of people in it."""
        return self.flip_threshold is not None

    @property
    def shaped_fakes(self) -> ShapedFakes | None:
        """The fakes that every mix draws; None if mixes draw none."""
        return None

    @property
    def has_paired_fakes(self) -> bool:
        """Whether the fakes of mixes in two bins always add up to the same number."""
        return self.shaped_fakes is not None and self.shaped_fakes.shape.paired

    @property
    def has_independent_fakes(self) -> bool:
        """Whether mixes draw the fakes of every bin independently."""
        return self.shaped_fakes is not None and not self.shaped_fakes.shape.paired

    @property
    def fakes_sent(self) -> int:
        """The number of fakes that people send; 0 if mixes draw the fakes."""
        return self.fakes_promised if self.fake_source is FakeSource.USERS else 0

    @property
    def true_fakes(self) -> float:
        """The mean number of people's uniform fakes that name a given bin before flips.

        It is K / d for K uniform fakes and d bins; 0 without uniform fakes.
        """
        return self.fakes_sent / self.bins if self.uniform_fakes else 0.0

    @property
    def record_messages(self) -> int:
        """The number of messages of a record."""
        return self.repeats

    def people_among(self, messages: int) -> int:
        """Return the maximum number of people who can have sent the messages that are not fakes.

        ``messages`` is the total number of messages. People's fakes and paired fakes are
        subtracted. Other fakes of mixes are not, because their number is random.
        """
        fakes = self.fakes_promised if self.has_paired_fakes else self.fakes_sent
        return (messages - fakes) // self.record_messages

    def debias_counts(self, counts: NDArray[np.int64], messages: int) -> NDArray[np.float64]:
        """Return unbiased estimates of the true counts, in the shape of ``counts``.

        The estimates may be negative. Source: notes 004 (5.20).
        """
        return (counts.astype(np.float64) - self.offset(messages)) / self.gain

    def standard_error(self, users: int, count: int = 0, summed: int | None = None) -> float:
        """Return the standard error of a bin with ``count`` of ``users`` people, in counts.

        If ``summed`` is not None, the estimate uses the known sum of the counts of ``summed`` bins.
        """
        messages = users * self.record_messages + self.fakes_promised
        if summed is None:
            return math.sqrt(self.variance_at(messages, count))
        return math.sqrt(self.variance_given_total(messages, summed, count))
