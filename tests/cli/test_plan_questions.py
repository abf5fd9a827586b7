"""``mixtally plan``: what may be asked and afforded, and how what cannot be is refused."""

import json

import pytest

from mixtally.accounting.plans.terms import verify
from mixtally.cli.plan import NO_MINIMUM
from mixtally.model.contract import read_plan
from mixtally.model.contract_json import stringify_large_integers

GUARANTEE = ("plan", "--epsilon", 1, "--delta", "1e-6")
ASKED = (*GUARANTEE, "--users", 100_000)
BINS = (*ASKED, "--bins", 50)
HUGE = "1" + "0" * 400
SPLIT = ("--attributes", "4,5", "--messages-per-user", 3)
"""Attributes in two messages."""


def facts_of(cli, *arguments):
    outcome = cli(*arguments, "--json")
    assert outcome.err in ("", f"mixtally: warning: {NO_MINIMUM}\n")
    assert outcome.status == 0
    return json.loads(outcome.out)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--bins", 10, "--bits", 3), "--bins and --bits"),
        (("--bins", 10, "--attributes", "3,4"), "--bins and --attributes"),
        (("--bins", 10, "--attributes", "3,4", "--bits", 3), "--bins and --attributes and --bits"),
        ((), "got none"),
        (("--bits", 3, "--max-set", 2), "got --bits"),
        (("--attributes", "3,4", "--max-set", 2), "got --attributes"),
        (("--bins", 10, "--max-set", 0), "max set"),
        (("--bins", 100, "--max-set", 17), "max set"),
        (("--bins", 10, "--max-set", 11), "max set"),
        (("--bins", 10, "--max-set", -1), "max set"),
        (("--bits", 0), "bits"),
        (("--bits", 65), "[1, 64]"),
        (("--bits", -3), "bits"),
        (("--attributes", "1,5"), "bins"),
        (("--attributes", "0"), "bins"),
        (("--attributes", "5,-5"), "attributes"),
        (("--attributes", "1,000,20"), "bins"),
        (("--attributes", ",".join(["2"] * 17)), "16"),
        (("--attributes", "9999999,2"), "bins"),
        (("--bins", 1), "bins"),
        (("--bins", 0), "bins"),
        (("--bins", 10**7 + 1), "bins"),
    ],
)
def test_a_question_that_is_none_is_refused_in_one_line(refused, more, words):
    assert words in refused(*ASKED, *more)


@pytest.mark.parametrize("text", ["10,", "10,x", "", ",,", "3;4", "nan,3", "inf", "2.5,3"])
def test_attributes_that_are_no_numbers_are_refused_in_one_line(refused, text):
    assert "attributes" in refused(*ASKED, "--attributes", text)


@pytest.mark.parametrize(
    ("more", "subject"),
    [
        *[(("--collections", n), "collections") for n in (0, -1, 1001)],
        *[(("--hops", n), "hops") for n in (0, -1, 6)],
        *[(("--minimum-crowd", n), "minimum crowd") for n in (0, 1, -5, 100_001)],
        *[(("--bytes-per-user", x), "bytes per user") for x in (0, 0.5, -1, "nan", "inf", "-inf")],
        *[(("--local-epsilon", x), "local epsilon") for x in (0, -1, 101, "nan", "inf")],
        *[(("--messages-per-user", x), "messages") for x in (0.5, 1001, "nan", "inf", "-inf")],
        *[(("--fakes-per-user", x), "fakes per user") for x in (-1, "nan", "-inf")],
        *[(("--fakes-per-user", x), "messages") for x in (1000, "inf")],
        *[(("--honest-share", x), "honest share") for x in (0, 1.1, -1, "nan", "inf")],
        *[(("--target-error", x), "target error") for x in (0, -1, "nan", "-inf")],
        *[(("--level", x), "level") for x in (0, 1, -1, 2, "nan", "inf")],
        (("--protocol", "flipflop"), "protocol"),
        (("--fakes-per-user", 1, "--messages-per-user", 2), "budget"),
        (
            ("--target-error", 5, "--messages-per-user", 2),
            "--target-error without --messages-per-user",
        ),
        (("--target-error", 5, "--fakes-per-user", 1), "--target-error without --fakes-per-user"),
        (
            ("--target-error", 5, "--target-share", 0.1),
            "--target-share without --target-error and --users",
        ),
        (("--target-share", 0.1), "--target-share without --users"),
    ],
)
def test_a_budget_that_is_none_is_refused_in_one_line(refused, more, subject):
    assert subject in refused(*BINS, *more)


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", 0, -1])
@pytest.mark.parametrize("which", ["--epsilon", "--delta"])
def test_a_guarantee_that_is_none_is_refused_in_one_line(refused, which, number):
    other = ("--delta", "1e-6") if which == "--epsilon" else ("--epsilon", 1)
    refused("plan", which, number, *other, "--users", 1000, "--bins", 10)


@pytest.mark.parametrize("share", [0, 1, -1, 2, "nan", "inf"])
def test_a_share_that_is_none_is_refused_in_one_line(refused, share):
    assert "target share" in refused(*GUARANTEE, "--bins", 10, "--target-share", share)


def test_a_crowd_or_a_share_is_needed(refused):
    assert "got none" in refused(*GUARANTEE, "--bins", 10)
    assert "--users" in refused(*GUARANTEE, "--bins", 10, "--target-error", 5)


@pytest.mark.parametrize("flag", ["--collections", "--minimum-crowd", "--hops"])
def test_a_number_of_four_hundred_digits_is_refused_in_one_line(refused, flag):
    refused(*BINS, "--mix-fakes", flag, HUGE)


def test_a_minimum_crowd_beside_a_share_is_not_measured_by_two_people(refused):
    more = ("--target-share", 0.01, "--minimum-crowd", 100)
    assert "[2, 2]" not in refused(*GUARANTEE, "--bins", 10, *more)


@pytest.mark.parametrize(
    "more",
    [
        ("--bins", 100, "--protocol", "single-bit"),
        ("--bits", 3, "--protocol", "flip-blank"),
        ("--bits", 16, "--protocol", "flip", "--bytes-per-user", 1),
    ],
)
def test_a_refusal_always_says_what_to_do(refused, more):
    assert not refused(*ASKED, *more).rstrip().endswith(";")


def test_a_target_with_a_protocol_that_does_not_fit_says_so(refused):
    assert "got inf" not in refused(*BINS, "--target-error", 5, "--protocol", "clear-shaped")


def test_a_refused_command_writes_no_file(refused, tmp_path):
    refused(*BINS, "--level", 2, "--out", tmp_path / "plan.json")
    assert not list(tmp_path.iterdir())


def test_no_bins_beside_labels_are_refused(cli, tmp_path):
    labels = tmp_path / "labels"
    labels.write_text("a\nb\n")
    assert cli(*ASKED, "--labels", labels, "--bins", 0).status == 2


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (("--hops", 3), {"protocol": "clear-shaped", "cover": "every mix", "mixes_adding": 3}),
        (("--hops", 3), {"hops": 3, "minimum_crowd": 1, "messages_per_user": 1}),
        (("--mix-fakes",), {"protocol": "clear-shaped", "cover": "every mix", "hops": 1}),
        (("--minimum-crowd", 50_000), {"honest_share": 1.0, "minimum_crowd": 50_000}),
        (
            ("--minimum-crowd", "5e4", "--honest-share", 0.5),
            {"honest_share": 0.5, "minimum_crowd": 50_000},
        ),
        (("--bytes-per-user", 206, "--protocol", "flip-blank"), {"protocol": "flip-blank"}),
        (("--local-epsilon", 2), {"protocol": "flip-blank"}),
        (("--messages-per-user", 1), {"protocol": "kary-response"}),
        (("--collections", 1), {"protocol": "clear-uniform", "collections": 1, "cover": "people"}),
    ],
)
def test_an_option_is_seen_in_the_answer(cli, more, expected):
    facts = facts_of(cli, *BINS, *more)
    assert {name: facts[name] for name in expected} == expected
    assert facts["delta"] <= 1e-6


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        (("--bins", 9), "one"),
        (("--bins", 9, "--max-set", 1), "one"),
        (("--bits", 1), "bits"),
        (("--attributes", "7"), "one"),
        (("--bins", 9, "--max-set", 2, "--local-epsilon", 1), "set"),
    ],
)
def test_what_a_record_holds_is_in_the_plan(cli, more, kind):
    facts = facts_of(cli, *ASKED, "--name", "trip", *more)
    named = {one["protocol"]: one for one in facts["alternatives"]}
    question = named["single-bit"] if more == ("--bits", 1) else facts["plan"]["question"]
    if more == ("--bits", 1):
        assert question["protocol"] == "single-bit"
    else:
        assert (question["kind"], question["name"]) == (kind, "trip")


def test_all_messages_of_a_record_are_one_plan_in_one_file(cli, tmp_path):
    facts = facts_of(cli, *ASKED, *SPLIT, "--out", tmp_path / "plan.v1.json")
    assert facts["messages_of_a_record"] == 2
    assert [path.name for path in tmp_path.iterdir()] == ["plan.v1.json"]
    data = (tmp_path / "plan.v1.json").read_bytes()
    plan = read_plan(data, "plan")
    assert [part.bins for part in plan.parts] == [4, 5]
    assert verify(plan).upper == facts["delta"]
    assert json.loads(data) == stringify_large_integers(facts["plan"])
