"""``mixtally plan``: the least-error plan for a wish."""

import math
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from mixtally import planner
from mixtally.app.approval_details import details_of
from mixtally.app.elsewhere import Elsewhere, elsewhere, elsewhere_table
from mixtally.app.limits import BudgetOptions, wish_of
from mixtally.app.options import flags
from mixtally.app.plans import check_details, is_page, plan_file, promise_lines
from mixtally.cli import options as o
from mixtally.cli.encoder import EncoderOptions, asked_by
from mixtally.cli.grouped import grouped
from mixtally.cli.output import print_result, publish, sign_of_life
from mixtally.cli.plan_tables import alternatives, explained, front_table, nearest_table
from mixtally.cli.question import QuestionOptions
from mixtally.cli.screen import console_of, say, warn
from mixtally.encode.numbers import Points, Range
from mixtally.errors import InfeasibleError, ParameterError
from mixtally.planner import Candidate, Choice, Forecast, Gain, Planner, PlanRequest
from mixtally.report.promise import width_text
from mixtally.report.terminal import framed
from mixtally.report.words import promise

NO_MINIMUM = (
    "no minimum crowd is set: a round with one person is counted as well; --minimum-crowd N "
    "destroys smaller rounds"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WishOptions:
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


@grouped
def plan(
    wanted: WishOptions,
    level: o.Level = 0.95,
    explain: Annotated[bool, o.option("--explain", "Say where every number comes from.")] = False,
    out: Annotated[
        Path | None,
        o.option(
            "--out", "Write the plan to this file; a page for approval if it ends in .html or .md."
        ),
    ] = None,
    approval: o.Approval = None,
    json: o.Json = False,
    *,
    budget: BudgetOptions,
    asked: QuestionOptions,
    encoder: EncoderOptions,
) -> None:
    """Find the plan of least error.

    A question, a guarantee, a crowd and a budget go in; out comes the plan, what else can be had
    for fewer messages or bytes, and the reason. When nothing fits, the nearest wishes that
    something does are shown. With --hops it is planned for mixes in a row that different people
    run: `mixtally contract new` says who.
    """
    _check_targets(budget, wanted)
    details = None if approval is None else details_of(approval)
    if details is not None:
        check_details(out)
    seed, own = asked.hashing.seed(), Planner()
    question, (scale, prefixes) = asked_by(encoder, asked, seed)
    _check_points(wanted, scale)
    crowd = 2 if wanted.users is None else wanted.users  # the least one, where it is to be found
    wish = wish_of(
        budget,
        question,
        wanted.promise.guarantee(),
        crowd,
        scale=scale,
        prefixes=prefixes,
        planner=own,
    )
    try:
        answer, wish = _answer(wish, wanted, own)
    except InfeasibleError as error:
        if wanted.target_share is None and wanted.target_error is None:
            _print_nearest(wish, error, json=json)
        raise
    forecast = planner.forecast(answer.plan, level)  # refuses a level before anything is written
    written = []
    if out is not None:
        written = publish(out.parent, {out.name: plan_file(answer.plan, out, details)})
    with sign_of_life("looking at smaller budgets"):
        wish = replace(wish, users=answer.plan.users)
        had, better = planner.pareto_front(wish, own), planner.gains(wish, answer, own)
    others = elsewhere(answer.plan, float(wish.messages_per_user))
    if answer.plan.minimum_crowd == 1:
        warn(NO_MINIMUM)
    if json:
        _print_json(answer, forecast, had, others, better, explain=explain)
    else:
        _print(answer, forecast, had, others, explain=explain)
        for gain in better:
            typer.echo(gain.sentence)
        for path in written:
            typer.echo(f"{'page' if is_page(path) else 'plan'} written to {path}")


def _answer(wish: PlanRequest, wanted: WishOptions, own: Planner) -> tuple[Choice, PlanRequest]:
    """The best plan, and the wish with the budget that was found for it."""
    with sign_of_life("planning"):
        if wanted.target_share is not None:
            return planner.users_for(wish, wanted.target_share, own), wish
        if wanted.target_error is None:
            return planner.choose(wish, own), wish
        answer = planner.with_error(wish, wanted.target_error, own)
        return answer, _with_budget(wish, answer)


def _check_targets(budget: BudgetOptions, wanted: WishOptions) -> None:
    """Raises ParameterError when what is to be found was given as well."""
    messages = flags(budget.cost, "fakes_per_user", "messages_per_user")
    people = flags(budget.trust, "minimum_crowd") + flags(wanted, "target_error", "users")
    for flag, value, beside in (
        ("--target-error", wanted.target_error, messages),
        ("--target-share", wanted.target_share, people),
    ):
        if value is not None and beside:
            raise ParameterError(
                "plan",
                wanted=f"{flag} alone",
                got=" and ".join(beside) + " beside it",
                do="leave out what is to be found",
            )
    if wanted.target_share is None and wanted.users is None:
        raise ParameterError(
            "users",
            wanted="--users",
            got="none",
            do="say how many take part, or give --target-share to find how many are needed",
        )


def _check_points(wanted: WishOptions, scale: Range | None) -> None:
    """Raises ParameterError where points are to be chosen for a crowd that is to be found."""
    if wanted.target_share is not None and isinstance(scale, Points) and scale.points is None:
        raise ParameterError(
            "--target-share",
            wanted="--points beside --number",
            got="none: how many are best depends on how many people there are",
            do="give --points, or --users in place of --target-share",
        )


def _with_budget(wish: PlanRequest, answer: Choice) -> PlanRequest:
    """The wish with the budget that was found, in thousandths of a message."""
    sent = answer.plan.messages_per_user
    return replace(wish, messages_per_user=Fraction(math.ceil(1000 * sent - 1e-6), 1000))


def _print_json(
    answer: Choice,
    expected: Forecast,
    had: list[Candidate],
    others: list[Elsewhere],
    better: list[Gain],
    *,
    explain: bool,
) -> None:
    best = answer.plan
    facts = {
        **answer.facts(),
        "forecast": asdict(expected),
        "front": [one.facts() for one in had],
        "elsewhere": [one.facts() for one in others],
        "better": [gain.facts() for gain in better],
    }
    if (mean := planner.of_mean(best)) is not None:
        facts["mean"] = asdict(mean)
    if explain:
        facts["explain"] = planner.explain(best)
    print_result(promise_lines(best, expected), facts)


def _print(
    answer: Choice,
    expected: Forecast,
    had: list[Candidate],
    others: list[Elsewhere],
    *,
    explain: bool,
) -> None:
    console = console_of()
    say(console, promise_lines(answer.plan, expected))
    console.print(front_table(had))
    console.print(framed(elsewhere_table(answer.plan, others)))
    empty = "empty " * (answer.plan.parts[0].replaced is not None)
    mean = planner.of_mean(answer.plan)
    sentences = [
        answer.reason,
        *([] if mean is None else [mean.sentence]),
        f"With {100 * expected.level:g} % confidence one {empty}bin errs by at most "
        f"{width_text(expected.half_width)} counts, none of all {empty}bins by more than "
        f"{width_text(expected.largest_error)}; a count of {expected.visible_count:,} is "
        "distinguishable from zero.",
    ]
    if explain:
        console.print(alternatives(answer))
        sentences += promise(answer.plan)
    say(console, sentences)
    if explain:
        console.print(explained(planner.explain(answer.plan)))


def _print_nearest(wish: PlanRequest, error: InfeasibleError, *, json: bool) -> None:
    with sign_of_life("nothing fits: looking for the nearest plans"):
        found = planner.relaxations(wish)
    error.beside["nearest"] = [near.facts() for near in found]
    if found and not json:
        console_of(stderr=True).print(nearest_table(found))
