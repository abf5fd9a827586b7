"""single-bit: one bit, flipped with q; fakes are flipped zeros, other people's flips count too.

Source: notes 004 section 4.
"""

from dataclasses import dataclass
from typing import ClassVar

from mixtally.errors import ParameterError
from mixtally.protocols.flips import Flips
from mixtally.records.guarantee import checked_users
from mixtally.records.question import Kind, Question


@dataclass(frozen=True, slots=True)
class SingleBit(Flips):
    """Flips of one bit among fake zeros and the crowd."""

    name: ClassVar[str] = "single-bit"
    least_bins: ClassVar[int] = 1

    def __post_init__(self) -> None:
        super(SingleBit, self).__post_init__()
        checked_users(self.crowd)
        if self.bins != 1:
            raise ParameterError(
                "bins of single-bit", wanted="1", got=f"{self.bins:,}",
                do="ask every bit as a question of its own, or use flip",
            )  # fmt: skip

    def holds(self, question: Question) -> bool:
        """Whether it asks for bits."""
        return question.kind is Kind.BITS

    @property
    def local_epsilon(self) -> float:
        """ln(p/q)."""
        return self.odds
