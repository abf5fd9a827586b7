"""``mixtally simulate``: play columns of real data through the whole system."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixtally.cli import options as o
from mixtally.cli.budget import BUDGET, given, wish_of
from mixtally.cli.grouped import takes
from mixtally.cli.output import print_json, progress_bars, publish
from mixtally.cli.reading import READING, reading_of
from mixtally.cli.simulate_memory import MEMORY
from mixtally.cli.simulate_memory import asked as asked_memory
from mixtally.cli.simulate_memory import play as play_memory

if TYPE_CHECKING:
    from mixtally.lab.population import Population
    from mixtally.lab.reading import Reading
    from mixtally.planner import Offer
    from mixtally.records.plan import Plan
    from mixtally.report.study import Release, Study


@takes({**READING, **BUDGET, **MEMORY})
def simulate(
    options: dict[str, Any],
    data: Annotated[Path, typer.Argument(help="A .csv, .csv.gz or .parquet file, a row a person.")],
    epsilon: Annotated[
        float | None, typer.Option(help="Privacy loss, 0.01 to 20.", metavar="E")
    ] = None,
    delta: Annotated[
        float | None, typer.Option(help="Chance left over, 1e-15 to 0.1.", metavar="D")
    ] = None,
    plan: Annotated[
        list[Path] | None,
        typer.Option(
            "--plan",
            help="A plan from `mixtally plan --out`; once for each message of a split record.",
            metavar="FILE",
        ),
    ] = None,
    repeats: Annotated[
        int | None, o.whole_option("--repeats", "Send vectors of bits so many times (flip).")
    ] = None,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="Also count how many people have both of two bits.")
    ] = False,
    observer: Annotated[
        str,
        typer.Option(
            "--observer", help="sums: also say what is hidden from sums alone.", metavar="WHO"
        ),
    ] = "messages",
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
    """Play columns of real data.

    Every row of DATA is a person: plan, randomize, mix, tally, estimate, report. A record is one
    value of a column, a set of labels (--set), bits or attributes of several columns (--as), or a
    number (--number). With --memory answers are randomized once, kept, and reported from again.
    """
    from dataclasses import replace

    from mixtally.lab import offers
    from mixtally.lab.run import Asked, collect

    _check_observer(observer)
    budget = {name: options[name] for name in BUDGET}
    other = {"--plan": plan, "--repeats": repeats, "--pairs": pairs, "--project": project}
    other["--observer sums"] = observer == "sums"
    if asked_memory(options, budget, other):
        play_memory(
            data, options, (epsilon, delta), level=level, seed=seed, out=out, top=top, json=json
        )
        return
    reading = reading_of({name: options[name] for name in READING}, planned=bool(plan))
    if plan:
        beside = {"--epsilon": epsilon, "--delta": delta, "--labels": options["labels"]}
        beside["--repeats"] = repeats
        _refuse([flag for flag, value in beside.items() if value is not None] + given(budget))
        population, offer = _planned(data, reading, plan)
        reason = "The plan was given: " + ", ".join(map(str, plan)) + "."
    else:
        from mixtally.lab.readers import read

        guarantee = _guarantee(epsilon, delta)
        population = read(data, reading)
        if repeats is not None and {"--fakes-per-user", "--messages-per-user"}.isdisjoint(
            given(budget)
        ):
            budget["messages_per_user"] = float(max(2, repeats))
        wish = wish_of(budget, population.question, guarantee, population.users, hashing=False)
        offer, reason = offers.best(wish, repeats=repeats, pairs=pairs)
    asked = Asked(level=level, projection=project, scale=reading.scale, pairs=pairs)
    with progress_bars() as progress:
        result = collect(offer, population, o.chance(seed), asked, progress)
    if observer == "sums":
        result = replace(result, sums=offers.seen_by_sums(offer))
    show(_study(data, reading, population, result, reason, seed, plan), out, top=top, json=json)


def _planned(data: Path, reading: "Reading", plans: list[Path]) -> "tuple[Population, Offer]":
    """The crowd asked what the plans ask, and the plans as an offer."""
    from mixtally.lab import offers
    from mixtally.lab.readers import read
    from mixtally.lab.reading import As
    from mixtally.records.question import Kind

    chosen = [read_plan(path) for path in plans]
    question = chosen[0].question
    clear_bit = reading.form is As.BITS and question.kind is Kind.ONE  # no or yes
    whole = len(chosen) == 1 and not clear_bit
    if not whole:
        reading = reading.labelled([one.question for one in chosen])
    population = read(data, reading, question if whole else None)
    return population, offers.given(chosen, population)


def _study(
    data: Path,
    reading: "Reading",
    population: "Population",
    result: "Release",
    reason: str,
    seed: int | None,
    plans: list[Path] | None,
) -> "Study":
    from mixtally.lab.central import ONE_VALUE, central
    from mixtally.records.baseline import Central
    from mixtally.records.question import Kind
    from mixtally.report.study import Study

    known = reading.fixed or plans
    baselines = Central(note=ONE_VALUE)
    if result.question.kind is Kind.ONE:
        level, seeded = result.estimate.each.level, seed is not None
        baselines = central(result.plan.guarantee, population.truth, level=level, seeded=seeded)
    return Study(
        title=f"{reading.name}, counted privately",
        source=f"{population.users:,} rows of {data.name}, each played as a person. "
        + population.note
        + ("" if known else "The bins were read off the data; a real plan fixes them before."),
        releases=(result,),
        truth=population.truth,
        reason=reason,
        seed=seed,
        central=baselines,
    )


def _check_observer(observer: str) -> None:
    from mixtally.errors import ParameterError

    if observer not in ("messages", "sums"):
        raise ParameterError(
            "observer", wanted="one of messages, sums", got=repr(observer), do="choose one"
        )


def show(study: "Study", out: Path | None, *, top: int, json: bool) -> None:
    """Print the study and write its files."""
    from mixtally.report.export import csv_text, facts, figures_csv, json_text
    from mixtally.report.page import page

    written = []
    if out is not None:
        files = {
            "report.html": page(study),
            "report.json": json_text(study),
            "estimates.csv": csv_text(study),
            **{f"{found.name}.csv": figures_csv(found) for found in study.main.figures},
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
