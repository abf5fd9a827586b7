"""Every command and program on every page of docs/ runs as written; every link leads somewhere.

A page's blocks run one after the other in one folder, which is empty when the first begins.
"""

import os
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from mixtally.cli.app import COMMANDS
from mixtally.cli.plan import NO_MINIMUM
from mixtally.lab.data.example_data import example_files
from mixtally.server.node.wrapping import read_master

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
SLOW = {"attack.md", "memoize.md"}
"""Pages whose commands take more than ten seconds."""
BROKEN = "mixtally check attack --protocol flip "
"""The attack that breaks its promise, which is what the page is about: exit status 1."""
COPY = "In a copy of the repository"
"""Said by a page whose programs are those of examples/."""
WALK = ROOT / "docs" / "how-to/network.md"
"""Played by test_network_page.py: what it begins goes on beside what comes after."""
UNRUN = {
    "README.md": {
        "make": "the targets exist (test_readme.py); .ci/run calls them",
        "pip install": "the wheel is installed by tests/wheel",
    },
    "device.md": {"mixtally client": "a device of the network that test_network_page.py plays"},
    "check-round.md": {
        **dict.fromkeys(
            ["mixtally collector ", "mixtally check round"], "typed by test_network_page.py"
        ),
    },
    "operate.md": {
        **dict.fromkeys(
            [f"mixtally {one}" for one in ("mix intake", "mix status", "mix backup", "collector ")],
            "begun by test_network_page.py",
        ),
        "docker compose": "tests/deploy has the steps of the image; docker is not here",
    },
    "cluster.md": {
        "(umask 77; openssl": "read by the test below",
        "mixtally mix serve": "a cluster and a bucket, which nobody has here",
        "mixtally collector serve": "the same",
    },
    "page.md": {
        **dict.fromkeys(
            ["mixtally page build https", "mixtally page check 'https"],
            "run by tests/web/test_taking_part.py",
        ),
    },
}
"""Commands that no test of a whole page types, by page and first words, and why."""
PROGRAMS = re.compile(
    r"\s*\(?(?:umask|sudo|cd|mkdir|python\w*|pip|make|git|openssl|curl|docker|ssh|mixtally|echo"
    r"|cat|\./\S+|\.venv/\S+) "
)
"""What begins a line that somebody types."""
INDENTED = re.compile(r"^    (\S.*)$", re.MULTILINE)
GROUPS = {"batch", "budget", "check", "client", "collector", "contract", "mix", "page"}
TABLED = re.compile(r"`(mixtally [^`]*)`")


@cache
def help_of(*names):
    command = COMMANDS.get(" ".join(names))
    flag = "--help-all" if command and command.function else "--help"
    done = run([Path(sys.executable).with_name("mixtally"), *names, flag], ROOT)
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
    """The commands of this Python come first, as after ``. .venv/bin/activate``."""
    own = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        arguments, cwd=where, env={**os.environ, "PATH": own},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def quicker(command):
    """As written; an attack that takes a minute is played less often, and the same every time."""
    plain = command.startswith("mixtally check attack ") and "--runs" not in command
    return f"{command} --runs 100 --drawn 10000 --seed 1" if plain else command


def run_command(command, where):
    return run(["sh", "-c", command], where)


@pytest.mark.parametrize("page", marked(page for page in PAGES if steps(page) and page != WALK))
def test_its_commands_and_programs_run_one_after_the_other(page, tmp_path):
    """In an empty folder: whatever they read, the page has told to make."""
    if COPY in page.read_text():
        (tmp_path / "examples").symlink_to(ROOT / "examples")
    for language, step in steps(page):
        if language == "python":
            done = run([sys.executable, "-c", step], tmp_path)
        else:
            done = run_command(quicker(step), tmp_path)
        wanted = 1 if step.startswith(BROKEN) else 0
        said = [line for line in done.stderr.splitlines() if NO_MINIMUM not in line]
        assert (done.returncode, said) == (wanted, []), step
        assert done.stdout
        for option in re.findall(r"--out (\S+)", step):
            assert (tmp_path / option).is_file() or any((tmp_path / option).iterdir()), step
    for block in blocks(page, "console"):
        assert refusal(block, tmp_path) == "", block


def refusal(block, where):
    """What is wrong with an error that a page shows: it ends so, with these words and a status."""
    command, *shown = block.splitlines()
    done = run_command(command.removeprefix("$ "), where)
    if done.returncode not in (1, 2, 3):
        return f"status {done.returncode}"
    wanted = " ".join(" ".join(shown).split())
    start, came = wanted.partition(" ..")[0], " ".join(done.stderr.split())
    return "" if came.startswith(start) else came


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.parent.name == "how-to"], ids=lambda page: page.name
)
def test_a_task_ends_with_three_errors(page):
    _, _, end = page.read_text().partition("\n## When something goes wrong\n")
    assert len(re.findall(r"```console\n\$ ", end)) == 3


@pytest.mark.parametrize(
    "block",
    [
        "$ mixtally --help\n",
        "$ mixtally plan --users 5\nmixtally: epsilon: expected peace, got none",
    ],
)
def test_an_error_that_is_not_so_is_noticed(block, tmp_path):
    assert refusal(block, tmp_path)


@pytest.mark.seconds
@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.name)
def test_commands_in_sentences_name_what_there_is(page):
    """Abbreviated ones too: the command exists and takes the options that are named."""
    for shown in {line.rstrip(" .") for line in TABLED.findall(page.read_text())}:
        words = shlex.split(shown)[1:]
        text = help_of(
            *(words[:2] if words[0] in GROUPS or " ".join(words[:2]) in COMMANDS else words[:1])
        )
        for option in re.findall(r"--[a-z-]+", shown):
            assert f"{option} " in text, shown


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_its_links_lead_somewhere(page):
    for place in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / place).exists(), place


def unrun(page, text):
    """Lines that look typed and that no test runs."""
    fenced = re.compile(r"```(\w*)\n(.*?)```", re.DOTALL)
    found = [*fenced.findall(text), ("", "\n".join(INDENTED.findall(fenced.sub("", text))))]
    run_here = "mixtally " if page == "README.md" else ""  # how lines of sh begin that are run
    return [
        line
        for language, block in found
        if language not in ("python", "toml")
        for line in block.splitlines()
        if PROGRAMS.match(line)
        and not (language == "sh" and line.startswith(run_here))
        and not line.startswith(tuple(UNRUN.get(page, ())))
    ]


def test_no_command_is_left_unrun():
    for page in [ROOT / "README.md", *PAGES]:
        assert unrun(page.name, page.read_text()) == []


@pytest.mark.parametrize(
    "text",
    ["```text\nmixtally log\n```", "```\n(umask 77; ls)\n```", "Type:\n\n    pip install it\n"],
)
def test_a_command_that_nothing_runs_is_noticed(text):
    assert len(unrun("promise.md", text)) == 1


@pytest.mark.seconds
def test_what_is_not_run_has_options_that_there_are(tmp_path):
    """Of the commands for a cluster; the key that they read is one as the page makes it."""
    block, *_ = re.findall(
        r"```text\n(.*?)```", (ROOT / "docs" / "how-to/cluster.md").read_text(), re.DOTALL
    )
    key, *serving = block.splitlines()
    assert run_command(key, tmp_path).returncode == 0
    assert len(read_master(str(tmp_path / "engine.key"), {})) == 32
    for line in serving:
        for option in re.findall(r"--[a-z-]+", line):
            assert f"{option} " in help_of(*line.split()[1:3]), line


def test_no_block_is_left_out():
    languages = {
        name for page in PAGES for name in re.findall(r"^```(\w+)$", page.read_text(), re.M)
    }
    assert languages <= {"sh", "python", "text", "toml", "console"}
    assert sum(len(commands(page)) for page in PAGES) >= 30


def test_the_network_that_is_shown_is_the_one_that_is_made():
    (network,) = blocks(ROOT / "docs" / "how-to/contract.md", "toml")
    assert example_files()["network.toml"].decode() == network


def test_the_details_that_are_shown_are_those_that_are_made():
    (details,) = blocks(ROOT / "docs" / "how-to/plan.md", "toml")
    assert example_files()["approval.toml"].decode() == details


def test_what_the_pages_must_not_do_is_noticed(tmp_path):
    """Twins: a command, an option and a file that do not exist."""
    assert run_command("mixtally plann --epsilon 1", tmp_path).returncode == 2
    assert run_command("mixtally plan --epsilonn 1", tmp_path).returncode == 2
    assert run_command("mixtally contract show contract.json", tmp_path).returncode == 2
