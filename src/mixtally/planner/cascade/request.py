"""A plan request for mixes in a row."""

from dataclasses import dataclass
from fractions import Fraction

from mixtally.errors import in_range
from mixtally.ground.fixed import decimal
from mixtally.planner.request import PlanRequest
from mixtally.records.contract import MOST_HOPS, Prefixes
from mixtally.records.guarantee import LEAST_USERS
from mixtally.records.recipe import MOST_DRAWN


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeRequest:
    """A plan request for ``hops`` mixes in a row.

    where
      request       the question, the guarantee, the crowd and a person's budget
      hops          mixes in a row, 1 to 5
      mix_messages  the most messages that a mix adds to all parts, in [1, 10^10]; None for as many
                    as there are users
      edges         where numbers are cut into bins; None without numbers
      prefixes      by which words are asked; None without

    Raises ParameterError for a number outside its range.
    """

    request: PlanRequest
    hops: int
    mix_messages: int | None = None
    edges: tuple[float, ...] | None = None
    prefixes: Prefixes | None = None

    def __post_init__(self) -> None:
        for subject, value, most, advice in (
            ("hops", self.hops, MOST_HOPS, "three mixes run by three different people are usual"),
            ("mix messages", self.drawn, MOST_DRAWN, "as many as there are users are usual"),
        ):
            in_range(subject, value, 1, most, advice)

    @property
    def drawn(self) -> int:
        """The most messages that a mix adds."""
        return self.request.users if self.mix_messages is None else self.mix_messages

    @property
    def people(self) -> int | None:
        """Honest people who surely take part; None where nobody said how many, or too few."""
        sure = self.request.sure_crowd if self.request.minimum_crowd is not None else 0
        return sure if sure >= LEAST_USERS else None

    def own_fakes(self, parts: int) -> Fraction:
        """Fakes that a person can afford for each of so many parts; negative for too few."""
        return decimal(self.request.messages_per_user) / parts - 1
