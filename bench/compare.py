"""Comparison of two files of ``python -m bench --json``: ``python -m bench.compare A B``."""

import argparse
import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table


def main() -> None:
    """Print the ratios that both files contain."""
    parser = argparse.ArgumentParser(prog="bench.compare", description=__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    asked = parser.parse_args()
    before, after = _read_rows(asked.before), _read_rows(asked.after)
    table = Table("what", "before", "after", "after / before", "at least")
    for what, old, new, least in compare_rows(before["rows"], after["rows"]):
        table.add_row(what, f"{old:,.3g}", f"{new:,.3g}", f"{new / old:.2f}", f"{least or '':}")
    console = Console(width=120)
    for name, found in (("before", before), ("after", after)):
        console.print(f"{name}: {found['machine']}", markup=False, highlight=False, soft_wrap=True)
    console.print(table)


def compare_rows(
    before: list[dict[str, Any]], after: list[dict[str, Any]]
) -> list[tuple[str, float, float, float | None]]:
    """Return the name, both numbers and the target of each row that both files contain."""
    held = {(row["part"], row["what"]): row["got"] for row in before}
    return [
        (row["what"], held[row["part"], row["what"]], row["got"], row["least"])
        for row in after
        if row["got"] is not None and held.get((row["part"], row["what"]))
    ]


def _read_rows(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    return found


if __name__ == "__main__":
    main()
