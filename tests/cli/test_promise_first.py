"""Every result of every documented command begins with its promise, on a terminal and as JSON.

The three lines are held against the numbers of the same result: what is hidden from whom, epsilon
and delta with what they rest on, the error to expect.
"""

import contextlib
import io
import json
import re
import shlex
import sys
from unittest.mock import patch

import pytest

from cli.json_cases import FAST, SECONDS, SLOW, command_of, lay_out
from helpers.sampled import of_kinds
from mixtally.cli.main import run

OPENINGS = ("Protects", ("epsilon", "Under attack: "), "Expected error")
"""How the lines begin; an attack says its own second and third."""
NO_RESULT = {"example", "batch doctor", "batch randomize", "batch mix"}
"""What writes made-up people, of whom nothing is hidden, tells of a machine, or writes messages."""
THIRD = ("Expected error", "False-alarm probability")


def concludes(case):
    """Whether the last command of a case tells a result."""
    return command_of(case.split(" && ")[-1]) not in NO_RESULT


def faults(lines):
    """What is wrong with the first lines of a result, a word a fault."""
    found = []
    if len(lines) < 3 or not all(isinstance(line, str) for line in lines[:3]):
        return ["too few"]
    first, second, third = lines[:3]
    if not first.startswith("Protects"):
        found.append("what is hidden")
    if not second.startswith(OPENINGS[1]):
        found.append("epsilon and delta")
    if not third.startswith(THIRD):
        found.append("the error")
    if not any(
        word in second
        for word in (
            "Assumes",
            "rests on",
            "Under attack",
            "claimed",
            "asked for",
            "compares",
            "spent",
        )
    ):
        found.append("what it rests on")
    return found


def printed(arguments):
    """What the command line prints and says on standard error; its status is nobody's business."""
    out, said = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(out), contextlib.redirect_stderr(said),
        contextlib.suppress(SystemExit), patch.object(sys, "argv", ["mixtally", *arguments]),
    ):  # fmt: skip
        run()
    return out.getvalue(), said.getvalue()


def both(case, desk):
    """The lines on a terminal and those of the JSON of the last command of a case."""
    lay_out(desk)
    *before, last = (shlex.split(part) for part in case.replace("{seed}", "1").split(" && "))
    with contextlib.chdir(desk):
        for arguments in before:
            printed(arguments)
        told, said = printed(last)
        assert told, said
        kept = [*desk.glob("*.memory*"), *desk.glob("*.ledger*")]
        for path in kept:  # answers that were kept would be reported again, epochs charged twice
            path.unlink()
        for arguments in before if kept else ():
            printed(arguments)
        shown, _ = printed([word for word in last if word != "--json"])
    return shown.splitlines(), json.loads(told)


def check_told(told):
    """The promise of a result as JSON; a refusal promises nothing."""
    if "error" in told:
        assert "promise" not in told
        return
    assert faults(told["promise"]) == []
    assert len(told["promise"]) == 3
    names = list(told)
    assert names[0] == ("simulation" if "simulation" in told else "promise")
    assert names.index("promise") <= 1


def check(case, desk):
    shown, told = both(case, desk)
    check_told(told)
    if not shown:  # what is said of a refusal stands on the other stream
        assert "error" in told
        return
    assert faults(shown) == []
    if "--state" not in case:  # whose answers are drawn anew
        assert drawn_alike(shown[:3]) == drawn_alike(told["promise"])


def drawn_alike(lines):
    """The lines without numbers that a kept or secret draw may change."""
    return [re.sub(r"[\d.,]+", "#", line) for line in lines]


def kind_of(case):
    """The command, the mechanism and the names of the options; not their values."""
    last = case.split(" && ")[-1]
    protocol = re.search(r"--protocol \S+", last)
    return command_of(last), protocol and protocol[0], *re.findall(r"--[a-z-]+", last)


@pytest.mark.parametrize("case", of_kinds([case for case in FAST if concludes(case)], kind_of, 1))
def test_every_result_begins_with_its_promise(case, tmp_path):
    check(case, tmp_path)


LONG = {command_of(case.split(" && ")[-1]): case for case in (*SLOW, *SECONDS)}
"""One of each command that takes longer; ``test_json_keys`` looks at the JSON of all of them."""


@pytest.mark.slow
@pytest.mark.parametrize("command", LONG)
def test_every_other_command_does(command, tmp_path):
    check(LONG[command], tmp_path)


QUICK = [
    "check delta --protocol clear-uniform --epsilon 1 --fakes 4261 --bins 100 --json",
    "check sufficient --users 5000 --bits 5 --epsilon 2 --flip 0.15 --json",
    "check formula --list --json",
    "budget open me.ledger --epsilon 3 --delta 1e-5 && budget show me.ledger --json",
]


@pytest.mark.parametrize("case", QUICK)
def test_quick_results_do(case, tmp_path):
    check(case, tmp_path)


def test_the_numbers_are_those_of_the_result(tmp_path):
    _, told = both(QUICK[0], tmp_path)
    epsilon, delta = re.match(
        r"epsilon = ([\d.e-]+), delta <= ([\d.e-]+) ", told["promise"][1]
    ).groups()
    assert float(epsilon) == told["epsilon"]
    assert told["delta"] <= float(delta) <= told["delta"] * 1.00001


@pytest.mark.parametrize("place", range(3))
def test_the_twin_without_a_line_is_found(place, tmp_path):
    _, told = both(QUICK[0], tmp_path)
    lines = [line for at, line in enumerate(told["promise"]) if at != place]
    assert faults([*lines, "wrote result.json"])
