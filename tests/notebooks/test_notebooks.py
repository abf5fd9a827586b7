"""Every notebook holds what it showed; ``tests/wheel`` runs it with what it tells to install."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).parents[2] / "docs" / "tutorials"
SAYS = {
    "survey": (
        r"^Protects: .*\nepsilon = 1, delta <= ",
        r"apple: [\d,.]+ \(\d+ \.\. ",
        r"\d% of the intervals contain",
        r"tea: ",
        r"report\.html",
    ),
    "telemetry": (
        r"for all 4 collections together",
        r"\n4 rounds fit\n",
        r"week 4: .*'crash': \d+",
        r"crash: [+-]\d+, 95 % interval -?\d+ \.\. -?\d+",
        r"spent: delta <= 9\.\d+e-07 .* 4 charges",
        r"Nothing was charged",
    ),
    "network": (
        r"^contract written to contract\.json\nfingerprint: [0-9a-f]{64}$",
        r"^refused: epsilon: expected at most 0\.5, got 1",
        r": 1 of 1 bytes$",
        r"^fakes that each mix says it added: \(\d+, \d+, \d+\)$",
        r"^refused: messages: expected at least 1,000 people",
        r"^yes +estimate +\d+ +true count +987$",
        r"^Nothing is released\.",
        r"^n-1 .*consistent",
    ),
    "planning": (
        r"smallest standard error",
        r"at most  1\.1 messages a person: error +\d+\.\d \(kary-response, with fakes\)",
        r"fakes by a mix +error",
        r"consistent",
        r"\b[0-9a-f]{64}\nTrue\n",
    ),
}
"""Patterns that the output of each must hold."""


def cells(name, kind):
    notebook = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text())
    return [cell for cell in notebook["cells"] if cell["cell_type"] == kind]


def program(name):
    return "\n\n".join("".join(cell["source"]) for cell in cells(name, "code"))


def run(text, where):
    """``text`` by this Python, whose commands are on no path."""
    return subprocess.run(
        [sys.executable, "-c", text], cwd=where, env={**os.environ, "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, timeout=1000, check=False,
    )  # fmt: skip


def outputs(name):
    """What the notebook holds: printed texts, and by MIME type what its last expressions were."""
    found = [one for cell in cells(name, "code") for one in cell["outputs"]]
    printed = "".join("".join(one["text"]) for one in found if one["output_type"] == "stream")
    return printed, {
        kind: "".join(text)
        for one in found
        if one["output_type"] == "execute_result"
        for kind, text in one["data"].items()
    }


def test_every_notebook_is_run():
    assert {path.stem for path in NOTEBOOKS.glob("*.ipynb")} == set(SAYS)


@pytest.mark.parametrize("name", SAYS)
def test_it_holds_what_a_run_showed(name):
    assert [cell["execution_count"] for cell in cells(name, "code")] == [
        *range(1, len(cells(name, "code")) + 1)
    ]
    printed, values = outputs(name)
    for pattern in SAYS[name]:
        assert re.search(pattern, printed, re.MULTILINE), (pattern, printed)
    assert ("text/html" in values) == (name == "survey")


@pytest.mark.parametrize("name", SAYS)
def test_it_shows_at_least_two_pictures(name):
    found = [one.get("data", {}) for cell in cells(name, "code") for one in cell["outputs"]]
    assert sum("image/svg+xml" in data for data in found) >= 2


@pytest.mark.parametrize("name", SAYS)
def test_its_chart_needs_no_network(name):
    _, values = outputs(name)
    assert values["image/svg+xml"].startswith("<svg ")
    named = re.findall(r"https?://[^\"]*", values["image/svg+xml"])
    assert set(named) == {"http://www.w3.org/2000/svg"}


@pytest.mark.parametrize("name", SAYS)
def test_its_links_lead_somewhere(name):
    text = "\n".join("".join(cell["source"]) for cell in cells(name, "markdown"))
    for place in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (NOTEBOOKS / place).exists(), place


@pytest.mark.seconds
def test_a_cell_that_fails_is_noticed(tmp_path):
    """Twin: a column that is not there ends the program."""
    spoiled = program("survey").replace('example("fruit")', 'example("nut")')
    assert run(spoiled, tmp_path).returncode == 1
