"""``mixtally plan``: the least-error plan for a wish."""

import math
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from mixtally import planner
from mixtally.app.limits import BudgetOptions, wish_of
from mixtally.app.options import flags
from mixtally.app.plans import plan_files, promise_lines
from mixtally.cli import options as o
from mixtally.cli.cascade import CascadeOptions, asked_in_cascade
from mixtally.cli.grouped import grouped
from mixtally.cli.output import print_result, publish, sign_of_life
from mixtally.cli.plan_tables import alternatives, explained, front_table, nearest_table
from mixtally.cli.question import QuestionOptions
from mixtally.cli.screen import console_of, say
from mixtally.errors import InfeasibleError, ParameterError
from mixtally.planner import Choice, Forecast, Gain, Planner, PlanOption, PlanRequest
from mixtally.report.promise import width_text
from mixtally.report.words import promise


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
        Path | None, o.option("--out", "Write the plan itself to this file; several are numbered.")
    ] = None,
    json: o.Json = False,
    *,
    budget: BudgetOptions,
    asked: QuestionOptions,
    cascade: CascadeOptions,
) -> None:
    """Find the plan of least error.

    A question, a guarantee, a crowd and a budget go in; out comes the plan, what else can be had
    for fewer messages or bytes, and the reason. When nothing fits, the nearest wishes that
    something does are shown. With --hops the terms of a contract are planned, for mixes in a row
    that different people run.
    """
    _check_targets(budget, wanted)
    seed, desk = asked.hashing.seed(), Planner()
    question, how = asked_in_cascade(cascade, asked, seed)
    crowd = 2 if wanted.users is None else wanted.users  # the least one, where it is to be found
    wish = wish_of(budget, question, wanted.promise.guarantee(), crowd, hash_seed=seed)
    if cascade.hops is not None:
        _check_no_target(wanted)
        from mixtally.cli.terms import plan_cascade  # another planner, which few need

        plan_cascade(wish, cascade, how, out, json=json)
        return
    try:
        answer, wish = _answer(wish, wanted, desk)
    except InfeasibleError as error:
        if wanted.target_share is None and wanted.target_error is None:
            _print_nearest(wish, error, json=json)
        raise
    _check_seed(asked.hashing.hash_seed, answer.best)
    forecast = planner.forecast(answer.best, level)  # refuses a level before anything is written
    written = []
    if out is not None:
        written = publish(out.parent, plan_files(answer.best.plans, out.stem, out.suffix))
    with sign_of_life("looking at smaller budgets"):
        wish = replace(wish, users=answer.best.plan.users)
        had, better = planner.pareto_front(wish, desk), planner.gains(wish, answer, desk)
    if json:
        _print_json(answer, forecast, had, better, explain=explain)
    else:
        _print(answer, forecast, had, explain=explain)
        for gain in better:
            typer.echo(gain.sentence)
        for path in written:
            typer.echo(f"plan written to {path}")


def _answer(wish: PlanRequest, wanted: WishOptions, desk: Planner) -> tuple[Choice, PlanRequest]:
    """The best plan, and the wish with the budget that was found for it."""
    with sign_of_life("planning"):
        if wanted.target_share is not None:
            return planner.users_for(wish, wanted.target_share, desk), wish
        if wanted.target_error is None:
            return planner.choose(wish, desk), wish
        answer = planner.with_error(wish, wanted.target_error, desk)
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


def _check_no_target(wanted: WishOptions) -> None:
    """Raises ParameterError when something is to be found that is not, for mixes in a row."""
    if beside := flags(wanted, "target_error", "target_share"):
        raise ParameterError(
            "--hops", wanted="--users alone", got=beside[0] + " beside it", do="leave it out"
        )


def _check_seed(seed: str | None, best: PlanOption) -> None:
    """Raises ParameterError when a seed was given and nothing in the plan is hashed."""
    if seed is not None and best.plan.question.hashed is None:
        raise ParameterError(
            "--hash-seed",
            wanted="a plan whose values share bins by a hash",
            got=f"{best.name} with a bin for each value",
            do="leave it out, or add --hash-bins to hash values into so many bins",
        )


def _with_budget(wish: PlanRequest, answer: Choice) -> PlanRequest:
    """The wish with the budget that was found, in thousandths of a message."""
    sent = answer.best.messages_per_user
    return replace(wish, messages_per_user=Fraction(math.ceil(1000 * sent - 1e-6), 1000))


def _print_json(
    answer: Choice,
    expected: Forecast,
    had: list[PlanOption],
    better: list[Gain],
    *,
    explain: bool,
) -> None:
    best = answer.best
    facts = {
        **answer.facts(),
        "forecast": asdict(expected),
        "front": [{"name": offer.name, **offer.facts()} for offer in had],
        "better": [gain.facts() for gain in better],
    }
    if explain:
        facts["explain"] = planner.explain(best)
    print_result(promise_lines(best, expected), facts)


def _print(answer: Choice, expected: Forecast, had: list[PlanOption], *, explain: bool) -> None:
    console = console_of()
    say(console, promise_lines(answer.best, expected))
    console.print(alternatives(answer))
    console.print(answer.reason + "\n", markup=False, highlight=False)
    console.print(
        f"With {100 * expected.level:g} % confidence one bin errs by at most "
        f"{width_text(expected.half_width)} counts, none of all bins by more than "
        f"{width_text(expected.largest_error)}; a count of {expected.visible_count:,} is "
        "distinguishable from zero.\n",
        markup=False,
        highlight=False,
    )
    console.print(front_table(had))
    for text in promise(answer.best.plan, answer.best.certificate):
        console.print(text, markup=False, highlight=False)
    if explain:
        console.print(explained(planner.explain(answer.best)))


def _print_nearest(wish: PlanRequest, error: InfeasibleError, *, json: bool) -> None:
    with sign_of_life("nothing fits: looking for the nearest plans"):
        found = planner.relaxations(wish)
    error.beside["nearest"] = [near.facts() for near in found]
    if found and not json:
        console_of(stderr=True).print(nearest_table(found))
