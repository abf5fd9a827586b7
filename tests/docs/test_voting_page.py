"""docs/how-to/vote.md cannot lie: its tables and radii are what is printed."""

import json
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
def test_the_table_is_what_the_example_prints():
    command, *rows = blocks("text")[0].strip().splitlines()
    shown = [line.split("│")[1:-1] for line in printed(command).splitlines() if "│" in line]
    cells = [[cell.strip() for cell in row] for row in shown]
    for row in rows:
        assert [cell.strip() for cell in row.split("│")[1:-1]] in cells, row


@pytest.mark.seconds
def test_the_example_has_the_radii_and_chances_that_the_page_tells():
    found = json.loads(printed("-m mixtally simulate --winner --example --seed 1 --json"))["winner"]
    local, shuffle = found["local"], found["shuffle"]
    told = (
        f"In the example {local['radius']:.3%} locally and {shuffle['radius']:.3%} through mixes. "
        f"For all four options at once the local radius is {local['radius_at_once']:.3%}."
    )
    assert told.replace("%", " %") in " ".join(TEXT.split())
    assert f"{1 / (1 - 2 * local['flip_probability']):.2f} at p = 0.63" in TEXT
    assert f"{local['wrong_guess_of_two']:.1%}".replace("%", " %") in TEXT
