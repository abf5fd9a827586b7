"""A plan request: what a person who plans a collection wants and can afford."""

from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from mixtally.device.contract.plan import MOST_HOPS
from mixtally.errors import ParameterError
from mixtally.model.costs import default_count
from mixtally.model.encodings import list_encodings
from mixtally.model.grid import Grid
from mixtally.model.guarantee import (
    LEAST_USERS,
    Guarantee,
    check_fraction,
    check_users,
    count_arriving,
)
from mixtally.model.mechanism import mechanism_of
from mixtally.model.plan import Prefixes
from mixtally.model.question import Kind, Question
from mixtally.model.recipe import MOST_DRAWN
from mixtally.primitives.fixed_point import to_fraction

DEFAULT_MESSAGES = 2.0
"""For each part of a record: its own message, and a fake."""
_BY_PARTS = cast("float", None)  # until the question is known
MOST_MESSAGES = 1000.0
MOST_COLLECTIONS = 1000
_LONGEST = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """A question, a guarantee, a crowd, mixes and a budget.

    where
      users               people expected to take part
      messages_per_user   the most messages a person sends on average, own reports included, in
                          [1, 1000]; when left out 2 for each part, a bit or an attribute, and for a
                          set one more than it may have members
      bytes_per_user      the most bytes of a person's bundle, padding included; None for no limit
      collections         how often the question will be asked; the guarantee is for all of them
      edges               where numbers are cut into bins; None without
      grid                to whose points numbers are rounded at random; None without
      prefixes            by which words are asked; None without
      over_planes         whether messages may name planes of values in place of values
      count_crowd         whether honest people's own flips are counted on as fakes
      hops                mixes in a row, 1 to 5, that different people run: any of them draws fakes
                          where that can be had, and people bring the cover only with a minimum
                          crowd; None for one mix
      mix_fakes           whether the one mix may be trusted to draw fakes
      mix_messages        the most messages that a mix adds to all parts, in [1, 10^10]; None for as
                          many as there are users, and for any number without hops
      protocol            a name, to plan with that one only; None to choose
      local_epsilon       the most that may be left of the promise when every mix colludes, in
                          [0.01, 100]; None for no limit
      error_at            at which true count of a bin errors are compared: a number of people, or
                          below 1 a share of them; None for the square root of the users, and for
                          as many as a point of a grid has
      honest_share     share of the users' promised fakes that certainly arrive, and of the crowd
                          that is counted on, in (0, 1]
      minimum_crowd       people who certainly take part, of whose fakes and flips only the honest
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
    edges: tuple[float, ...] | None = None
    grid: Grid | None = None
    prefixes: Prefixes | None = None
    hops: int | None = None
    mix_fakes: bool = False
    mix_messages: int | None = None
    count_crowd: bool = False
    local_epsilon: float | None = None
    protocol: str | None = None
    error_at: float | None = None
    honest_share: float = 1.0
    minimum_crowd: int | None = None
    over_planes: bool = True
    likely: bool = False

    def __post_init__(self) -> None:
        if self.messages_per_user is None:
            object.__setattr__(self, "messages_per_user", default_messages(self.question))
        check_users(self.users)
        check_fraction(self.honest_share)
        for subject, value, least, most, advice in (
            (
                "messages per user",
                self.messages_per_user,
                1.0,
                MOST_MESSAGES,
                "a person sends at least their own report; 2 adds one fake each",
            ),
            ("bytes per user", self.bytes_per_user, 1.0, 1e12, "leave it out for no limit"),
            ("collections", self.collections, 1, MOST_COLLECTIONS, "it is how often you will ask"),
            ("hops", self.hops, 1, MOST_HOPS, "three mixes run by three people are usual"),
            ("mix messages", self.mix_messages, 1, MOST_DRAWN, "as many as users are usual"),
            (
                "error at",
                self.error_at,
                0.0,
                self.users,
                "0 is an empty bin, 0.01 one that a hundredth of the users hold",
            ),
            ("local epsilon", self.local_epsilon, 0.01, 100.0, "leave it out to trust the mixes"),
            (
                "minimum crowd",
                self.minimum_crowd,
                1 if self.hops else LEAST_USERS,
                self.users,
                "it is how many of the users certainly take part",
            ),
        ):
            _check(subject, value, least, most, advice)
        if self.protocol is not None:
            mechanism_of(self.protocol)

    @property
    def mix_count(self) -> int:
        """Mixes in a row."""
        return self.hops or 1

    @property
    def mixes_draw(self) -> bool:
        """Whether mixes may draw fakes."""
        return self.mix_fakes or self.hops is not None

    @property
    def max_mix_messages(self) -> int:
        """The most messages that a mix adds."""
        if self.mix_messages is not None:
            return self.mix_messages
        return MOST_DRAWN if self.hops is None else self.users

    @property
    def crowd(self) -> int:
        """The fewest people of a round: all of them, unless it is said."""
        return self.users if self.minimum_crowd is None else self.minimum_crowd

    @property
    def count(self) -> int:
        """How many people hold the bin whose error is compared."""
        at = self.error_at
        if at is None and self.grid is not None:
            return self.users // self.grid.points
        if at is None:
            return default_count(self.users)
        return round(at * self.users if at < 1.0 else at)

    @property
    def people(self) -> int | None:
        """Honest people who certainly take part; None where they are too few.

        In a network nobody knows unless it is said, as a round of fewer is destroyed.
        """
        if self.hops is not None and self.minimum_crowd is None:
            return None
        honest = count_arriving(self.crowd, self.honest_share)
        return honest if honest >= LEAST_USERS else None

    def own_fakes(self, parts: int) -> Fraction:
        """Fakes that a person can afford for each of so many parts; negative for too few."""
        return to_fraction(self.messages_per_user) / parts - 1


def default_messages(question: Question) -> float:
    """Two for each message that a record can be split into; of a set one more than its members."""
    if question.kind is Kind.SET and question.attributes is None:
        return max(DEFAULT_MESSAGES, question.max_set + 1.0)
    return min(DEFAULT_MESSAGES * len(list_encodings(question)[-1].parts), MOST_MESSAGES)


def _check(
    subject: str, value: float | Fraction | None, low: float, high: float, advice: str
) -> None:
    if value is None or low <= value <= high:
        return
    given = f"{value:,}" if isinstance(value, int) else f"{float(value)}"
    raise ParameterError(
        subject,
        expected=f"a number in [{_format_limit(low)}, {_format_limit(high)}]",
        got=given if len(given) <= _LONGEST else given[:_LONGEST] + "..",
        do=advice,
    )


def _format_limit(limit: float) -> str:
    return f"{limit:,.0f}" if limit >= 1.0 else f"{limit:g}"
