"""What a person who plans a collection wants and can afford."""

import math
from dataclasses import dataclass
from fractions import Fraction

from mixtally.errors import ParameterError
from mixtally.protocols.catalogue import protocol_class
from mixtally.records.guarantee import Guarantee, checked_fraction, checked_users
from mixtally.records.question import Question

DEFAULT_MESSAGES = 2.0
MOST_MESSAGES = 1000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A question, a guarantee, a crowd and a budget.

    where
      users               people expected to take part
      messages_per_user   the most messages a person sends on average, own report included, in
                          [1, 1000]
      count_crowd         whether honest people's own flips are counted on as fakes
      mix_fakes           whether a mix may be trusted to draw fakes
      protocol            a name, to plan with that one only; None to choose
      local_epsilon       the most that may be left of the promise when every mix colludes, in
                          [0.01, 100]; None for no limit
      honest_fraction     share of the users' promised fakes that surely arrive, and of the crowd
                          that is counted on, in (0, 1]

    Raises ParameterError for a number outside its range.
    """

    question: Question
    guarantee: Guarantee
    users: int
    messages_per_user: float | Fraction = DEFAULT_MESSAGES
    mix_fakes: bool = False
    count_crowd: bool = False
    local_epsilon: float | None = None
    protocol: str | None = None
    honest_fraction: float = 1.0

    def __post_init__(self) -> None:
        checked_users(self.users)
        checked_fraction(self.honest_fraction)
        if not 1.0 <= self.messages_per_user <= MOST_MESSAGES:
            raise ParameterError(
                "messages per user",
                wanted=f"a number in [1, {MOST_MESSAGES:g}]",
                got=float(self.messages_per_user),
                do="a person sends at least their own report; 2 adds one fake each",
            )
        if self.local_epsilon is not None and not 0.01 <= self.local_epsilon <= 100.0:
            raise ParameterError(
                "local epsilon",
                wanted="a number in [0.01, 100]",
                got=self.local_epsilon,
                do="leave it out when the mixes are trusted",
            )
        if self.protocol is not None:
            protocol_class(self.protocol)

    @property
    def most_fakes(self) -> int:
        """Fakes that all users together can afford, exact in the decimals of the budget."""
        return math.floor((decimal(self.messages_per_user) - 1) * self.users)


def decimal(value: float | Fraction) -> Fraction:
    """The number as it is written: 1.1 is eleven tenths."""
    return value if isinstance(value, Fraction) else Fraction(repr(float(value)))
