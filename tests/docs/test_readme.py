"""README: every command and program runs as written, in its order, and prints what is shown."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from mixtally.cli.plan import NO_MINIMUM

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
SHOWN = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)
NUMBER = re.compile(r"-?\d[\d,.]*(?:e-\d+)?")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


COMMANDS = [
    line.split("  #")[0].strip()
    for block in blocks("sh")
    for line in block.splitlines()
    if line.startswith("mixtally ")
]


def run(arguments, where):
    return subprocess.run(arguments, cwd=where, capture_output=True, text=True, check=False)


@pytest.mark.seconds
def test_the_commands_run_in_an_empty_folder(tmp_path):
    program = Path(sys.executable).with_name("mixtally")
    assert len(COMMANDS) >= 6
    for command in COMMANDS:
        done = run([program, *shlex.split(command)[1:]], tmp_path)
        said = [line for line in done.stderr.splitlines() if NO_MINIMUM not in line]
        assert (done.returncode, said) == (0, []), command
        assert done.stdout
        for option in re.findall(r"--out (\S+)", command):
            assert (tmp_path / option).is_file() or (tmp_path / option / "report.html").is_file()


def without_noise(text):
    """Estimates vary, and their errors a little; what is promised above them does not."""
    promise, counts = text.splitlines()[:2], text.splitlines()[2:]
    return promise + [NUMBER.sub("#", line) for line in counts]


def test_the_program_prints_what_is_shown(tmp_path):
    ((program, shown),) = SHOWN.findall(README)
    done = run([sys.executable, "-c", program], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert without_noise(done.stdout) == without_noise(shown)
    assert len([line for line in program.splitlines() if line.strip()]) <= 6


def test_another_promise_is_noticed():
    ((_, shown),) = SHOWN.findall(README)
    assert without_noise(shown.replace("delta <= 9", "delta <= 8")) != without_noise(shown)
    assert without_noise(shown.replace("tea:", "milk:")) != without_noise(shown)


def test_the_make_commands_exist():
    targets = (ROOT / "Makefile").read_text()
    for name in re.findall(r"\bmake ([a-z-]+)", README):
        assert re.search(rf"^{name}:", targets, flags=re.MULTILINE), name


def test_links_lead_somewhere():
    for place in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / place).exists(), place


def test_it_is_read_in_three_minutes():
    assert len(README.encode()) <= 6_144
