"""A plan file is read as it was written, or refused."""

import json

import pytest


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
    """Refuses the plan with one field changed, written as canonically as the first."""

    def call(value, *path):
        plan = json.loads(plan_file.read_bytes())
        place = plan
        for step in path[:-1]:
            place = place[step]
        assert place[path[-1]] != value
        place[path[-1]] = value
        return refuses(json.dumps(plan, sort_keys=True, separators=(",", ":")).encode())

    return call


def threshold(plan_file):
    return json.loads(plan_file.read_bytes())["mechanism"]["threshold"]


def test_a_written_plan_is_played(cli, simulate, plan_file):
    outcome = cli(*simulate, "--json")
    assert outcome.status == 0
    (release,) = json.loads(outcome.out)["releases"]
    assert release["flip_threshold"] == threshold(plan_file)
    assert release["messages"] == 2000


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


@pytest.mark.parametrize("keep", [0, 1, 100, -1])
def test_a_truncated_plan_is_refused(refuses, plan_file, keep):
    assert "JSON of a plan" in refuses(plan_file.read_bytes()[:keep])


@pytest.mark.parametrize(
    "data", [b"{}", b'{"a":1}', b"[]", b"3", b"null", b"hello", b"\xff\xfe", b"[" * 100_000]
)
def test_another_file_is_no_plan(refuses, data):
    assert "JSON of a plan" in refuses(data)


def test_another_spelling_is_refused(refuses, plan_file):
    plan = json.loads(plan_file.read_bytes())
    assert "canonical bytes" in refuses(json.dumps(plan, indent=1).encode())


def test_a_field_that_stands_twice_is_refused(refuses, plan_file):
    assert "stands twice" in refuses(plan_file.read_bytes()[:-1] + b',"version":3}')


def test_a_plan_from_another_version_is_refused(refuses_edited):
    assert "plan version: wanted 3, got 1" in refuses_edited(1, "version")


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
    line = refuses_edited(threshold(plan_file) * 9 // 10, "mechanism", "threshold")
    assert "its promise is false" in line


def test_fewer_fakes_make_the_promise_false(refuses_edited):
    assert "its promise is false" in refuses_edited(900, "mechanism", "fakes", "count")


def test_a_smaller_honest_share_makes_the_promise_false(refuses_edited):
    assert "its promise is false" in refuses_edited(0.9, "honest_share")


@pytest.mark.parametrize("value", [0, -1, 1 << 64, 1.5])
def test_an_impossible_threshold_is_refused(refuses_edited, value):
    refuses_edited(value, "mechanism", "threshold")


def test_flips_by_a_fair_coin_tell_nothing_and_are_refused(refuses_edited):
    """The promise holds, delta is 0, but there is no estimate: counts over p - q = 0."""
    refuses_edited(1 << 63, "mechanism", "threshold")


def test_a_stricter_promise_than_was_computed_is_refused(refuses_edited):
    assert "the file was altered" in refuses_edited(0.5, "guarantee", "epsilon")


@pytest.mark.parametrize("value", ["in-clear", "memoized", "nope"])
def test_another_mechanism_does_not_fit_the_integers(refuses_edited, value):
    refuses_edited(value, "mechanism", "type")


def test_a_plan_for_another_crowd_is_refused(refuses_edited):
    assert "a plan for 1,000 users" in refuses_edited(2000, "users")


def test_a_plan_without_a_bin_for_a_value_is_refused(refuses_edited):
    line = refuses_edited(["red", "green", "blue", "teal", "gray"], "question", "labels")
    assert "wanted one of the 5 labels" in line


def test_a_missing_plan_is_refused(refused, crowd):
    given = ("simulate", crowd / "crowd.csv", "--column", "color", "--plan", crowd / "none")
    assert "wanted a plan file" in refused(*given)


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
