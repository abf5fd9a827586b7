"""What every mechanism can say about itself: its messages, its fakes, how its counts are debiased.

A mechanism is how a record is sent, which fakes hide it, and what of the crowd is counted on. It
holds integers only and no privacy number: ``privacy.divergence`` has those.
"""

import math
from abc import ABCMeta, abstractmethod
from enum import StrEnum
from typing import ClassVar, NamedTuple, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from mixtally.errors import in_range
from mixtally.records.layout import Layout
from mixtally.records.mechanism.fakes import FakeSource, ShapedFakes
from mixtally.records.question import checked_bins

MOST_REPEATS = 1000


class Parameter(StrEnum):
    """What a calibration may find."""

    FLIP = "flip probability"
    FAKES = "fakes"
    SHIFT = "shape shift"
    REPLACED = "replacement chance"


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
    """One way of answering a question of ``bins`` bins; the fields are its integers."""

    bins: int

    def __post_init__(self) -> None:
        checked_bins(self.bins, self.least_bins)

    @property
    @abstractmethod
    def name(self) -> str:
        """The protocol's name, as people type it."""

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
    """One whose messages travel through mixes, among fakes; ``NAMES`` are those of its protocols.

    where
      repeats   how often every record is sent, each time randomized afresh among fakes of its own,
                in [1, 1000]

    A bin that truly holds z people is counted ``gain * z + offset`` times on average.
    """

    NAMES: ClassVar[tuple[str, ...]] = ()

    repeats: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        in_range("repeats", self.repeats, 1, MOST_REPEATS, "plan again")

    @property
    @abstractmethod
    def most_set(self) -> int:
        """The most bits that a record may set: the promise covers no more."""

    @property
    @abstractmethod
    def flip_threshold(self) -> int | None:
        """Flip probability times 2^64, None when records travel in clear."""

    @property
    @abstractmethod
    def local_epsilon(self) -> float:
        """What is left of the promise when every mix colludes with the collector."""

    @property
    @abstractmethod
    def fakes_promised(self) -> int:
        """Fakes of the whole collection; a mean where mixes draw their number."""

    @property
    def fake_source(self) -> FakeSource:
        """Who draws them: people, where no mix does."""
        return FakeSource.USERS if self.shaped is None else FakeSource.MIX

    @property
    @abstractmethod
    def uniform_fakes(self) -> bool:
        """Whether a person's fakes are records of uniformly random bins; blank ones otherwise."""

    @abstractmethod
    def with_honest(self, honest_share: float) -> Self:
        """This mechanism with only the fakes that certainly arrive."""

    @abstractmethod
    def having(self, parameter: Parameter, value: int) -> Self:
        """This mechanism with another value of ``parameter``: a threshold, or a number of fakes.

        Raises TypeError when it has no such parameter.
        """

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
    def shaped(self) -> ShapedFakes | None:
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

    def unbiased(self, counts: NDArray[np.int64], messages: int) -> NDArray[np.float64]:
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
