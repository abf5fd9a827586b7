"""Every command and every program in the README runs as written."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


FILES = "mixtally example "
"""The command whose files later blocks read."""


def with_files(found):
    """Every block with the commands of earlier ones that wrote what it may read."""
    written = []
    for block in found:
        yield [*written, *block]
        written += [line for line in block if line.startswith(FILES)]


BLOCKS = [
    [line.split("  #")[0].strip() for line in block.splitlines() if line.startswith("mixtally ")]
    for block in blocks("sh")
]
BLOCKS = [*with_files(block for block in BLOCKS if block)]
QUICK, *OTHERS = blocks("python")
PROGRAMS = [QUICK, *(pytest.param(program, marks=pytest.mark.seconds) for program in OTHERS)]


def run(arguments, where):
    return subprocess.run(arguments, cwd=where, capture_output=True, text=True, check=False)


@pytest.mark.seconds
@pytest.mark.parametrize("commands", BLOCKS, ids=lambda block: block[-1][:40])
def test_the_commands_run_in_an_empty_folder(commands, tmp_path):
    program = Path(sys.executable).with_name("mixtally")
    for command in commands:
        done = run([program, *shlex.split(command)[1:]], tmp_path)
        assert done.returncode == 0, (command, done.stderr)
        assert done.stdout
        for option in re.findall(r"--out (\S+)", command):
            assert (tmp_path / option).is_file() or (tmp_path / option / "report.html").is_file()


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_program_runs_and_begins_with_its_promise(program, tmp_path):
    done = run([sys.executable, "-c", program], tmp_path)
    assert done.returncode == 0, done.stderr
    first, second, third = done.stdout.splitlines()[:3]
    assert first.startswith("Protects: ")
    assert second.startswith("epsilon = 1, delta <= ")
    assert third.startswith("Expected error of each count: ")


def test_the_make_commands_exist():
    targets = (ROOT / "Makefile").read_text()
    for line in "\n".join(blocks("sh")).splitlines():
        if line.startswith("make "):
            assert re.search(rf"^{line.split()[1]}:", targets, flags=re.MULTILINE)


def test_links_lead_somewhere():
    for place in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / place).exists(), place


def test_there_is_something_to_run():
    assert sum(map(len, BLOCKS)) >= 20
    assert blocks("python")
