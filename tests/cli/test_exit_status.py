"""What the exit status says: one thing each, and what the page says of it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mixtally.cli.app import _ENDS, COMMANDS

PAGE = (Path(__file__).parents[2] / "docs/commands.md").read_text()
PROMISE = ("--epsilon", "1", "--delta", "1e-6")
RUN = "from mixtally.cli.main import run; run()"


@pytest.mark.parametrize(
    "line",
    [
        ("plan", *PROMISE, "--users", "1000", "--bins", "5"),
        ("plan", *PROMISE, "--users", "1000", "--bins", "5", "--json"),
        ("delta", "--protocol", "clear-uniform", "--epsilon", "1", "--fakes", "99", "--bins", "9"),
        ("--help",),
    ],
    ids=lambda line: " ".join(line[:1]),
)
def test_an_output_that_nobody_reads_is_no_refusal(line):
    into, out = os.pipe()
    os.close(into)  # as a reader that has read enough
    done = subprocess.run(
        [sys.executable, "-c", RUN, *line], stdout=out, stderr=subprocess.PIPE, check=False
    )
    os.close(out)
    assert done.returncode in (0, 141)
    assert done.stderr == b""


def test_a_false_promise_is_the_answer_no(cli, tmp_path):
    weak = ("--protocol", "flip", "--users", 1000, "--bins", 10, "--flip", 0.001)
    few = ("--runs", 100, "--drawn", 1000, "--seed", 1, "--only", "tell-apart")
    outcome = cli("attack", *weak, *PROMISE, *few)
    assert (outcome.status, outcome.err) == (1, "")


def test_help_and_page_say_the_same():
    told = re.findall(r"(\d+) ", _ENDS)
    assert re.findall(r"^\| (\d+) \|", PAGE, flags=re.MULTILINE) == told
    assert told == ["0", "1", "2", "3", "130", "141"]


@pytest.mark.parametrize("name", COMMANDS)
def test_no_option_is_called_keep(cli, name):
    assert not re.search(r"--keep\b(?!-)", cli(name, "--help").out)
