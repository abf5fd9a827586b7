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


COMMANDS = [
    line.split("  #")[0].strip()
    for block in blocks("sh")
    for line in block.splitlines()
    if line.startswith("mixtally ")
]


@pytest.fixture
def desk(tmp_path):
    answers = ["yes"] * 700 + ["no"] * 250 + ["unsure"] * 50
    (tmp_path / "survey.csv").write_text("answer\n" + "\n".join(answers) + "\n")
    return tmp_path


def run(arguments, where):
    return subprocess.run(arguments, cwd=where, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_runs(command, desk):
    program = Path(sys.executable).with_name("mixtally")
    done = run([program, *shlex.split(command)[1:]], desk)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    for option in re.findall(r"--out (\S+)", command):
        assert (desk / option / "report.html").exists()


@pytest.mark.parametrize("program", blocks("python"))
def test_the_program_runs(program, desk):
    done = run([sys.executable, "-c", program], desk)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 3


def test_the_make_commands_exist():
    targets = (ROOT / "Makefile").read_text()
    for line in "\n".join(blocks("sh")).splitlines():
        if line.startswith("make "):
            assert re.search(rf"^{line.split()[1]}:", targets, flags=re.MULTILINE)


def test_links_lead_somewhere():
    for place in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / place).exists(), place


def test_there_is_something_to_run():
    assert len(COMMANDS) >= 9
    assert blocks("python")
