"""How a study is shown, and which files it leaves."""

from pathlib import Path
from typing import TYPE_CHECKING

from mixtally.cli.output import print_json, publish_result
from mixtally.cli.plan_files import plan_files

if TYPE_CHECKING:
    from mixtally.report.study import Study


def show(study: "Study", out: Path | None, *, top: int, json: bool) -> None:
    """Print the study and write its files."""
    from mixtally.report.export import csv_text, facts, figures_csv, json_text
    from mixtally.report.page import page

    written = []
    if out is not None:
        files: dict[str, str | bytes] = {
            "report.html": page(study),
            "report.json": json_text(study),
            "estimates.csv": csv_text(study),
            **plan_files(study),
            **{f"{found.name}.csv": figures_csv(found) for found in study.main.figures},
        }
        written = publish_result(out, files)
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
