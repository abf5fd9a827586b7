"""Python plans, attacks and charges as the command line does."""

import json
import tomllib
from dataclasses import asdict
from pathlib import Path

import msgspec
import pytest

import mixtally
from cli.test_python_agrees import FLAGS, PROMISE, numbers


def test_a_contract_is_that_of_the_command(cli, tmp_path):
    cli("example", "--all", tmp_path)
    network, out = tmp_path / "network.toml", tmp_path / "contract.json"
    found = mixtally.plan(["yes", "no"], epsilon=1, delta=1e-6, users=1000, hops=3)
    (plan,) = found.save(tmp_path / "plan.json")
    assert found.save_contract(out, network) == [out]
    for name, ours in (("same.json", out), ("same.html", tmp_path / "page.html")):
        fields = tomllib.loads(network.read_text())
        found.save_contract(ours, fields)
        cli("contract", "new", plan, "--network", network, "--out", tmp_path / name)
        assert ours.read_bytes() == (tmp_path / name).read_bytes()
    assert mixtally.Device(out, hops=3).messages("yes")
    with pytest.raises(mixtally.MixtallyError, match=r"network: expected 3 hops.*again with hops"):
        found.save_contract(out, {**fields, "hops": fields["hops"][:2]})
    with pytest.raises(mixtally.MixtallyError, match="missing required field `collector`"):
        found.save_contract(out, {"name": "a", "hops": []})


def test_an_attack_is_that_of_the_command(cli, tmp_path):
    """Of a plan, of its file, and of a claim, by keywords with the names of the options."""
    plan = mixtally.plan(["yes", "no"], epsilon=1, delta=1e-6, users=1000)
    (file,) = plan.save(tmp_path / "plan.json")
    game = {"only": "n-1", "runs": 100, "drawn": 0, "seed": 1}
    flags = ("--only", "n-1", "--runs", 100, "--drawn", 0, "--seed", 1, "--json")
    told = numbers(json.loads(cli("check attack", file, *flags).out))
    told.pop("promise")
    for given in (plan, file, file.read_bytes()):
        assert numbers(mixtally.attack(given, **game).facts()) == told
    claim = {"users": 100, "bits": 1, "flip": 0.4, **PROMISE}
    claimed = ("--users", 100, "--bits", 1, "--flip", 0.4, *FLAGS[:4])
    said = json.loads(cli("check attack", "--protocol", "flip", *claimed, *flags).out)
    ours = mixtally.attack("flip", **claim, **game)
    assert numbers(ours.facts()) == numbers({k: v for k, v in said.items() if k != "promise"})
    assert mixtally.attack(protocol="flip", **claim, **game).facts() == ours.facts()
    with pytest.raises(mixtally.MixtallyError, match="a target without another protocol, got both"):
        mixtally.attack("flip", protocol="flip-blank", **claim)


def test_a_false_plan_is_attacked_on_demand(tmp_path):
    plan = mixtally.plan(2, epsilon=1, delta=1e-6, users=1000, protocol="clear-uniform")
    (file,) = plan.save(tmp_path / "plan.json")
    told = json.loads(file.read_text())
    told["parts"][0]["own"]["whole"] = 0
    told["parts"][0]["own"]["coin"] = 1
    file.write_text(json.dumps(told))
    game = {"only": "poisoning", "runs": 100, "drawn": 0}
    with pytest.raises(
        mixtally.MixtallyError, match="add unverified to attack it in spite of that"
    ):
        mixtally.attack(file, **game)
    found = mixtally.attack(file, unverified=True, **game)
    assert "guarantee: epsilon 1" in repr(found)


def test_a_budget_is_that_of_the_command(cli, tmp_path):
    """One file, charged and shown from both: its charges differ by nothing but their notes."""
    plan = mixtally.plan(["yes", "no"], epsilon=1, delta=1e-7, users=1000)
    (file,) = plan.save(tmp_path / "plan.json")
    cli("budget open", tmp_path / "b", "--epsilon", 2, "--delta", 1e-5)
    budget = mixtally.Budget(tmp_path / "b", epsilon=2, delta=1e-5)
    assert budget.show().facts()["epsilon_left"] == 2
    cli("budget charge", tmp_path / "b", file, "--note", "typed")
    budget.charge(plan, note="called")
    typed, called = budget.charges
    assert called.date
    assert msgspec.structs.replace(typed, note="called", date=called.date) == called
    told = json.loads(cli("budget show", tmp_path / "b", "--plan", file, "--json").out)
    found = budget.show(plan)
    assert numbers({k: v for k, v in told.items() if k != "promise"}) == numbers(found.facts())
    assert found.facts()["times_left"] == budget.times_left(plan)
    assert repr(found) == cli("budget show", tmp_path / "b", "--plan", file).out.rstrip("\n")


PLANS = {
    "attributes": (("--attributes", "4,5"), {"attributes": [4, 5]}),
    "bits": (("--bits", 3), {"bits": 3}),
    "bits by kind": (("--bits", 3), {"question": 3, "kind": "bits"}),
    "sets": (("--bins", 9, "--max-set", 2), {"question": 9, "max_set": 2, "kind": "set"}),
    "one of a set": (("--bins", 9, "--max-set", 1), {"bins": 9, "max_set": 1}),
    "an open domain": (
        ("--open", "--hash-seed", "0f" * 16, "--mix-fakes"),
        {"open_domain": True, "hash_seed": "0f" * 16, "mix_fakes": True},
    ),
    "words": (("--prefixes", 9, "--longest", 8), {"prefixes": 9, "longest": 8}),
    "letters": (
        ("--prefixes", 9, "--alphabet", "abc", "--symbols", 2),
        {"prefixes": 9, "alphabet": "abc", "symbols": 2},
    ),
    "points": (("--number", "0,10"), {"number": (0, 10)}),
    "cuts": (("--number", "0,10", "--bins", 5), {"number": (0, 10), "bins": 5}),
    "an error": (("--bins", 5, "--target-error", 20), {"bins": 5, "target_error": 20}),
    "a name": (("--bins", 5, "--name", "trip"), {"bins": 5, "name": "trip"}),
}


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_is_that_of_the_command(cli, tmp_path, name):
    flags, given = PLANS[name]
    done = cli("plan", *FLAGS[:4], "--users", 10_000, *flags, "--out", tmp_path / "plan.json",
               "--level", 0.9, "--json")  # fmt: skip
    assert done.status == 0, done.err
    found = mixtally.plan(**given, users=10_000, level=0.9, **PROMISE)
    assert (
        Path(*found.save(tmp_path / "ours.json")).read_bytes()
        == (tmp_path / "plan.json").read_bytes()
    )
    told = json.loads(done.out)
    assert told["promise"] == list(found.lines())
    assert told["reason"] == found.reason
    assert told["forecast"] == asdict(found.forecast)


@pytest.mark.seconds
def test_a_crowd_is_found_as_the_command_finds_it(cli):
    done = cli("plan", *FLAGS[:4], "--bins", 5, "--target-share", 0.02, "--explain", "--json")
    found = mixtally.plan(5, target_share=0.02, **PROMISE)
    told = json.loads(done.out)
    assert (told["fingerprint"], told["explain"]) == (found.fingerprint, found.explanation)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"bins": 5}, "users: expected users, got none"),
        ({"bins": 5, "users": 99, "target_share": 0.1}, "target_share without users, got both"),
        ({"bins": 5, "bits": 5, "users": 99}, "got bins and bits"),
        ({"users": 99}, "expected bins or labels, attributes, bits, or open_domain, got none"),
        ({"bins": 5, "users": 99, "longest": 5}, "longest: expected prefixes with it"),
        ({"bins": 5, "users": 99, "hash_seed": "0f"}, "hash_seed: expected open_domain with it"),
        ({"attributes": "4,5", "users": 99}, "attributes: expected a list of whole numbers"),
        ({"question": mixtally.Question(name="a", bins=3), "users": 99, "max_set": 2},
         "expected a question without max_set, got both"),
    ],
)  # fmt: skip
def test_options_that_do_not_go_together_are_refused_in_python_words(given, said):
    with pytest.raises(mixtally.MixtallyError, match=said):
        mixtally.plan(**given, **PROMISE)


def test_a_set_of_at_most_one_may_be_empty():
    found = mixtally.plan(["a", "b"], kind="set", max_set=1, users=1000, **PROMISE)
    assert (found.question.kind, found.question.max_set) == ("set", 1)
