"""``mixtally simulate --winner``: who won a vote, beside ballots that trust nobody."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from mixtally.app.limits import BudgetOptions
from mixtally.app.options import flags
from mixtally.app.winner import KeepProbability, VoteOptions, votes
from mixtally.cli import options as o
from mixtally.cli.playing import play as played
from mixtally.cli.reading import ReadingOptions, reading_of
from mixtally.cli.rows import read_crowd
from mixtally.errors import ParameterError
from mixtally.lab.data.population import Population
from mixtally.lab.data.reading import DROP
from mixtally.lab.simulation.winner import contest
from mixtally.protocol.estimate.analysis import Analysis


@dataclass(frozen=True, slots=True, kw_only=True)
class WinnerOptions:
    """Whether it is asked who won."""

    winner: Annotated[
        bool,
        o.option(
            "--winner", "Tell who has won a vote; blank ballots (--missing LABEL) cannot win."
        ),
    ] = False
    keep_probability: KeepProbability = None
    example: Annotated[
        bool, o.option("--example", "Play the side notes' 100,000 voters, p = 0.63.")
    ] = False


def play(
    data: Path | None,
    winner: WinnerOptions,
    promise: o.MaybePromise,
    read: ReadingOptions,
    budget: BudgetOptions,
    run: o.RunOptions,
    analysis: Analysis,
) -> None:
    """Read the ballots, count them in both ways, and show who has won.

    Raises ParameterError for a promise that is missing, InfeasibleError when nothing fits.
    """
    crowd, source = _voters(data, winner, read)
    keep, delta, blank = winner.keep_probability, promise.delta, read.rows.missing
    if winner.example:
        keep = contest.EXAMPLE_KEEP if keep is None and promise.epsilon is None else keep
        delta = contest.EXAMPLE_DELTA if delta is None else delta
    asked = VoteOptions(promise=replace(promise, delta=delta), keep_probability=keep)
    named = None if blank == DROP else blank
    played(
        run,
        source,
        lambda made: votes(crowd, asked, made, budget=budget, analysis=analysis, blank=named),
    )


def _voters(
    data: Path | None, winner: WinnerOptions, read: ReadingOptions
) -> tuple[Population, str]:
    """The voters and where they come from; raises ParameterError for both ways to say, or none."""
    if not winner.example:
        file, reading = read.rows.at(given(data)), reading_of(read, planned=False)
        crowd = read_crowd(file, reading)
        return crowd, f"{crowd.users:,} rows of {file.name}, one voter each."
    if beside := ["DATA"] * (data is not None) + flags(read):
        raise ParameterError(
            "--example",
            wanted="a ballot file, or the example",
            got="both: " + ", ".join(beside),
            do="leave one out",
        )
    return contest.example(), contest.EXAMPLE_SOURCE


def given(data: Path | None) -> Path:
    """The file; raises ParameterError where none was named."""
    if data is None:
        raise ParameterError(
            "simulate", wanted="DATA", got="none", do="see `mixtally simulate --help`"
        )
    return data


def refuse(beside: list[str]) -> None:
    """Raises ParameterError for options that are not those of a vote."""
    if beside:
        raise ParameterError(
            "--winner",
            wanted="a vote, planned and played",
            got="also " + ", ".join(beside),
            do="leave these out",
        )
