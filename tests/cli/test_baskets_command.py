"""``mixtally simulate baskets``: sets and rules; true counts in simulations alone."""

import csv
import json

import pytest

from report.reader import self_contained

PROMISE = ("--epsilon", 2, "--delta", "1e-6")
GIVEN = ("--labels", "items.txt", "--max-set", 2)
SETS = ("--column", "items", "--set", ";")
KINDS = ["bread;milk", "bread;milk", "tea", "salt"]


@pytest.fixture
def data(tmp_path, monkeypatch):
    path = tmp_path / "shop.csv"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "items.txt").write_text("bread\nmilk\nsalt\ntea\n")
    path.write_text("items\n" + "\n".join(KINDS * 400) + "\n")
    return path


@pytest.fixture
def rows(tmp_path):
    """The same baskets, an item a row."""
    path = tmp_path / "rows.csv"
    items = [f"b{i},{item}" for i, one in enumerate(KINDS * 400) for item in one.split(";")]
    path.write_text("basket,items\n" + "\n".join(items) + "\n")
    return path


def played(cli, data, *more):
    outcome = cli("simulate baskets", data, "--column", "items", *PROMISE, "--json", *more)
    assert (outcome.status, outcome.err) == (0, "")
    return json.loads(outcome.out)


def test_what_goes_together_is_found(cli, data):
    facts = played(cli, data, "--set", ";", "--seed", 1)
    (pair,) = facts["sets"]
    assert (pair["items"], pair["truth"]) == (["bread", "milk"], 800)
    assert pair["lower"] <= 800 <= pair["upper"]
    assert {(*rule["given"], rule["then"]) for rule in facts["rules"]} == {
        ("bread", "milk"), ("milk", "bread"),
    }  # fmt: skip
    for rule in facts["rules"]:
        assert rule["confidence_lower"] <= 1.0 == rule["confidence_truth"]
        assert rule["lift_lower"] <= 2.0 == rule["lift_truth"] <= rule["lift_upper"]
    assert (facts["ghosts"], facts["pairs_held"], facts["covered"]) == (0, 1, 1.0)


def test_items_in_rows_are_the_same_baskets(cli, data, rows):
    one = played(cli, data, "--set", ";", "--seed", 1)
    other = played(cli, rows, "--person-column", "basket", "--several", "set", "--seed", 1)
    assert other["sets"] == one["sets"]


def test_rules_that_are_not_certain_are_left_out(cli, data):
    facts = played(cli, data, "--set", ";", "--seed", 1, "--confidence", 0.999)
    assert (facts["rules"], facts["rules_found"]) == ([], 2)
    facts = played(cli, data, "--set", ";", "--seed", 1, "--support", 900)
    assert (facts["sets"], facts["rules_found"], facts["covered"]) == ([], 0, None)


def test_what_is_published_holds_no_truth(cli, data, tmp_path):
    out = tmp_path / "out"
    level = 0.999999  # nothing else is found: less than one time in 10^11
    played(cli, data, "--set", ";", *GIVEN, "--level", level, "--out", out)
    for name in ("result.json", "items.csv", "sets.csv", "rules.csv"):
        assert "truth" not in (out / name).read_text()
        assert "truth" in (out / "simulation" / name).read_text()
    assert "true count" not in (out / "report.html").read_text()
    page = self_contained((out / "report.html").read_text())
    assert "Rules" in page.texts
    (row,) = csv.DictReader((out / "sets.csv").read_text().splitlines())
    assert row["items"] == "bread + milk"


def test_a_seed_leaves_a_simulation_alone(cli, data, tmp_path):
    out = tmp_path / "out"
    played(cli, data, "--set", ";", *GIVEN, "--seed", 1, "--out", out)
    assert sorted(path.name for path in out.iterdir()) == ["plan.json", "simulation"]


def test_nothing_found_is_said(cli, tmp_path):
    path = tmp_path / "apart.csv"
    path.write_text("items\n" + "a\nb\n" * 300 + "a;b\n")
    said = cli("simulate baskets", path, *SETS, *PROMISE, "--seed", 1).out
    assert "0 sets are certainly held by somebody" in said
    played(cli, path, "--set", ";", "--seed", 1, "--out", tmp_path / "out")
    page = (tmp_path / "out" / "simulation" / "report.html").read_text()
    assert "No set was certainly held by enough people." in page
    head = (tmp_path / "out" / "simulation" / "rules.csv").read_text().splitlines()[1]
    assert head.startswith("given,then,support,")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (
            (),
            "baskets: expected --set SEP, or --person-column NAME with --several set, got neither",
        ),
        (("--set", ";", "--support", 1600), "support: expected a whole number in [0, 1,599]"),
        (("--set", ";", "--support", -1), "support: expected a whole number"),
        (("--set", ";", "--confidence", 1.5), "confidence: expected a number in [0, 1]"),
        (("--set", ";", "--confidence", "nan"), "confidence: expected a number in [0, 1]"),
        (("--set", ";", "--largest", 1), "largest: expected an integer in [2, 8]"),
        (("--set", ";", "--largest", 9), "largest: expected an integer in [2, 8]"),
        (("--set", ";", "--protocol", "flip"), "--protocol: expected flip-blank"),
        (("--set", ";", "--max-set", 1), "at most 1"),
        (("--set", ";", "--level", 1), "confidence level"),
    ],
    ids=str,
)
def test_bad_input_is_a_line(refused, data, more, words):
    assert words in refused("simulate baskets", data, "--column", "items", *PROMISE, *more)


def test_the_data_are_the_source_and_the_plan_has_its_own(cli, data):
    facts = played(cli, data, "--set", ";", "--seed", 1)
    assert facts["source"] == "1,600 baskets of shop.csv, one person each."
    assert facts["collection"]["protocol"] == "flip-blank"
    assert facts["collection"]["source"] != facts["source"]


def test_the_command_says_which_and_why(cli, tmp_path):
    path = tmp_path / "baskets.csv"
    path.write_text("items\n" + "bread;milk\ntea\nbread;jam\n" * 700)
    asked = ("simulate", "baskets", path, "--column", "items", "--set", ";", "--max-set", 2,
             "--epsilon", 2, "--delta", 1e-6, "--largest", 2, "--seed", 3, "--json")  # fmt: skip
    many = json.loads(cli(*asked, "--messages-per-user", 4).out)
    assert "is counted as a separate value" in many["reason"]
    assert {tuple(one["items"]) for one in many["sets"]} == {("bread", "milk"), ("bread", "jam")}
    whole = json.loads(cli(*asked, "--messages-per-user", 2).out)
    assert "Each basket is one message" in whole["reason"]
