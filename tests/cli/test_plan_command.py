"""``mixtally plan``: what it says, and that what it says is what the library computes."""

import json
import math
import re

import pytest

from mixtally.accounting.plans.terms import verify
from mixtally.cli.plan import NO_MINIMUM
from mixtally.model.contract import read_plan, write_plan
from mixtally.model.contract_json import stringify_large_integers

ASKED = ("plan", "--epsilon", 1, "--delta", "1e-6", "--users", "1e6", "--bins", 1000)
KEYS = {
    "protocol", "epsilon", "delta", "observer", "status", "source", "users", "bins", "fakes",
    "honest_share", "standard_error", "messages_per_user", "messages_per_mix", "bytes_per_message",
    "local_epsilon", "reason", "alternatives", "cover", "hops", "fingerprint", "plan",
}  # fmt: skip
PRIVACY = {"epsilon", "delta", "delta_lower", "status", "source", "assumption", "local_epsilon"}
"""What is proved of the plan alone, and of no candidate beside it."""
OWN_KEYS = {
    "flip-blank": {"flip_probability", "flip_threshold"},
    "clear-uniform": set(),
    "clear-shaped": {"shape_decay", "shape_shift"},
}


def planned(cli, *more):
    outcome = cli(*ASKED, *more, "--json")
    assert outcome.status == 0
    assert outcome.err in ("", f"mixtally: warning: {NO_MINIMUM}\n")
    return json.loads(outcome.out)


def row(text, name):
    """The cells of the first row of that name in printed tables."""
    rows = [[cell.strip() for cell in line.split("│")] for line in text.splitlines()]
    cells, *_ = [row[2:-1] for row in rows if row[1:2] == [name]]  # "comes from" is below
    return cells


@pytest.mark.parametrize("protocol", OWN_KEYS)
def test_json_has_every_key_and_keeps_the_promise(cli, protocol):
    facts = planned(cli, "--protocol", protocol, "--mix-fakes")
    assert facts.keys() >= KEYS | OWN_KEYS[protocol]
    assert facts["protocol"] == protocol
    assert facts["delta_lower"] <= facts["delta"] <= 1e-6
    assert (facts["users"], facts["bins"], facts["epsilon"]) == (1_000_000, 1000, 1.0)
    assert (facts["observer"], facts["status"]) == ("messages", "proved")
    own = facts["fakes"] - facts["hops"] * facts["messages_per_mix"]
    assert facts["messages_per_user"] == pytest.approx(1 + own / facts["users"], abs=1e-6)


def test_flip_probability_is_the_threshold_over_two_to_the_64(cli):
    facts = planned(cli, "--protocol", "flip-blank")
    assert type(facts["flip_threshold"]) is int
    assert facts["flip_probability"] == facts["flip_threshold"] / 2**64
    assert facts["local_epsilon"] == pytest.approx(
        2 * math.log((1 - facts["flip_probability"]) / facts["flip_probability"])
    )


def test_one_fake_a_user_errs_9_24(cli):
    facts = planned(cli, "--protocol", "flip-blank", "--fakes-per-user", 1)
    assert facts["standard_error"] == pytest.approx(9.24, abs=0.01)
    assert facts["fakes"] == 1_000_000


def test_clear_records_have_no_local_epsilon(cli):
    facts = planned(cli, "--protocol", "clear-uniform")
    assert facts["local_epsilon"] is None


def test_the_best_errs_least_and_the_rest_are_ordered(cli):
    facts = planned(cli, "--mix-fakes")
    offers = [facts, *facts["alternatives"]]
    ranks = [(one["cover"] != "every mix", one["standard_error_at"]) for one in offers]
    assert ranks == sorted(ranks)
    names = {(one.get("name", one["protocol"]), one["cover"]) for one in offers}
    assert len(names) == len(offers) >= 4
    for offer in facts["alternatives"]:
        assert not offer.keys() & PRIVACY
    assert {"clear-uniform", "clear-uniform, by people,"} <= set(
        re.findall(r"(\S+(?:, by people,)?) would have", facts["reason"])
    )


@pytest.mark.parametrize(("more", "alike"), [(("--mix-fakes",), False), ((), True)])
def test_the_table_says_who_covers_where_that_differs(cli, more, alike):
    facts, text = planned(cli, *more), cli(*ASKED, *more, "--explain").out
    covers = [one["cover"] for one in [facts, *facts["alternatives"]]]
    assert (len(set(covers)) == 1) == alike
    assert alike or set(row(text, "cover")) == set(covers)
    front = " ".join(cli(*ASKED, *more).out.split())
    assert ("┃ cover by" in front) == (len({one["cover"] for one in facts["front"]}) > 1)


def test_lists_are_read_as_numbers(cli):
    """Sizes of messages that differ by part are all said, one that they share is said once."""
    more = ("--users", "1e5", "--attributes", "4,500", "--protocol", "flip-blank")
    guarantee = ("plan", "--epsilon", 1, "--delta", "1e-6")
    first, *_ = row(cli(*guarantee, *more, "--explain").out, "bytes per message")
    sizes = json.loads(cli(*guarantee, *more, "--json").out)["bytes_per_message"]
    assert len(sizes) == 2
    assert first == f"{sizes[0]}, {sizes[1]}"
    assert all(cell.isdecimal() for cell in row(cli(*ASKED, "--explain").out, "bytes per message"))


def test_a_protocol_that_does_not_fit_says_what_it_needs(cli):
    (misfit,) = planned(cli)["misfits"]
    assert misfit["protocol"] == "clear-shaped"
    assert "--mix-fakes" in misfit["needs"]


@pytest.mark.parametrize("users", ["1e6", "1_000_000", "1,000,000", "1000000", "1000000.0"])
def test_users_are_read_as_people_write_them(cli, users):
    outcome = cli(
        "plan", "--epsilon", 1, "--delta", "1e-6", "--users", users, "--bins", "1e3", "--json"
    )
    facts = json.loads(outcome.out)
    assert (facts["users"], facts["bins"]) == (1_000_000, 1000)


@pytest.mark.parametrize("users", ["1.5", "1,5", "12,34", "many", "", "nan", "inf", "1e400"])
def test_what_is_no_whole_number_is_refused(cli, users):
    outcome = cli("plan", "--epsilon", 1, "--delta", "1e-6", "--users", users, "--bins", 10)
    assert outcome.status == 2
    assert outcome.out == ""
    assert "--users" in outcome.err


@pytest.mark.parametrize("share", [0.001, 0.1, 0.3, 0.7, 1, 2.5])
def test_fakes_per_user_is_the_number_asked_for(cli, share):
    facts = planned(cli, "--protocol", "flip-blank", "--fakes-per-user", share)
    assert facts["fakes"] == round(share * 1_000_000)


def test_fakes_and_messages_per_user_say_the_same(cli):
    fakes = planned(cli, "--protocol", "flip-blank", "--fakes-per-user", 1)
    assert planned(cli, "--protocol", "flip-blank", "--messages-per-user", 2) == fakes
    assert planned(cli, "--protocol", "flip-blank") == fakes


def test_honest_share_is_printed_and_counted(cli):
    more = ("--protocol", "flip-blank", "--honest-share", 0.25)
    facts = planned(cli, *more)
    assert facts["honest_share"] == 0.25
    assert (facts["fakes"], facts["fakes_counted"]) == (1_000_000, 250_000)
    table = cli(*ASKED, *more, "--explain").out
    assert row(table, "honest share")[0] == "0.25"
    assert row(table, "fakes counted")[0] == "250,000"


def test_the_assumption_says_the_share_in_words_that_cannot_be_misread(cli):
    """A share of 1 must not read as one fake: "(1 of the 42,650 promised)"."""
    assert "(1 of the" not in planned(cli)["assumption"]


def test_the_table_shows_the_next_best_offers_and_the_promise(cli):
    table = cli(*ASKED, "--mix-fakes", "--explain")
    assert table.err in ("", f"mixtally: warning: {NO_MINIMUM}\n")
    many = 1 + min(2, len(planned(cli, "--mix-fakes")["alternatives"]))
    assert [len(row(table.out, name)) for name in ("delta", "standard error")] == [many] * 2
    assert all(row(table.out, "standard error"))
    assert not any(row(table.out, "delta")[1:])  # blank: nothing is proved of the others
    flat = " ".join(table.out.split())
    for text in (
        "times the standard error",
        "What an observer who sees every shuffled message",
        "Status: proved",
        "Assumes: ",
        "The same guarantee in other models",
    ):
        assert text in flat


def test_printed_delta_is_never_below_the_true_one(cli):
    printed, *_ = row(cli(*ASKED, "--mix-fakes", "--explain").out, "delta")
    assert float(printed) >= planned(cli, "--mix-fakes")["delta"]


@pytest.mark.parametrize("protocol", OWN_KEYS)
def test_out_writes_the_bytes_of_the_printed_plan(cli, tmp_path, protocol):
    path = tmp_path / "deep" / "plan.json"
    facts = planned(cli, "--protocol", protocol, "--mix-fakes", "--out", path)
    data = path.read_bytes()
    plan = read_plan(data, str(path))
    assert write_plan(plan) == data
    assert [p.name for p in path.parent.iterdir()] == ["plan.json"]
    assert json.loads(data) == stringify_large_integers(facts["plan"])
    assert plan.fingerprint == facts["fingerprint"]
    assert verify(plan).upper == facts["delta"]


def test_the_same_wish_writes_the_same_bytes(cli, tmp_path):
    for name in ("one", "two"):
        cli(*ASKED, "--out", tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_out_is_told_when_the_table_is_printed(cli, tmp_path):
    assert f"plan written to {tmp_path / 'p'}" in cli(*ASKED, "--out", tmp_path / "p").out


def test_labels_are_the_bins_and_a_byte_order_mark_is_no_part_of_them(cli, tmp_path):
    path = tmp_path / "labels.txt"
    path.write_text("red\ngreen\nblue\n", encoding="utf-8-sig")
    outcome = cli(
        "plan", "--epsilon", 1, "--delta", "1e-6", "--users", 1000, "--labels", path, "--json"
    )
    question = json.loads(outcome.out)["plan"]["question"]
    assert (question["name"], question["bins"]) == ("answer", 3)
    assert question["labels"] == ["red", "green", "blue"]
