"""Every command and program on every page of docs/ runs as written; every link leads somewhere.

A page's blocks run one after the other in one folder, with the files that pages speak of.
"""

import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))
SLOW = {"attacks.md", "memory.md"}
"""Pages whose commands take more than ten seconds."""
BROKEN = "mixtally attack --protocol flip "
"""The attack that breaks its promise, which is what the page is about: exit status 1."""
GROUPS = {"batch", "client", "collector", "contract", "ledger", "mix"}
TABLED = re.compile(r"`(mixtally [^`]*)`")


@cache
def help_of(*names):
    done = run([Path(sys.executable).with_name("mixtally"), *names, "--help"], ROOT)
    assert done.returncode == 0, names
    return done.stdout


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), flags=re.DOTALL)


def steps(page):
    """Commands and programs in their order, each with its language."""
    found = []
    for language, text in re.findall(r"```(sh|python)\n(.*?)```", page.read_text(), re.DOTALL):
        if language == "python":
            found.append((language, text))
            continue
        lines = text.replace("\\\n", " ").splitlines()
        found += [(language, line.split("  #")[0].strip()) for line in lines if line.strip()]
    return found


def commands(page):
    return [step for language, step in steps(page) if language == "sh"]


def marked(pages):
    return [
        pytest.param(
            page,
            id=page.name,
            marks=pytest.mark.slow if page.name in SLOW else pytest.mark.seconds,
        )
        for page in pages
    ]


def run(arguments, where):
    return subprocess.run(arguments, cwd=where, capture_output=True, text=True, check=False)


def run_command(command, where):
    first, *rest = shlex.split(command)
    if first == "python":
        return run([sys.executable, str(ROOT / rest[0]), *rest[1:]], where)
    assert first == "mixtally", command
    return run([Path(sys.executable).with_name("mixtally"), *rest], where)


@pytest.fixture
def desk(tmp_path):
    """A folder with the files that commands take."""
    survey = ["yes"] * 700 + ["no"] * 250 + ["unsure"] * 50
    (tmp_path / "survey.csv").write_text("answer\n" + "\n".join(survey) + "\n")
    (network,) = blocks(ROOT / "docs" / "contract.md", "toml")
    (tmp_path / "network.toml").write_text(network)
    (tmp_path / "words.txt").write_text("yes\nno\nunsure\nperhaps\n")
    rows = [
        f"p{i},{w},{'red' if i % 3 else 'blue'},{'a;b' if i % 5 else 'b'},{i % 90}"
        for w in (1, 2, 3)
        for i in range(1500)
    ]
    for name, some in (("diary.csv", rows), ("crowd.csv", rows[:1500])):
        (tmp_path / name).write_text("who,week,color,likes,age\n" + "\n".join(some) + "\n")
    (tmp_path / "counted.csv").write_text("answer,people\nyes,6000000000\nno,3999999999\n")
    points = "41,-73\n42,-72\n" * 500
    (tmp_path / "homes.csv").write_text(f"lat,lon\n{points}")
    return tmp_path


@pytest.mark.parametrize("page", marked(page for page in PAGES if steps(page)))
def test_its_commands_and_programs_run_one_after_the_other(page, desk):
    if any("attack plan.json" in command for command in commands(page)):
        wish = "mixtally plan --epsilon 1 --delta 1e-6 --users 1e5 --bins 20 --out plan.json"
        assert run_command(wish, desk).returncode == 0
    for language, step in steps(page):
        if language == "python":
            done = run([sys.executable, "-c", step], desk)
        else:
            done = run_command(step, desk)
        wanted = 1 if step.startswith(BROKEN) else 0
        assert (done.returncode, done.stderr) == (wanted, ""), step
        assert done.stdout
        for option in re.findall(r"--out (\S+)", step):
            assert (desk / option).is_file() or any((desk / option).iterdir()), step


@pytest.mark.seconds
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_in_sentences_name_what_there_is(page):
    """Abbreviated ones too: the command exists and takes the options that are named."""
    for shown in {line.rstrip(" .") for line in TABLED.findall(page.read_text())}:
        words = shlex.split(shown)[1:]
        text = help_of(*(words[:2] if words[0] in GROUPS else words[:1]))
        for option in re.findall(r"--[a-z-]+", shown):
            assert f"{option} " in text, shown


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_its_links_lead_somewhere(page):
    for place in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (ROOT / "docs" / place).exists(), place


def test_no_block_is_left_out():
    languages = {
        name for page in PAGES for name in re.findall(r"^```(\w+)$", page.read_text(), re.M)
    }
    assert languages <= {"sh", "python", "text", "toml"}  # the one in toml is laid on every desk
    assert sum(len(commands(page)) for page in PAGES) >= 30


def test_what_the_pages_must_not_do_is_noticed(desk):
    """Twins: a command that does not exist, an option that does not exist."""
    assert run_command("mixtally plann --epsilon 1", desk).returncode == 2
    assert run_command("mixtally plan --epsilonn 1", desk).returncode == 2
