"""What the pages on counting and planning state beside their tables is what the code says today."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from mixtally.lab.data.example_data import example_files
from mixtally.planning.choose import SIMILAR_ERROR_RATIO

DOCS = Path(__file__).parents[2] / "docs"
COUNT = (DOCS / "how-to/count.md").read_text()
NUMBER = re.compile(r"\d[\d.]*\d|\d")
PLANNER = (DOCS / "explanation/planner.md").read_text()
PROTOCOLS = (DOCS / "reference/protocols.md").read_text()


@pytest.mark.seconds
def test_the_three_lines_of_the_promise_are_those_that_are_printed(tmp_path):
    for name, data in example_files().items():
        (tmp_path / name).write_bytes(data)
    (command,) = re.findall(r"^mixtally (simulate .*) --out result$", COUNT, re.MULTILINE)
    (promise,) = re.findall(r"```text\n(Protects: .*?)```", COUNT, re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-m", "mixtally", *command.split()],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    *exact, error = promise.splitlines()
    printed = done.stdout.splitlines()
    assert printed[:2] == exact
    assert NUMBER.sub("#", printed[2]) == NUMBER.sub("#", error)  # of the coins that fell


def test_the_planner_page_links_to_a_table_of_every_protocol(protocols):
    assert "All [protocols](../reference/protocols.md)" in PLANNER
    assert set(re.findall(r"^\| `([a-z-]+)`", PROTOCOLS, re.MULTILINE)) == protocols


def test_how_near_errors_count_as_equal():
    percent = f"{100 * (SIMILAR_ERROR_RATIO - 1):.0f} %"
    assert f"exceed the least error by at most {percent} are treated as equal" in PLANNER
    assert f"errors within {percent} are treated as" in (DOCS / "how-to/plan.md").read_text()
