"""A plan request: what a person who plans a collection wants and can afford."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from mixtally.errors import ParameterError
from mixtally.ground.fixed import decimal
from mixtally.records.encodings import encodings
from mixtally.records.guarantee import Guarantee, arriving, checked_fraction, checked_users
from mixtally.records.mechanism import mechanism_of
from mixtally.records.mechanism.fakes import MOST_MIXES
from mixtally.records.question import Question

DEFAULT_MESSAGES = 2.0
"""For each part of a record: its own message, and a fake."""
_BY_PARTS = cast("float", None)  # until the question is known
MOST_MESSAGES = 1000.0
MOST_COLLECTIONS = 1000
_LONGEST = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """A question, a guarantee, a crowd and a budget.

    where
      users               people expected to take part
      messages_per_user   the most messages a person sends on average, own reports included, in
                          [1, 1000]; when left out 2 for each part: a bit or an attribute
      bytes_per_user      the most bytes of messages a person sends on average; None for no limit
      collections         how often the question will be asked; the guarantee is for all of them
      hash_seed           of a hash by which values may share bins; None when they must not
      count_crowd         whether honest people's own flips are counted on as fakes
      mix_fakes           whether mixes may be trusted to draw fakes
      mixes               how many mixes draw fakes, any one of which may be the honest one
      protocol            a name, to plan with that one only; None to choose
      local_epsilon       the most that may be left of the promise when every mix colludes, in
                          [0.01, 100]; None for no limit
      honest_fraction     share of the users' promised fakes that surely arrive, and of the crowd
                          that is counted on, in (0, 1]
      minimum_crowd       people who surely take part, of whose fakes and flips only the honest
                          fraction is counted on; None for all users
      likely              whether it is enough to know that an option most likely exists

    Raises ParameterError for a number outside its range.
    """

    question: Question
    guarantee: Guarantee
    users: int
    messages_per_user: float | Fraction = _BY_PARTS
    bytes_per_user: float | None = None
    collections: int = 1
    hash_seed: str | None = None
    mix_fakes: bool = False
    mixes: int = 1
    count_crowd: bool = False
    local_epsilon: float | None = None
    protocol: str | None = None
    honest_fraction: float = 1.0
    minimum_crowd: int | None = None
    likely: bool = False

    def __post_init__(self) -> None:
        if self.messages_per_user is None:
            object.__setattr__(self, "messages_per_user", default_messages(self.question))
        checked_users(self.users)
        checked_fraction(self.honest_fraction)
        _check(
            "messages per user",
            self.messages_per_user,
            1.0,
            MOST_MESSAGES,
            "a person sends at least their own report; 2 adds one fake each",
        )
        _check("bytes per user", self.bytes_per_user, 1.0, 1e12, "leave it out for no limit")
        _check("collections", self.collections, 1, MOST_COLLECTIONS, "it is how often you will ask")
        _check("mixes", self.mixes, 1, MOST_MIXES, "it is how many mixes draw fakes")
        _check(
            "local epsilon",
            self.local_epsilon,
            0.01,
            100.0,
            "leave it out when the mixes are trusted",
        )
        _check(
            "minimum crowd",
            self.minimum_crowd,
            2,
            self.users,
            "it is how many of the users surely take part",
        )
        if self.mixes > 1 and not self.mix_fakes:
            raise ParameterError(
                "mixes",
                wanted="--mix-fakes beside it",
                got=f"{self.mixes} mixes that draw none",
                do="allow mixes to draw fakes",
            )
        if self.protocol is not None:
            mechanism_of(self.protocol)

    @property
    def sure_fraction(self) -> float:
        """The share of all promised fakes that is counted on, rounded down where it is no float."""
        if self.minimum_crowd is None:
            return self.honest_fraction
        exact = decimal(self.honest_fraction) * self.minimum_crowd / self.users
        share = float(exact)
        return share if decimal(share) <= exact else math.nextafter(share, 0.0)

    @property
    def sure_crowd(self) -> int:
        """Honest people whose flips are counted on."""
        crowd = self.users if self.minimum_crowd is None else self.minimum_crowd
        return arriving(crowd, self.honest_fraction)

    def most_fakes(self, reports: int = 1, message_bytes: float = 1.0) -> int:
        """Fakes that all users together can afford, exact in the decimals of the budget.

        where
          reports         messages that a record takes, so that the fakes are those of each of them
          message_bytes   the mean size of a message
        """
        budget = decimal(self.messages_per_user)
        if self.bytes_per_user is not None:
            budget = min(budget, decimal(self.bytes_per_user) / decimal(message_bytes))
        return math.floor((budget / reports - 1) * self.users)


def default_messages(question: Question) -> float:
    """Two for each of the messages that a record can be split into."""
    return min(DEFAULT_MESSAGES * len(encodings(question)[-1].parts), MOST_MESSAGES)


def _check(
    subject: str, value: float | Fraction | None, low: float, high: float, advice: str
) -> None:
    if value is None or low <= value <= high:
        return
    given = f"{value:,}" if isinstance(value, int) else f"{float(value)}"
    raise ParameterError(
        subject,
        wanted=f"a number in [{_displayed(low)}, {_displayed(high)}]",
        got=given if len(given) <= _LONGEST else given[:_LONGEST] + "..",
        do=advice,
    )


def _displayed(limit: float) -> str:
    return f"{limit:,.0f}" if limit >= 1.0 else f"{limit:g}"
