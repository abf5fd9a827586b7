"""``mixtally batch tally``: counts with intervals from messages in files."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from mixtally.app.conclude import ConcludeOptions, ShardOptions, conclude_shards
from mixtally.cli import options as o
from mixtally.cli.display import note, show, warn
from mixtally.cli.option_groups import with_option_groups
from mixtally.cli.plan_files import read_verified
from mixtally.cli.progress import progress_bars

Shards = Annotated[
    list[str],
    typer.Argument(
        help="Files or folders of messages: paths or URLs (s3://..., gs://...).",
        metavar="SHARD...",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowOptions:
    """How the result is shown and written."""

    out: Annotated[Path | None, o.folder_option("Write report.html, .json and .csv here.")] = None
    out_format: o.OutFormat = "csv"
    top: o.Top = 20
    json: o.Json = False


@with_option_groups
def tally(
    shards: Shards,
    plan: Annotated[Path, o.option("--plan", "The plan of the messages.", "FILE")],
    counting: ShardOptions,
    options: ConcludeOptions,
    run: ShowOptions,
) -> None:
    """Count messages in files, and estimate.

    SHARD is a Parquet or Arrow file with a column `message`, or a folder of such files. Each file
    is counted once, even if it is named twice. If a file cannot be read, its name is printed and
    nothing is estimated. With --tallies, the same call continues after an interruption.
    """
    counting = replace(counting, processes=o.cores(counting.processes))
    with progress_bars() as progress:
        found = conclude_shards(read_verified(plan), shards, options, counting, progress, note)
    if found.repeated:
        warn(f"{len(found.repeated):,} of the shards are copies of others, and were counted once")
    show(found.outcome(run.top), run.out, json=run.json, out_format=run.out_format)
