"""``mixtally simulate``: play a column of real data through the whole system."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixtally.cli import options as o
from mixtally.cli.budget import BUDGET, given, wish_of
from mixtally.cli.grouped import takes
from mixtally.cli.output import print_json, progress_bars, publish

if TYPE_CHECKING:
    from mixtally.ground.chance import Chance
    from mixtally.records.plan import Plan
    from mixtally.report.study import Study


@takes(BUDGET)
def simulate(
    budget: dict[str, Any],
    data: Annotated[Path, typer.Argument(help="A .csv, .csv.gz or .parquet file, a row a person.")],
    column: Annotated[str, typer.Option("--column", help="The column to count.", metavar="NAME")],
    epsilon: Annotated[
        float | None, typer.Option(help="Privacy loss, 0.01 to 20.", metavar="E")
    ] = None,
    delta: Annotated[
        float | None, typer.Option(help="Chance left over, 1e-15 to 0.1.", metavar="D")
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option("--plan", help="A plan from `mixtally plan --out`.", metavar="FILE"),
    ] = None,
    labels: o.Labels = None,
    level: o.Level = 0.95,
    project: Annotated[
        str | None,
        typer.Option("--project", help="Also report counts projected to: simplex.", metavar="HOW"),
    ] = None,
    seed: o.Seed = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write report.html, .json and .csv here.")
    ] = None,
    top: o.Top = 20,
    json: o.Json = False,
) -> None:
    """Play a column of real data.

    Every row of DATA is a person: plan, randomize, mix, tally, estimate, report.
    """
    from mixtally.lab.central import central
    from mixtally.lab.population import read_population
    from mixtally.lab.run import release
    from mixtally.report.study import Study

    names = o.read_labels(labels)
    if plan is not None:
        beside = {"--epsilon": epsilon, "--delta": delta, "--labels": labels}
        _refuse([flag for flag, value in beside.items() if value is not None] + given(budget))
        chosen, reason = read_plan(plan), f"The plan was given: {plan}."
        question = chosen.question
        names = question.labels or tuple(str(i) for i in range(question.bins))
        population = read_population(data, column, names).asked(question)
    else:
        from mixtally.planner import choose

        guarantee = _guarantee(epsilon, delta)
        population = read_population(data, column, names)
        users = len(population.codes)
        answer = choose(wish_of(budget, population.question, guarantee, users, hashing=False))
        chosen, reason = answer.best.plan, answer.reason
    with progress_bars() as progress:
        result = release(
            chosen, population, chance(seed), progress, level=level, projection=project
        )
    users = len(population.codes)
    study = Study(
        title=f"{column}, counted privately",
        source=f"{users:,} rows of {data.name}, each played as a person. "
        + ("" if names else "The bins were read off the data; a real plan fixes them before."),
        releases=(result,),
        truth=population.truth,
        reason=reason,
        seed=seed,
        central=central(chosen.guarantee, population.truth, level=level, seeded=seed is not None),
    )
    show(study, out, top=top, json=json)


def chance(seed: int | None) -> "Chance":
    """The operating system's randomness, or a repeatable one for a seed."""
    from mixtally.ground.chance import SecureChance
    from mixtally.lab.seeded import SeededChance

    return SecureChance() if seed is None else SeededChance(seed)


def show(study: "Study", out: Path | None, *, top: int, json: bool) -> None:
    """Print the study and write its files."""
    from mixtally.report.export import csv_text, facts, json_text
    from mixtally.report.page import page

    written = []
    if out is not None:
        files = {
            "report.html": page(study),
            "report.json": json_text(study),
            "estimates.csv": csv_text(study),
        }
        written = publish(out, files)
    if json:
        print_json(facts(study))
        return
    from rich.console import Console

    from mixtally.report.table import summary

    console = Console()
    console.print(summary(study, top))
    console.print(study.reason, markup=False, highlight=False)
    for path in written:
        console.print(f"wrote {path}", markup=False, highlight=False, soft_wrap=True)


def read_plan(path: Path) -> "Plan":
    """The plan in a file; raises PlanError when it is truncated, foreign or altered."""
    from mixtally.errors import DataError
    from mixtally.ground.codec import from_canonical
    from mixtally.records.plan import Plan

    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(
            str(path),
            wanted="a plan file",
            got=str(error),
            do="write one with `mixtally plan --out`",
        ) from error
    return from_canonical(data, Plan, str(path))


def _guarantee(epsilon: float | None, delta: float | None):  # type: ignore[no-untyped-def]  # noqa: ANN202
    from mixtally.errors import ParameterError
    from mixtally.records.guarantee import Guarantee

    if epsilon is None or delta is None:
        raise ParameterError(
            "guarantee",
            wanted="--epsilon and --delta, or --plan",
            got="neither" if epsilon is None and delta is None else "one of them",
            do="add --epsilon 1 --delta 1e-6, for example",
        )
    return Guarantee(epsilon=epsilon, delta=delta)


def _refuse(flags: list[str]) -> None:
    """Raises ParameterError when options stand beside --plan that the plan itself holds."""
    from mixtally.errors import ParameterError

    if flags:
        raise ParameterError(
            "--plan",
            wanted="a plan, or options to make one",
            got="both: " + ", ".join(flags),
            do="leave these out: the plan holds them",
        )
