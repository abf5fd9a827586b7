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


BLOCKS = [
    [line.split("  #")[0].strip() for line in block.splitlines() if line.startswith("mixtally ")]
    for block in blocks("sh")
]
BLOCKS = [block for block in BLOCKS if block]


@pytest.fixture
def desk(tmp_path):
    answers = ["yes"] * 700 + ["no"] * 250 + ["unsure"] * 50
    lines = ["answer,likes,smokes,drives,age"]
    for i, answer in enumerate(answers):
        likes = ["tea", "tea;cake", "cake;milk"][i % 3]
        lines.append(f"{answer},{likes},{int(i % 5 == 0)},{i % 2},{i % 90}")
    (tmp_path / "survey.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "list.txt").write_text("yes\nno\nperhaps\n")
    return tmp_path


def run(arguments, where):
    return subprocess.run(arguments, cwd=where, capture_output=True, text=True, check=False)


@pytest.mark.seconds
@pytest.mark.parametrize("commands", BLOCKS, ids=lambda block: block[0][:40])
def test_the_commands_run_one_after_the_other(commands, desk):
    program = Path(sys.executable).with_name("mixtally")
    for command in commands:
        done = run([program, *shlex.split(command)[1:]], desk)
        assert done.returncode == 0, (command, done.stderr)
        assert done.stdout
        for option in re.findall(r"--out (\S+)", command):
            assert (desk / option).is_file() or (desk / option / "report.html").is_file()


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
    assert sum(map(len, BLOCKS)) >= 20
    assert blocks("python")
