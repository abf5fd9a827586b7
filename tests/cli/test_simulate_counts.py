"""``simulate --counts-only`` and ``--counts``: tallies of crowds of any size."""

import json

import pytest

PROMISE = ("--epsilon", 1, "--delta", "1e-6")


@pytest.fixture
def counted(tmp_path):
    path = tmp_path / "counted.csv"
    path.write_text("answer,people\nyes,6000000000\nno,3999999000\nyes,500\nmaybe,500\n")
    return path


def played(cli, *arguments):
    outcome = cli("simulate", *arguments, *PROMISE, "--json")
    assert (outcome.status, outcome.err) == (0, "")
    return json.loads(outcome.out)


def test_ten_billion_people_as_a_file_counts_them(cli, counted):
    facts = played(cli, counted, "--column", "answer", "--counts", "people", "--seed", 1)
    rows = facts["releases"][0]["estimates"]
    truth = {row["label"]: row["truth"] for row in rows}
    assert truth == {"yes": 6_000_000_500, "no": 3_999_999_000, "maybe": 500}
    for row in rows:
        assert abs(row["estimate"] - row["truth"]) < 8 * row["standard_error"]
    assert "10,000,000,000 people, as counted.csv counts them." in facts["source"]


def test_rows_played_as_counts_have_the_keys_of_whole_plays(cli, tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("color\n" + "red\n" * 600 + "blue\n" * 400)
    whole = played(cli, path, "--column", "color", "--seed", 1)
    drawn = played(cli, path, "--column", "color", "--seed", 1, "--counts-only")
    assert drawn.keys() == whole.keys()
    assert drawn["releases"][0].keys() == whole["releases"][0].keys()
    assert [row["truth"] for row in drawn["releases"][0]["estimates"]] == [
        row["truth"] for row in whole["releases"][0]["estimates"]
    ]


def test_a_plan_is_played_for_its_crowd_and_larger_ones(cli, counted, tmp_path):
    for users in ("1e10", "1e9"):
        made = cli("plan", *PROMISE, "--users", users, "--labels", _labels(tmp_path), "--name",
                   "answer", "--out", tmp_path / f"{users}.json")  # fmt: skip
        assert made.status == 0
    call = ("simulate", counted, "--column", "answer", "--counts", "people", "--plan")
    for users in ("1e10", "1e9"):
        assert cli(*call, tmp_path / f"{users}.json").status == 0


def _labels(tmp_path):
    (tmp_path / "labels.txt").write_text("maybe\nno\nyes\n")
    return tmp_path / "labels.txt"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--pairs",), "--pairs"),
        (("--candidates", "counted.csv"), "--candidates"),
        (("--set", ";"), "records of type 'set'"),
        (("--number", "0,9"), "records of type 'number'"),
        (("--person-column", "answer"), "of a person"),
    ],
)
def test_what_needs_people_is_refused(refused, counted, monkeypatch, more, said):
    monkeypatch.chdir(counted.parent)
    call = ("simulate", counted, "--column", "answer", "--counts", "people", *PROMISE)
    assert said in refused(*call, *more)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("yes,1\nno,x\n", "a whole number, in digits only, in column 'people', got 'x'"),
        ("yes,1\nno,-3\n", "a whole number from 0 to 10,000,000,000"),
        ("yes,1\nno,2.5\n", "got 2.5"),
        ("yes,10000000001\nno,1\n", "a whole number from 0 to 10,000,000,000"),
        ("yes,9999999999\nno,2\n", "2 to 10,000,000,000 people, got 10,000,000,001"),
        ("yes,0\nno,0\n", "2 to 10,000,000,000 people, got 0"),
        ("yes,4\n", "at least two distinct values"),
        ("", "at least two rows"),
        ("yes,1\nno,\n", "a missing one"),
    ],
)
def test_files_that_count_nobody(refused, tmp_path, rows, said):
    path = tmp_path / "counted.csv"
    path.write_text("answer,people\n" + rows)
    call = ("simulate", path, "--column", "answer", "--counts", "people", *PROMISE)
    assert said in refused(*call)
