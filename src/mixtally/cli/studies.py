"""How a study is shown, and how a plan is read from its file."""

from pathlib import Path
from typing import TYPE_CHECKING

from mixtally.cli.output import print_json, publish

if TYPE_CHECKING:
    from mixtally.records.plan import Plan
    from mixtally.report.study import Study


def show(study: "Study", out: Path | None, *, top: int, json: bool) -> None:
    """Print the study and write its files."""
    from mixtally.report.export import csv_text, facts, figures_csv, json_text
    from mixtally.report.page import page

    written = []
    if out is not None:
        files = {
            "report.html": page(study),
            "report.json": json_text(study),
            "estimates.csv": csv_text(study),
            **{f"{found.name}.csv": figures_csv(found) for found in study.main.figures},
        }
        written = publish(out, files)
    if json:
        print_json(facts(study))
        return
    from rich.console import Console

    from mixtally.report.table import summary

    console = Console()
    console.print(summary(study, top))
    console.print(study.reason, markup=False, highlight=False)
    for path in written:
        console.print(f"wrote {path}", markup=False, highlight=False, soft_wrap=True)


def read_plan(path: Path) -> "Plan":
    """The plan in a file; raises PlanError when it is truncated, foreign or altered."""
    from mixtally.errors import DataError
    from mixtally.ground.codec import from_canonical
    from mixtally.records.plan import Plan

    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(
            str(path),
            wanted="a plan file",
            got=str(error),
            do="write one with `mixtally plan --out`",
        ) from error
    return from_canonical(data, Plan, str(path))
