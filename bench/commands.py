"""Whole commands from start to end, including the start of the interpreter, in CPU seconds."""

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.clock import QUICK, choose_size
from bench.row import BenchmarkRow, build_row

_RUNS = 1 if QUICK else 5
_PEOPLE, _BINS = choose_size(1_000_000, 2000), 100
_PROMISE = "--epsilon 1 --delta 1e-6"
_CROWD = "people.csv --column answer"
_COMMAND = "import sys; from mixtally.cli.main import run; run()"
_COMMANDS = {
    "--help": 0.3,
    "check delta --protocol flip-blank --epsilon 1 --fakes 1e6 --flip 1e-4": 0.8,
    f"plan {_PROMISE} --users {_PEOPLE} --labels labels.txt --out plan.json": 1.0,
    "demo --out demo": 1.5,
    f"simulate {_CROWD} --labels labels.txt {_PROMISE}": 2.0,
    f"batch randomize {_CROWD} --plan plan.json --out drawn": 1.5,
    "batch mix drawn --plan plan.json --out mixed": 2.0,
    "batch tally mixed --plan plan.json": 2.0,
}
"""The commands, each after those before it, with the allowed seconds."""


def rows() -> list[BenchmarkRow]:
    """Return the rows of the benchmark table."""
    every = [_each() for _ in range(_RUNS)]
    found = {typed: statistics.median(one[typed] for one in every) for typed in _COMMANDS}
    return [
        build_row(_short(typed), f"{found[typed]:.2f} s", f"of {aim:g} s", aim / found[typed], 1)
        for typed, aim in _COMMANDS.items()
    ]


def _each() -> dict[str, float]:
    """Return the seconds of every command in a new folder."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        _write(place)
        return {typed: _measure_cpu_seconds(place, typed) for typed in _COMMANDS}


def _short(typed: str) -> str:
    crowd = f", {_PEOPLE:,} people" if typed.startswith(("simulate", "batch")) else ""
    words = typed.split()
    many = 2 if words[0] in ("batch", "check") else 1
    return " ".join(["mixtally", *words[:many]]) + crowd


def _write(place: Path) -> None:
    """Write a crowd with unequal frequencies, and the list of all answers."""
    labels = [f"answer {number:02}" for number in range(_BINS)]
    people = [labels[number * number % _BINS] for number in range(_PEOPLE)]
    (place / "labels.txt").write_text("\n".join(labels) + "\n")
    (place / "people.csv").write_text("\n".join(["answer", *people]) + "\n")


def _measure_cpu_seconds(place: Path, typed: str) -> float:
    """Return the CPU seconds of the process and of its children."""
    begun = os.times()
    program = [sys.executable, "-c", _COMMAND, *typed.split()]
    subprocess.run(program, stdout=subprocess.DEVNULL, cwd=place, check=True)
    ended = os.times()
    return ended.children_user + ended.children_system - begun.children_user - begun.children_system
