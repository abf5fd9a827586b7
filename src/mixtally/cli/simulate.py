"""``mixtally simulate``: play columns of real data through the whole system."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from mixtally.app.options import flags
from mixtally.app.simulate import Given, SimulateOptions, check
from mixtally.app.simulate import simulate as played
from mixtally.cli import options as o
from mixtally.cli import simulate_winner
from mixtally.cli.contract_files import read_contract_file
from mixtally.cli.grouped import grouped
from mixtally.cli.plan_files import given_reason, read_plan
from mixtally.cli.progress import progress_bars
from mixtally.cli.reading import ReadingOptions, reading_as, reading_of
from mixtally.cli.rows import read_asked, read_crowd
from mixtally.cli.screen import show
from mixtally.cli.simulate_counts import counted_crowd
from mixtally.cli.simulate_winner import WinnerOptions
from mixtally.lab.data.population import Population
from mixtally.lab.simulation.counts_only import Histogram
from mixtally.lab.simulation.lab import Lab, Signed


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenOptions:
    """A plan that was made before, alone or in a contract."""

    plan: Annotated[
        Path | None, o.option("--plan", "A plan from `mixtally plan --out`, or a contract.", "FILE")
    ] = None
    contract: Annotated[
        Path | None,
        o.option("--contract", "A contract from `mixtally contract new`: play its hops.", "FILE"),
    ] = None

    def read(self) -> Given | None:
        """Return what is in the file; None without one."""
        if self.contract is not None:
            contract, fingerprint = read_contract_file(self.contract)
            signed = Signed(contract.name, contract.serial, fingerprint)
            return Given(contract.plan, signed=signed)
        if self.plan is not None:
            return Given(read_plan(self.plan), given_reason(self.plan))
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulateRun(o.RunOptions):
    """How the crowd is played; a plan is written with its result."""

    out: Annotated[
        Path | None, o.folder_option("Write report.html, .json, .csv and the plan here.")
    ] = None


@grouped
def simulate(
    data: Annotated[Path | None, typer.Argument(help=o.DATA)] = None,
    *,
    options: SimulateOptions,
    files: GivenOptions,
    run: SimulateRun,
    read: ReadingOptions,
    counts: Annotated[
        str | None,
        o.option("--counts", "A row a value: the column of how many people hold it.", "NAME"),
    ] = None,
    winner: WinnerOptions,
) -> None:
    """Simulate a private collection on your data.

    Every row of DATA is a person: plan, randomize, mix, tally, estimate, report. A record is one
    value of a column, a set of labels (--set), bits or attributes of several columns (--as), a
    number (--number), or any word, of which those of --candidates are counted. With --contract a
    round is played as the contract says, hop by hop. With --counts-only the tally is drawn instead
    of messages, and with --counts every row is a value that many people hold: 10^10 of them in
    seconds. With --winner the record is a ballot: who has won, and what ballots hide without a mix.
    """
    if flags(winner):
        beside = flags(options, "repeats", "candidates", "observer", "hashing", "cheats")
        beside += flags(options, "counts_only") + flags(files) + ["--counts"] * bool(counts)
        simulate_winner.refuse(beside)
        wanted = options.wanted.analysis(run.level)
        simulate_winner.play(data, winner, options.promise, read, options.budget, run, wanted)
        return
    data, given = simulate_winner.given(data), files.read()
    beside = flags(read, "labels") + flags(files, "plan") * (files.contract is not None)
    check(options, given, beside, counts=counts is not None)
    reading = reading_of(read, planned=False) if given is None else reading_as(read, given.plan)
    file, asked = read.rows.at(data), None if given is None else given.plan.question
    crowd: Population | Histogram
    if counts is not None:
        crowd = counted_crowd(file, reading, counts, asked)
        source = f"{crowd.users:,} people, as {file.name} counts them."
    else:
        reading = replace(reading, words=options.candidates is not None)
        crowd = read_crowd(file, reading) if asked is None else read_asked(file, reading, asked)
        source = f"{crowd.users:,} rows of {file.name}, {crowd.one_each}."
    name = reading.name if given is None or given.signed is None else None
    with progress_bars() as progress:
        lab = Lab(o.chance(run.seed), progress, across=o.across(progress))
        made, scale = run.of(lab, source), reading.scale
        outcome = played(options, crowd, made, given, name=name, scale=scale).outcome(run.top)
    show(outcome, run.out, json=run.json, out_format=run.out_format)
