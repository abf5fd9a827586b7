"""Options of the planner: what a collection may cost, and who is trusted.

Every use case that plans a collection turns these options into a ``PlanRequest``.
"""

import math
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Annotated

from mixtally.app import options as o
from mixtally.errors import ParameterError, not_together
from mixtally.model.contract import Prefixes
from mixtally.model.guarantee import Guarantee
from mixtally.model.question import Question
from mixtally.planning import Planner, PlanRequest
from mixtally.planning.request import default_messages
from mixtally.planning.rounding_grid import round_to_grid
from mixtally.primitives.fixed_point import to_fraction
from mixtally.protocol.encode.numbers import Points, Range, Scale


@dataclass(frozen=True, slots=True, kw_only=True)
class CostOptions:
    """Limits on the messages that a person and a mix send."""

    fakes_per_user: Annotated[
        float | None,
        o.option("--fakes-per-user", "Most fakes (dummy messages) per user, 0 to 999.", "F"),
    ] = None
    messages_per_user: Annotated[
        float | None,
        o.option(
            "--messages-per-user",
            "Average number of messages per user, including the answer, 1 to 1,000 (default 2 "
            "per part of a record, that is per bit or attribute; for a set one more than its "
            "members).",
            "M",
        ),
    ] = None
    bytes_per_user: Annotated[
        float | None,
        o.option(
            "--bytes-per-user",
            "Most bytes of envelopes per user, including padding, at least 1.",
            "B",
        ),
    ] = None
    slots: Annotated[
        int | None,
        o.whole_option(
            "--slots",
            "Send N of a record's bits, attributes or set members, drawn anew each time (default: "
            "all, or as many as give the smallest error).",
        ),
    ] = None
    mix_messages: Annotated[
        int | None,
        o.whole_option(
            "--mix-messages", "Most messages per mix (default with --hops: as many as users)."
        ),
    ] = None

    def messages(self, question: Question) -> float | Fraction:
        """Return the largest allowed mean number of messages per user, the answer included.

        The default depends on the question. Raises ParameterError if both the number of messages
        and the number of fakes are limited.
        """
        fakes, messages = self.fakes_per_user, self.messages_per_user
        if fakes is None:
            return default_messages(question) if messages is None else messages
        if not fakes >= 0.0:
            raise ParameterError(
                "fakes per user",
                expected="a number of at least 0",
                got=fakes,
                do="1 adds one fake per user",
            )
        if messages is None:
            return 1 + to_fraction(fakes) if math.isfinite(fakes) else fakes
        raise not_together(
            "budget",
            "--fakes-per-user",
            ["--messages-per-user"],
            "leave one out: --messages-per-user M means the answer and M - 1 fakes",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustOptions:
    """Assumptions on mixes and other people, and the protocol."""

    mix_fakes: o.MixFakes = False
    hops: Annotated[
        int | None,
        o.whole_option(
            "--hops", "Mixes in a row, 1 to 5, with different operators; they may draw fakes."
        ),
    ] = None
    count_crowd: o.CountCrowd = False
    local_epsilon: Annotated[
        float | None,
        o.option(
            "--local-epsilon",
            "Largest epsilon if every mix colludes, 0.01 to 100.",
            "E",
        ),
    ] = None
    protocol: Annotated[
        str | None,
        o.option(
            "--protocol",
            "flip-blank, flip-uniform, clear-uniform, kary-response, clear-shaped, single-bit or "
            "flip (default: the one with the smallest error).",
            "NAME",
        ),
    ] = None
    honest_share: o.HonestShare = 1.0
    minimum_crowd: Annotated[
        int | None,
        o.whole_option(
            "--minimum-crowd",
            "Users certain to take part, 2 to --users; the guarantee relies on these only.",
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetOptions:
    """What a collection may cost, how often it takes place, and who is trusted."""

    cost: CostOptions
    collections: Annotated[
        int,
        o.whole_option(
            "--collections", "Number of collections, 1 to 1,000; one guarantee covers all."
        ),
    ] = 1
    error_at: Annotated[
        float | None,
        o.option(
            "--error-at",
            "Minimize the error of a bin with N people: 0, a number, or below 1 a share of all "
            "(default: the square root of all).",
            "N",
        ),
    ] = None
    trust: TrustOptions


def plan_request(
    budget: BudgetOptions,
    question: Question,
    guarantee: Guarantee,
    users: int,
    *,
    scale: Range | None = None,
    prefixes: Prefixes | None = None,
    planner: Planner | None = None,
    whole_records: bool = False,
) -> PlanRequest:
    """Return the request to the planner.

    Parameters
    ----------
    budget : BudgetOptions
        Costs, number of collections and trust.
    question, guarantee, users : Question, Guarantee, int
        The question, the guarantee for all collections together, and the number of people.
    scale : Range or None
        The bins of numbers, or the points to which numbers are rounded at random; None for other
        values.
    prefixes : Prefixes or None
        The prefixes of a search for words; None for other questions.
    planner : Planner or None
        Finds the number of points with the smallest error of the mean, if ``scale`` does not state
        this number.
    whole_records : bool
        Whether all slots of a record must be sent.

    Raises
    ------
    ParameterError
        If both messages and fakes are limited, or if the messages of mixes are limited although
        mixes draw no fakes.
    """
    request = PlanRequest(
        question=question,
        guarantee=guarantee,
        users=users,
        messages_per_user=budget.cost.messages(question),
        bytes_per_user=budget.cost.bytes_per_user,
        mix_messages=budget.cost.mix_messages,
        slots=budget.cost.slots,
        whole_records=whole_records,
        collections=budget.collections,
        edges=tuple(map(float, scale.edges)) if isinstance(scale, Scale) else None,
        prefixes=prefixes,
        error_at=budget.error_at,
        **asdict(budget.trust),
    )
    if request.mix_messages is not None and not request.mixes_draw:
        raise ParameterError(
            "mix messages",
            expected="mixes that may draw fakes",
            got="none",
            do="add --hops with the number of mixes, or --mix-fakes for one mix",
        )
    if isinstance(scale, Points):
        return round_to_grid(request, scale, planner or Planner())
    return request


def budget_for_repeats(budget: BudgetOptions, repeats: int | None) -> BudgetOptions:
    """Return the budget with enough messages to send each record ``repeats`` times.

    The budget is returned unchanged if the user has limited messages or fakes.
    """
    cost = budget.cost
    if repeats is None or not (cost.fakes_per_user is None and cost.messages_per_user is None):
        return budget
    # At least the default of 2 messages.
    return replace(budget, cost=replace(cost, messages_per_user=float(max(2, repeats))))
