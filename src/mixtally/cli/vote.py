"""``mixtally simulate votes``: one ballot file counted without any trust, and through mixes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from mixtally.cli import options as o
from mixtally.cli.grouped import flags, grouped
from mixtally.cli.labels import read_labels
from mixtally.cli.limits import BudgetOptions, CostOptions, TrustOptions, wish_of
from mixtally.cli.progress import progress_bars
from mixtally.cli.rows import RowOptions, read_crowd
from mixtally.cli.screen import show
from mixtally.data.population import Population
from mixtally.data.reading import DROP, Reading
from mixtally.errors import ParameterError
from mixtally.privacy.local import certificate
from mixtally.records.guarantee import Guarantee
from mixtally.simulation import voting
from mixtally.simulation.election.document import document, released
from mixtally.simulation.lab import Lab, Provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class BallotOptions:
    """Where the ballots are, and how each version is held."""

    data: Annotated[Path | None, typer.Argument(help=o.DATA)] = None
    column: Annotated[
        str | None, o.option("--column", "The column that names the choice.", "C")
    ] = None
    example: Annotated[
        bool, o.option("--example", "Play the side notes' 100,000 voters, p = 0.63.")
    ] = False
    epsilon: Annotated[
        float | None,
        o.option(
            "--epsilon", "Privacy loss, 0.01 to 20; that of --keep-probability if left out.", "E"
        ),
    ] = None
    delta: Annotated[
        float | None,
        o.option("--delta", "Chance left over in the shuffle version, 1e-15 to 0.1.", "D"),
    ] = None
    keep: Annotated[
        float | None,
        o.option(
            "--keep-probability",
            "Chance that the local version keeps a mark; what --epsilon allows if left out.",
            "P",
        ),
    ] = None
    labels: o.Labels = None


@grouped
def vote(
    ballot: BallotOptions,
    rows: RowOptions,
    level: o.Level = 0.95,
    seed: o.Seed = None,
    out: Annotated[
        Path | None, o.folder_option("Write report.html, .json and shares.csv here.")
    ] = None,
    json: o.Json = False,
    *,
    cost: CostOptions,
    trust: TrustOptions,
) -> None:
    """Count a vote in two ways.

    Every row of DATA is a ballot, counted by the local version, which trusts nobody, and by the
    shuffle version, which trusts mixes: shares, intervals, and how surely the leader has won.
    With --missing LABEL blank ballots are counted under LABEL, which cannot win.
    """
    population, source = _voters(ballot, rows)
    epsilon, delta, keep = _parameters(ballot)
    options = voting.checked_options(population)
    ballots = voting.local_ballots(options, epsilon=epsilon, keep=keep)
    promise = certificate(ballots, epsilon if keep is None else None)
    guarantee = Guarantee(epsilon=promise.epsilon if epsilon is None else epsilon, delta=delta)
    question, users = population.question, len(population.codes)
    with progress_bars() as progress:
        held = voting.hold(
            population,
            ballots,
            promise,
            wish_of(BudgetOptions(cost=cost, trust=trust), question, guarantee, users),
            Lab(o.chance(seed), progress),
            level=level,
            blank=None if rows.missing == DROP else rows.missing,
            about=Provenance(
                title=f"{question.name}, voted on",
                source=source,
                raw=population.note,
                seed=seed,
                ordered=not population.from_data,
            ),
        )
    show(document(held), out, json=json, from_data=population.from_data, released=released(held))


def _voters(ballot: BallotOptions, rows: RowOptions) -> tuple[Population, str]:
    """The voters and where they come from; raises ParameterError for both ways to say, or none."""
    data, column = ballot.data, ballot.column
    if ballot.example:
        beside = ["DATA"] * (data is not None) + flags(ballot, "column", "labels") + flags(rows)
        if beside:  # the example brings them itself
            both = "both: " + ", ".join(beside)
            raise _missing("a ballot file or --example", both, "leave one out")
        return voting.example(), voting.EXAMPLE_SOURCE
    if data is None or column is None:
        raise _missing(
            "a ballot file and --column, or --example",
            "neither" if data is None and column is None else "one of the two",
            "name the file and the column that holds the choice",
        )
    file, labels = rows.at(data), read_labels(ballot.labels)
    population = read_crowd(file, rows.reading(Reading(columns=(column,), labels=labels)))
    return population, f"{population.users:,} rows of {file.name}, each played as a voter."


def _parameters(ballot: BallotOptions) -> tuple[float | None, float, float | None]:
    """Epsilon, delta and keep, those of the example where they were left out of it."""
    epsilon, delta, keep = ballot.epsilon, ballot.delta, ballot.keep
    if ballot.example:
        keep = voting.EXAMPLE_KEEP if keep is None and epsilon is None else keep
        delta = voting.EXAMPLE_DELTA if delta is None else delta
    if delta is None:
        raise _missing("--delta", "none", "add --delta 1e-6, for example")
    return epsilon, delta, keep


def _missing(wanted: str, got: str, do: str) -> ParameterError:
    return ParameterError("vote", wanted=wanted, got=got, do=do)
