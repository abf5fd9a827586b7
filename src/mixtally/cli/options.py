"""Options that several commands share."""

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
"""Largest whole number that is accepted; every count is smaller."""


def whole(text: str | int) -> int:
    """Return a whole number of up to 18 digits, written as 1000000, 1_000_000, 1,000,000 or 1e6."""
    if isinstance(text, int):  # the parser passes defaults unchanged
        return text
    # Commas may separate only complete groups of three digits, so that 1,5 is refused.
    grouped = re.fullmatch(r"\d{1,3}(,\d{3})+", text)
    plain = text.replace(",", "") if grouped else text
    value: float
    try:
        # int comes first, because a float is exact only up to 2^53.
        value = int(plain)
    except ValueError:
        try:
            value = float(plain)
        except ValueError:
            value = float("nan")
    if isinstance(value, float) and not value.is_integer():
        raise typer.BadParameter(f"{text!r} is not a whole number")
    if abs(value) > _MOST:
        shown = repr(text) if len(text) <= 40 else f"a number of {len(text)} characters"
        raise typer.BadParameter(f"{shown} is not at most 10^18")
    return int(value)


def make_typer_option(one: Option) -> Any:
    """Return an option in the form that the parser requires."""
    parser = whole if one.whole else None
    return typer.Option(one.default, help=one.text, metavar=one.metavar, parser=parser)


def folder_option(text: str) -> Any:
    """Return the option ``--out`` for a folder; the parser refuses the name of a file."""
    return typer.Option("--out", help=text, callback=_check_folder)


def _check_folder(out: Path | None) -> Path | None:
    """Return ``out``; raise DataError if it, or a folder above it, is a file."""
    there = next((place for place in (out, *out.parents) if place.exists()), None) if out else None
    if there is not None and not there.is_dir():
        raise DataError(
            str(out),
            expected="a new or an existing folder",
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
        "Statements for the approval page as TOML: purpose, legal_basis, retention, contact, "
        "version, date, sign_off.",
        "FILE",
    ),
]
Json = Annotated[bool, option("--json", "Print JSON instead of a table.")]
Labels = Annotated[
    Path | None,
    option("--labels", "File with all possible answers in order, one per line.", "FILE"),
]
OutFormat = Annotated[
    Literal["csv", "csv-semicolon"],
    option(
        "--out-format",
        "Format of tables: csv, or csv-semicolon for spreadsheets with decimal commas.",
    ),
]
Top = Annotated[int, typer.Option("--top", min=1, help="Bins in the printed table.", metavar="N")]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How a crowd is simulated and its result is shown."""

    level: Level = 0.95
    seed: Seed = None
    out: Annotated[Path | None, folder_option("Write report.html, .json and .csv here.")] = None
    out_format: OutFormat = "csv"
    top: Top = 20
    json: Json = False

    def make_run(self, lab: "Lab", source: str) -> "Run":
        """Return the settings of a run; ``source`` is a sentence about the origin of the data."""
        from mixtally.app.outcome import Run  # imports the simulation

        return Run(lab=lab, source=source, seed=self.seed, level=self.level, top=self.top)


def make_chance(seed: int | None) -> "Chance":
    """Return secure randomness of the operating system, or repeatable randomness for a seed."""
    # This import loads NumPy, which the help of a device's commands must not need.
    from mixtally.lab.simulation.seeded import build_chance

    return build_chance(seed)


def cores(given: int | None = None) -> int:
    """Return ``given``, or the number of cores that this process may use."""
    from mixtally.server.engine.workers import count_cores as usable  # few commands need it

    return usable() if given is None else given


def make_parallel_map(progress: "Progress") -> "ParallelMap":
    """Return a ``map`` that runs on several cores with a progress bar, to count listed words."""
    from mixtally.cli.display import note
    from mixtally.server.engine import workers as engine  # few commands need it

    return engine.ParallelMap(cores(), "words", progress, note=note)
