"""``mixtally check attack``: true and false plans and claims, memoized answers."""

import json

import pytest
from msgspec.structs import replace

from helpers.contracts import over_planes, plan_of, proved
from mixtally.lab.attacks import PLAN_ATTACKS
from mixtally.lab.formulas import notes
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.contract import OwnFakes, read_plan, write_plan
from mixtally.model.question import Kind, Question
from mixtally.primitives.chance import SecureChance

QUICK = ("--runs", 300, "--drawn", 2000, "--seed", 1)
MEMORY = ("--protocol", "memory", "--permanent", 0.5, "--p", 0.5, "--q", 0.75, "--hashes", 1,
          "--reports", 3)  # fmt: skip


@pytest.fixture
def false_plan(plan_file):
    """The same plan with twenty times too few fakes, its certificate kept."""
    plan = read_plan(plan_file.read_bytes(), "a test")
    own = OwnFakes(plan.parts[0].own.record, 0, int(plan.parts[0].own.mean / 20 * 2**64))
    part = replace(plan.parts[0], own=own)
    plan_file.write_bytes(write_plan(replace(plan, parts=(part,))))
    return plan_file


@pytest.mark.seconds
def test_a_plan_holds_and_a_report_is_written(cli, plan_file, tmp_path):
    out = tmp_path / "out"
    outcome = cli("check attack", plan_file, *QUICK, "--out", out)
    assert (outcome.status, outcome.err.strip()) == (0, "")
    for text in ("No attack exceeds its promise", "tell-apart", "verdict", "proves nothing",
                 "Certified: epsilon 1", "wrote "):  # fmt: skip
        assert text in outcome.out
    assert sorted(path.name for path in out.iterdir()) == ["report.html", "result.json"]
    html = (out / "report.html").read_text()
    assert html.startswith("<!doctype html>")
    assert html.count("<svg") >= 7
    assert "most that is allowed" in html
    assert "the true curve, with " in html
    assert "margin</th>" in html
    facts = json.loads((out / "result.json").read_text())
    assert facts["violated"] == []
    assert facts["certified"] is True
    assert all(one["margin"] is None or one["margin"] >= -1e-9 for one in facts["attacks"])


@pytest.mark.seconds
def test_every_attack_plays_on_sets_over_planes(cli, tmp_path):
    part = over_planes(40, 11, most_set=3, whole=1, coin=0)
    asked = Question(name="q", bins=40, kind=Kind.SET, max_set=3)
    plan = proved(plan_of(asked, [part], epsilon=4.0, hops=1))
    path = tmp_path / "plan.json"
    path.write_bytes(write_plan(plan))
    outcome = cli("check attack", path, *QUICK, "--runs", 100, "--json")
    assert outcome.status == 0
    facts = json.loads(outcome.out)
    played = {one["attack"]: one for one in facts["attacks"]}
    assert (facts["violated"], set(played)) == ([], set(PLAN_ATTACKS) - {"selection"})
    assert played["poisoning"]["attacked"] == pytest.approx(played["poisoning"]["promised"])


def test_json_is_what_is_in_the_file(cli, plan_file, tmp_path):
    out = tmp_path / "out"
    outcome = cli(
        "check attack", plan_file, *QUICK, "--only", "n-1", "--out", out, "--json", "--drawn", 0
    )
    assert outcome.status == 0
    facts = json.loads(outcome.out)
    assert facts == json.loads((out / "result.json").read_text())
    (one,) = facts["attacks"]
    assert (one["attack"], one["promised"], one["runs"]) == ("n-1", 1.0, 300)
    assert one["curves"][0]["curves"]["the attack"]


@pytest.mark.seconds
def test_a_false_claim_is_violated_and_told_by_the_status(cli):
    """Source: notes 004 (5.16) for 100,000 users without fakes."""
    q = notes.flip(1.0, 1e-6, 100_000)
    outcome = cli(
        "check attack", "--protocol", "flip", "--users", "1e5", "--bins", 10, "--flip", q,
        "--epsilon", 1, "--delta", "1e-6", "--only", "tell-apart", "--runs", 600, "--drawn", 0,
        "--seed", 1,
    )  # fmt: skip
    assert outcome.status == 1
    assert "Violated: tell-apart" in outcome.out
    assert "Claimed: epsilon 1, delta 1e-06" in outcome.out
    assert "between 0.403" in outcome.out


@pytest.mark.seconds
def test_a_false_plan_is_refused_and_attacked_only_on_demand(cli, refused, false_plan):
    line = refused("check attack", false_plan, *QUICK)
    assert "--unverified" in line
    outcome = cli(
        "check attack",
        false_plan,
        "--runs",
        1500,
        "--drawn",
        0,
        "--seed",
        1,
        "--unverified",
        "--only",
        "n-1",
    )
    assert outcome.status == 1
    assert "violated" in outcome.out


def test_a_collection_of_any_size_is_attacked_by_its_law(cli):
    """Two thousand million messages a run are not drawn one by one, and are told apart."""
    claim = ("--protocol", "flip-blank", "--users", "1e9", "--bins", 5, "--fakes", "1e9",
             "--epsilon", 1, "--delta", 1e-6, "--only", "n-1", "--drawn", 20_000, "--seed", 1,
             "--json")  # fmt: skip
    for flip, status in ((5e-8, 0), (5e-9, 1)):
        outcome = cli("check attack", *claim, "--flip", flip)
        (one,) = json.loads(outcome.out)["attacks"]
        assert (outcome.status, one["noise"], one["runs"]) == (status, "distribution", 20_000)


def test_memoized_answers_are_linked(cli):
    outcome = cli("check attack", *MEMORY, "--bits", 256, *QUICK, "--json")
    assert outcome.status == 0
    facts = json.loads(outcome.out)
    names = ["averaging", "averaging", "linking", "tracking", "collection"]
    assert [one["attack"] for one in facts["attacks"]] == names
    assert [one["verdict"] for one in facts["attacks"]] == [
        "consistent", "measured only", "measured only", "measured only", "consistent",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--epsilon", 1, "--delta", 1e-6),
        ("--protocol", "nope", "--epsilon", 1, "--delta", 1e-6),
        ("--protocol", "flip", "--users", 100, "--bins", 5, "--flip", 0.1),
        ("--protocol", "flip", "--users", 100, "--flip", 0.1, "--epsilon", 1, "--delta", 1e-6),
        ("--protocol", "flip", "--users", 100, "--bins", 5, "--flip", 0.1, "--epsilon", 1,
         "--delta", 1e-6, "--unverified"),
        ("--protocol", "clear-uniform", "--users", 100, "--bins", 5, "--fakes", "1e9",
         "--epsilon", 1, "--delta", 1e-6, "--level", 2),
        ("--protocol", "clear-uniform", "--users", 100, "--bins", 5, "--fakes", 100,
         "--epsilon", 1, "--delta", 1e-6, "--runs", 5),
        ("--protocol", "flip-blank", "--users", "1e9", "--bins", 5, "--fakes", "1e9", "--flip",
         1e-7, "--epsilon", 1, "--delta", 1e-6, "--drawn", 0),
        ("--protocol", "clear-uniform", "--users", 100, "--bins", 5, "--fakes", 100,
         "--epsilon", 1, "--delta", 1e-6, "--drawn", 5),
        (*MEMORY, "--epsilon", 1),
        (*MEMORY, "--only", "tell-apart"),
        ("missing.json",),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_one_line(refused, arguments):
    refused("check attack", *arguments)


def test_a_plan_and_a_claim_do_not_go_together(refused, plan_file):
    assert "--users" in refused("check attack", plan_file, "--users", 100)


def test_nothing_is_written_when_an_attack_is_refused(refused, plan_file, tmp_path):
    refused("check attack", plan_file, "--only", "nope", "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("seeded", "source"), [((), SecureChance), (("--seed", 1), SeededChance)])
def test_what_is_played_is_secure_unless_it_is_seeded(cli, plan_file, plant, seeded, source):
    from mixtally.app import attack

    used = []

    def told(honest, target, lab, only):
        used.append(type(lab.chance))
        return honest(target, lab, only)

    plant(attack, "run_attacks", told)
    assert cli("check attack", plan_file, "--only", "poisoning", *seeded).status == 0
    assert used == [source]
