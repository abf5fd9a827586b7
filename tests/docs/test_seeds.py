"""Every system of the founding documents has a row whose examples are there and commands run."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from cli.json_cases import command_of

ROOT = Path(__file__).parents[2]
ROWS = [
    line
    for line in (ROOT / "docs" / "reference/sources.md").read_text().splitlines()
    if line.startswith("| ") and "`examples/" in line
]
SEEN = [row.rstrip(" |").rpartition(" | ")[2] for row in ROWS]
PROGRAMS = [name for cell in SEEN for name in re.findall(r"`(examples/\S+)`", cell)]
COMMANDS = {text for cell in SEEN for text in re.findall(r"`(mixtally [^`]+)`", cell)}
ELSEWHERE = {
    f"mixtally {line.strip()}"
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    for line in re.findall(r"^mixtally (.*?)(?:  #.*)?$", page.read_text(), re.MULTILINE)
}
"""Commands in blocks of pages, whose tests run them."""
MARKS = {"check attack": pytest.mark.slow, "demo": pytest.mark.slow}
MARKS |= {"check formula": pytest.mark.seconds}
"""By command; what is not here is quick."""


def test_every_example_is_there_and_run_by_a_test():
    tests = "".join(path.read_text() for path in (ROOT / "tests" / "examples").glob("test_*.py"))
    for name in PROGRAMS:
        assert (ROOT / name).is_file(), name
        assert Path(name).name in tests, name
    assert len(ROWS) == 14


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(text, marks=MARKS.get(command_of(text.partition(" ")[2]), ()))
        for text in sorted(COMMANDS - ELSEWHERE)
    ],
)
def test_the_command_runs_as_typed(text, tmp_path):
    program = Path(sys.executable).with_name("mixtally")
    done = subprocess.run(
        [program, *shlex.split(text)[1:]], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    told_apart = "attack" in text and "--protocol flip" in text
    assert (done.returncode, done.stderr) == (int(told_apart), "")
