"""What the exit status says: one thing each, and what the page says of it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from helpers import contracts
from mixtally.cli.app import _ENDS, COMMANDS, app
from mixtally.cli.main import run
from mixtally.model.contract import write_contract, write_plan
from mixtally.model.question import Question

PAGE = (Path(__file__).parents[2] / "docs/reference/commands.md").read_text()
PROMISE = ("--epsilon", "1", "--delta", "1e-6")
FEW = ("--runs", "100", "--drawn", "1000", "--seed", "1", "--only", "tell-apart")
WEAK = ("--protocol", "flip", "--users", "1000", "--bins", "10", "--flip", ".001", *PROMISE, *FEW)
"""A claim that is false."""
RUN = "from mixtally.cli.main import run; run()"


def plan_of(part):
    """Plan of 1,000 people about one answer, at epsilon 1."""
    question = Question(name="q", bins=part.bins)
    return contracts.plan_of(question, [part], users=1000, delta=1e-6)


def tree():
    """The name of every command and of the commands that it has, and what parses each."""
    with get_command(app).make_context("mixtally", [], resilient_parsing=True) as top:
        for name in COMMANDS:
            found = top.command.get_command(top, name)
            yield tuple(name.split()), found
            for each in found.list_commands(top) if hasattr(found, "list_commands") else ():
                yield (*name.split(), each), found.get_command(top, each)


TREE = dict(tree())


def into_closed_pipe(line, where):
    """How the command ends whose output nobody reads, and what it says beside."""
    reader, writer = os.pipe()
    os.close(reader)  # as one that has read enough
    done = subprocess.run(
        [sys.executable, "-c", RUN, *line], cwd=where, stdout=writer, stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL, text=True, check=False,
    )  # fmt: skip
    os.close(writer)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "line",
    [
        ("--help",),
        ("plan", *PROMISE, "--users", "1000", "--bins", "5"),
        (
            "check delta",
            "--protocol",
            "clear-uniform",
            "--epsilon",
            "1",
            "--fakes",
            "99",
            "--bins",
            "9",
        ),
        ("contract", "check", "plan.json"),
        pytest.param(("check attack", *WEAK), marks=pytest.mark.seconds),
        pytest.param(
            ("simulate", "survey.csv", "--column", "fruit", *PROMISE, "--json"),
            marks=pytest.mark.seconds,
        ),
    ],
    ids=lambda line: line[0],
)
def test_an_output_that_nobody_reads_is_no_refusal(line, tmp_path):
    (tmp_path / "plan.json").write_bytes(
        write_plan(contracts.proved(plan_of(contracts.shaped(4, shift=30))))
    )
    (tmp_path / "survey.csv").write_text("fruit\n" + "fig\nkiwi\n" * 200)
    status, said = into_closed_pipe(line, tmp_path)
    assert status in (0, 141), said
    assert said == ""


@pytest.mark.parametrize("names", TREE, ids=" ".join)
def test_help_that_nobody_reads_is_no_refusal(names, monkeypatch, capsys):
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w", buffering=512) as closed:
        monkeypatch.setattr(sys, "argv", ["mixtally", *names, "--help"])
        monkeypatch.setattr(sys, "stdout", closed)
        with pytest.raises(SystemExit) as end:
            run()
    assert end.value.code == 141
    assert capsys.readouterr().err == ""


def test_a_false_promise_is_the_answer_no(cli):
    outcome = cli("check attack", *WEAK)
    assert (outcome.status, outcome.err) == (1, "")


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("part", "broken"),
    [
        pytest.param(contracts.uniform(4, whole=1), {"a later hop"}, id="by people"),
        pytest.param(contracts.shaped(4, shift=30), set(), id="every mix"),
    ],
)
def test_a_contract_that_is_broken_is_the_answer_no(cli, tmp_path, part, broken):
    """A sound one is called broken at most once in 10,000 runs; the seed is fixed."""
    path = tmp_path / "contract.json"
    path.write_bytes(write_contract(contracts.contract_of(contracts.proved(plan_of(part)))))
    outcome = cli("check attack", path, "--runs", 300, "--drawn", 0, "--seed", 1)
    assert (outcome.status, outcome.err) == (int(bool(broken)), "")
    said = outcome.out.partition("Violated: " if broken else "No attack exceeds its promise")
    assert said[1]
    assert (
        set(re.findall(r"only (.+) (?:is|of 2 hops is) honest", said[2].partition(".")[0]))
        == broken
    )


def test_help_and_page_say_the_same():
    told = re.findall(r"(\d+) ", _ENDS)
    assert re.findall(r"^\| (\d+) \|", PAGE, flags=re.MULTILINE) == told
    assert told == ["0", "1", "2", "3", "130", "141"]


@pytest.mark.parametrize("names", TREE, ids=" ".join)
def test_no_option_is_called_keep(names):
    """Nor the name under which a command is handed it, but for the chance that a mark is kept."""
    for one in TREE[names].params:
        assert "--keep" not in one.opts
        assert one.name != "keep" or "--keep-probability" in one.opts


def test_the_tree_of_commands_has_its_twigs():
    assert {("collector", "propose"), ("mix", "serve"), ("client", "send")} <= set(TREE)
    assert len(TREE) > 40
