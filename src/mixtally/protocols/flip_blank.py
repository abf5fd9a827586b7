"""flip-blank: every bit of a record is flipped with q; fakes are flipped blanks.

Source: notes 004 section 5.3 (the configuration behind (5.26)).
"""

from dataclasses import dataclass
from typing import ClassVar

from mixtally.errors import ParameterError
from mixtally.protocols.flips import Flips
from mixtally.records.question import MOST_SET, Kind, Question


@dataclass(frozen=True, slots=True)
class FlipBlank(Flips):
    """Flips and flipped blanks; ``max_set`` bits of a record are set at most."""

    name: ClassVar[str] = "flip-blank"

    max_set: int = 1

    def __post_init__(self) -> None:
        super(FlipBlank, self).__post_init__()
        most = min(MOST_SET, self.bins)
        if not 1 <= self.max_set <= most:
            raise ParameterError(
                "max set", wanted=f"an integer in [1, {most}]", got=self.max_set,
                do="it is the most bins that a set has",
            )  # fmt: skip

    def holds(self, question: Question) -> bool:
        """Whether no record of ``question`` sets more than ``max_set`` bits."""
        return question.kind is not Kind.BITS and question.max_set <= self.max_set

    @property
    def most_set(self) -> int:
        """The most bits that the promise covers."""
        return self.max_set

    @property
    def local_epsilon(self) -> float:
        """2 k ln(p/q): records of at most k set bits differ in at most 2k."""
        return 2.0 * self.max_set * self.odds
