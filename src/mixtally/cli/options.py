"""Options that several commands share, each declared once."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from mixtally.app.outcome import Run
    from mixtally.lab.simulation.lab import Lab
    from mixtally.primitives.chance import Chance
    from mixtally.primitives.progress import Progress
    from mixtally.server.engine.workers import ParallelMap

from mixtally.app.analysis import AnalysisOptions as AnalysisOptions
from mixtally.app.options import Bins as Bins
from mixtally.app.options import CountsOnly as CountsOnly
from mixtally.app.options import Delta as Delta
from mixtally.app.options import Epsilon as Epsilon
from mixtally.app.options import Level as Level
from mixtally.app.options import MaybePromise as MaybePromise
from mixtally.app.options import Option
from mixtally.app.options import Points as Points
from mixtally.app.options import Promise as Promise
from mixtally.app.options import Seed as Seed
from mixtally.app.options import check_one_of as check_one_of
from mixtally.app.options import option as option
from mixtally.app.options import whole_option as whole_option
from mixtally.errors import DataError

_MOST = 10**18
"""Larger numbers are no count of anything here."""


def whole(text: str | int) -> int:
    """A whole number as people write it: 1000000, 1_000_000, 1,000,000 or 1e6; to 18 digits."""
    if isinstance(text, int):  # a default
        return text
    grouped = re.fullmatch(r"\d{1,3}(,\d{3})+", text)
    plain = text.replace(",", "") if grouped else text
    value: float
    try:
        value = int(plain)
    except ValueError:
        try:
            value = float(plain)
        except ValueError:
            value = float("nan")
    if isinstance(value, float) and not value.is_integer():
        raise typer.BadParameter(f"{text!r} is not a whole number")
    if abs(value) > _MOST:
        raise typer.BadParameter(f"a number of {len(text)} characters is more than 10^18")
    return int(value)


def make_typer_option(one: Option) -> Any:
    """An option as the parser knows it."""
    parser = whole if one.whole else None
    return typer.Option(one.default, help=one.text, metavar=one.metavar, parser=parser)


def folder_option(text: str) -> Any:
    """The folder that a result goes to, looked at before the work and not after it."""
    return typer.Option("--out", help=text, callback=_check_folder)


def _check_folder(out: Path | None) -> Path | None:
    """``out`` itself; raises DataError when a file is where it, or a folder above it, must be."""
    there = next((place for place in (out, *out.parents) if place.exists()), None) if out else None
    if there is not None and not there.is_dir():
        raise DataError(
            str(out),
            expected="a folder, new or there already",
            got=f"the file {there}",
            do="choose another name",
        )
    return out


DATA = "CSV, JSON lines, Excel or Parquet; - for standard input."
Data = Annotated[Path, typer.Argument(help=DATA)]
Approval = Annotated[
    Path | None,
    option(
        "--approval",
        "What a page for approval states besides the plan: purpose, legal_basis, retention, "
        "contact, version, date, sign_off, as TOML.",
        "FILE",
    ),
]
Json = Annotated[bool, option("--json", "Print JSON instead of a table.")]
Labels = Annotated[
    Path | None, option("--labels", "File with the answers in order, one a line.", "FILE")
]
OutFormat = Annotated[
    Literal["csv", "csv-semicolon"],
    option(
        "--out-format",
        "How tables are written: csv, or csv-semicolon for spreadsheets with decimal commas.",
    ),
]
Top = Annotated[int, typer.Option("--top", min=1, help="Bins in the printed table.", metavar="N")]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How a crowd is played and its result is shown."""

    level: Level = 0.95
    seed: Seed = None
    out: Annotated[Path | None, folder_option("Write report.html, .json and .csv here.")] = None
    out_format: OutFormat = "csv"
    top: Top = 20
    json: Json = False

    def make_run(self, lab: "Lab", source: str) -> "Run":
        """The run of a crowd that comes from ``source``."""
        from mixtally.app.outcome import Run  # loads what plays a crowd

        return Run(lab=lab, source=source, seed=self.seed, level=self.level, top=self.top)


def make_chance(seed: int | None) -> "Chance":
    """The operating system's randomness, or a repeatable one for a seed."""
    from mixtally.lab.simulation.seeded import (
        build_chance,  # loads NumPy, which a device's help lacks
    )

    return build_chance(seed)


def cores(given: int | None = None) -> int:
    """How many processes work: as many as were ``given``, or as this one may use cores."""
    from mixtally.server.engine.workers import count_cores as usable  # few commands need it

    return usable() if given is None else given


def make_parallel_map(progress: "Progress", processes: int | None = None) -> "ParallelMap":
    """Return what counts listed words on as many cores as ``cores`` says, with a bar meanwhile."""
    from mixtally.cli.display import note
    from mixtally.server.engine import workers as engine  # few commands need it

    return engine.ParallelMap(cores(processes), "words", progress, note=note)
