"""``mixtally epochs``: ask again and again; counts, changes, and what everybody spends."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixtally.cli import options as o
from mixtally.cli.budget import BUDGET, given, wish_of
from mixtally.cli.epochs_crowd import CROWD, source_of, timeline_of
from mixtally.cli.epochs_ledger import charging
from mixtally.cli.grouped import takes
from mixtally.cli.output import progress_bars, show
from mixtally.cli.plan_files import read_plan
from mixtally.cli.reading import READING, reading_of

if TYPE_CHECKING:
    from mixtally.data.timeline import Timeline
    from mixtally.records.guarantee import Guarantee
    from mixtally.records.plan import Plan


@takes({**READING, **BUDGET, **CROWD})
def epochs(
    options: dict[str, Any],
    data: Annotated[Path, typer.Argument(help="A .csv, .csv.gz or .parquet file.")],
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
    level: o.Level = 0.95,
    seed: o.Seed = None,
    out: Annotated[
        Path | None, o.folder_option("Write report.html, .json and two .csv here.")
    ] = None,
    top: Annotated[int, typer.Option("--top", min=1, help="Bins in the table.", metavar="N")] = 3,
    json: o.Json = False,
) -> None:
    """Ask again and again.

    Every row of DATA is an answer in an epoch. All epochs together keep the guarantee.
    """
    from mixtally.records.guarantee import Guarantee
    from mixtally.simulate.epochs import collect
    from mixtally.simulate.trend.document import document

    budget = {name: options[name] for name in BUDGET}
    crowd = {name: options[name] for name in CROWD}
    guarantee, chance = Guarantee(epsilon=epsilon, delta=delta), o.chance(seed)
    held = None if plan is None else _held(plan, options["labels"], budget)
    reading = reading_of({name: options[name] for name in READING}, planned=held is not None)
    with progress_bars() as progress:
        timeline = timeline_of(data, reading, held, crowd, chance, progress)
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
            before=charging(ledger, chosen, timeline, o.read_labels(crowd["epoch_order"])),
            level=level,
            title=f"{reading.name} over time, counted privately",
            scale=reading.scale,
            source=source_of(data, timeline, crowd),
            reason=reason,
            seed=seed,
        )
    show(document(trend, top), out, json=json)


def _choose(
    timeline: "Timeline", guarantee: "Guarantee", budget: dict[str, Any]
) -> "tuple[Plan, str]":
    """The planner's choice for the smallest crowd, the guarantee shared by all epochs."""
    from mixtally.errors import ParameterError
    from mixtally.simulate.epoch_plan import whole_plan

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
    return whole_plan(wish_of(budget, timeline.question, guarantee, users))


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
