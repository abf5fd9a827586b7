"""``mixtally plan``: the least-error plan for a wish."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixtally.cli import options as o
from mixtally.cli.budget import BUDGET, given, wish_of
from mixtally.cli.grouped import takes
from mixtally.cli.output import print_json, publish

if TYPE_CHECKING:
    from rich.table import Table

    from mixtally.planner import Answer, Forecast


@takes(BUDGET)
def plan(
    budget: dict[str, Any],
    epsilon: o.Epsilon,
    delta: o.Delta,
    users: o.Users,
    bins: o.Bins = None,
    labels: o.Labels = None,
    name: Annotated[str, typer.Option("--name", help="What the question is called.")] = "answer",
    target_error: Annotated[
        float | None,
        typer.Option(
            "--target-error", help="Find the fewest messages for this standard error.", metavar="X"
        ),
    ] = None,
    level: o.Level = 0.95,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the plan itself to this file.")
    ] = None,
    json: o.Json = False,
) -> None:
    """Find the plan of least error.

    A guarantee, a crowd and a budget go in; out comes the plan, the alternatives and the reason.
    """
    from mixtally.errors import ParameterError
    from mixtally.ground.codec import canonical
    from mixtally.planner import choose, forecast, with_error
    from mixtally.records.guarantee import Guarantee

    if target_error is not None and {"--fakes-per-user", "--messages-per-user"} & {*given(budget)}:
        raise ParameterError(
            "budget", wanted="--target-error or a budget", got="both", do="leave one of them out"
        )
    question = _question(name, bins, o.read_labels(labels))
    wish = wish_of(budget, question, Guarantee(epsilon=epsilon, delta=delta), users)
    answer = choose(wish) if target_error is None else with_error(wish, target_error)
    expected = forecast(answer.best, level)
    if out is not None:
        publish(out.parent, {out.name: canonical(answer.best.plan)})
    if json:
        print_json({**answer.facts(), "forecast": asdict(expected)})
    else:
        _print(answer, expected, out)


def _question(name: str, bins: int | None, labels: tuple[str, ...] | None):  # type: ignore[no-untyped-def]  # noqa: ANN202
    from mixtally.errors import ParameterError
    from mixtally.records.question import Question

    if bins is None and labels is None:
        raise ParameterError(
            "bins", wanted="--bins or --labels", got="neither", do="say how many answers there are"
        )
    return Question(name=name, bins=bins or len(labels or ()), labels=labels)


def _print(answer: "Answer", expected: "Forecast", out: Path | None) -> None:
    from rich.console import Console

    from mixtally.report.words import number, promise

    console = Console()
    console.print(_table(answer))
    console.print(answer.reason + "\n", markup=False, highlight=False)
    console.print(
        f"With {100 * expected.level:g} % confidence one bin errs by at most "
        f"{number(expected.half_width)} counts, none of all bins by more than "
        f"{number(expected.largest_error)}; a count of {expected.visible_count:,} is told from "
        "zero.\n",
        markup=False,
        highlight=False,
    )
    for text in promise(answer.best.plan):
        console.print(text, markup=False, highlight=False)
    if out is not None:
        console.print(f"\nplan written to {out}", markup=False, highlight=False)


def _table(answer: "Answer") -> "Table":
    from rich.table import Table

    from mixtally.report.words import fact

    offers = [answer.best, *answer.others]
    table = Table(header_style="bold")
    table.add_column("")
    for place, offer in enumerate(offers):
        table.add_column(
            offer.plan.protocol, justify="right", style="bold" if place == 0 else "dim"
        )
    every = [offer.facts() for offer in offers]
    for name in dict.fromkeys(name for facts in every for name in facts):
        if name not in ("protocol", "source", "assumption"):
            table.add_row(name.replace("_", " "), *[fact(name, f.get(name, "")) for f in every])
    return table
