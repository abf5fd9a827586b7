"""The second line of whatever relies on mixes says what is left if all of them collude."""

import contextlib
import json
import shlex

import pytest

from cli.json_cases import ROW, SHARDS, SMALL, lay_out
from mixtally.api import plan, simulate
from mixtally.report.numbers import at_most

END = "--epsilon 1 --delta 1e-6"
CLEAR = "each answer is exposed."
QUICK = {
    "clear": f"plan {END} --users 1e4 --bins 5",
    "flips": f"plan {END} --users 1e4 --bins 5 --protocol flip-blank",
    "a contract": f"{ROW} --labels words.txt",
    "simulate": f"simulate survey.csv --column answer --labels words.txt {END} --seed 1",
}
OTHERS = {
    "collections": f"plan {END} --users 1e4 --bins 5 --protocol flip-blank --collections 3",
    "contract show": f"{SMALL} && contract show small.json",
    "a round": f"{SMALL} && simulate survey.csv --column answer --contract small.json --seed 1",
    "vote": f"simulate survey.csv --winner --column answer --labels words.txt {END} --seed 1",
    "baskets": "simulate baskets survey.csv --column likes --set ';' --labels drinks.txt "
    "--max-set 2 --epsilon 2 --delta 1e-6 --seed 1",
    "epochs": "simulate epochs survey.csv --column answer --labels words.txt --synthetic 3 "
    f"{END} --seed 1",
    "words": "simulate words survey.csv --column answer --epsilon 2 --delta 1e-6 --top 2 --seed 1",
    "tally": f"{SHARDS} && batch mix devices --plan plan.json --out mixed && "
    "batch tally mixed --plan plan.json",
}


def left(facts):
    """The local epsilon that a result states, wherever in it: of the first of its plans."""
    if "local_epsilon" in facts:
        return facts["local_epsilon"]
    for name in ("best", "shuffle", "collection", "plan", "releases"):
        if name in facts:
            inner = facts[name]
            found = left(inner[0] if isinstance(inner, list) else inner)
            return found if "epochs" not in facts else found and len(facts["epochs"]) * found
    raise AssertionError(sorted(facts))


def check(case, desk, cli):
    lay_out(desk)
    with contextlib.chdir(desk):
        *before, last = map(shlex.split, case.split(" && "))
        for one in before:
            assert cli(*one).status == 0
        shown, told = cli(*last), cli(*last, "--json")
    second, facts = shown.out.splitlines()[1], json.loads(told.out)
    said = second.partition("If every mix colludes with the collector, ")[2]
    local = left(facts)
    assert said == (CLEAR if local is None else f"a local epsilon of {at_most(local)} is left.")
    assert facts["promise"][1].endswith(said)


@pytest.mark.parametrize("case", QUICK)
def test_it_is_said_in_the_second_line(case, tmp_path, cli):
    check(QUICK[case], tmp_path, cli)


@pytest.mark.seconds
@pytest.mark.parametrize("case", OTHERS)
def test_and_by_every_other_command(case, tmp_path, cli):
    check(OTHERS[case], tmp_path, cli)


def test_a_page_says_it(tmp_path, cli):
    lay_out(tmp_path)
    with contextlib.chdir(tmp_path):
        cli(*shlex.split(QUICK["simulate"]), "--out", "out")
    (page,) = tmp_path.rglob("report.html")
    assert CLEAR in page.read_text().partition("</ul>")[0]


def test_python_says_it():
    made = plan(3, epsilon=1, delta=1e-6, users=1000)
    assert repr(made).splitlines()[1].endswith(CLEAR)
    assert CLEAR in made._repr_html_()
    result = simulate(
        ["a", "b"] * 500, epsilon=1, delta=1e-6, protocol="flip-blank", labels=["a", "b"], seed=1
    )
    assert result.lines[1].endswith(
        f"{at_most(result.record.plan.facts()['local_epsilon'])} is left."
    )
