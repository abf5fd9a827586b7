"""Counts with intervals, from shuffled messages and a plan alone.

Messages lie in the files of a crowd that is larger than memory, or in arrays of a program. Both are
tallied here and concluded in one way; no truth is known.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, NamedTuple

from mixtally.app import options as o
from mixtally.app.analysis import Candidates, FigureOptions
from mixtally.app.outcome import Outcome
from mixtally.app.study import outcome
from mixtally.errors import DataError
from mixtally.lab.simulation.lab import Provenance
from mixtally.lab.simulation.study import Release, Study
from mixtally.model.contract import Plan
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
        o.option("--tallies", "Keep tallies of single shards here, not to count them again."),
    ] = None
    processes: Annotated[
        int | None, o.whole_option("--processes", "That count (default: all cores).")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConcludeOptions:
    """What is expected of the tally."""

    level: o.Level = 0.95
    candidates: Candidates = None
    more: FigureOptions

    def analysis(self, plan: Plan) -> Analysis:
        """Return what is expected; raise ParameterError where the plan has no such labels."""
        words = self.candidates
        listed = None if words is None else look_up_words(plan.question, words)
        found = replace(self.more.figures(self.level), listed=listed)
        found.check_listed(plan.question)
        found.check_compared(plan.question)
        return found


class Messages(NamedTuple):
    """What a collector received.

    Parameters
    ----------
    parts : tuple of Rows
        The messages of each part, shape (messages, bytes).
    people : int
        How many people sent them.
    declared : tuple of tuple of int or None
        By part, how many messages each mix says it added; None where it draws none.
    """

    parts: tuple[Rows, ...]
    people: int
    declared: tuple[tuple[int | None, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Concluded:
    """A result, and which messages it was computed from.

    Parameters
    ----------
    result : Result
        The counts with their intervals.
    source : str
        How many messages were counted, in a sentence; empty for messages of a program.
    repeated : tuple of str
        Files whose messages stand in another file as well: they were counted once.
    """

    result: Result
    source: str = ""
    repeated: tuple[str, ...] = ()

    def outcome(self, top: int = 20) -> Outcome:
        """Return the result as documents; a terminal shows the ``top`` largest bins."""
        title = f"{self.result.question.name}, counted privately"
        about = Provenance(title=title, source=self.source)
        study = Study(about=about, releases=(Release(self.result),), truth=None)
        return outcome(study, top, None)


def conclude(plan: Plan, messages: Messages, options: ConcludeOptions) -> Concluded:
    """Tally the messages of a program, and conclude.

    Raises
    ------
    MessageError
        For numbers of messages that contradict each other or the plan.
    ParameterError
        For a level outside (0, 1), or labels that the question does not have.
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
    came = Received(contributors=messages.people, parts=tuple(parts))
    return Concluded(estimates.conclude(plan, tallies, analysis, received=came))


def conclude_shards(
    plan: Plan,
    shards: Sequence[str],
    options: ConcludeOptions,
    counting: ShardOptions,
    progress: Progress = ignore_progress,
    note: Callable[[str], None] = ignore_progress,
) -> Concluded:
    """Tally the messages in files, each once, and conclude.

    Parameters
    ----------
    plan : Plan
        The plan under which the messages were made; one message a record.
    shards : sequence of str
        Files or folders, as paths or URLs.
    options : ConcludeOptions
        What is expected of the tally.
    counting : ShardOptions
        How the files are counted; by this process alone if the number of processes is left out.
    progress : Progress
        Called while files are counted.
    note : callable
        Called with a sentence about how long it takes to count listed words, where that is long.

    Raises
    ------
    DataError
        For files that are missing or cannot be read.
    MessageError
        For messages of another plan, in the order of people, or of numbers that do not add up.
    ParameterError
        For a level outside (0, 1), or labels that the question does not have.
    PlanError
        For a plan with several messages a record.
    """
    analysis, urls = options.analysis(plan), list_files(shards, ENDINGS)
    processes = counting.processes or 0
    analysis = replace(analysis, across=ParallelMap(processes, "words", progress, note=note))
    part = plan.single_part(
        "plan with another --protocol, or play the whole with `mixtally simulate`"
    )
    made = fold(
        list(dict.fromkeys(urls)),
        part.layout,
        plan.fingerprint,
        processes=processes,
        keep=counting.tallies,
        progress=progress,
    )
    _check_whole(made)
    came = assume_received(plan, plan.users, [made.tally], made.dropped)
    result = estimates.conclude(plan, [made.tally], analysis, received=came)
    return Concluded(result, _source(made), made.repeated)


def _check_whole(made: Fold) -> None:
    """Raise DataError where shards, or messages of them, are missing from the tally."""
    if not made.lost:
        return
    first = made.lost[0]
    raise DataError(
        "shards",
        expected="all of them whole",
        got=f"{len(made.lost):,} of {len(made.lost) + made.counted:,} that cannot be counted: "
        f"{first.reason}",
        do=f"mend these and tally again; the {made.tally.messages:,} messages of the others are "
        "kept with --tallies",
    )


def _source(made: Fold) -> str:
    text = f"{made.tally.messages:,} messages in {made.counted:,} shards."
    if made.dropped:
        reasons = ", ".join(f"{many:,} for {reason}" for reason, many in made.dropped.items())
        text += f" Dropped: {reasons}."
    return text
