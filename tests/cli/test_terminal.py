"""Output that nobody can take, characters that a terminal has not, a key pressed at any moment."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FULL = Path("/dev/full")
PLAN = ("plan", "--epsilon", 1, "--delta", "1e-6", "--users", 1000, "--bins", 5)
LEDGER = ("--epsilon", 2, "--delta", "1e-5")
RUN = "from mixtally.cli.main import run; run()"


def process(code, *arguments, **named):
    """Code in a process of its own, with these arguments."""
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], stderr=subprocess.PIPE, timeout=600,
        check=False, **named,
    )  # fmt: skip


@pytest.fixture
def full(cli, monkeypatch):
    """Runs the command line with its output on a full device."""

    def call(*arguments):
        with FULL.open("w") as device, monkeypatch.context() as patched:
            patched.setattr(sys, "stdout", device)
            return cli(*arguments)

    return call


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("plan", "--help"),
        ("--version",),
        PLAN,
        (*PLAN, "--json"),
        ("check formula", "--list"),
    ],
    ids=lambda given: " ".join(map(str, given[:1] + given[-1:])),
)
def test_output_on_a_full_device_is_one_line(full, arguments):
    outcome = full(*arguments)
    assert outcome.status == 2
    (line,) = outcome.err.splitlines()
    assert line.startswith("mixtally: output: expected a file or pipe that can be written, got ")
    assert "no space left on device. Check its free space" in line


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
def test_what_was_written_before_the_output_failed_is_whole(full, cli, tmp_path):
    assert full(*PLAN, "--out", tmp_path / "plan.json").status == 2
    assert full("budget", "open", tmp_path / "ledger", *LEDGER).status == 2
    assert cli("budget", "charge", tmp_path / "ledger", tmp_path / "plan.json").status == 0


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
def test_a_process_with_a_full_device_says_nothing_more_as_it_ends():
    with FULL.open("w") as device:
        done = process(RUN, "--version", stdout=device)
        untold = subprocess.run(
            [sys.executable, "-c", RUN, "nope"], stderr=device, timeout=600, check=False
        )
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert untold.returncode == 2


@pytest.mark.seconds
@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_closed_streams_are_no_failure():
    for closed in (">&-", "2>&-", ">&- 2>&-"):
        command = (
            f'"$0" -c "{RUN}" check delta --protocol clear-uniform --epsilon 1 --fakes 40 --bins 2'
        )
        done = subprocess.run(
            ["sh", "-c", f"{command} --json {closed}", sys.executable],
            capture_output=True, timeout=600, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, b"")
        assert (done.stdout == b"") == (">&-" in closed.split())


@pytest.mark.seconds
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_labels_that_a_terminal_cannot_show_are_spelled(tmp_path, more):
    data = tmp_path / "data.csv"
    data.write_text("word\n" + "日本\né\n" * 500 + "é\n" * 50, encoding="utf-8")
    given = (
        "simulate",
        data,
        "--winner",
        "--column",
        "word",
        "--epsilon",
        1,
        "--delta",
        "1e-6",
        *more,
    )
    coded = {**os.environ, "PYTHONIOENCODING": "cp1252"}
    done = process(RUN, *given, stdout=subprocess.PIPE, env=coded)
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode("cp1252")
    assert "\\u65e5\\u672c" in text
    if more:
        assert json.loads(text)["winner"]["true_winner"] == "é"


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
@pytest.mark.parametrize(
    "arguments",
    [
        ("check attack", "/dev/zero"),
        ("budget", "show", "/dev/zero"),
        (*PLAN[:-2], "--labels", "/dev/zero"),
        ("simulate memoized", "crowd.csv", "--column", "color", "--state", "/dev/zero"),
        ("simulate memoized", "crowd.csv", "--column", "color", "--state", "pipe"),
        ("simulate", "/dev/zero", "--column", "color", "--epsilon", 1, "--delta", "1e-6"),
    ],
    ids=lambda given: " ".join(map(str, given[:2])),
)
def test_what_has_no_end_is_refused_at_once(refused, crowd, monkeypatch, arguments):
    monkeypatch.chdir(crowd)
    os.mkfifo("pipe")
    said = refused(*arguments)
    assert re.search(
        r", got (a device, pipe or socket|a device or a socket|no file there)\. ", said
    )


KEY_PRESSED = f"""
import sys
class Pressed:
    def find_spec(self, name, *_):
        if name == moment:
            raise KeyboardInterrupt
moment = sys.argv.pop(1)
sys.meta_path.insert(0, Pressed())
{RUN}
"""


@pytest.mark.parametrize("moment", ["typer", "mixtally.cli.plan", "numpy", "rich.console"])
def test_a_key_pressed_while_something_is_imported_ends_quietly(moment):
    done = process(KEY_PRESSED, moment, *PLAN, stdout=subprocess.PIPE)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def test_a_pipe_gets_tables_of_full_width_unless_columns_limits_them(monkeypatch):
    def rows(columns):
        if columns is None:
            monkeypatch.delenv("COLUMNS", raising=False)
        else:
            monkeypatch.setenv("COLUMNS", columns)
        out = process(RUN, *PLAN, "--explain", stdout=subprocess.PIPE).stdout.decode()
        assert "\N{HORIZONTAL ELLIPSIS}" not in out
        return [line for line in out.splitlines() if "crowd" in line and "honest" in line]

    full, limited = rows(None), rows("60")
    assert max(map(len, full)) > 100
    assert len(limited) != len(full) or max(map(len, limited)) < max(map(len, full))
