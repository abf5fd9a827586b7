"""The command line run in this process, and a crowd of a thousand to run it on."""

import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from mixtally.cli.main import run

COLORS = ["red"] * 400 + ["green"] * 300 + ["blue"] * 200 + ["teal"] * 90 + ["pink"] * 10


class Outcome(NamedTuple):
    status: int
    out: str
    err: str


Cli = Callable[..., Outcome]


@pytest.fixture
def cli(monkeypatch, capsys) -> Cli:
    """Runs a command, of a word or two, on arguments of any type: status, stdout and stderr."""

    def call(*arguments: Any, columns: int = 200) -> Outcome:
        command, *more = map(str, arguments or ("",))
        monkeypatch.setattr(sys, "argv", ["mixtally", *command.split(), *more])
        monkeypatch.setenv("COLUMNS", str(columns))
        status: Any = 0
        try:
            run()
        except SystemExit as end:
            status = end.code or 0
        return Outcome(status, *capsys.readouterr())

    return call


@pytest.fixture
def refused(cli) -> Callable[..., str]:
    """Runs arguments that must fail; returns the last line, which says so.

    Only warnings and the closest feasible requests may stand above it.
    """

    def call(*arguments: Any, status: int = 2) -> str:
        outcome = cli(*arguments)
        assert outcome.status == status
        assert outcome.out == ""
        *above, line = outcome.err.strip().splitlines()
        above = [one for one in above if not one.startswith("mixtally: warning: ")]
        assert not above or "The closest feasible requests" in above[0]
        assert line.startswith("mixtally: ")
        for part in ("expected ", ", got ", ". "):
            assert part in line
        return line

    return call


@pytest.fixture
def refuses(refused, tmp_path):
    """Refuses a file of these bytes (None: no file) and leaves the output folder empty."""

    def call(content, *more, name="data.csv", column="color"):
        path, out = tmp_path / name, tmp_path / "out"
        if content is not None:
            path.write_bytes(content)
        asked = ("--column", column, "--epsilon", 1, "--delta", "1e-6", "--out", out)
        line = refused("simulate", path, *asked, *more)
        assert not out.exists()
        return line

    return call


@pytest.fixture
def crowd(tmp_path) -> Path:
    """A folder with the same thousand people as CSV, packed CSV and Parquet, and their answers."""
    (tmp_path / "colors.txt").write_text("\n".join(sorted(set(COLORS))))
    rows = (f"{i},{color},{i % 5}\n" for i, color in enumerate(COLORS))
    text = "id,color,other\n" + "".join(rows)
    (tmp_path / "crowd.csv").write_text(text)
    (tmp_path / "crowd.csv.gz").write_bytes(gzip.compress(text.encode()))
    table = arrow.table({"id": range(len(COLORS)), "color": COLORS})
    parquet.write_table(table, tmp_path / "crowd.parquet")
    return tmp_path


@pytest.fixture
def plan_file(cli, tmp_path) -> Path:
    """A flip-blank plan for the crowd, written by the command itself."""
    labels = tmp_path / "labels.txt"
    labels.write_text("\n".join(sorted(set(COLORS))))
    path = tmp_path / "plan.json"
    outcome = cli(
        "plan", "--epsilon", 1, "--delta", "1e-6", "--users", len(COLORS), "--labels", labels,
        "--protocol", "flip-blank", "--out", path,
    )  # fmt: skip
    assert outcome.status == 0
    return path


@pytest.fixture
def memory(cli, crowd):
    """Plays memoized answers of the crowd and returns the outcome."""

    def call(*more, name="crowd.csv"):
        return cli("simulate memoized", crowd / name, "--column", "color", *more)

    return call


@pytest.fixture
def remembered(memory):
    """Plays memoized answers of the crowd and returns the facts."""

    def call(*more, **named):
        outcome = memory(*more, "--json", **named)
        assert (outcome.status, outcome.err.strip()) == (0, "")
        return json.loads(outcome.out)

    return call


@pytest.fixture
def unremembered(refused, crowd):
    """The line that says why no answers were memoized."""
    return lambda *more: refused(
        "simulate memoized", crowd / "crowd.csv", "--column", "color", *more
    )
