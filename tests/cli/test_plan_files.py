"""A plan file is read as it was written, or refused."""

import json

import pytest

from helpers.contracts import contract_of
from mixtally.model.contract import read_plan, write_contract


@pytest.fixture
def simulate(crowd, plan_file):
    """The arguments that play the crowd under the plan."""
    given = ("simulate", crowd / "crowd.csv", "--column", "color", "--plan", plan_file)
    return (*given, "--out", crowd / "out")


@pytest.fixture
def refuses(refused, crowd, plan_file, simulate):
    """Writes a plan file of these bytes; it must be refused and leave no file."""

    def call(data):
        plan_file.write_bytes(data)
        line = refused(*simulate)
        assert not (crowd / "out").exists()
        return line

    return call


@pytest.fixture
def refuses_edited(refuses, plan_file):
    """Refuses the plan with one field changed, written as the first was."""

    def call(value, *path):
        plan = json.loads(plan_file.read_bytes())
        place = plan
        for step in path[:-1]:
            place = place[step]
        assert place[path[-1]] != value
        place[path[-1]] = value
        return refuses(json.dumps(plan, indent=1).encode())

    return call


PART = ("parts", 0)


def threshold(plan_file):
    return int(json.loads(plan_file.read_bytes())["parts"][0]["threshold"])


def test_a_written_plan_is_played(cli, simulate, plan_file):
    outcome = cli(*simulate, "--json")
    assert outcome.status == 0
    (release,) = json.loads(outcome.out)["releases"]
    assert release["flip_threshold"] == threshold(plan_file)
    assert 1900 < release["messages"] < 2100  # 2,000 on average: people's fakes are coins


def test_bins_follow_the_plans_labels_not_the_data(cli, crowd, plan_file, tmp_path):
    labels = tmp_path / "labels.txt"
    labels.write_text("teal\nviolet\nred\nblue\npink\ngreen\n")
    given = ("--epsilon", 1, "--delta", "1e-6", "--users", 1000, "--labels", labels)
    cli("plan", *given, "--out", plan_file)
    outcome = cli(
        "simulate", crowd / "crowd.csv", "--column", "color", "--plan", plan_file, "--json"
    )
    (release,) = json.loads(outcome.out)["releases"]
    rows = release["estimates"]
    assert [row["label"] for row in rows] == labels.read_text().split()
    assert [row["truth"] for row in rows] == [90, 0, 400, 200, 10, 300]


def test_the_plan_of_a_contract_is_the_same_plan(cli, simulate, plan_file):
    alone = cli(*simulate[:-2], "--seed", 1, "--json").out
    plan = json.loads(plan_file.read_bytes())
    contract = contract_of(read_plan(plan_file.read_bytes(), "plan"))
    plan_file.write_bytes(write_contract(contract))
    assert json.loads(plan_file.read_bytes())["plan"] == plan
    assert cli(*simulate[:-2], "--seed", 1, "--json").out == alone


@pytest.mark.parametrize("keep", [0, 1, 100, -2])
def test_a_truncated_plan_is_refused(refuses, plan_file, keep):
    assert "expected a plan that this version reads" in refuses(plan_file.read_bytes()[:keep])


@pytest.mark.parametrize(
    "data", [b"{}", b'{"a":1}', b"[]", b"3", b"null", b"hello", b"\xff\xfe", b"[" * 100_000]
)
def test_another_file_is_no_plan(refuses, data):
    assert "expected a plan that this version reads" in refuses(data)


def test_a_field_that_stands_twice_is_refused(refuses, plan_file):
    data = plan_file.read_bytes().rstrip()
    assert "stands twice" in refuses(data[:-1] + b',"version":4}')


def test_a_plan_from_another_version_is_refused(refuses_edited):
    assert "plan.version" in refuses_edited(3, "version")


@pytest.mark.parametrize(
    ("old", "place"),
    [
        (b'{"certificate":{},"mechanism":{},"users":2,"version":3}', "plan.version"),
        (b'{"version":1,"name":"poll","serial":1,"terms":{}}', "contract.version"),
    ],
)
def test_files_of_before_are_refused_by_their_version(refuses, old, place):
    assert f"({place}: expected " in refuses(old)


@pytest.mark.parametrize(
    ("value", "field"),
    [
        (1e-9, "upper"),
        (1e-3, "upper"),
        ("nan", "upper"),
        (0.5, "epsilon"),
        ("guessed", "status"),
        ("nobody", "observer"),
        ("nothing at all", "assumption"),
        ("a rumor", "source"),
    ],
)
def test_an_edited_certificate_is_refused(refuses_edited, value, field):
    refuses_edited(value, "certificate", field)


def test_a_lowered_threshold_makes_the_promise_false(refuses_edited, plan_file):
    line = refuses_edited(str(threshold(plan_file) * 9 // 10), *PART, "threshold")
    assert "its promise is false" in line


def test_fewer_fakes_make_the_promise_false(refuses_edited):
    most = str(9 * (1 << 64) // 10)  # nine people of ten draw one
    own = {"record": "blank", "whole": 0, "coin": most}
    assert "its promise is false" in refuses_edited(own, *PART, "own")


def test_a_smaller_honest_share_makes_the_promise_false(refuses_edited):
    assert "its promise is false" in refuses_edited(0.9, "honest_share")


@pytest.mark.parametrize("value", [0, -1, str(1 << 64), 1.5])
def test_an_impossible_threshold_is_refused(refuses_edited, value):
    assert "part 0.threshold: expected " in refuses_edited(value, *PART, "threshold")


def test_flips_by_a_fair_coin_tell_nothing_and_are_refused(refuses_edited):
    """The promise holds, delta is 0, but there is no estimate: counts over p - q = 0."""
    line = refuses_edited(str(1 << 63), *PART, "threshold")
    assert "expected flips that leave something to count" in line


def test_a_stricter_promise_than_was_computed_is_refused(refuses_edited):
    assert "bounds at epsilon 0.5" in refuses_edited(0.5, "guarantee", "epsilon")


@pytest.mark.parametrize("value", [None, 0, 2])
def test_another_kind_of_record_does_not_fit_the_question(refuses_edited, value):
    refuses_edited(value, *PART, "most_set")


def test_a_plan_for_a_larger_crowd_is_refused(cli, refused, simulate, plan_file):
    given = ("--epsilon", 1, "--delta", "1e-6", "--labels", plan_file.with_name("labels.txt"))
    assert cli("plan", *given, "--users", 1001, "--out", plan_file).status == 0
    assert "a plan for 1,000 users" in refused(*simulate)


def test_a_minimum_crowd_above_the_users_is_refused(refuses_edited):
    assert "plan.minimum_crowd" in refuses_edited(1001, "minimum_crowd")


def test_a_plan_without_a_bin_for_a_value_is_refused(refuses_edited):
    line = refuses_edited(["red", "green", "blue", "teal", "gray"], "question", "labels")
    assert "expected one of the 5 labels" in line


def test_a_missing_plan_is_refused(refused, crowd):
    given = ("simulate", crowd / "crowd.csv", "--column", "color", "--plan", crowd / "none")
    assert "expected a plan file" in refused(*given)


@pytest.mark.parametrize(
    "more",
    [
        ("--epsilon", 1),
        ("--delta", "1e-6"),
        ("--protocol", "clear-uniform"),
        ("--fakes-per-user", 3),
        ("--messages-per-user", 3),
        ("--mix-fakes",),
        ("--honest-share", 0.5),
        ("--labels", "labels.txt"),
    ],
    ids=lambda more: more[0],
)
def test_what_a_plan_holds_cannot_be_asked_for_beside_it(
    refused, simulate, monkeypatch, plan_file, more
):
    monkeypatch.chdir(plan_file.parent)
    refused(*simulate, *more)


def test_a_refusal_of_labels_names_their_file(refused, tmp_path):
    """Of too few of them, which the plan alone knows."""
    (tmp_path / "labels.txt").write_text("tea\n")
    line = refused("plan", "--labels", tmp_path / "labels.txt", "--users", 1000,
                   "--epsilon", 1, "--delta", 1e-6)  # fmt: skip
    assert f"{tmp_path / 'labels.txt'}: expected at least 2 labels, got 1" in line
