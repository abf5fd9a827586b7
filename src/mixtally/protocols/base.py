"""What every protocol can say about itself."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import ParameterError
from mixtally.records.guarantee import MOST_USERS, arriving
from mixtally.records.layout import Layout
from mixtally.records.question import Kind, Question, checked_bins


class FakeSource(StrEnum):
    """Who draws the fakes, and so who must be trusted to have done it."""

    USERS = "users"
    MIX = "mix"


@dataclass(frozen=True, slots=True)
class Protocol(ABC):
    """One way of asking a question; the fields are its integers.

    A bin that truly holds z people is counted ``gain * z + offset`` times on average.
    """

    name: ClassVar[str]
    fake_source: ClassVar[FakeSource]
    uniform_fakes: ClassVar[bool] = False
    """Whether a person's fakes are records of uniformly random bins; blank ones otherwise."""

    least_bins: ClassVar[int] = 2

    bins: int
    fakes: int
    """Fakes promised in the whole collection (a mean when a mix draws their number)."""

    def __post_init__(self) -> None:
        checked_bins(self.bins, self.least_bins)
        checked_fakes(self.fakes)

    def holds(self, question: Question) -> bool:
        """Whether it can hide the records of ``question``."""
        return question.kind is Kind.ONE

    def integers(self) -> dict[str, int]:
        """The parameters a plan stores, by name; ``bins`` is the question's."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "bins"}

    def facts(self) -> dict[str, float]:
        """Its noise in the field's terms, for people and for JSON."""
        return {}

    def surely(self, honest_fraction: float) -> Self:
        """This protocol with only the fakes that surely arrive."""
        if self.fake_source is FakeSource.MIX:
            return self
        return replace(self, fakes=arriving(self.fakes, honest_fraction))

    @property
    def fakes_sent(self) -> int:
        """Fakes that people send; a mix's are not told apart from people's messages."""
        return self.fakes if self.fake_source is FakeSource.USERS else 0

    @property
    def true_fakes(self) -> float:
        """Fakes that people send and that truly hold a bin, on average: K / d of uniform ones."""
        return self.fakes_sent / self.bins if self.uniform_fakes else 0.0

    def people_among(self, messages: int) -> int:
        """The most people who can have sent so many messages together with their fakes."""
        return (messages - self.fakes_sent) // self.messages_per_record

    @property
    def messages_per_record(self) -> int:
        """How often a person sends their record."""
        return 1

    @property
    def most_set(self) -> int:
        """The most bits that a record may set."""
        return 1

    @property
    @abstractmethod
    def layout(self) -> Layout:
        """The form of its messages."""

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
    def gain(self) -> float:
        """Expected counts a person adds to the bin they are in, above one they are not."""

    @abstractmethod
    def offset(self, messages: int) -> float:
        """Expected count of an empty bin among ``messages`` messages."""

    @abstractmethod
    def variance(self, messages: int) -> float:
        """Variance of the unbiased estimate of an empty bin, in counts squared."""

    def unbiased(self, counts: NDArray[np.int64], messages: int) -> NDArray[np.float64]:
        """Estimates of the true counts, shape as ``counts``, unbiased, so they may be negative.

        Source: notes 004 (5.20).
        """
        return (counts.astype(np.float64) - self.offset(messages)) / self.gain

    def standard_error(self, users: int) -> float:
        """Standard error of an empty bin when ``users`` people take part, in counts."""
        return math.sqrt(self.variance(users * self.messages_per_record + self.fakes))


def checked_fakes(fakes: int) -> int:
    """``fakes`` itself when it lies in [0, 10^13]; raises ParameterError otherwise."""
    most = 1000 * MOST_USERS
    if not 0 <= fakes <= most:
        raise ParameterError(
            "fakes",
            wanted=f"an integer in [0, {most:,}]",
            got=f"{fakes:,}",
            do="it is the number of fakes in the whole collection",
        )
    return fakes
