"""``mixtally batch``: messages in files (*shards*), for a crowd that does not fit into memory."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from mixtally.app.conclude import ConcludeOptions, ShardOptions, conclude_shards, single_part
from mixtally.app.count import prepare_crowd
from mixtally.cli import options as o
from mixtally.cli.display import note, show, warn
from mixtally.cli.option_groups import with_option_groups
from mixtally.cli.output import print_json
from mixtally.cli.plan_files import read_verified
from mixtally.cli.progress import progress_bars
from mixtally.cli.reading import ReadingOptions, make_planned_reading, make_reading
from mixtally.cli.rows import read_asked
from mixtally.errors import ParameterError
from mixtally.lab.simulation.streamed import ShardedCrowd, mix_shards, randomize_shards
from mixtally.server.engine.shards.shard import ENDINGS
from mixtally.server.engine.store_folder import list_files

Shards = Annotated[
    list[str],
    typer.Argument(
        help="Files or folders of messages: paths or URLs (s3://..., gs://...).",
        metavar="SHARD...",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchOptions:
    """The plan, and the folder of the shards."""

    plan: Annotated[Path, o.option("--plan", "The plan of the messages.", "FILE")]
    out: Annotated[Path, o.folder_option("Write the shards here.")]
    each: Annotated[
        int, o.whole_option("--each", "Number of people, or of messages, per shard.")
    ] = 1_000_000
    seed: o.Seed = None
    json: o.Json = False

    def __post_init__(self) -> None:
        if self.each < 1:
            raise ParameterError(
                "--each", expected="at least 1", got=self.each, do="use 1000000, for example"
            )


Processes = Annotated[
    int | None, o.whole_option("--processes", "Processes that randomize (default: all cores).")
]


@with_option_groups
def randomize(
    data: o.Data, options: BatchOptions, read: ReadingOptions, processes: Processes = None
) -> None:
    """Randomize the records of a crowd into shards.

    Every row of DATA is a person. Finished shards are kept: after an interruption, the same call
    continues. Nothing is shuffled yet; `mixtally batch mix` shuffles.
    """
    plan = read_verified(options.plan)
    part = single_part(plan)
    stated = read.number is not None and plan.grid is None  # these bins must equal the plan's
    reading = make_reading(read, planned=True) if stated else make_planned_reading(read, plan)
    crowd = read_asked(read.rows.open_file(data), reading, plan.question)
    # The seed itself determines the randomness of the shards, so rounding needs another seed.
    chance = o.make_chance(None if options.seed is None else -1 - options.seed)
    crowd = prepare_crowd(crowd, plan, chance)
    with progress_bars() as progress:
        made = randomize_shards(
            ShardedCrowd(part, plan.fingerprint, crowd.records, options.each, options.seed),
            options.out,
            o.cores(processes),
            progress,
        )
    _print_shards(made, options)


@with_option_groups
def mix(shards: Shards, options: BatchOptions) -> None:
    """Shuffle shards into new ones, and add the fakes of mixes.

    A fake is a dummy message. One process acts as all mixes, so the person who runs it sees which
    message came from which shard.
    """
    plan = read_verified(options.plan)
    urls = list_files(shards, ENDINGS)
    with progress_bars() as progress:
        made = mix_shards(
            urls,
            single_part(plan),
            plan.hops,
            plan.fingerprint,
            options.out,
            o.make_chance(options.seed),
            options.each,
            progress,
        )
    _print_shards(made, options)


def _print_shards(made: list[Path], options: BatchOptions) -> None:
    if options.json:
        names = [path.name for path in made]
        print_json({"folder": str(options.out), "shards": names, "each": options.each})
        return
    typer.echo(f"{len(made):,} shards in {options.out}")


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
