"""``mixtally simulate votes``: one ballot file counted without any trust, and through mixes."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from mixtally.app.limits import CostOptions, TrustOptions
from mixtally.app.options import flags
from mixtally.app.votes import VoteOptions, votes
from mixtally.cli import options as o
from mixtally.cli.grouped import grouped
from mixtally.cli.labels import read_labels
from mixtally.cli.playing import play
from mixtally.cli.rows import RowOptions, read_crowd
from mixtally.data.population import Population
from mixtally.data.reading import DROP, Reading
from mixtally.errors import ParameterError
from mixtally.simulation import voting


@dataclass(frozen=True, slots=True, kw_only=True)
class BallotOptions:
    """Where the ballots are."""

    data: Annotated[Path | None, typer.Argument(help=o.DATA)] = None
    column: Annotated[
        str | None, o.option("--column", "The column that names the choice.", "C")
    ] = None
    example: Annotated[
        bool, o.option("--example", "Play the side notes' 100,000 voters, p = 0.63.")
    ] = False
    labels: o.Labels = None


@grouped
def vote(
    ballot: BallotOptions,
    options: VoteOptions,
    rows: RowOptions,
    level: o.Level = 0.95,
    seed: o.Seed = None,
    out: Annotated[
        Path | None, o.folder_option("Write report.html, .json and shares.csv here.")
    ] = None,
    out_format: o.OutFormat = "csv",
    json: o.Json = False,
    *,
    cost: CostOptions,
    trust: TrustOptions,
) -> None:
    """Count a vote in two ways.

    Every row of DATA is a ballot, counted by the local version, which trusts nobody, and by the
    shuffle version, which trusts mixes: shares, intervals, and the chance that the leader has won.
    With --missing LABEL blank ballots are counted under LABEL, which cannot win.
    """
    crowd, source = _voters(ballot, rows)
    if ballot.example:
        options = _example(options)
    blank = None if rows.missing == DROP else rows.missing
    run = o.RunOptions(level=level, seed=seed, out=out, out_format=out_format, json=json)
    play(
        run,
        source,
        lambda made: votes(crowd, options, made, cost=cost, trust=trust, blank=blank),
    )


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
    file, labels = rows.at(data), read_labels(ballot.labels, 2)
    population = read_crowd(file, rows.reading(Reading(columns=(column,), labels=labels)))
    return population, f"{population.users:,} rows of {file.name}, one voter each."


def _example(options: VoteOptions) -> VoteOptions:
    """The promise of the example where it was left out."""
    keep, delta = options.keep_probability, options.delta
    if keep is None and options.epsilon is None:
        keep = voting.EXAMPLE_KEEP
    return replace(
        options, keep_probability=keep, delta=voting.EXAMPLE_DELTA if delta is None else delta
    )


def _missing(wanted: str, got: str, do: str) -> ParameterError:
    return ParameterError("vote", wanted=wanted, got=got, do=do)
