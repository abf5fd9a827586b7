"""The plan request: the question, the guarantee and the budget of a planned collection.

The command line and the Python interface build a ``PlanRequest``, and all other files of the
planner read it.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from mixtally.device.contract.plan import MOST_HOPS
from mixtally.errors import ParameterError
from mixtally.model.costs import default_count
from mixtally.model.encodings import list_encodings, slots_question
from mixtally.model.grid import Grid
from mixtally.model.guarantee import (
    LEAST_USERS,
    Guarantee,
    check_fraction,
    check_users,
    count_arriving,
)
from mixtally.model.mechanism import mechanism_of
from mixtally.model.mechanism.in_clear import check_slots
from mixtally.model.plan import Prefixes
from mixtally.model.question import Kind, Question
from mixtally.model.recipe import MOST_DRAWN
from mixtally.primitives.fixed_point import to_fraction

DEFAULT_MESSAGES = 2.0
"""The default number of messages per user for each part of a record: its own message and a fake."""
# Dataclass defaults cannot depend on the question: ``__post_init__`` replaces this None.
_BY_PARTS = cast("float", None)
MOST_MESSAGES = 1000.0
"""The upper limit of messages per user."""
MOST_COLLECTIONS = 1000
"""The upper limit of the number of collections."""
_LONGEST = 40
"""The most characters of a refused number that an error message repeats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """A question, a guarantee, a crowd, mixes and a budget.

    Attributes
    ----------
    users : int
        The number of people expected to take part.
    messages_per_user : float
        The most messages that a person sends on average, own messages included, in [1, 1000]. By
        default 2 for each part, and ``max_set + 1`` for a set.
    bytes_per_user : float or None
        The most bytes of a person's bundle, padding included; None for no limit.
    collections : int
        How often the question will be asked. The guarantee is for all collections together.
    edges, grid, prefixes
        The edges that cut numbers into bins, the grid to which numbers are rounded at random, and
        the prefixes of a search for words; None if not used.
    hops : int or None
        The number of mixes in a row, 1 to 5, run by different operators; all may draw fakes. Fakes
        of people then need a ``minimum_crowd``. None for one mix.
    mix_fakes : bool
        Whether the one mix is trusted to draw fakes.
    mix_messages : int or None
        The maximum number of messages that a mix adds to all parts, in [1, 10^10]. With ``hops``,
        None stands for as many messages as users. Without ``hops``, None stands for no limit.
    count_crowd : bool
        Whether the guarantee counts on the flips of honest people, as it does on fakes.
    local_epsilon : float or None
        The largest privacy loss if every mix colludes, in [0.01, 100]; None for no limit.
    protocol : str or None
        The only protocol to consider; None for all.
    error_at : float or None
        The true count at which errors are compared. A number below 1 is a share of ``users``. None
        for the square root of ``users`` or, with a grid, for the mean count of its points.
    honest_share : float
        The share of promised fakes and of the crowd that is counted on, in (0, 1].
    minimum_crowd : int or None
        The number of people who certainly take part; None for all users.
    over_planes : bool
        Whether messages may name planes of values instead of values.
    slots : int or None
        How many slots of a record are sent. If it is None, the planner chooses the number, or sends
        whole records. A record has a slot for each attribute, bit, or possible member of a set.
    whole_records : bool
        Whether all slots of a record must be sent.
    accept_probable : bool
        Whether a candidate that most likely exists is enough, without a proof.

    Raises
    ------
    ParameterError
        If a number is outside its range.
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
    slots: int | None = None
    whole_records: bool = False
    accept_probable: bool = False

    def __post_init__(self) -> None:
        if self.messages_per_user is None:
            # The dataclass is frozen, so its own assignment is not possible here.
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
                "0 is an empty bin, and 0.01 a bin with a hundredth of the users",
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
        if self.slots is not None:
            _check_slots(self)

    @property
    def mix_count(self) -> int:
        """The number of mixes in a row."""
        return self.hops or 1

    @property
    def mixes_draw(self) -> bool:
        """Whether mixes may draw fakes."""
        return self.mix_fakes or self.hops is not None

    @property
    def max_mix_messages(self) -> int:
        """The maximum number of messages that a mix adds to all parts."""
        if self.mix_messages is not None:
            return self.mix_messages
        return MOST_DRAWN if self.hops is None else self.users

    @property
    def crowd(self) -> int:
        """The fewest people of a round; all users if no minimum was requested."""
        return self.users if self.minimum_crowd is None else self.minimum_crowd

    @property
    def count(self) -> int:
        """The number of people in the bin at which errors are compared."""
        at = self.error_at
        if at is None and self.grid is not None:
            return self.users // self.grid.points
        if at is None:
            return default_count(self.users)
        return round(at * self.users if at < 1.0 else at)

    @property
    def people(self) -> int | None:
        """The number of honest people who certainly take part; None if it is unknown or too small.

        With ``hops`` the number is unknown unless ``minimum_crowd`` is given: only then do the
        mixes destroy a smaller round.
        """
        if self.hops is not None and self.minimum_crowd is None:
            return None
        honest = count_arriving(self.crowd, self.honest_share)
        return honest if honest >= LEAST_USERS else None

    def own_fakes(self, parts: int) -> Fraction:
        """Return the mean number of fakes per part that a person can afford.

        The number is negative if the budget does not cover the person's own messages.
        """
        return to_fraction(self.messages_per_user) / parts - 1


def _check_slots(request: PlanRequest) -> None:
    """Raise ParameterError if no record of the question can send this number of its slots."""
    if request.whole_records:
        raise ParameterError(
            "slots",
            expected="whole records, which this command counts",
            got=f"{request.slots} slots of a record",
            do="leave --slots out",
        )
    asked = slots_question(request.question)
    check_slots(cast("int", request.slots), 1 if asked is None else asked.max_set)
    if request.protocol not in (None, "clear-uniform"):
        raise ParameterError(
            "slots",
            expected="--slots without another protocol than clear-uniform",
            got=f"--protocol {request.protocol}",
            do="leave one of the two out",
        )


def default_messages(question: Question) -> float:
    """Return the default budget of messages per user for a question.

    The budget is two for each message of a record, or ``max_set + 1`` for a set, and at most 1000.
    """
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
