"""Help is complete and instant, and the installed script runs."""

import re
import subprocess
import sys
from ast import literal_eval

import pytest
import typer

from mixtally.cli.app import COMMANDS, GROUPS, app
from mixtally.cli.panels import PANELS
from mixtally.version import VERSION

GROUP = typer.main.get_command(app)
HEAVY = ("numpy", "scipy", "rich.progress", "pyarrow", "cryptography", "msgspec")


def script(*arguments):
    """The command line in a process of its own, as the installed script starts it."""
    code = "from mixtally.cli.main import run; run()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=600
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_names_every_option_with_words(cli, name):
    alone = not hasattr(GROUP.get_command(None, name), "list_commands")
    outcome = cli(name, "--help-all" if alone else "--help")
    assert (outcome.status, outcome.err) == (0, "")
    for parameter in GROUP.get_command(None, name).params:
        assert parameter.help
        assert parameter.opts[0] in outcome.out


@pytest.mark.parametrize("name", COMMANDS)
def test_the_first_page_of_help_is_short(cli, name):
    """At eighty columns; what is not there is one option away."""
    first = cli(name, "--help", columns=80).out
    assert len(first.splitlines()) < 60
    assert "  Output:" in first or "\nOutput:\n" in first or "\nCommands:\n" in first
    assert ("--help-all" in first) == ("\nCommands:\n" not in first)
    assert first.count("\n  -") <= 36


@pytest.mark.parametrize("name", ["simulate", "plan", "simulate epochs"])
def test_mixes_in_a_row_stand_under_the_budget(cli, name):
    budget = cli(name, "--help").out.partition("\nBudget:\n")[2].partition("\nOutput:\n")[0]
    assert "\n  --hops N " in budget
    assert "\n  --mix-fakes " in budget


def test_the_first_page_of_simulate_has_twenty_options_of_its_own(cli):
    shown = re.findall(r"\n  (?:-\w, )?(--[a-z-]+)", cli("simulate", "--help").out)
    assert len({*shown} - {"--help", "--help-all", "--quiet"}) <= 20


def test_options_that_no_panel_names_are_shown_with_all(cli):
    first, every = (cli("simulate", flag).out for flag in ("--help", "--help-all"))
    assert "--delimiter" not in first
    assert "More options:" in every
    assert "--delimiter" in every.partition("More options:")[2]
    named = [flag for said in PANELS.values() for flag in said.split()]
    assert len(named) == len({*named})


def test_panels_name_options_that_there_are():
    known = {"--help-all", "--help", "--quiet"}
    for name in COMMANDS:
        known |= {flag for one in GROUP.get_command(None, name).params for flag in one.opts}
    assert {flag for said in PANELS.values() for flag in said.split()} <= known


def test_help_names_every_command(cli):
    outcome = cli("--help")
    assert outcome.status == 0
    firsts = ["simulate", "plan", "contract", "mix", "collector", "client", "page", "budget",
              "check", "batch", "example", "demo"]  # fmt: skip
    assert list(GROUP.commands) == firsts
    assert all(f"  {name} " in outcome.out for name in firsts)
    assert len(outcome.out.splitlines()) < 40


@pytest.mark.parametrize("group", GROUPS)
def test_help_of_a_group_names_its_commands(cli, group):
    outcome = cli(group, "--help")
    assert (outcome.status, outcome.err) == (0, "")
    assert cli(group).err == outcome.out
    names = [name.split()[1] for name in COMMANDS if name.startswith(f"{group} ")]
    assert len(names) > 3
    assert [line.split()[0] for line in outcome.out.splitlines()[-len(names) :]] == names


def test_help_of_simulate_names_its_siblings(cli):
    said = " ".join(cli("simulate", "--help").out.split())
    for name in COMMANDS:
        if name.startswith("simulate "):
            assert name.split()[1] in said.partition("Other questions")[2]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_says_what_a_command_says_first(name):
    assert GROUP.get_command(None, name).help.splitlines()[0] == COMMANDS[name].line


def test_nothing_is_called_by_an_unknown_name():
    assert GROUP.get_command(None, "output") is None


@pytest.mark.parametrize("package", [None, "pytest"])
def test_the_program_has_one_name_however_it_was_started(cli, monkeypatch, package):
    monkeypatch.setattr(sys.modules["__main__"], "__package__", package)
    assert cli("plan", "--help").out.startswith("Usage: mixtally plan ")
    assert cli("plan", "--nope").err.endswith("See `mixtally plan --help`.\n")


def test_version_is_printed(cli):
    outcome = cli("--version")
    assert (outcome.status, outcome.out) == (0, f"mixtally {VERSION}\n")


@pytest.mark.parametrize("arguments", [("nope",), ("plan",), ("plan", "--nope"), ("simulate",)])
def test_a_wrong_call_exits_2_and_prints_no_result(refused, arguments):
    assert "--help`" in refused(*arguments)


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_help_imports_nothing_heavy_and_no_command(argument):
    code = (
        "import sys\n"
        "from mixtally.cli.main import run\n"
        "try:\n    run()\nexcept SystemExit:\n    pass\n"
        "print([name for name in sys.modules if name.startswith('mixtally.')])\n"
        f"print(sorted(set({HEAVY!r}) & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, argument], capture_output=True, text=True, timeout=600
    )
    *_, ours, heavy = done.stdout.splitlines()
    assert heavy == "[]"
    assert set(literal_eval(ours)) == {
        f"mixtally.{name}"
        for name in (
            "cli",
            "cli.main",
            "cli.app",
            "cli.common",
            "cli.panels",
            "errors",
            "version",
        )
    }


def test_the_script_runs_in_a_process_of_its_own():
    done = script("check", "delta", "--epsilon", "1", "--protocol", "clear-uniform",
                  "--fakes", "40000", "--bins", "1000")  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[3].startswith("delta <= ")


def test_the_scripts_exit_status_tells_bad_input():
    done = script("check", "delta", "--epsilon", "0", "--protocol", "flip-blank", "--fakes", "1",
                  "--flip", "0.1")  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
