"""What a collection may cost and whom it may trust: the planner's options, declared once."""

import math
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Annotated

from mixtally.app import options as o
from mixtally.errors import ParameterError
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
    """What a user may be asked to send."""

    fakes_per_user: Annotated[
        float | None,
        o.option("--fakes-per-user", "Most fakes a user sends on average, 0 to 999.", "F"),
    ] = None
    messages_per_user: Annotated[
        float | None,
        o.option(
            "--messages-per-user",
            "Most messages a user sends on average, the own report included, 1 to 1,000 "
            "(default 2 for each part of a record, a bit or attribute; of a set one more than its "
            "members).",
            "M",
        ),
    ] = None
    bytes_per_user: Annotated[
        float | None,
        o.option(
            "--bytes-per-user",
            "Most bytes of envelopes a user sends, padding included, at least 1.",
            "B",
        ),
    ] = None
    mix_messages: Annotated[
        int | None,
        o.whole_option(
            "--mix-messages", "Most messages a mix adds (default with --hops: as many as users)."
        ),
    ] = None

    def messages(self, question: Question) -> float | Fraction:
        """Messages a user, out of either way to say it, or as many as ``question`` usually takes.

        Raises ParameterError for both ways.
        """
        fakes, messages = self.fakes_per_user, self.messages_per_user
        if fakes is None:
            return default_messages(question) if messages is None else messages
        if not fakes >= 0.0:
            raise ParameterError(
                "fakes per user",
                expected="a number of at least 0",
                got=fakes,
                do="1 adds one fake each",
            )
        if messages is None:
            return 1 + to_fraction(fakes) if math.isfinite(fakes) else fakes
        raise ParameterError(
            "budget",
            expected="--fakes-per-user or --messages-per-user",
            got="both",
            do="give one: M messages are the own report and M - 1 fakes",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustOptions:
    """Who is relied on, and for what."""

    mix_fakes: o.MixFakes = False
    hops: Annotated[
        int | None,
        o.whole_option(
            "--hops", "Mixes in a row, 1 to 5, run by different people; they may draw fakes."
        ),
    ] = None
    count_crowd: o.CountCrowd = False
    local_epsilon: Annotated[
        float | None,
        o.option(
            "--local-epsilon",
            "Most epsilon that may be left when every mix colludes, 0.01 to 100.",
            "E",
        ),
    ] = None
    protocol: Annotated[
        str | None,
        o.option(
            "--protocol",
            "flip-blank, flip-uniform, clear-uniform, kary-response, clear-shaped, single-bit or "
            "flip; chosen by error when left out.",
            "NAME",
        ),
    ] = None
    honest_share: o.HonestShare = 1.0
    minimum_crowd: Annotated[
        int | None,
        o.whole_option(
            "--minimum-crowd",
            "Users certain to take part, 2 to --users; only their fakes and flips count.",
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetOptions:
    """What a collection may cost, how often it takes place, and whom it may trust."""

    cost: CostOptions
    collections: Annotated[
        int,
        o.whole_option(
            "--collections", "Times the question will be asked, 1 to 1,000; one guarantee for all."
        ),
    ] = 1
    error_at: Annotated[
        float | None,
        o.option(
            "--error-at",
            "People in the bin whose error is least: 0, a number, or below 1 a share of all "
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
) -> PlanRequest:
    """The wish with this budget.

    where
      scale     of numbers: cut into its bins, or rounded at random to its points
      planner   finds how many points give a mean the least error, where they are not given

    Raises ParameterError when it is stated in two ways, or limits mixes that draw nothing.
    """
    wish = PlanRequest(
        question=question,
        guarantee=guarantee,
        users=users,
        messages_per_user=budget.cost.messages(question),
        bytes_per_user=budget.cost.bytes_per_user,
        mix_messages=budget.cost.mix_messages,
        collections=budget.collections,
        edges=tuple(map(float, scale.edges)) if isinstance(scale, Scale) else None,
        prefixes=prefixes,
        error_at=budget.error_at,
        **asdict(budget.trust),
    )
    if wish.mix_messages is not None and not wish.mixes_draw:
        raise ParameterError(
            "mix messages",
            expected="mixes that may draw fakes",
            got="none",
            do="add --hops with how many stand in a row, or --mix-fakes for one",
        )
    return round_to_grid(wish, scale, planner or Planner()) if isinstance(scale, Points) else wish


def budget_for_repeats(budget: BudgetOptions, repeats: int | None) -> BudgetOptions:
    """``budget`` for messages that are sent several times, where it does not say how many."""
    cost = budget.cost
    if repeats is None or not (cost.fakes_per_user is None and cost.messages_per_user is None):
        return budget
    return replace(budget, cost=replace(cost, messages_per_user=float(max(2, repeats))))
