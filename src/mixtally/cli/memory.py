"""``mixtally simulate memoized``: simulate a column whose answers each device memoizes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from mixtally.app.analysis import Candidates
from mixtally.app.memoized import (
    BloomOptions,
    LevelOptions,
    check_memory,
    play_memoized,
)
from mixtally.cli import options as o
from mixtally.cli.labels import read_labels
from mixtally.cli.option_groups import with_option_groups
from mixtally.cli.rows import RowOptions, read_crowd
from mixtally.cli.simulations import play
from mixtally.errors import ParameterError
from mixtally.lab.data.reading import Reading
from mixtally.report.document import SIMULATION

_FILES = tuple(
    f"{place}{name}"
    for place in ("", f"{SIMULATION}/")
    for name in ("report.html", "result.json", "estimates.csv")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOptions:
    """The column of answers and its possible values."""

    column: Annotated[str, o.option("--column", "The column to count.", "NAME")]
    labels: o.Labels = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryOptions:
    """The file with the key of memoized answers, and the words to estimate if values are hashed."""

    state: Annotated[
        Path | None,
        o.option(
            "--state",
            "File with the key of all devices, created by the first run; later runs use the same "
            "memoized answers.",
            "FILE",
        ),
    ] = None
    candidates: Candidates = None


@with_option_groups
def memory(
    data: o.Data,
    answers: AnswerOptions,
    promise: o.MaybePromise,
    *,
    rows: RowOptions,
    run: o.RunOptions,
    options: LevelOptions,
    bloom: BloomOptions,
    more: MemoryOptions,
) -> None:
    """Simulate answers that are randomized once and reported repeatedly.

    Every row of DATA is a person, whose device randomizes the answer once, keeps the result and
    reports from it. --epsilon chooses the smallest noise for all reports of this run, or for any
    number of reports with --state. With --permanent, --epsilon only prints the remaining delta.
    """
    state = more.state
    check_memory(bloom, run.seed, state, candidates=more.candidates is not None)
    written = set() if run.out is None else {(run.out / name).resolve() for name in _FILES}
    if state is not None and state.resolve() in written:
        raise ParameterError(
            "--state",
            expected="a file that --out does not write",
            got=str(state),
            do="choose another name",
        )
    file, labels = rows.open_file(data), read_labels(answers.labels, 2)
    listed = more.candidates is not None
    reading = Reading(columns=(answers.column,), labels=labels, words=listed)
    crowd = read_crowd(file, rows.add_to_reading(reading))
    source = f"{crowd.users:,} rows of {file.name}, {crowd.people_per_row}."
    play(
        run,
        source,
        lambda made: play_memoized(
            crowd, promise, options, bloom, made, candidates=more.candidates, state=state
        ),
        [] if state is None else [str(state)],
    )
