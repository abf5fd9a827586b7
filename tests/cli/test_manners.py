"""What all commands have in common: help, quiet, JSON errors, another way to begin."""

import json
import os
import subprocess
import sys
from contextlib import contextmanager

import pytest
import typer

from mixtally.cli import app, progress
from mixtally.cli import common as watching
from mixtally.cli.app import COMMANDS
from mixtally.version import VERSION

SEVERAL = {
    "contract": "show",
    "mix": "serve",
    "collector": "serve",
    "client": "log",
    "page": "build",
    "budget": "show",
}
PLAN = ("plan", "--epsilon", 1, "--delta", "1e-6", "--users", 1000, "--bins", 5)


def python(*arguments, **more):
    return subprocess.run(
        [sys.executable, "-m", "mixtally", *arguments],
        capture_output=True, text=True, check=False, **more,
    )  # fmt: skip


def test_python_runs_it_as_well():
    done = python("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"mixtally {VERSION}\n", "")


@pytest.mark.parametrize("name", COMMANDS)
def test_short_help_is_help_and_quiet_is_everywhere(cli, name):
    call = (name, *filter(None, [SEVERAL.get(name)]))
    short, long = cli(*call, "-h"), cli(*call, "--help")
    assert short == long
    assert short.status == 0
    assert "-q, --quiet" in short.out


def test_help_names_the_exit_status(cli):
    assert "130 interrupted from the keyboard" in " ".join(cli("--help").out.split())


@pytest.mark.parametrize(
    ("arguments", "subject"),
    [
        (("plan", "--epsilon", 99, *PLAN[3:]), "epsilon"),
        (("simulate", "gone.csv", "--column", "x", *PLAN[1:5]), "gone.csv"),
        (("plan", "--no-such-option"), "plan"),
        (("budget", "show", "gone.json"), "gone.json"),
    ],
)
def test_errors_are_json_where_results_would_be(cli, arguments, subject):
    told = cli(*arguments, "--json")
    said = json.loads(told.out)
    assert told.status == said["status"] == 2
    assert said["subject"].endswith(subject)
    assert told.err == f"mixtally: {said['error']}\n"
    for part in ("expected", "got", "do"):
        assert said[part].casefold() in said["error"].casefold()


def test_without_json_an_error_leaves_the_output_empty(cli):
    assert cli("plan", "--epsilon", 99, *PLAN[3:]).out == ""


@pytest.fixture
def terminal(monkeypatch):
    """Makes standard error say that it is one; nobody is quiet before or after."""

    def begin():
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
        monkeypatch.setenv("TERM", "xterm")
        watching.set_quiet(False)

    yield begin
    watching.set_quiet(False)


@pytest.mark.parametrize("quiet", [False, True])
def test_quiet_says_nothing_meanwhile(terminal, capsys, quiet):
    terminal()
    watching.set_quiet(quiet)
    with progress.progress_bars() as tell:
        tell("work", 1, 2)
    assert (capsys.readouterr().err == "") is quiet


@pytest.mark.parametrize("more", [[], ["--quiet"], ["-q"]])
def test_quiet_is_taken_from_the_command_line(terminal, cli, monkeypatch, more):
    terminal()
    seen = []

    @contextmanager
    def looked(_):
        seen.append(watching.is_watched())
        yield

    monkeypatch.setattr("mixtally.cli.formulas.show_elapsed_time", looked)
    said = cli("check formula", "--formula", "notes-5.10", *PLAN[1:5], "--bins", 100, *more)
    assert said.status == 0
    assert seen == [not more]


def test_writing_the_files_of_a_result_gives_a_sign_of_life(cli, tmp_path, monkeypatch):
    """A year of many labels takes half a minute to write."""
    seen = []

    @contextmanager
    def looked(what):
        seen.append((what, list(tmp_path.glob("out/**/*.csv"))))
        yield
        seen.append((what, list(tmp_path.glob("out/**/*.csv")) != []))

    monkeypatch.setattr("mixtally.cli.display.show_elapsed_time", looked)
    data = tmp_path / "data.csv"
    data.write_text("answer\n" + "yes\nno\n" * 50)
    arguments = ("--column", "answer", "--epsilon", 2, "--delta", "1e-3", "--out", tmp_path / "out")
    assert cli("simulate", data, *arguments).status == 0
    assert seen == [("writing files", []), ("writing files", True)]


def test_bash_completes_commands():
    asked = {"_MIXTALLY_COMPLETE": "complete_bash", "COMP_WORDS": "mixtally si", "COMP_CWORD": "1"}
    done = python(env={**os.environ, **asked})
    assert done.stdout.split() == ["simulate"]


def test_what_a_name_may_become_imports_no_command(monkeypatch):
    monkeypatch.setattr(app, "import_module", pytest.fail)
    commands = typer.main.get_command(app.app)
    with commands.make_context("mixtally", [], resilient_parsing=True) as ctx:
        names = [one.value for one in commands.shell_complete(ctx, "")]
        options = {one.value for one in commands.shell_complete(ctx, "--")}
    assert names == list(dict.fromkeys(name.split()[0] for name in COMMANDS))
    assert {"--help", "--version"} <= options
