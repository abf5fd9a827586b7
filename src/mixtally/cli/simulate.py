"""``mixtally simulate``: simulate a whole collection on columns of real data."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from mixtally.app.count import GivenPlan, load_signed_contract
from mixtally.app.options import list_used_flags
from mixtally.app.simulate import SimulateOptions, check_options, check_vote
from mixtally.app.simulate import simulate as played
from mixtally.app.winner import example_voters
from mixtally.cli import options as o
from mixtally.cli.display import show, warn
from mixtally.cli.option_groups import with_option_groups
from mixtally.cli.plan_files import CONTRACT, describe_given_plan, read_plan
from mixtally.cli.progress import progress_bars
from mixtally.cli.reading import ReadingOptions, make_planned_reading, make_reading
from mixtally.cli.rows import read_asked, read_crowd
from mixtally.errors import ParameterError
from mixtally.lab.data.file import DataFile
from mixtally.lab.data.population import Population
from mixtally.lab.data.readers import read_counts
from mixtally.lab.data.reading import DROP, Reading, RecordType
from mixtally.lab.simulation.counts_only import Histogram, histogram_of_counts
from mixtally.lab.simulation.lab import Lab
from mixtally.model.question import Question
from mixtally.primitives.files import read_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenOptions:
    """A file with an existing plan, or with a contract that contains one."""

    plan: Annotated[
        Path | None, o.option("--plan", "A plan from `mixtally plan --out`, or a contract.", "FILE")
    ] = None
    contract: Annotated[
        Path | None,
        o.option(
            "--contract", "A contract from `mixtally contract new`: simulate its hops.", "FILE"
        ),
    ] = None

    def load_given(self) -> GivenPlan | None:
        """Return the plan in the file; None if the options name no file."""
        if self.contract is not None:
            data = read_bytes(self.contract, "a contract", CONTRACT)
            return load_signed_contract(data, str(self.contract))
        if self.plan is not None:
            return GivenPlan(read_plan(self.plan), describe_given_plan(self.plan))
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulateRun(o.RunOptions):
    """How the crowd is simulated; the plan is written with its result."""

    out: Annotated[
        Path | None, o.folder_option("Write report.html, .json, .csv and the plan here.")
    ] = None


@with_option_groups
def simulate(
    data: Annotated[Path | None, typer.Argument(help=o.DATA)] = None,
    *,
    options: SimulateOptions,
    files: GivenOptions,
    run: SimulateRun,
    read: ReadingOptions,
    counts: Annotated[
        str | None,
        o.option("--counts", "Column with numbers of people; every row is then a value.", "NAME"),
    ] = None,
) -> None:
    """Simulate a private collection on your data.

    Every row of DATA is a person: plan, randomize, mix, tally, estimate, report. A record is one
    value of a column, a set of labels (--set), bits or attributes of several columns (--as), a
    number (--number), or any word, of which those of --candidates are counted. With --contract, a
    round is simulated hop by hop. With --counts-only, the tally is drawn instead of messages. With
    --counts, every row is a value with its number of people, up to 10^10 in total. With --winner,
    the record is a ballot; the result names the winner, and compares ballots that are private
    without a mix.
    """
    tallied = ["--counts"] * (counts is not None)
    check_vote(options, list_used_flags(files) + tallied)
    if data is None and not options.vote.example:
        raise ParameterError(
            "simulate", expected="DATA", got="none", do="see `mixtally simulate --help`"
        )
    given = files.load_given()
    extra_flags = list_used_flags(read, "labels") + list_used_flags(files, "plan") * (
        files.contract is not None
    )
    # The options are checked before the data are read, because reading a large file takes long.
    check_options(options, given, extra_flags, counts=counts is not None)
    scale, name = None, None
    crowd: Population | Histogram
    if data is None or options.vote.example:
        crowd, source = example_voters(["DATA"] * (data is not None) + list_used_flags(read))
    else:
        reading = (
            make_reading(read, planned=False)
            if given is None
            else make_planned_reading(read, given.plan)
        )
        reading = replace(reading, words=options.candidates is not None)
        crowd, source = _read_crowd(read.rows.open_file(data), reading, counts, given)
        scale = reading.scale
        # The name of a contract is used in titles instead.
        name = reading.name if given is None or given.signed is None else None
    missing = read.rows.missing
    with progress_bars() as progress:
        outcome = played(
            options,
            crowd,
            run.make_run(
                Lab(o.make_chance(run.seed), progress, across=o.make_parallel_map(progress)), source
            ),
            given,
            name=name,
            scale=scale,
            blank=None if missing == DROP else missing,
        ).outcome(run.top)
    show(outcome, run.out, json=run.json, out_format=run.out_format)


def _read_crowd(
    file: DataFile, reading: Reading, counts: str | None, given: GivenPlan | None
) -> tuple[Population | Histogram, str]:
    """Return the crowd in a file, and a sentence about its origin.

    If ``given`` is not None, the crowd is read as this plan requires. If ``counts`` is not None, it
    is the column with the number of people of each row.
    """
    question = None if given is None else given.plan.question
    if counts is not None:
        tallied = _read_counted_crowd(file, reading, counts, question)
        return tallied, f"{tallied.users:,} people, as {file.name} counts them."
    crowd = read_crowd(file, reading) if question is None else read_asked(file, reading, question)
    return crowd, f"{crowd.users:,} rows of {file.name}, {crowd.people_per_row}."


def _read_counted_crowd(
    file: DataFile, reading: Reading, counts: str, question: Question | None
) -> Histogram:
    """Return the crowd of a file that contains numbers of people.

    Raises ParameterError for records of more than one value, and the errors of ``read_counts``.
    """
    if reading.form is not RecordType.ONE or reading.person is not None:
        raise ParameterError(
            "--counts",
            expected="one value per person, in one column",
            got=f"records of type '{reading.form}'" + " of a person" * (reading.person is not None),
            do="leave the options for other columns out",
        )
    with progress_bars() as progress:
        found = read_counts(file, reading, counts, question, progress)
    warn(found.warning)
    return histogram_of_counts(found)
