"""``mixtally simulate``: play columns of real data through the whole system."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixtally.cli import options as o
from mixtally.cli.budget import BUDGET, given
from mixtally.cli.grouped import takes
from mixtally.cli.hashing import HASHING, Candidates, asked_words
from mixtally.cli.output import progress_bars
from mixtally.cli.reading import READING, reading_of
from mixtally.cli.simulate_crowd import leave_room, planned, refuse, wished
from mixtally.cli.simulate_memory import MEMORY
from mixtally.cli.simulate_memory import asked as asked_memory
from mixtally.cli.simulate_memory import play as play_memory
from mixtally.cli.studies import show

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mixtally.data.population import Population
    from mixtally.data.reading import Reading
    from mixtally.ground.chance import Chance
    from mixtally.planner import PlanOption
    from mixtally.report.study import Release, Study
    from mixtally.simulate.run import Asked


@takes({**READING, **BUDGET, **HASHING, **MEMORY})
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
    candidates: Candidates = None,
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
        Path | None, o.folder_option("Write report.html, .json, .csv and the plan here.")
    ] = None,
    top: o.Top = 20,
    json: o.Json = False,
) -> None:
    """Play columns of real data.

    Every row of DATA is a person: plan, randomize, mix, tally, estimate, report. A record is one
    value of a column, a set of labels (--set), bits or attributes of several columns (--as), a
    number (--number), or a word of an open domain (--hash-bins, --candidates). With --memory
    answers are randomized once, kept, and reported from again.
    """
    from dataclasses import replace

    from mixtally.simulate import offers
    from mixtally.simulate.run import Asked

    _check_observer(observer)
    budget = {name: options[name] for name in BUDGET}
    other: dict[str, object] = {"--plan": plan, "--repeats": repeats, "--pairs": pairs}
    other |= {
        "--project": project,
        "--candidates": candidates,
        "--observer sums": observer == "sums",
    }
    other |= {f"--{name.replace('_', '-')}": options[name] for name in HASHING}
    if asked_memory(options, budget, other):
        play_memory(
            data, options, (epsilon, delta), level=level, seed=seed, out=out, top=top, json=json
        )
        return
    reading = reading_of({name: options[name] for name in READING}, planned=bool(plan))
    plain = {"--project": project, "--pairs": pairs or None, "--repeats": repeats}
    words = asked_words(candidates, options, reading, plain, planned=bool(plan))
    source = o.chance(seed)
    if plan:
        beside: dict[str, Any] = {"--epsilon": epsilon, "--delta": delta, "--repeats": repeats}
        beside |= {f"--{n.replace('_', '-')}": options[n] for n in ("labels", *HASHING)}
        refuse([flag for flag, value in beside.items() if value is not None] + given(budget))
        population, offer = planned(data, reading, plan, words)
        reason = "The plan was given: " + ", ".join(map(str, plan)) + "."
    else:
        leave_room(budget, repeats)
        population, wish = wished(data, reading, words, options, budget, (epsilon, delta), source)
        offer, reason = offers.best(wish, repeats=repeats, pairs=pairs)
    asked = Asked(level=level, projection=project, scale=reading.scale, pairs=pairs)
    result, truth = _played(offer, population, words, source, asked)
    if observer == "sums":
        result = replace(result, sums=offers.seen_by_sums(offer))
    known = bool(reading.fixed or plan or words)
    study = _study(data, reading, population, result, truth, reason, seed, known=known)
    show(study, out, top=top, json=json)


def _played(
    offer: "PlanOption",
    population: "Population",
    words: tuple[str, ...] | None,
    source: "Chance",
    asked: "Asked",
) -> "tuple[Release, NDArray[np.int64]]":
    """The result and the truth of each of its lines."""
    from mixtally.simulate.open_words import collect_words
    from mixtally.simulate.run import collect

    with progress_bars() as progress:
        if words is None:
            return collect(offer, population, source, asked, progress), population.truth
        return collect_words(offer, population, words, source, asked.level, progress)


def _check_observer(observer: str) -> None:
    from mixtally.errors import ParameterError

    if observer not in ("messages", "sums"):
        raise ParameterError(
            "observer", wanted="one of messages, sums", got=repr(observer), do="choose one"
        )


def _study(
    data: Path,
    reading: "Reading",
    population: "Population",
    result: "Release",
    truth: "NDArray[np.int64]",
    reason: str,
    seed: int | None,
    *,
    known: bool,
) -> "Study":
    from mixtally.records.baseline import Central
    from mixtally.records.question import Kind
    from mixtally.report.study import Study
    from mixtally.simulate.central import ONE_VALUE, central

    baselines = Central(note=ONE_VALUE)
    if result.question.kind is Kind.ONE:
        level, seeded = result.estimate.each.level, seed is not None
        baselines = central(result.plan.guarantee, truth, level=level, seeded=seeded)
    return Study(
        title=f"{reading.name}, counted privately",
        source=f"{population.users:,} rows of {data.name}, each played as a person. "
        + population.note
        + ("" if known else "The bins were read off the data; a real plan fixes them before."),
        releases=(result,),
        truth=truth,
        reason=reason,
        seed=seed,
        central=baselines,
    )
