"""The plan of least error for a request, and what else could be had.

The command line and Python both call ``plan``: it looks at the options, finds what is to be found,
and returns a ``Planned``, whose further answers are computed when they are asked for.
"""

import math
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Annotated, Any

from mixtally import planning as planner
from mixtally.app import options as o
from mixtally.app.limits import BudgetOptions, plan_request
from mixtally.app.model_comparison import ModelComparison, compare_models
from mixtally.app.plans import promise_lines
from mixtally.app.question import EncoderOptions, QuestionOptions, build_question
from mixtally.errors import InfeasibleError, ParameterError
from mixtally.model.contract import Plan
from mixtally.model.question import Question
from mixtally.planning import Candidate, Choice, Forecast, Gain, Planner, PlanRequest, Relaxations
from mixtally.protocol.encode.numbers import Points, Range
from mixtally.report.document import Promise


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetOptions:
    """What is promised to whom, or what of it is to be found."""

    promise: o.Promise
    users: Annotated[
        int | None,
        o.whole_option("--users", "People expected to take part, 2 to 10^10 (or --target-share)."),
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
            "Find the fewest users for this share of them as standard error, between 0 and 1.",
            "S",
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions:
    """Everything that a plan is made of."""

    target: TargetOptions
    level: o.Level = 0.95
    budget: BudgetOptions
    asked: QuestionOptions
    encoder: EncoderOptions


@dataclass(frozen=True, slots=True)
class CheckedRequest:
    """A request whose options go together.

    Parameters
    ----------
    request : PlanRequest
        The request; for two people if the crowd is to be found.
    options : PlanOptions
        What it was made of.
    planner : Planner
        Remembers what was computed for the request.
    """

    request: PlanRequest
    options: PlanOptions
    planner: Planner

    def nearest(self) -> Relaxations | None:
        """Return the nearest requests that can be met; None where an error or a crowd is sought."""
        target = self.options.target
        if target.target_share is None and target.target_error is None:
            left = max(0, planner.MOST_PRICES - self.planner.prices)
            return planner.relaxations(self.request, left)
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Planned:
    """A plan, why it was chosen, and what could be had in its place.

    Parameters
    ----------
    choice : Choice
        The plan, the options beside it and the reason.
    request : PlanRequest
        The request, with the crowd or the budget that was found.
    forecast : Forecast
        The errors that are expected at the requested level.
    planner : Planner
        Remembers what was computed for the request.
    """

    choice: Choice
    request: PlanRequest
    forecast: Forecast
    planner: Planner

    @property
    def plan(self) -> Plan:
        """The plan itself."""
        return self.choice.plan

    def promise(self) -> Promise:
        """Return the promise in three lines."""
        return promise_lines(self.plan, self.forecast)

    def front(self) -> list[Candidate]:
        """Return what can be had within the budget for fewer messages or bytes."""
        return planner.pareto_front(self.request, self.planner)

    def gains(self) -> list[Gain]:
        """Return what a little more of what the plan is short of would bring."""
        return planner.gains(self.request, self.choice, self.planner)

    def elsewhere(self) -> list[ModelComparison]:
        """Return what other models give for the same guarantee and as many messages."""
        return compare_models(self.plan, float(self.request.messages_per_user))

    def facts(self, *, explain: bool = False) -> dict[str, Any]:
        """Return all of it as JSON has it, with the source of every number if ``explain``."""
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
        A question that was made before, in place of the options of one.

    Raises
    ------
    ParameterError
        For an option outside its range, or beside another that it does not go with.
    PlanError
        For labels that are no labels.
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
        2 if target.users is None else target.users,  # the least one, where it is to be found
        scale=scale,
        prefixes=prefixes,
        planner=own,
    )
    return CheckedRequest(request, options, own)


def plan(asked: CheckedRequest) -> Planned:
    """Find the plan of least error, the fewest messages or the smallest crowd.

    Raises
    ------
    InfeasibleError
        If nothing fits; its ``nearest`` are the nearest requests that can be met.
    ParameterError
        For a level or a target outside its range.
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
        sent = answer.plan.messages_per_user
        found = Fraction(math.ceil(1000 * sent - 1e-6), 1000)  # in thousandths of a message
        request = replace(request, messages_per_user=found)
    else:
        answer = planner.choose(request, own)
    return Planned(answer, request, planner.forecast(answer.plan, asked.options.level), own)


def _check_targets(budget: BudgetOptions, target: TargetOptions) -> None:
    """Raise ParameterError when what is to be found was given as well."""
    messages = o.list_used_flags(budget.cost, "fakes_per_user", "messages_per_user")
    people = o.list_used_flags(budget.trust, "minimum_crowd") + o.list_used_flags(
        target, "target_error", "users"
    )
    for flag, value, beside in (
        ("--target-error", target.target_error, messages),
        ("--target-share", target.target_share, people),
    ):
        if value is not None and beside:
            raise ParameterError(
                "plan",
                expected=f"{flag} alone",
                got=" and ".join(beside) + " beside it",
                do="leave out what is to be found",
            )
    if target.target_share is None and target.users is None:
        raise ParameterError(
            "users",
            expected="--users",
            got="none",
            do="say how many take part, or give --target-share to find how many are needed",
        )


def _check_question_alone(options: PlanOptions) -> None:
    """Raise ParameterError for options of a question beside one that was made before."""
    if beside := o.list_used_flags(options.asked) + o.list_used_flags(options.encoder):
        raise ParameterError(
            "question",
            expected="a question alone",
            got=" and ".join(beside) + " beside it",
            do="leave these out: the question has them",
        )


def _check_points(target: TargetOptions, scale: Range | None) -> None:
    """Raise ParameterError where points are to be chosen for a crowd that is to be found."""
    if target.target_share is not None and isinstance(scale, Points) and scale.points is None:
        raise ParameterError(
            "--target-share",
            expected="--points beside --number",
            got="none: how many are best depends on how many people there are",
            do="give --points, or --users in place of --target-share",
        )
