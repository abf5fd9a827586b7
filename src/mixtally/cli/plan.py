"""``mixtally plan``: the least-error plan for a wish."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixtally.cli import options as o
from mixtally.cli.budget import BUDGET, given, wish_of
from mixtally.cli.grouped import takes
from mixtally.cli.hashing import seed_of
from mixtally.cli.output import print_json, publish, sign_of_life
from mixtally.cli.question import QUESTION, question_of

if TYPE_CHECKING:
    from mixtally.errors import InfeasibleError
    from mixtally.planner import Choice, Forecast, PlanOption, PlanRequest


@takes({**BUDGET, **QUESTION})
def plan(
    options: dict[str, Any],
    epsilon: o.Epsilon,
    delta: o.Delta,
    users: Annotated[
        int | None,
        o.whole_option("--users", "People expected to take part, 2 to 10^10 (or --target-share)."),
    ] = None,
    target_error: Annotated[
        float | None,
        typer.Option(
            "--target-error",
            help="Find the fewest messages for this standard error, in counts.",
            metavar="X",
        ),
    ] = None,
    target_share: Annotated[
        float | None,
        typer.Option(
            "--target-share",
            help="Find the fewest users for this share of them as standard error, between 0 and 1.",
            metavar="S",
        ),
    ] = None,
    level: o.Level = 0.95,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say where every number comes from.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Write the plan itself to this file; several are numbered."),
    ] = None,
    json: o.Json = False,
) -> None:
    """Find the plan of least error.

    A question, a guarantee, a crowd and a budget go in; out comes the plan, what else can be had
    for fewer messages or bytes, and the reason. When nothing fits, the nearest wishes that
    something does are shown.
    """
    from mixtally import planner
    from mixtally.errors import InfeasibleError
    from mixtally.records.guarantee import Guarantee

    budget = {name: options[name] for name in BUDGET}
    _check_targets(budget, users, target_error, target_share)
    seed = seed_of(options["hash_seed"])
    asked = {name: options[name] for name in QUESTION}
    question = question_of({**asked, "hash_seed": seed})
    crowd = 2 if users is None else users  # the least one, where a crowd is to be found
    wish = wish_of(budget, question, Guarantee(epsilon=epsilon, delta=delta), crowd, hash_seed=seed)
    desk = planner.Planner()
    try:
        with sign_of_life("planning"):
            if target_share is not None:
                answer = planner.users_for(wish, target_share, desk)
            elif target_error is not None:
                answer = planner.with_error(wish, target_error, desk)
                wish = _with_budget(wish, answer)
            else:
                answer = planner.choose(wish, desk)
    except InfeasibleError as error:
        if target_share is None and target_error is None:
            _print_nearest(wish, error, json=json)
        raise
    _check_seed(options["hash_seed"], answer.best)
    forecast = planner.forecast(answer.best, level)  # refuses a level before anything is written
    written = _write(answer, out) if out is not None else []
    with sign_of_life("looking at smaller budgets"):
        had = planner.pareto_front(replace(wish, users=answer.best.plan.users), desk)
    if json:
        _print_json(answer, forecast, had, explain=explain)
    else:
        _print(answer, forecast, had, explain=explain)
        for path in written:
            typer.echo(f"plan written to {path}")


def _check_targets(
    budget: dict[str, Any], users: int | None, error: float | None, share: float | None
) -> None:
    """Raises ParameterError when what is to be found was given as well."""
    from mixtally.errors import ParameterError

    crowds = (["--users"] if users is not None else []) + (
        ["--minimum-crowd"] if "--minimum-crowd" in given(budget) else []
    )
    beside = {
        "--target-error": {"--fakes-per-user", "--messages-per-user"} & {*given(budget)},
        "--target-share": set(crowds) | ({"--target-error"} if error is not None else set()),
    }
    for flag, value in (("--target-error", error), ("--target-share", share)):
        if value is not None and beside[flag]:
            others = " and ".join(sorted(beside[flag]))
            raise ParameterError(
                "plan", wanted=f"{flag} alone", got=f"{others} beside it",
                do="leave out what is to be found",
            )  # fmt: skip
    if share is None and users is None:
        raise ParameterError(
            "users", wanted="--users", got="none",
            do="say how many take part, or give --target-share to find how many are needed",
        )  # fmt: skip


def _check_seed(seed: str | None, best: "PlanOption") -> None:
    """Raises ParameterError when a seed was given and nothing in the plan is hashed."""
    from mixtally.errors import ParameterError

    if seed is not None and best.plan.question.hashed is None:
        raise ParameterError(
            "--hash-seed", wanted="a plan whose values share bins by a hash",
            got=f"{best.name} with a bin for each value",
            do="leave it out, or add --hash-bins to hash values into so many bins",
        )  # fmt: skip


def _with_budget(wish: "PlanRequest", answer: "Choice") -> "PlanRequest":
    """The wish with the budget that was found, in thousandths of a message."""
    import math
    from fractions import Fraction

    sent = answer.best.messages_per_user
    return replace(wish, messages_per_user=Fraction(math.ceil(1000 * sent - 1e-6), 1000))


def _write(answer: "Choice", out: Path) -> list[Path]:
    """The plan, or the plans of a record's messages with numbers before the suffix."""
    from mixtally.ground.codec import canonical

    plans = answer.best.plans
    names = [out.name] if len(plans) == 1 else [
        f"{out.stem}-{number}{out.suffix}" for number in range(1, len(plans) + 1)
    ]  # fmt: skip
    return publish(out.parent, {n: canonical(p) for n, p in zip(names, plans, strict=True)})


def _print_json(
    answer: "Choice", expected: "Forecast", had: "list[PlanOption]", *, explain: bool
) -> None:
    from mixtally import planner

    best = answer.best
    facts = {
        **answer.facts(),
        "forecast": asdict(expected),
        "front": [{"name": offer.name, **offer.facts()} for offer in had],
    }
    if explain:
        facts["explain"] = planner.explain(best)
    print_json(facts)


def _print(
    answer: "Choice", expected: "Forecast", had: "list[PlanOption]", *, explain: bool
) -> None:
    from rich.console import Console

    from mixtally import planner
    from mixtally.cli.plan_tables import alternatives, explained, front_table
    from mixtally.report.words import number, promise

    console = Console()
    console.print(alternatives(answer))
    console.print(answer.reason + "\n", markup=False, highlight=False)
    console.print(
        f"With {100 * expected.level:g} % confidence one bin errs by at most "
        f"{number(expected.half_width)} counts, none of all bins by more than "
        f"{number(expected.largest_error)}; a count of {expected.visible_count:,} is told from "
        "zero.\n",
        markup=False,
        highlight=False,
    )
    console.print(front_table(had))
    for text in promise(answer.best.plan, answer.best.certificate):
        console.print(text, markup=False, highlight=False)
    if explain:
        console.print(explained(planner.explain(answer.best)))


def _print_nearest(wish: "PlanRequest", error: "InfeasibleError", *, json: bool) -> None:
    from mixtally.planner import relaxations

    with sign_of_life("nothing fits: looking for the nearest plans"):
        found = relaxations(wish)
    if json:
        print_json({"error": str(error), "nearest": [near.facts() for near in found]})
        return
    from rich.console import Console

    from mixtally.cli.plan_tables import nearest_table

    if found:
        Console(stderr=True).print(nearest_table(found))
