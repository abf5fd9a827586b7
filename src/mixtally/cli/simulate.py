"""``mixtally simulate``: play columns of real data through the whole system."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from mixtally.app.count import Asked, count
from mixtally.app.limits import BudgetOptions, wish_of, with_room
from mixtally.app.options import flags
from mixtally.cli import options as o
from mixtally.cli import simulate_contract, simulate_winner
from mixtally.cli.grouped import grouped
from mixtally.cli.hashing import Candidates, HashingOptions, asked_words
from mixtally.cli.labels import read_labels
from mixtally.cli.plan_files import given_reason, read_plan, refuse_beside
from mixtally.cli.progress import progress_bars
from mixtally.cli.reading import ReadingOptions, reading_as, reading_of
from mixtally.cli.screen import show
from mixtally.cli.simulate_contract import ContractOptions
from mixtally.cli.simulate_counts import CountsOptions, counted_crowd, refuse
from mixtally.cli.simulate_crowd import crowd_of
from mixtally.cli.simulate_winner import WinnerOptions
from mixtally.lab.data.population import Population
from mixtally.lab.data.reading import Reading
from mixtally.lab.simulation import offers
from mixtally.lab.simulation.counts_only import Histogram
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.rounding import rounded_crowd
from mixtally.model.contract import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayOptions:
    """What is promised or planned, and what is counted beside the bins."""

    promise: o.MaybePromise
    wanted: o.AnalysisOptions
    plan: Annotated[
        Path | None, o.option("--plan", "A plan from `mixtally plan --out`, or a contract.", "FILE")
    ] = None
    repeats: Annotated[
        int | None, o.whole_option("--repeats", "Send vectors of bits so many times (flip).")
    ] = None
    candidates: Candidates = None
    observer: Annotated[
        str, o.option("--observer", "sums: also say what is hidden from sums alone.", "WHO")
    ] = "messages"


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
    options: PlayOptions,
    run: SimulateRun,
    read: ReadingOptions,
    budget: BudgetOptions,
    hashing: HashingOptions,
    contract: ContractOptions,
    counts: CountsOptions,
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
        other = flags(options, "plan", "repeats", "candidates", "observer")
        simulate_winner.refuse(other + flags(hashing) + flags(contract) + flags(counts))
        wanted = options.wanted.analysis(run.level)
        simulate_winner.play(data, winner, options.promise, read, budget, run, wanted)
        return
    data = simulate_winner.given(data)
    if contract.contract is not None:
        made = flags(options.promise) + flags(options, "plan", "repeats", "observer")
        refuse_beside(made + flags(budget) + flags(hashing) + flags(counts), "contract")
        words, analysis = read_labels(options.candidates), options.wanted.analysis(run.level)
        simulate_contract.play(data, contract, read, run, analysis, words)
        return
    sums = o.one_of("observer", options.observer, ["messages", "sums"]) == "sums"
    given = None if options.plan is None else read_plan(options.plan)
    reading, words = _counted(options, given, read, budget, hashing)
    if counts.asked:
        refuse(
            counts, flags(options.wanted, "pairs") + flags(options, "candidates") + flags(hashing)
        )
    file, lab = read.rows.at(data), Lab(o.chance(run.seed))
    guarantee = None if given is not None else options.promise.guarantee()
    reading = replace(reading, words=words is not None)
    crowd: Population | Histogram
    if counts.counts is not None:
        asked = None if given is None else given.question
        crowd = counted_crowd(file, reading, counts.counts, asked)
        question, source = crowd.question, f"{crowd.users:,} people, as {file.name} counts them."
    else:
        crowd, question = crowd_of(file, reading, given, hashing, lab.chance)
        source = f"{crowd.users:,} rows of {file.name}, {crowd.one_each}."
    if given is not None and options.plan is not None:
        plan, reason = given, given_reason(options.plan)
    elif guarantee is not None:
        limits, times = with_room(budget, options.repeats), options.repeats
        scale, own = reading.scale, lab.planner
        wish = wish_of(limits, question, guarantee, crowd.users, scale=scale, planner=own)
        plan, reason = offers.best(wish, lab.planner, repeats=times, pairs=options.wanted.pairs)
    if isinstance(crowd, Population):
        crowd = rounded_crowd(crowd, plan, lab.chance)
    with progress_bars() as progress:
        outcome = count(
            Asked(reading.name, plan, reason, words),
            crowd,
            options.wanted.analysis(run.level),
            run.of(replace(lab, progress=progress, across=o.across(progress)), source),
            sums=sums,
            counts_only=counts.asked,
        )
    show(outcome, run.out, json=run.json, out_format=run.out_format)


def _counted(
    options: PlayOptions,
    plan: Plan | None,
    read: ReadingOptions,
    budget: BudgetOptions,
    hashing: HashingOptions,
) -> tuple[Reading, tuple[str, ...] | None]:
    """How the data are read, and the words looked for, if any; refuses what a plan holds itself."""
    planned = plan is not None
    reading = reading_of(read, planned=False) if plan is None else reading_as(read, plan)
    plain = flags(options.wanted, "project", "pairs") + flags(options, "repeats")
    words = asked_words(options.candidates, hashing, reading, plain)
    if planned:
        beside = flags(options.promise) + flags(options, "repeats") + flags(read, "labels")
        refuse_beside(beside + flags(hashing) + flags(budget))
    return reading, words
