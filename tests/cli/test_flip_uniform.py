"""flip-uniform from end to end: planned, written, played, attacked, refused where it is false."""

import json

import pytest


@pytest.fixture
def files(cli, tmp_path):
    """A survey of 2,000 people and the plan for it."""
    answers = ["a"] * 1200 + ["b"] * 500 + ["c"] * 250 + ["d"] * 50
    survey, plan = tmp_path / "survey.csv", tmp_path / "plan.json"
    survey.write_text("answer\n" + "\n".join(answers) + "\n")
    labels = tmp_path / "labels.txt"
    labels.write_text("a\nb\nc\nd\n")
    done = cli(
        "plan", "--epsilon", 1, "--delta", "1e-6", "--users", 2000, "--labels", labels,
        "--name", "answer", "--protocol", "flip-uniform", "--messages-per-user", 1.06,
        "--out", plan, "--json",
    )  # fmt: skip
    assert done.status == 0, done.err
    facts = json.loads(done.out)
    seen = facts["protocol"], facts["fakes"], facts["cover"]
    assert seen == ("flip-uniform", 120, "people")
    assert facts["delta"] <= 1e-6
    return survey, plan


def test_a_plan_that_was_written_is_played(cli, files):
    survey, plan = files
    done = cli(
        "simulate", survey, "--column", "answer", "--plan", plan, "--seed", 4, "--observer", "sums",
        "--json",
    )  # fmt: skip
    assert done.status == 0, done.err
    (release,) = json.loads(done.out)["releases"]
    assert release["protocol"] == "flip-uniform"
    assert 2060 < release["messages"] < 2180  # coins: 2,120 on average, deviation 11
    for row in release["estimates"]:  # five deviations, chance 1e-6; the seed is fixed
        assert abs(row["estimate"] - row["truth"]) < 5.0 * release["standard_error"]
        assert row["lower"] <= row["estimate"] <= row["upper"]


def test_it_is_played_when_it_is_asked_for(cli, files):
    survey, _ = files
    done = cli(
        "simulate", survey, "--column", "answer", "--epsilon", 1, "--delta", "1e-6", "--protocol",
        "flip-uniform", "--messages-per-user", 1.06, "--seed", 4,
    )  # fmt: skip
    assert done.status == 0, done.err
    assert "flip-uniform" in done.out


@pytest.mark.seconds
def test_its_plan_withstands_every_attack(cli, files):
    _, plan = files
    done = cli("check attack", plan, "--runs", 300, "--seed", 1, "--json")
    assert done.status == 0, done.err
    facts = json.loads(done.out)
    assert facts["violated"] == []
    assert len(facts["attacks"]) >= 7


def test_a_plan_with_fewer_flips_is_refused(cli, files):
    _, plan = files
    facts = json.loads(plan.read_text())
    (part,) = facts["parts"]
    part["threshold"] = str(int(part["threshold"]) // 2)
    plan.write_text(json.dumps(facts, indent=1))
    done = cli("check attack", plan, "--runs", 300)
    assert done.status == 2
    assert "its promise is false" in done.err


@pytest.mark.seconds
def test_a_false_claim_is_violated(cli):
    """BitFlips that count on the crowd, among few fakes: notes (5.16)."""
    done = cli(
        "check attack", "--protocol", "flip-uniform", "--users", "1e4", "--bins", 50, "--fakes", 20,
        "--flip", 0.01, "--epsilon", 1, "--delta", "1e-6", "--only", "n-1", "--runs", 600,
        "--seed", 1,
    )  # fmt: skip
    assert done.status == 1
    assert "Violated: n-1" in done.out


def test_several_messages_are_refused_in_one_line(cli):
    done = cli(
        "plan", "--epsilon", 1, "--delta", "1e-6", "--users", "1e5", "--bins", 50, "--protocol",
        "flip-uniform", "--collections", 2, "--json",
    )  # fmt: skip
    assert done.status == 2
    assert "asked once" in done.err
