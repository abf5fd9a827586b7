"""The command that runs every benchmark and prints one table: ``python -m bench --help``."""

import argparse
import json
import os
import platform
import sys
import time
import traceback
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType

from bench.reasons import reason

PARTS = (
    "peers",
    "kernels",
    "accounting",
    "error",
    "wishes",
    "counts",
    "engine",
    "commands",
    "intake",
    "reading",
    "heavy",
    "open_words",
    "places_and_sets",
    "coverage",
)
QUICK = ("peers", "kernels", "accounting", "error", "counts", "engine", "commands")
_PEERS = ("numpy", "scipy", "numba", "pure-ldp", "multi-freq-ldpy", "opendp", "pyspark", "mixtally")


def main() -> None:
    """Run the benchmarks, print the table, and write the requested files."""
    asked = _parse_arguments()
    if asked.quick:
        os.environ["MIXTALLY_BENCH_QUICK"] = "1"
    made, failed = _build_rows(asked.only or PARTS, QUICK if asked.quick else PARTS)
    _print(made)
    found = {"machine": _machine(), "quick": asked.quick, "rows": _facts(made)}
    if asked.json:
        asked.json.parent.mkdir(parents=True, exist_ok=True)
        asked.json.write_text(json.dumps(found, indent=1) + "\n")
        print(f"wrote {asked.json}")
    if asked.plot:
        from bench.plot import draw_bars

        asked.plot.parent.mkdir(parents=True, exist_ok=True)
        asked.plot.write_text(draw_bars(found["rows"], _title(found["machine"])))
        print(f"wrote {asked.plot}")
    if failed:
        sys.exit("failed, see the errors above: " + ", ".join(failed))


def _build_rows(names: Sequence[str], measured: Sequence[str]) -> tuple[dict[str, list], list[str]]:
    """Return the rows of each part, and the parts that failed; a failure does not stop the others.

    Parts that are not in ``measured`` are only imported.
    """
    made: dict[str, list] = {}
    failed = []
    for name in names:
        start = time.perf_counter()
        try:
            part = import_module(f"bench.{name}")
            if name in measured:
                made[name] = _rows(part)
        except Exception:
            traceback.print_exc()
            failed.append(name)
        print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
    return made, failed


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description="Ratios, measured in one run.")
    parser.add_argument("--only", nargs="*", choices=PARTS, help="run only these parts")
    parser.add_argument("--quick", action="store_true", help="small sizes; numbers mean nothing")
    parser.add_argument("--json", type=Path, help="write the measurements to this file")
    parser.add_argument("--plot", type=Path, help="draw the ratios to their targets (SVG)")
    return parser.parse_args()


def _rows(part: ModuleType) -> list:
    from bench.row import BenchmarkRow

    found = []
    for row in part.rows():
        found.append(BenchmarkRow(*row))
        print(f"{row.what}: {row.measured}; {row.ratio}", file=sys.stderr, flush=True)
    return found


def _print(made: dict[str, list]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("what", "measured", "ratio", "at least / hoped", title="one run, medians")
    for rows in made.values():
        for row in rows:
            table.add_row(row.what, row.measured, row.ratio, row.verdict)
        table.add_section()
    console = Console(width=140)
    console.print(table)
    for row in (row for rows in made.values() for row in rows if row.is_missed):
        console.print(f"{row.what.strip()}: {reason(row.what)}.", markup=False, highlight=False)


def _facts(made: dict[str, list]) -> list[dict[str, object]]:
    return [
        {"part": name, **row._asdict(), "reason": reason(row.what) if row.is_missed else ""}
        for name, rows in made.items()
        for row in rows
    ]


def _machine() -> dict[str, object]:
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in _PEERS},
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _title(machine: dict[str, object]) -> str:
    return f"{machine['processor']}, {machine['cores']} cores, Python {machine['python']}"


if __name__ == "__main__":
    main()
