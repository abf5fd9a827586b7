"""flip of one-valued records and sets from end to end: planned, priced, played, attacked."""

import json

import pytest

ONE = ("--labels", "labels.txt", "--name", "answer")
SETS = (*ONE, "--max-set", 2)
PROMISE = ("--epsilon", 2, "--delta", "1e-6")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """5,000 people with one value, and with a set of up to two."""
    answers = ["a"] * 3000 + ["b"] * 1250 + ["c"] * 700 + ["d"] * 50
    (tmp_path / "one.csv").write_text("answer\n" + "\n".join(answers) + "\n")
    sets = [f"{one};d" if one < "c" else one for one in answers]
    (tmp_path / "sets.csv").write_text("answer\n" + "\n".join(sets) + "\n")
    (tmp_path / "labels.txt").write_text("a\nb\nc\nd\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def planned(cli, question, *more):
    done = cli(
        "plan", *PROMISE, "--users", 5000, *question, "--protocol", "flip", "--out", "plan.json",
        "--json", *more,
    )  # fmt: skip
    assert done.status == 0, done.err
    return json.loads(done.out)


@pytest.mark.parametrize("question", [ONE, SETS], ids=["one", "sets"])
def test_the_plan_is_the_least_that_calibrate_finds_and_states_what_delta_states(
    cli, folder, question
):
    facts = planned(cli, question)
    assert (facts["fakes"], facts["crowd_counted"], facts["messages_per_user"]) == (0, 5000, 1)
    assert "flip was asked for: without fakes" in facts["reason"]
    most = question[4:]
    law = ("--protocol", "flip", "--users", 5000, *most, "--epsilon", 2)
    least = json.loads(cli("check noise", *law, "--delta", "1e-6", "--json").out)
    assert facts["flip_probability"] == pytest.approx(least["flip_probability"], rel=1e-5)
    flip = repr(facts["flip_probability"])  # 53 bits of the plan's integer
    stated = json.loads(cli("check delta", *law, "--bins", 4, "--flip", flip, "--json").out)
    assert stated["delta"] == pytest.approx(facts["delta"], rel=1e-9)
    assert stated["delta_lower"] == pytest.approx(facts["delta_lower"], rel=1e-9)
    assert facts["delta"] <= 1e-6


@pytest.mark.parametrize(
    ("file", "question", "read"), [("one.csv", ONE, ()), ("sets.csv", SETS, ("--set", ";"))]
)
def test_it_is_played_and_its_plan_is_played_again(cli, folder, file, question, read):
    planned(cli, question)
    first = ("simulate", file, "--column", "answer", *read, "--seed", 3, "--json")
    for more in (("--plan", "plan.json"), (*PROMISE, "--protocol", "flip", "--out", "out")):
        done = cli(*first, *more)
        assert done.status == 0, done.err
        (release,) = json.loads(done.out)["releases"]
        assert (release["protocol"], release["messages"]) == ("flip", 5000)
        for row in release["estimates"]:  # five deviations, chance 1e-6; the seed is fixed
            assert abs(row["estimate"] - row["truth"]) < 5.5 * release["standard_error"]
    again = cli(*first, "--plan", "out/simulation/plan.json")
    assert again.status == 0, again.err


@pytest.mark.parametrize("only", [("--only", "n-1"), pytest.param((), marks=pytest.mark.slow)])
def test_no_attack_breaks_it(cli, folder, only):
    planned(cli, ONE)
    done = cli("check attack", "plan.json", "--runs", 200, "--seed", 1, "--json", *only)
    assert done.status == 0, done.err
    assert json.loads(done.out)["violated"] == []


def test_a_plan_with_fewer_flips_is_refused(cli, folder, refused):
    planned(cli, ONE)
    facts = json.loads((folder / "plan.json").read_text())
    (part,) = facts["parts"]
    part["threshold"] = str(int(part["threshold"]) // 2)
    (folder / "plan.json").write_text(json.dumps(facts, indent=1))
    assert "its promise is false" in refused("check attack", "plan.json", "--runs", 200)


def test_nobody_hides_in_a_crowd_that_may_be_away(cli, refused):
    line = refused(
        "plan", "--epsilon", 1, "--delta", "1e-6", "--users", 10, "--bins", 4, "--protocol", "flip",
        "--honest-share", 0.1,
    )  # fmt: skip
    assert "Flip needs more people who are certain to take part" in line
