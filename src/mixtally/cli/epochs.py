"""``mixtally epochs``: ask again and again; counts, changes, and what everybody spends."""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixtally.cli import options as o
from mixtally.cli.budget import BUDGET, given, wish_of
from mixtally.cli.grouped import takes
from mixtally.cli.ledger import read as read_ledger
from mixtally.cli.output import print_json, progress_bars, publish
from mixtally.cli.simulate import chance as source_of
from mixtally.cli.simulate import read_plan
from mixtally.lab.alone import alone

if TYPE_CHECKING:
    from mixtally.ground.chance import Chance
    from mixtally.lab.timeline import Timeline
    from mixtally.records.guarantee import Guarantee
    from mixtally.records.plan import Plan
    from mixtally.report.trend.trend import Trend

CROWD: dict[str, tuple[Any, Any]] = {
    "epoch_column": (
        Annotated[
            str | None,
            typer.Option("--epoch-column", help="The column that says when.", metavar="NAME"),
        ],
        None,
    ),
    "person_column": (
        Annotated[
            str | None,
            typer.Option("--person-column", help="The column that says who.", metavar="NAME"),
        ],
        None,
    ),
    "epoch_order": (
        Annotated[
            Path | None,
            typer.Option("--epoch-order", help="File with the epochs in order, one a line."),
        ],
        None,
    ),
    "synthetic": (
        Annotated[
            int | None,
            o.whole_option("--synthetic", "Invent so many epochs; DATA is the crowd of the first."),
        ],
        None,
    ),
    "join": (
        Annotated[
            float | None,
            typer.Option("--join", help="Chance to join from epoch to epoch.", metavar="R"),
        ],
        None,
    ),
    "leave": (
        Annotated[
            float | None,
            typer.Option("--leave", help="Chance to leave from epoch to epoch.", metavar="R"),
        ],
        None,
    ),
    "change": (
        Annotated[
            float | None,
            typer.Option("--change", help="Chance that a value is drawn anew.", metavar="R"),
        ],
        None,
    ),
}
"""Where the epochs come from: columns of the data, or an invented turnover (0.1 each)."""
_RATE = 0.1


@takes({**BUDGET, **CROWD})
def epochs(
    options: dict[str, Any],
    data: Annotated[Path, typer.Argument(help="A .csv, .csv.gz or .parquet file.")],
    column: Annotated[str, typer.Option("--column", help="The column to count.", metavar="NAME")],
    epsilon: o.Epsilon,
    delta: o.Delta,
    plan: Annotated[
        Path | None,
        typer.Option("--plan", help="A plan from `mixtally plan --out`.", metavar="FILE"),
    ] = None,
    ledger: Annotated[
        Path | None,
        typer.Option(
            "--ledger", help="Charge every epoch to this ledger before it is sent.", metavar="FILE"
        ),
    ] = None,
    labels: o.Labels = None,
    level: o.Level = 0.95,
    seed: o.Seed = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write report.html, .json and two .csv here.")
    ] = None,
    top: Annotated[int, typer.Option("--top", min=1, help="Bins in the table.", metavar="N")] = 3,
    json: o.Json = False,
) -> None:
    """Ask again and again.

    Every row of DATA is an answer in an epoch. All epochs together keep the guarantee.
    """
    from mixtally.lab.epochs import collect
    from mixtally.records.guarantee import Guarantee

    budget = {name: options[name] for name in BUDGET}
    crowd = {name: options[name] for name in CROWD}
    guarantee, chance = Guarantee(epsilon=epsilon, delta=delta), source_of(seed)
    held = None if plan is None else _held(plan, labels, budget)
    names = o.read_labels(labels) if held is None else _bins(held)
    timeline = _timeline(data, column, names, crowd, chance)
    if held is not None:
        from dataclasses import replace

        timeline = replace(timeline, question=held.question)
        chosen, reason = held, f"The plan was given: {plan}."
    else:
        chosen, reason = _choose(timeline, guarantee, budget)
    with progress_bars() as progress:
        trend = collect(
            chosen,
            timeline,
            guarantee,
            chance,
            progress,
            before=_charging(ledger, chosen, timeline, crowd["epoch_order"]),
            level=level,
            title=f"{column} over time, counted privately",
            source=_source(data, timeline, crowd),
            reason=reason,
            seed=seed,
        )
    show(trend, out, top=top, json=json)


def _timeline(
    data: Path,
    column: str,
    labels: "tuple[str, ...] | None",
    crowd: dict[str, Any],
    chance: "Chance",
) -> "Timeline":
    """The epochs in the data, or invented ones."""
    from mixtally.errors import ParameterError
    from mixtally.lab.population import read_population
    from mixtally.lab.timeline import read_timeline
    from mixtally.lab.turnover import turnover

    rates = {name: crowd[name] for name in ("join", "leave", "change")}
    columns = {name: crowd[name] for name in ("epoch_column", "person_column", "epoch_order")}
    synthetic = crowd["synthetic"] is not None
    refused = columns if synthetic else rates
    beside = ["--" + name.replace("_", "-") for name, value in refused.items() if value is not None]
    if beside or synthetic == (crowd["epoch_column"] is not None):
        raise ParameterError(
            "epochs",
            wanted="--epoch-column (with --person-column, --epoch-order), or --synthetic (with "
            "--join, --leave, --change)",
            got=", ".join([*beside, "--synthetic" if synthetic else "no --synthetic"]),
            do="name the column that says when, or how many epochs to invent",
        )
    if synthetic:
        chances = {name: _RATE if rate is None else rate for name, rate in rates.items()}
        first = read_population(data, column, labels)
        return turnover(first, crowd["synthetic"], **chances, chance=chance)
    return read_timeline(
        data,
        column,
        crowd["epoch_column"],
        person_column=crowd["person_column"],
        labels=labels,
        order=_order(crowd["epoch_order"]),
    )


def _order(path: Path | None) -> tuple[str, ...] | None:
    from mixtally.errors import DataError

    names = o.read_labels(path)
    if names is not None and len(set(names)) != len(names):
        raise DataError(
            str(path), wanted="every epoch once", got="one twice", do="remove the second line"
        )
    return names


def _choose(
    timeline: "Timeline", guarantee: "Guarantee", budget: dict[str, Any]
) -> "tuple[Plan, str]":
    """The planner's choice for the smallest crowd, the guarantee shared by all epochs."""
    from mixtally.errors import ParameterError
    from mixtally.planner import choose

    every, asked = len(timeline.epochs), budget["collections"]
    if asked == BUDGET["collections"][1]:
        asked = every
    if asked < every:
        raise ParameterError(
            "collections", wanted=f"at least the {every:,} epochs of the data", got=f"{asked:,}",
            do="leave --collections out, or count further epochs that are still to come",
        )  # fmt: skip
    budget = {**budget, "collections": asked}
    users = int(timeline.users.min())
    answer = choose(wish_of(budget, timeline.question, guarantee, users))
    return answer.best.plan, answer.reason


def _held(plan: Path, labels: Path | None, budget: dict[str, Any]) -> "Plan":
    from mixtally.errors import ParameterError

    beside = (["--labels"] if labels is not None else []) + given(budget)
    if beside:
        raise ParameterError(
            "--plan", wanted="a plan, or options to make one", got="both: " + ", ".join(beside),
            do="leave these out: the plan holds them",
        )  # fmt: skip
    held = read_plan(plan)
    if held.question.hashed is not None:
        from mixtally.errors import PlanError

        raise PlanError(
            str(plan), wanted="bins of one value each", got="bins that values share by a hash",
            do="ask words with `mixtally simulate --candidates`",
        )  # fmt: skip
    return held


def _bins(plan: "Plan") -> tuple[str, ...]:
    question = plan.question
    return question.labels or tuple(str(i) for i in range(question.bins))


def _charging(
    ledger: Path | None, plan: "Plan", timeline: "Timeline", order: Path | None
) -> Callable[[str], None]:
    """What charges an epoch before it is sent; raises at once when all of them do not fit."""
    from mixtally.ground.codec import canonical
    from mixtally.lab.epoch_ledger import charge_epoch, checked_series
    from mixtally.lab.epochs import quiet

    if ledger is None:
        return quiet
    names = _order(order)
    with alone(ledger.parent, required=True):
        checked_series(read_ledger(ledger), plan, timeline.epochs, names)

    def charge(epoch: str) -> None:
        with alone(ledger.parent, required=True):
            before, today = read_ledger(ledger), date.today().isoformat()
            after = charge_epoch(before, plan, epoch, date=today, order=names)
            publish(ledger.parent, {ledger.name: canonical(after)})

    return charge


def _source(data: Path, timeline: "Timeline", crowd: dict[str, Any]) -> str:
    answers = f"{len(timeline.codes):,} answers in {len(timeline.epochs):,} epochs"
    if crowd["synthetic"] is not None:
        return f"{answers}, invented: {data.name} is the crowd of the first."
    return f"{answers}, the rows of {data.name}."


def show(trend: "Trend", out: Path | None, *, top: int, json: bool) -> None:
    """Print counts over time and write their files."""
    from mixtally.report.trend.export import changes_csv, counts_csv, facts, json_text
    from mixtally.report.trend.page import page

    written = []
    if out is not None:
        files = {
            "report.html": page(trend),
            "report.json": json_text(trend),
            "counts.csv": counts_csv(trend),
            "changes.csv": changes_csv(trend),
        }
        written = publish(out, files)
    if json:
        print_json(facts(trend))
        return
    from rich.console import Console

    from mixtally.report.trend.table import summary

    console = Console()
    console.print(summary(trend, top))
    console.print(trend.reason, markup=False, highlight=False)
    for path in written:
        console.print(f"wrote {path}", markup=False, highlight=False, soft_wrap=True)
