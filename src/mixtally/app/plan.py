"""The plan with the smallest error for a request, and its alternatives.

The command line and Python call ``make_request`` and ``plan``. The result is a ``Planned``, which
computes alternatives only when they are requested.
"""

import math
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Annotated, Any

from mixtally import planning as planner
from mixtally.app import options as o
from mixtally.app.limits import BudgetOptions, plan_request
from mixtally.app.model_comparison import ModelComparison, compare_models
from mixtally.app.question import EncoderOptions, QuestionOptions, build_question
from mixtally.errors import InfeasibleError, ParameterError, join_words, not_together
from mixtally.model.contract import Plan
from mixtally.model.question import Question
from mixtally.planning import Candidate, Choice, Forecast, Gain, Planner, PlanRequest, Relaxations
from mixtally.protocol.encode.numbers import Points, Range
from mixtally.report.document import Promise
from mixtally.report.promise import promise_of_plan


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetOptions:
    """The guarantee, the number of people, and a required error.

    If an error is required, the planner finds the number of messages or of people for it.
    """

    promise: o.Promise
    users: Annotated[
        int | None,
        o.whole_option("--users", "Expected number of people, 2 to 10^10 (or --target-share)."),
    ] = None
    target_error: Annotated[
        float | None,
        o.option(
            "--target-error", "Find the fewest messages for this standard error, in counts.", "X"
        ),
    ] = None
    target_share: Annotated[
        float | None,
        o.option(
            "--target-share",
            "Find the fewest users for which the standard error is this share of them, 0 to 1.",
            "S",
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions:
    """All options of a plan."""

    target: TargetOptions
    level: o.Level = 0.95
    budget: BudgetOptions
    asked: QuestionOptions
    encoder: EncoderOptions


@dataclass(frozen=True, slots=True)
class CheckedRequest:
    """A request whose options do not exclude each other.

    Parameters
    ----------
    request : PlanRequest
        The request to the planner. If the number of people is to be found, it states two people,
        the smallest crowd.
    options : PlanOptions
        The options of the request.
    planner : Planner
        Caches the computations for the request.
    """

    request: PlanRequest
    options: PlanOptions
    planner: Planner

    def nearest(self) -> Relaxations | None:
        """Return the closest feasible requests; None if the options state a target.

        A target is a required error, or a required error as a share of the people.
        """
        target = self.options.target
        if target.target_share is None and target.target_error is None:
            # Planning and this search share one limit on the number of computations.
            remaining = max(0, planner.MOST_PRICES - self.planner.prices)
            return planner.relaxations(self.request, remaining)
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Planned:
    """A plan, the reason for it, and its alternatives.

    Parameters
    ----------
    choice : Choice
        The plan, the other candidates and the reason.
    request : PlanRequest
        The request, with the number of people or of messages that was found.
    forecast : Forecast
        The expected errors at the requested level.
    planner : Planner
        Caches the computations for the request.
    """

    choice: Choice
    request: PlanRequest
    forecast: Forecast
    planner: Planner

    @property
    def plan(self) -> Plan:
        """The chosen plan."""
        return self.choice.plan

    def promise(self) -> Promise:
        """Return the guarantee in three lines."""
        return promise_of_plan(self.plan, self.forecast.level, self.forecast.half_width)

    def front(self) -> list[Candidate]:
        """Return the candidates within the budget that no other candidate beats.

        See ``planning.choose.pareto_front``.
        """
        return planner.pareto_front(self.request, self.planner)

    def gains(self) -> list[Gain]:
        """Return slight changes of the request that reduce the error, each with its new plan."""
        return planner.gains(self.request, self.choice, self.planner)

    def elsewhere(self) -> list[ModelComparison]:
        """Return the errors of other models with the same guarantee and number of messages."""
        return compare_models(self.plan, float(self.request.messages_per_user))

    def facts(self, *, explain: bool = False) -> dict[str, Any]:
        """Return the plan, its errors and its alternatives as JSON values.

        With ``explain``, the result also has the source of every number.
        """
        facts = {
            **self.choice.facts(),
            "forecast": asdict(self.forecast),
            "front": [one.facts() for one in self.front()],
            "elsewhere": [one.facts() for one in self.elsewhere()],
            "better": [gain.facts() for gain in self.gains()],
        }
        if (mean := planner.forecast_mean(self.plan)) is not None:
            facts["mean"] = asdict(mean)
        if explain:
            facts["explain"] = planner.explain(self.plan)
        return facts


def make_request(options: PlanOptions, question: Question | None = None) -> CheckedRequest:
    """Return the request that options describe.

    Parameters
    ----------
    options : PlanOptions
        The guarantee, the crowd, the question and the budget.
    question : Question or None
        An existing question, in place of the options that describe a question.

    Raises
    ------
    ParameterError
        If an option is out of range, or options exclude each other.
    PlanError
        If the labels are invalid.
    """
    target, scale, prefixes, own = options.target, None, None, Planner()
    _check_targets(options.budget, target)
    if question is None:
        question, (scale, prefixes) = build_question(options.asked, options.encoder)
    else:
        _check_question_alone(options)
    _check_points(target, scale)
    request = plan_request(
        options.budget,
        question,
        target.promise.guarantee(),
        2 if target.users is None else target.users,  # the smallest crowd, if it is unknown
        scale=scale,
        prefixes=prefixes,
        planner=own,
    )
    return CheckedRequest(request, options, own)


def plan(asked: CheckedRequest) -> Planned:
    """Find the plan with the smallest error, the fewest messages or the smallest crowd.

    Raises
    ------
    InfeasibleError
        If no plan meets the request; its ``nearest`` has the closest feasible requests.
    ParameterError
        If a level or a target is out of range.
    """
    try:
        return _find_plan(asked)
    except InfeasibleError as error:
        error.search = asked.nearest
        raise


def _find_plan(asked: CheckedRequest) -> Planned:
    request, own, target = asked.request, asked.planner, asked.options.target
    if target.target_share is not None:
        answer = planner.choose_users(request, target.target_share, own)
        request = replace(request, users=answer.plan.users)
    elif target.target_error is not None:
        answer = planner.choose_with_error(request, target.target_error, own)
        # The tolerance of 1e-6 keeps a float such as 1.2 from being rounded up to 1.201.
        sent = answer.plan.messages_per_user
        found = Fraction(
            math.ceil(1000 * sent - 1e-6), 1000
        )  # rounded up to thousandths of a message
        request = replace(request, messages_per_user=found)
    else:
        answer = planner.choose(request, own)
    return Planned(answer, request, planner.forecast(answer.plan, asked.options.level), own)


def _check_targets(budget: BudgetOptions, target: TargetOptions) -> None:
    """Raise ParameterError if an option limits the quantity that a target asks to find."""
    messages = o.list_used_flags(budget.cost, "fakes_per_user", "messages_per_user")
    people = o.list_used_flags(budget.trust, "minimum_crowd") + o.list_used_flags(
        target, "target_error", "users"
    )
    for flag, value, conflicting, sought in (
        ("--target-error", target.target_error, messages, "messages"),
        ("--target-share", target.target_share, people, "people"),
    ):
        if value is not None and conflicting:
            raise not_together(
                "plan",
                flag,
                conflicting,
                f"leave {join_words(conflicting)} out, because {flag} asks for the number of "
                f"{sought}",
            )
    if target.target_share is None and target.users is None:
        raise ParameterError(
            "users",
            expected="--users",
            got="none",
            do="give the number of people, or --target-share to find how many are needed",
        )


def _check_question_alone(options: PlanOptions) -> None:
    """Raise ParameterError for options that describe a question, as there is an existing one."""
    if conflicting := o.list_used_flags(options.asked) + o.list_used_flags(options.encoder):
        raise not_together(
            "question",
            "a question",
            conflicting,
            f"leave {join_words(conflicting)} out: the question contains the possible values",
        )


def _check_points(target: TargetOptions, scale: Range | None) -> None:
    """Raise ParameterError if both the number of points and the size of the crowd are unknown."""
    if target.target_share is not None and isinstance(scale, Points) and scale.points is None:
        raise ParameterError(
            "--target-share",
            expected="--points with --number",
            got="none, although the best number of points depends on the number of people",
            do="give --points, or --users in place of --target-share",
        )
