"""``mixtally simulate``: play columns of real data through the whole system."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from mixtally.app.count import Asked, count
from mixtally.app.limits import BudgetOptions, with_room
from mixtally.app.options import flags
from mixtally.cli import options as o
from mixtally.cli import simulate_contract
from mixtally.cli.grouped import grouped
from mixtally.cli.hashing import Candidates, HashingOptions, asked_words
from mixtally.cli.plan_files import given_reason, read_plan, refuse_beside
from mixtally.cli.progress import progress_bars
from mixtally.cli.reading import ReadingOptions, reading_of
from mixtally.cli.screen import show
from mixtally.cli.simulate_contract import ContractOptions
from mixtally.cli.simulate_counts import CountsOptions, counted_crowd, offered, refuse
from mixtally.cli.simulate_crowd import planned as planned_crowd
from mixtally.cli.simulate_crowd import wished
from mixtally.data.file import DataFile
from mixtally.data.population import Population
from mixtally.data.reading import Reading
from mixtally.errors import ParameterError
from mixtally.estimate.analysis import Analysis
from mixtally.planner import PlanOption
from mixtally.records.question import Question
from mixtally.simulation import offers
from mixtally.simulation.counts_only import Histogram
from mixtally.simulation.lab import Lab


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayOptions:
    """What is promised or planned, and what is counted beside the bins."""

    promise: o.MaybePromise
    plan: Annotated[
        list[Path] | None,
        o.option(
            "--plan",
            "A plan from `mixtally plan --out`; once for each message of a split record.",
            "FILE",
        ),
    ] = None
    repeats: Annotated[
        int | None, o.whole_option("--repeats", "Send vectors of bits so many times (flip).")
    ] = None
    candidates: Candidates = None
    pairs: Annotated[
        bool, o.option("--pairs", "Also count how many people have both of two bits.")
    ] = False
    observer: Annotated[
        str, o.option("--observer", "sums: also say what is hidden from sums alone.", "WHO")
    ] = "messages"
    project: Annotated[
        str | None, o.option("--project", "Also report counts projected to: simplex.", "HOW")
    ] = None

    def analysis(self, level: float) -> Analysis:
        """What is wanted of the tallies."""
        return Analysis(level=level, projection=self.project, pairs=self.pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulateRun(o.RunOptions):
    """How the crowd is played; a plan is written with its result."""

    out: Annotated[
        Path | None, o.folder_option("Write report.html, .json, .csv and the plan here.")
    ] = None


@grouped
def simulate(
    data: o.Data,
    options: PlayOptions,
    run: SimulateRun,
    read: ReadingOptions,
    budget: BudgetOptions,
    hashing: HashingOptions,
    contract: ContractOptions,
    counts: CountsOptions,
) -> None:
    """Simulate a private collection on your data.

    Every row of DATA is a person: plan, randomize, mix, tally, estimate, report. A record is one
    value of a column, a set of labels (--set), bits or attributes of several columns (--as), a
    number (--number), or a word of an open domain (--hash-bins, --candidates). With --contract a
    round is played as the contract says, hop by hop. With --counts-only the tally is drawn instead
    of messages, and with --counts every row is a value that many people hold: 10^10 of them in
    seconds.
    """
    if contract.contract is not None:
        _check_alone(options, budget, hashing, counts)
        simulate_contract.play(data, contract, read, run, options.analysis(run.level))
        return
    sums = o.one_of("observer", options.observer, ["messages", "sums"]) == "sums"
    reading, words = _counted(options, read, budget, hashing)
    file, lab = read.rows.at(data), Lab(o.chance(run.seed))
    reading = replace(reading, words=words is not None)
    crowd: Population | Histogram
    if counts.counts is not None:
        refuse(counts, flags(options, "pairs", "candidates") + flags(hashing))
        histogram = counted_crowd(file, reading, counts.counts, _question(options.plan))
        offer, reason = offered(
            histogram, options.plan, budget, options.promise, options.repeats, lab.planner
        )
        crowd = histogram
        source = f"{histogram.users:,} people, as {file.name} counts them."
    else:
        population, offer, reason = _offered(file, reading, words, options, budget, hashing, lab)
        crowd = population
        source = f"{population.users:,} rows of {file.name}, each played as a person."
        if counts.counts_only:
            refuse(counts, flags(options, "pairs", "candidates") + flags(hashing))
    analysis = replace(options.analysis(run.level), edges=reading.edges)
    with progress_bars() as progress:
        outcome = count(
            Asked(reading.name, offer, reason, words),
            crowd,
            analysis,
            run.of(replace(lab, progress=progress), source),
            sums=sums,
            counts_only=counts.asked,
        )
    show(outcome, run.out, json=run.json)


def _question(plans: list[Path] | None) -> Question | None:
    """What the one plan that is given asks."""
    return read_plan(plans[0]).question if plans else None


def _check_alone(
    options: PlayOptions,
    budget: BudgetOptions,
    hashing: HashingOptions,
    counts: CountsOptions,
) -> None:
    """Raises ParameterError for what a contract holds itself."""
    beside = flags(options.promise) + flags(options, "plan", "repeats", "candidates", "observer")
    beside += flags(budget) + flags(hashing) + flags(counts)
    if beside:
        raise ParameterError(
            "--contract",
            wanted="a contract, or options to make a plan",
            got="both: " + ", ".join(beside),
            do="leave these out: the contract holds them",
        )


def _counted(
    options: PlayOptions, read: ReadingOptions, budget: BudgetOptions, hashing: HashingOptions
) -> tuple[Reading, tuple[str, ...] | None]:
    """How the data are read, and the words looked for, if any; refuses what a plan holds itself."""
    planned = bool(options.plan)
    reading = reading_of(read, planned=planned)
    plain = flags(options, "project", "pairs", "repeats")
    words = asked_words(options.candidates, hashing, reading, plain, planned=planned)
    if planned:
        beside = flags(options.promise) + flags(options, "repeats") + flags(read, "labels")
        refuse_beside(beside + flags(hashing) + flags(budget))
    return reading, words


def _offered(
    file: DataFile,
    reading: Reading,
    words: tuple[str, ...] | None,
    options: PlayOptions,
    budget: BudgetOptions,
    hashing: HashingOptions,
    lab: Lab,
) -> tuple[Population, PlanOption, str]:
    """The crowd, what is offered for it, and why."""
    if options.plan:
        accountant = lab.planner.accountant
        found = planned_crowd(file, reading, options.plan, words, accountant)
        return *found, given_reason(options.plan)
    budget = with_room(budget, options.repeats)
    population, wish = wished(file, reading, hashing, budget, options.promise, lab.chance)
    return population, *offers.best(wish, lab.planner, repeats=options.repeats, pairs=options.pairs)
