"""``mixtally check formula``: published formulas held against the exact distribution."""

import json
import re
import shlex
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from mixtally.cli.formulas import audit
from mixtally.errors import ParameterError
from mixtally.lab.formulas.catalogue import FORMULAS

APP = typer.Typer(rich_markup_mode=None, add_completion=False)
APP.command()(audit)
PROMISE = ("--epsilon", 1, "--delta", "1e-6")


PAGE = (Path(__file__).parents[2] / "docs" / "reference/formulas.md").read_text()
(TYPED,) = re.findall(r"type `mixtally (check formula [^`]*)` and the last cell", PAGE)
ROWS = [
    (word, f"{TYPED} {rest}")
    for word, rest in re.findall(r"\| (holds|false|undecided): [^|]*\| `([^`]*)` \|", PAGE)
]


def run(*arguments):
    outcome = CliRunner().invoke(APP, [str(one) for one in arguments])
    if outcome.exception is not None and not isinstance(outcome.exception, SystemExit):
        raise outcome.exception
    return outcome


def facts(*arguments):
    outcome = run(*arguments, "--json")
    assert outcome.exit_code == 0
    return json.loads(outcome.stdout)


def test_the_text_says_promise_truth_verdict_and_factor():
    outcome = run("--formula", "notes-5.26", *PROMISE, "--fakes", "1e7")
    formula, promise, asks, seen = outcome.stdout.splitlines()[3:]
    assert formula == "formula: notes-5.26, Zhilyaev, Notes (2020), (5.26)"
    assert promise == "promise: delta <= 1e-06 at epsilon 1"
    assert asks == "asks: flip probability 2.13556e-05 of flip-blank, 10,000,000 fakes"
    assert seen.startswith("messages: holds, ")
    assert seen.endswith("; 5.01 times the noise needed (4.265e-06), error 2.24 times as large")


def test_a_false_promise_is_called_false_and_by_how_much():
    outcome = run("--formula", "notes-5.16", *PROMISE, "--users", "1e5")
    messages, sums = outcome.stdout.splitlines()[6:]
    assert messages.startswith("messages: false, ")
    factor = float(messages.split("; ")[1].split(" times the promise")[0])
    assert factor == pytest.approx(4e5, rel=0.02)
    assert sums.startswith("sums: holds, ")


def test_json_has_every_number():
    found = facts("--formula", "notes-5.10", *PROMISE, "--bins", 100)
    assert (found["asks"], found["noise"], found["bins"]) == ("fakes", 21_356, 100)
    assert (found["epsilon"], found["delta"], found["verdict"]) == (1.0, 1e-6, "holds")
    (seen,) = found["seen"]
    assert seen["least_noise"] == 4261
    assert 0 < seen["delta_lower"] <= seen["delta_upper"] <= 1e-6
    assert seen["noise_factor"] == pytest.approx(5.01, abs=0.005)
    assert seen["privacy_factor"] is None


def test_the_list_names_every_formula():
    text = run("--list").stdout
    assert [one["formula"] for one in facts("--list")["formulas"]] == [f.name for f in FORMULAS]
    for formula in FORMULAS:
        assert formula.name in text
        assert formula.source in text


def test_a_planted_verdict_is_noticed(monkeypatch):
    """The command prints what the audit says, not what one would expect of it."""
    from mixtally.lab.formulas import audit as room

    monkeypatch.setattr(room, "HOLDS", "planted")
    assert facts("--formula", "notes-5.10", *PROMISE, "--bins", 10)["verdict"] == "planted"


@pytest.mark.parametrize(
    ("given", "subject"),
    [
        ((), "check formula"),
        (("--formula", "notes-5.10"), "check formula"),
        (("--formula", "notes-5.10", *PROMISE), "notes-5.10"),
        (("--formula", "nobody", *PROMISE), "formula"),
        (("--formula", "notes-5.10", *PROMISE, "--bins", 1), "bins"),
        (("--formula", "cheu-zhilyaev", *PROMISE, "--fakes", 100), "fakes"),
        (("--formula", "clones", *PROMISE, "--users", 100), "users"),
    ],
)
def test_what_cannot_be_audited_is_refused(given, subject):
    with pytest.raises(ParameterError, match=rf"^{subject}: expected .*, got .*\. "):
        run(*given)


@pytest.mark.seconds
@pytest.mark.parametrize(("word", "command"), ROWS, ids=[command for _, command in ROWS])
def test_the_page_of_formulas_says_what_the_command_says(word, command):
    assert facts(*shlex.split(command)[2:])["verdict"] == word


def test_the_page_of_formulas_has_them_all():
    audited = {re.search(r"--formula (\S+)", command)[1] for _, command in ROWS}
    assert audited == {formula.name for formula in FORMULAS}
