"""``mixtally plan``: fronts, nearest plans, explanations and targets, as text and as JSON."""

import json
import re

import pytest

from cli.test_plan_questions import ASKED, BINS, GUARANTEE, SPLIT, facts_of
from mixtally.report.numbers import error_text

IMPOSSIBLE = (
    "plan", "--epsilon", 0.1, "--delta", "1e-6", "--users", 1000, "--bins", "1e7",
    "--protocol", "flip-blank", "--messages-per-user", 1,
)  # fmt: skip
COSTS = ("standard_error", "messages_per_user", "bytes_per_user")


def test_the_front_is_in_the_json_and_in_the_text(cli):
    facts = facts_of(cli, *BINS)
    front = facts["front"]
    first = front[0]["standard_error"]  # before coins, which move it a little
    assert first == pytest.approx(facts["standard_error"], rel=0.01)
    assert [one["standard_error"] for one in front] == sorted(o["standard_error"] for o in front)
    assert len({tuple(one[name] for name in COSTS) for one in front}) == len(front)
    text = cli(*BINS).out
    table = text.split("Within the budget")[1]
    for one in front:
        assert error_text(one["standard_error"]) in table


def test_every_fact_is_explained_in_json_and_in_text(cli):
    facts = facts_of(cli, *BINS, "--explain")
    own = facts.keys() - {
        "reason", "alternatives", "misfits", "fingerprint", "plan", "forecast", "front", "explain",
        "name", "promise", "better", "elsewhere",
    }  # fmt: skip
    assert facts["explain"].keys() == own
    text = cli(*BINS, "--explain").out
    assert "Where the numbers come from" in text
    rows = text.split("Where the numbers come from")[1]
    for name in own:
        assert name.replace("_", " ") in rows
    assert "explain" not in facts_of(cli, *BINS)


def test_an_impossible_wish_gets_the_nearest_plans_and_no_stack_trace(cli):
    outcome = cli(*IMPOSSIBLE)
    assert outcome.status == 2
    assert outcome.out == ""
    assert "Traceback" not in outcome.err
    assert "The closest feasible requests" in outcome.err
    for flag in ("--messages-per-user 1.", "--mix-fakes"):  # no other change brings a fake
        assert flag in outcome.err
    assert (
        outcome.err.strip()
        .splitlines()[-1]
        .startswith("mixtally: plan: expected a plan with epsilon 0.1")
    )


def test_the_nearest_plans_are_json_too_and_the_status_is_still_two(cli):
    outcome = cli(*IMPOSSIBLE, "--json")
    assert outcome.status == 2
    said = json.loads(outcome.out)
    assert said.keys() == {
        "error",
        "status",
        "subject",
        "expected",
        "got",
        "do",
        "nearest",
        "unfinished",
    }
    assert said["error"] in outcome.err
    assert len(said["nearest"]) == 2
    for near in said["nearest"]:
        assert near["delta"] <= 1e-6


def test_each_nearest_change_can_be_typed_as_it_is_printed(cli):
    for near in json.loads(cli(*IMPOSSIBLE, "--json").out)["nearest"]:
        facts = facts_of(cli, *IMPOSSIBLE, *near["change"].split())
        assert facts["standard_error"] == near["standard_error"]


def test_an_impossible_wish_writes_no_plan(cli, tmp_path):
    assert cli(*IMPOSSIBLE, "--out", tmp_path / "plan").status == 2
    assert not list(tmp_path.iterdir())


@pytest.mark.seconds
def test_a_wanted_share_finds_the_crowd(cli):
    facts = facts_of(cli, *GUARANTEE, "--bins", 50, "--target-share", 0.001)
    assert facts["standard_error"] <= 0.001 * facts["users"]
    fewer = facts_of(cli, *GUARANTEE, "--bins", 50, "--users", int(0.97 * facts["users"]))
    assert fewer["standard_error"] > 0.001 * fewer["users"]
    assert f"{facts['users']:,}" in cli(*GUARANTEE, "--bins", 50, "--target-share", 0.001).out


def test_a_wanted_error_finds_the_messages(cli):
    facts = facts_of(cli, *BINS, "--target-error", 20, "--protocol", "flip-blank")
    assert facts["standard_error"] <= 20
    less = ("--messages-per-user", facts["messages_per_user"] - 0.002, "--protocol", "flip-blank")
    assert facts_of(cli, *BINS, *less)["standard_error"] > 20


def test_the_front_of_a_wanted_error_holds_the_answer(cli):
    facts = facts_of(cli, *BINS, "--target-error", 8, "--protocol", "flip-blank")
    assert min(one["standard_error"] for one in facts["front"]) <= facts["standard_error"]


def test_a_wanted_error_that_cannot_be_had_is_refused_in_one_line(refused):
    assert "at 1000 messages per user" in refused(*BINS, "--target-error", 0.01)


def test_a_wanted_share_that_cannot_be_had_is_refused_in_one_line(refused):
    asked = (*GUARANTEE, "--bins", 50, "--target-share", "1e-10")
    assert "10,000,000,000 users" in refused(*asked)


@pytest.mark.seconds
def test_split_records_are_named_and_their_traffic_is_that_of_all_parts(cli):
    facts = facts_of(cli, *ASKED, *SPLIT)
    assert facts["messages_of_a_record"] == len(facts["plan"]["parts"]) == 2
    assert facts["messages_per_user"] <= 3
    assert facts["local_epsilon"] is None
    assert "A record travels as 2 messages" in facts["reason"]
    assert "clear-uniform, split" in cli(*ASKED, *SPLIT).out


def test_planes_are_named_with_their_prime(cli):
    more = ("--bins", "1e6", "--protocol", "clear-uniform")
    facts = facts_of(cli, *ASKED, *more)
    (part,) = facts["plan"]["parts"]
    assert facts["bins"] == part["bins"] == 1_000_000
    assert facts["plan"]["question"]["hashed"] is None
    planes = part["planes"]
    assert (facts["prime"], facts["digits"]) == (planes["prime"], planes["digits"])
    assert planes["prime"] ** planes["digits"] >= 1_000_000 > planes["prime"]
    flat = " ".join(cli(*ASKED, *more).out.split())
    assert f"names one of {planes['prime']:,} planes of values" in flat


def test_an_open_domain_has_a_key_of_its_own_plan(cli):
    first, second = (facts_of(cli, *ASKED, "--open") for _ in range(2))
    seeds = [one["plan"]["question"]["hashed"]["seed"] for one in (first, second)]
    assert seeds[0] != seeds[1]
    assert all(len(bytes.fromhex(seed)) == 16 for seed in seeds)
    points = first["plan"]["question"]["bins"]
    assert int(points) == first["bins"] == first["prime"] ** first["digits"]
    given = facts_of(cli, *ASKED, "--open", "--hash-seed", "0f" * 16)
    assert given["plan"]["question"]["hashed"]["seed"] == "0f" * 16


def test_what_a_mix_adds_is_said_to_rest_on_any_one_of_them(cli):
    text = " ".join(cli(*BINS, "--hops", 3).out.split())
    assert "Assumes: any one of the 3 mixes is honest" in text


def test_the_reason_says_a_local_cap_and_never_leaves_a_gap(cli):
    reason = facts_of(cli, *BINS, "--local-epsilon", 2)["reason"]
    assert "keep a local epsilon of 2." in reason
    assert not re.search(r"\s{2}|\.\.|: ;|inf|nan", reason)
    odd = facts_of(cli, *BINS, "--local-epsilon", 2.0000004)["reason"]
    assert "keep a local epsilon of 2.0000004." in odd


def test_the_help_names_every_option(cli):
    text = cli("plan", "--help-all").out
    for flag in (
        "--attributes", "--bits", "--max-set", "--bytes-per-user", "--collections", "--hops",
        "--minimum-crowd", "--target-error", "--target-share", "--explain", "--level", "--name",
        "--local-epsilon", "--honest-share", "--count-crowd",
    ):  # fmt: skip
        assert flag in text


@pytest.mark.parametrize(("users", "few"), [(3, True), (5, True), (8, False)])
def test_a_crowd_that_no_model_can_count_is_said_to_be_too_small(refused, users, few):
    line = refused("plan", "--epsilon", 1, "--delta", "1e-6", "--users", users, "--bins", 2)
    said = f"{users} people are too few: even a server that sees every answer"
    assert (said in line) == few
