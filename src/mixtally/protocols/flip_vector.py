"""flip: every bit of a free vector is flipped with q, and other people's flips hide a person.

Source: sufficient DP 000 section 2; repeats: 003, k-randomization.
"""

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
        """L ln(p/q) for each repeat: all bits of two vectors may differ, in every one."""
        return self.repeats * self.bins * self.odds
