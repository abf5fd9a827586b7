"""flip: every bit of a free vector is flipped with q, and other people's flips hide a person.

Source: sufficient DP 000 section 2; repeats: 003, k-randomization.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from mixtally.errors import ParameterError
from mixtally.protocols.flips import Flips
from mixtally.records.guarantee import checked_users
from mixtally.records.question import Kind, Question

MOST_REPEATS = 1000


@dataclass(frozen=True, slots=True)
class FlipVector(Flips):
    """Flips without fakes; every record is sent ``repeats`` times, each time randomized afresh."""

    name: ClassVar[str] = "flip"

    repeats: int = 1

    def __post_init__(self) -> None:
        super(FlipVector, self).__post_init__()
        checked_users(self.crowd)
        if self.fakes or not 1 <= self.repeats <= MOST_REPEATS:
            raise ParameterError(
                "flip", wanted=f"no fakes and 1 to {MOST_REPEATS} repeats",
                got=f"{self.fakes:,} fakes and {self.repeats} repeats", do="plan again",
            )  # fmt: skip

    def facts(self) -> dict[str, float]:
        """As of all flips, and how often a record is sent."""
        return {**super(FlipVector, self).facts(), "repeats": self.repeats}

    def holds(self, question: Question) -> bool:
        """Whether it asks for bits."""
        return question.kind is Kind.BITS

    @property
    def messages_per_record(self) -> int:
        """All repeats."""
        return self.repeats

    @property
    def most_set(self) -> int:
        """All bits: the vector is free."""
        return self.bins

    @property
    def local_epsilon(self) -> float:
        """K L ln(p/q): all bits of two vectors may differ, in every repeat."""
        return self.repeats * self.bins * self.odds

    @property
    def gain(self) -> float:
        """K (p - q): a person's bit is counted in every repeat."""
        return self.repeats * super(FlipVector, self).gain

    def standard_error(self, users: int) -> float:
        """Standard error of an empty bin when ``users`` people take part, in counts."""
        return math.sqrt(self.variance(users * self.repeats))
