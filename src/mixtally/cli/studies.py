"""How a study is shown, and which files it leaves."""

from pathlib import Path

from mixtally.cli.plan_files import plan_files
from mixtally.cli.screen import present
from mixtally.report.export import csv_text, facts, figures_csv, json_text
from mixtally.report.page import page
from mixtally.report.study import Study
from mixtally.report.table import summary


def show(study: Study, out: Path | None, *, top: int, json: bool) -> None:
    """Print the study and write its files."""
    present(
        out,
        json=json,
        files=lambda: {
            "report.html": page(study),
            "report.json": json_text(study),
            "estimates.csv": csv_text(study),
            **plan_files(study),
            **{f"{found.name}.csv": figures_csv(found) for found in study.main.figures},
        },
        facts=lambda: facts(study),
        table=lambda: summary(study, top),
        prose=[study.reason],
    )
