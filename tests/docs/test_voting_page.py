"""docs/how-to/vote.md cannot lie: its tables and radii are what is printed."""

import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "how-to/vote.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", TEXT, flags=re.DOTALL)


@cache
def printed(command):
    done = subprocess.run(
        [sys.executable, *shlex.split(command)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.seconds
@pytest.mark.parametrize("number", [0, 1])
def test_the_tables_are_what_the_example_prints(number):
    command, *rows = blocks("text")[number].strip().splitlines()
    shown = [line.split("│")[1:-1] for line in printed(command).splitlines() if "│" in line]
    cells = [[cell.strip() for cell in row] for row in shown]
    for row in rows:
        assert [cell.strip() for cell in row.split("│")[1:-1]] in cells, row


@pytest.mark.seconds
def test_the_program_prints_the_radii_that_the_page_tells():
    (program,) = blocks("python")
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "0.01151 0.00010\n"
