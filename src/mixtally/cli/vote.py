"""``mixtally vote``: one ballot file counted without any trust, and through mixes."""

from pathlib import Path
from typing import Annotated, Any

import typer

from mixtally.cli import options as o
from mixtally.cli.budget import BUDGET, wish_of
from mixtally.cli.grouped import takes
from mixtally.cli.output import progress_bars, show

_ONE_VOTE = {name: option for name, option in BUDGET.items() if name != "collections"}


@takes(_ONE_VOTE)
def vote(
    budget: dict[str, Any],
    data: Annotated[
        Path | None, typer.Argument(help="A .csv, .csv.gz or .parquet file, a row a voter.")
    ] = None,
    column: Annotated[
        str | None, typer.Option("--column", help="The column that names the choice.", metavar="C")
    ] = None,
    example: Annotated[
        bool, typer.Option("--example", help="Play the side notes' 100,000 voters, p = 0.63.")
    ] = False,
    epsilon: Annotated[
        float | None,
        typer.Option(help="Privacy loss, 0.01 to 20; that of --keep if left out.", metavar="E"),
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(help="Chance left over in the shuffle version, 1e-15 to 0.1.", metavar="D"),
    ] = None,
    keep: Annotated[
        float | None,
        typer.Option(
            "--keep",
            help="Chance that the local version keeps a mark; what --epsilon allows if left out.",
            metavar="P",
        ),
    ] = None,
    labels: o.Labels = None,
    level: o.Level = 0.95,
    seed: o.Seed = None,
    out: Annotated[
        Path | None, o.folder_option("Write report.html, .json and shares.csv here.")
    ] = None,
    json: o.Json = False,
) -> None:
    """Count a vote in two ways.

    Every row of DATA is a ballot, counted by the local version, which trusts nobody, and by the
    shuffle version, which trusts mixes: shares, intervals, and how surely the leader has won.
    """  # fmt: skip
    from mixtally.data.population import read_population
    from mixtally.privacy.local import certificate
    from mixtally.records.guarantee import Guarantee
    from mixtally.simulate import voting
    from mixtally.simulate.election.document import document

    if example:
        _refuse({"DATA": data, "--column": column, "--labels": labels})
        population, source = voting.example(), voting.EXAMPLE_SOURCE
        keep = voting.EXAMPLE_KEEP if keep is None and epsilon is None else keep
        delta = voting.EXAMPLE_DELTA if delta is None else delta
    else:
        path, name = _given(data, column)
        with progress_bars() as progress:
            population = read_population(path, name, o.read_labels(labels), progress)
        source = f"{len(population.codes):,} rows of {path.name}, each played as a voter." + (
            "" if labels else " The options were read off the data; a real vote fixes them before."
        )
    if delta is None:
        raise _missing("--delta", "none", "add --delta 1e-6, for example")
    options = voting.checked_options(population)
    ballots = voting.local_ballots(options, epsilon=epsilon, keep=keep)
    promise = certificate(ballots, epsilon if keep is None else None)
    guarantee = Guarantee(epsilon=promise.epsilon if epsilon is None else epsilon, delta=delta)
    users = len(population.codes)
    with progress_bars() as progress:
        held = voting.hold(
            population,
            ballots,
            promise,
            wish_of(budget, population.question, guarantee, users),
            o.chance(seed),
            progress,
            level=level,
            title=f"{population.question.name}, voted on",
            source=source,
            seed=seed,
        )
    show(document(held), out, json=json)


def _given(data: Path | None, column: str | None) -> tuple[Path, str]:
    if data is None or column is None:
        raise _missing(
            "a ballot file and --column, or --example",
            "neither" if data is None and column is None else "one of the two",
            "name the file and the column that holds the choice",
        )
    return data, column


def _refuse(beside: dict[str, object]) -> None:
    """Raises ParameterError when --example stands beside what it brings itself."""
    came = [name for name, value in beside.items() if value is not None]
    if came:
        raise _missing("a ballot file or --example", "both: " + ", ".join(came), "leave one out")


def _missing(wanted: str, got: str, do: str) -> Exception:
    from mixtally.errors import ParameterError

    return ParameterError("vote", wanted=wanted, got=got, do=do)
