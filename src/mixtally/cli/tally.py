"""``mixtally batch tally``: messages in files become counts with intervals."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from mixtally.app.study import outcome
from mixtally.cli import options as o
from mixtally.cli.grouped import grouped
from mixtally.cli.groups import read_groups
from mixtally.cli.hashing import Candidates
from mixtally.cli.labels import read_labels
from mixtally.cli.plan_files import one_part, read_verified
from mixtally.cli.progress import progress_bars
from mixtally.cli.screen import show, warn
from mixtally.encode.hashed import sought
from mixtally.engine.places import files_of
from mixtally.engine.shards.fold import Fold, fold
from mixtally.engine.shards.shard import ENDINGS
from mixtally.errors import DataError
from mixtally.estimate.analysis import Analysis
from mixtally.estimate.conclude import conclude
from mixtally.estimate.received import undeclared
from mixtally.records.contract import Plan
from mixtally.simulation.lab import Provenance
from mixtally.simulation.study import Release, Study

Shards = Annotated[
    list[str],
    typer.Argument(
        help="Files or folders of messages, as paths or URLs (s3://..., gs://...).",
        metavar="SHARD...",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class TallyOptions:
    """The plan, and what counts."""

    plan: Annotated[
        Path, o.option("--plan", "The plan under which the messages were made.", "FILE")
    ]
    tallies: Annotated[
        Path | None,
        typer.Option(
            "--tallies", help="Keep tallies of single shards here, not to count them again."
        ),
    ] = None
    processes: Annotated[
        int | None, o.whole_option("--processes", "That count (default: all cores).")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowOptions:
    """How the result is shown."""

    level: o.Level = 0.95
    candidates: Candidates = None
    compare: o.Compare = None
    total: o.Total = None
    shares: o.Shares = False
    out: Annotated[Path | None, o.folder_option("Write report.html, .json and .csv here.")] = None
    out_format: o.OutFormat = "csv"
    top: o.Top = 20
    json: o.Json = False


@grouped
def tally(shards: Shards, options: TallyOptions, run: ShowOptions) -> None:
    """Count messages that lie in files, and conclude.

    SHARD is a Parquet or Arrow file with a column `message`, or a folder of such files. Each is
    counted once, however often it is named; what cannot be read is named, and then nothing is
    concluded. With --tallies a call that was stopped goes on where it was.
    """
    plan = read_verified(options.plan)
    analysis = _analysis(plan, run)
    urls = files_of(shards, ENDINGS)
    with progress_bars() as progress:
        made = fold(
            list(dict.fromkeys(urls)),
            one_part(plan).layout,
            plan.fingerprint,
            processes=o.cores(options.processes),
            keep=options.tallies,
            progress=progress,
        )
    _check_whole(made)
    if made.repeated:
        warn(f"{len(made.repeated):,} of the shards hold what others hold: counted once")
    came = undeclared(plan, plan.users, [made.tally], made.dropped)
    with progress_bars() as progress:
        analysis = replace(analysis, across=o.across(progress, options.processes))
        result = conclude(plan, [made.tally], analysis, received=came)
    about = Provenance(title=f"{plan.question.name}, counted privately", source=_source(made))
    study = Study(about=about, releases=(Release(result),), truth=None)
    show(outcome(study, run.top, None), run.out, json=run.json, out_format=run.out_format)


def _analysis(plan: Plan, run: ShowOptions) -> Analysis:
    """Return what is wanted of the tally; raise before any message is counted."""
    words, listed = read_labels(run.candidates), None
    if words is not None:
        listed = sought(plan.question, words)
    analysis = Analysis(
        level=run.level,
        listed=listed,
        compared=tuple(run.compare or ()),
        totals=read_groups(run.total),
        shares=run.shares,
    )
    analysis.check_listed(plan.question)
    analysis.check_compared(plan.question)
    return analysis


def _check_whole(made: Fold) -> None:
    """Raises DataError where shards are missing from the tally, or messages of them."""
    if not made.lost:
        return
    first = made.lost[0]
    raise DataError(
        "shards",
        wanted="all of them whole",
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
