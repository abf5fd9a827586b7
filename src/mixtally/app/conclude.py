"""Counts with intervals, estimated from shuffled messages and a plan.

The messages are in files (*shards*) if they do not fit into memory, or in arrays of a program. In
both cases they are tallied and estimated in the same way, without true counts.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, NamedTuple

from mixtally.app import options as o
from mixtally.app.analysis import Candidates, FigureOptions
from mixtally.app.outcome import Outcome, outcome_of_study
from mixtally.errors import DataError
from mixtally.lab.simulation.lab import Provenance
from mixtally.lab.simulation.study import Release, Study
from mixtally.model.contract import Part, Plan
from mixtally.model.estimates import Tally
from mixtally.model.received import PartReceived, Received
from mixtally.model.result import Result
from mixtally.primitives.bits import Rows
from mixtally.primitives.progress import Progress, ignore_progress
from mixtally.protocol.encode.hashed import look_up_words
from mixtally.protocol.estimate import conclude as estimates
from mixtally.protocol.estimate.analysis import Analysis
from mixtally.protocol.estimate.received import assume_received
from mixtally.protocol.tally.fold import tally_messages
from mixtally.protocol.tally.sift import sift
from mixtally.server.engine.shards.fold import Fold, fold
from mixtally.server.engine.shards.shard import ENDINGS
from mixtally.server.engine.store_folder import list_files
from mixtally.server.engine.workers import ParallelMap


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardOptions:
    """How messages in files are counted."""

    tallies: Annotated[
        Path | None,
        o.option("--tallies", "Folder for tallies of shards, so that none is counted twice."),
    ] = None
    processes: Annotated[
        int | None, o.whole_option("--processes", "Processes that count (default: all cores).")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConcludeOptions:
    """Numbers to estimate from the tally."""

    level: o.Level = 0.95
    candidates: Candidates = None
    more: FigureOptions

    def analysis(self, plan: Plan) -> Analysis:
        """Return the numbers to compute and their confidence level, for the question of a plan.

        Raises ParameterError if the options name labels that the question does not have.
        """
        words = self.candidates
        listed = None if words is None else look_up_words(plan.question, words)
        found = replace(self.more.figures(self.level), listed=listed)
        found.check_listed(plan.question)
        found.check_compared(plan.question)
        return found


class Messages(NamedTuple):
    """The messages that a collector received.

    Parameters
    ----------
    parts : tuple of Rows
        The messages of each part, shape (messages, bytes). A part is a stream of messages, to which
        every device contributes the same piece of its record.
    people : int
        Number of people who sent the messages.
    declared : tuple of tuple of int or None
        For each part, the number of fakes (dummy messages) that each mix states that it added. None
        for a mix that adds no fakes.
    """

    parts: tuple[Rows, ...]
    people: int
    declared: tuple[tuple[int | None, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Concluded:
    """A result and the source of its messages.

    Parameters
    ----------
    result : Result
        The counts with their intervals.
    source : str
        A sentence about the number of messages in files; empty for messages in arrays.
    repeated : tuple of str
        The names of files that are copies of other files. Their messages were counted only once.
    """

    result: Result
    source: str = ""
    repeated: tuple[str, ...] = ()

    def outcome(self, top: int = 20) -> Outcome:
        """Return the result as documents; a terminal shows the ``top`` largest bins."""
        title = f"{self.result.question.name}, counted privately"
        about = Provenance(title=title, source=self.source)
        study = Study(provenance=about, releases=(Release(self.result),), truth=None)
        return outcome_of_study(study, top, None)


def conclude(plan: Plan, messages: Messages, options: ConcludeOptions) -> Concluded:
    """Tally messages in arrays, and estimate the counts.

    Parameters
    ----------
    plan : Plan
        The plan under which the messages were sent.
    messages : Messages
        The messages, and the numbers of people and of fakes.
    options : ConcludeOptions
        The numbers to estimate, and their confidence level.

    Raises
    ------
    MessageError
        If numbers of messages contradict each other or the plan.
    ParameterError
        If the level is outside (0, 1), or the options name labels that the question does not have.
    """
    analysis = options.analysis(plan)
    parts, tallies = list[PartReceived](), list[Tally]()
    for part, rows, declared in zip(plan.parts, messages.parts, messages.declared, strict=True):
        sifted = sift(part.layout, rows)
        received = PartReceived(
            declared=declared, received=len(sifted.rows), dropped=sifted.dropped
        )
        parts.append(received)
        tallies.append(tally_messages(part.layout, sifted.rows))
    round_received = Received(contributors=messages.people, parts=tuple(parts))
    return Concluded(estimates.conclude(plan, tallies, analysis, received=round_received))


def conclude_shards(
    plan: Plan,
    shards: Sequence[str],
    options: ConcludeOptions,
    counting: ShardOptions,
    progress: Progress = ignore_progress,
    note: Callable[[str], None] = ignore_progress,
) -> Concluded:
    """Tally the messages in files, each file once, and estimate the counts.

    Parameters
    ----------
    plan : Plan
        The plan under which the messages were sent; it must have a single part.
    shards : sequence of str
        Files or folders, as paths or URLs.
    options : ConcludeOptions
        The numbers to estimate, and their confidence level.
    counting : ShardOptions
        How the files are counted. If the number of processes is None, this process counts them.
    progress : Progress
        Called while files are counted.
    note : callable
        If the options list words and counting them takes long, this function is called with a
        sentence about the expected time.

    Raises
    ------
    DataError
        If files are missing or cannot be read.
    MessageError
        If messages belong to another plan, if they are not shuffled, or if their numbers are
        inconsistent.
    ParameterError
        If the level is outside (0, 1), or the options name labels that the question does not have.
    PlanError
        If the plan has several parts.
    """
    analysis, urls = options.analysis(plan), list_files(shards, ENDINGS)
    processes = counting.processes or 0
    analysis = replace(analysis, across=ParallelMap(processes, "words", progress, note=note))
    part = single_part(plan)
    made = fold(
        # A file that is named twice is counted once.
        list(dict.fromkeys(urls)),
        part.layout,
        plan.fingerprint,
        processes=processes,
        keep=counting.tallies,
        progress=progress,
    )
    _check_whole(made)
    received = assume_received(plan, plan.users, [made.tally], made.dropped)
    result = estimates.conclude(plan, [made.tally], analysis, received=received)
    return Concluded(result, _source(made), made.repeated)


def single_part(plan: Plan) -> Part:
    """Return the only part of a plan; raise PlanError if the plan has several parts."""
    return plan.single_part(
        "plan with another --protocol, or simulate the whole plan with `mixtally simulate`"
    )


def _check_whole(made: Fold) -> None:
    """Raise DataError if the messages of some files could not be tallied."""
    if not made.lost:
        return
    first = made.lost[0]
    raise DataError(
        "shards",
        expected="only complete shards",
        got=f"{len(made.lost):,} of {len(made.lost) + made.counted:,} that cannot be counted: "
        f"{first.reason}",
        do=f"repair these and tally again; with --tallies the {made.tally.messages:,} messages of "
        "the others need not be counted again",
    )


def _source(made: Fold) -> str:
    text = f"{made.tally.messages:,} messages in {made.counted:,} shards."
    if made.dropped:
        reasons = ", ".join(f"{many:,} for {reason}" for reason, many in made.dropped.items())
        text += f" Dropped: {reasons}."
    return text
