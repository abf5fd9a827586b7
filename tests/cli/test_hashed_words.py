"""``mixtally simulate --hash-bins --candidates``: words of an open domain, played end to end."""

import csv
import json

import pytest

from mixtally.cli.plan_files import read_plan
from mixtally.records.contract import write_plan

WORDS = ["rose", "tulip", "caf\u00e9", "lily"]
HELD = {word: 900 // rank for rank, word in enumerate(WORDS, start=1)}
RARE = [f"flower {number}" for number in range(600)]
GIVEN = ("--epsilon", 1, "--delta", "1e-6", "--mix-fakes", "--seed", 1)
HASHED = ("--column", "word", "--hash-bins", 3000)


@pytest.fixture
def data(tmp_path):
    """2,475 people; one of the words is spelled in two ways."""
    people = [word for word, count in HELD.items() for _ in range(count)] + RARE
    people[people.index("caf\u00e9")] = "cafe\u0301"
    path = tmp_path / "words.csv"
    path.write_text("word\n" + "\n".join(people) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def listed(tmp_path):
    """Candidates: the frequent words and one that nobody holds."""
    path = tmp_path / "candidates.txt"
    path.write_text("\n".join([*WORDS, "nobody"]), encoding="utf-8")
    return path


@pytest.fixture
def played(cli, data, listed):
    def call(*more):
        outcome = cli("simulate", data, *more, "--candidates", listed, "--json")
        assert (outcome.status, outcome.err.strip()) == (0, "")
        return json.loads(outcome.out)

    return call


@pytest.mark.parametrize("more", [(), ("--protocol", "flip-blank"), ("--messages-per-user", 60)])
def test_words_are_counted_beside_the_others(played, more):
    """False alarm about 1e-3, by collisions: estimates within six standard errors."""
    facts = played(*HASHED, *GIVEN, *more)
    (release,) = facts["releases"]
    assert release["delta"] <= 1e-6
    assert (release["bins"], release["hashed_values"]) == (3000, None)
    assert release["collision_error"] > 40 > release["estimates"][0]["standard_error"]
    found = {row["label"]: row for row in release["estimates"]}
    assert {word: found[word]["truth"] for word in WORDS} == HELD
    assert found["nobody"]["truth"] == 0
    for row in [*found.values(), *release["others"]]:
        assert abs(row["estimate"] - row["truth"]) < 6 * row["standard_error"]
    assert release["others"][0]["truth"] == 600
    assert "read off the data" not in facts["source"]


def test_a_run_repeats_with_its_seed_and_another_hash_is_another_run(played):
    first, again = played(*HASHED, *GIVEN), played(*HASHED, *GIVEN)
    assert first == again
    other = played(*HASHED, *GIVEN, "--hash-seed", "00" * 16)
    assert other["releases"][0]["fingerprint"] != first["releases"][0]["fingerprint"]


def test_files_tell_the_words_and_the_others(cli, data, listed, tmp_path):
    out = tmp_path / "out" / "rehearsal"
    outcome = cli("simulate", data, *HASHED, *GIVEN, "--candidates", listed, "--out", out.parent)
    assert "people with a value not listed" in " ".join(outcome.out.split())
    page = (out / "report.html").read_text()
    assert "word: the others" in page
    assert "for a hash drawn independently" in page
    with (out / "estimates.csv").open(encoding="utf-8", newline="") as file:
        assert "holds raw counts" in next(file)
        rows = list(csv.DictReader(file))
    assert {row["label"] for row in rows} == {*WORDS, "nobody"}


def test_a_plan_of_hashed_bins_is_played(cli, played, data, refused, tmp_path):
    path = tmp_path / "plan.json"
    assert cli(
        "plan", "--hash-bins", 3000, "--name", "word", "--users", 2475, *GIVEN[:5], "--out", path
    ).status == 0  # fmt: skip
    (release,) = played("--column", "word", "--plan", path, "--seed", 2)["releases"]
    assert release["estimates"][0]["lower"] > 800
    line = refused("simulate", data, "--column", "word", "--plan", path)
    assert "wanted --candidates beside a plan whose values share bins" in line
    line = refused(
        "simulate epochs", data, "--column", "word", "--synthetic", 2, "--plan", path,
        "--epsilon", 1, "--delta", "1e-6",
    )  # fmt: skip
    assert "wanted bins of one value each" in line


def test_a_huge_domain_that_the_planner_hashes_is_played(cli, played, tmp_path):
    path = tmp_path / "plan.json"
    outcome = cli(
        "plan", "--bins", "1e6", "--users", 2475, *GIVEN[:4], "--protocol", "clear-uniform",
        "--messages-per-user", 40, "--out", path,
    )  # fmt: skip
    assert "1,000,000 values share" in " ".join(outcome.out.split())
    (release,) = played("--column", "word", "--plan", path, "--seed", 2)["releases"]
    assert release["hashed_values"] == 1_000_000
    assert release["estimates"][0]["lower"] > 800


def test_candidates_that_share_a_bin_are_counted_once(cli, data, tmp_path):
    """900 candidates in 1,000 bins: a line is one bin, and the lines together are everybody."""
    path = tmp_path / "many.txt"
    path.write_text("\n".join([*WORDS, *(f"flower {i}" for i in range(896))]), encoding="utf-8")
    outcome = cli(
        "simulate", data, "--column", "word", "--hash-bins", 1000, *GIVEN, "--candidates", path,
        "--json",
    )  # fmt: skip
    (release,) = json.loads(outcome.out)["releases"]
    rows = release["estimates"]
    assert len(rows) < 700
    assert sum(row["truth"] for row in rows) == 2475
    assert release["others"][0]["truth"] == 0
    shared = [row["label"] for row in rows if "(bin " in row["label"]]
    assert any(" + 1 more (bin " in label for label in shared)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "wanted distinct labels, one a line, got 0 lines"),
        (b"rose\nrose\n", "got 2 lines, 1 distinct that are not empty"),
        (b"rose\n\ntulip\n", "remove empty lines"),
        (b"caf\xc3\xa9\ncafe\xcc\x81\n", "got 2 lines, 1 distinct that are not empty"),
        (b"r\xf6se\ntulip\n", "wanted UTF-8 text, one label a line"),
        (b"rose\n", "wanted at least two that do not share one bin"),
        ("\n".join(map(str, range(30_000))).encode(), "bins that no candidate is hashed to"),
    ],
    ids=["empty", "twice", "blank", "spelled twice", "not UTF-8", "one", "too many"],
)
def test_a_bad_list_is_refused_in_one_line(refused, data, tmp_path, content, message):
    path = tmp_path / "bad.txt"
    path.write_bytes(content)
    assert message in refused("simulate", data, *HASHED, *GIVEN, "--candidates", path)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--hash-bins", 3000), "wanted a file beside --hash-bins"),
        (("--candidates", "LIST"), "wanted a number of bins beside --candidates"),
        (("--hash-bins", 1, "--candidates", "LIST"), "wanted an integer in [2, 10,000,000]"),
        (("--hash-bins", 99, "--candidates", "LIST", "--hash-seed", "x"), "32 hexadecimal digits"),
        (("--hash-bins", 99, "--candidates", "LIST", "--pairs"), "got --pairs beside it"),
        (("--hash-bins", 99, "--candidates", "LIST", "--set", ";"), "got --as set beside it"),
        (("--hash-bins", 99, "--candidates", "LIST", "--project", "simplex"), "got --project"),
        (("--hash-bins", 99, "--candidates", "LIST", "--labels", "LIST"), "got --labels beside"),
    ],
)
def test_options_that_do_not_go_together_are_refused(refused, data, listed, more, message):
    more = [listed if part == "LIST" else part for part in more]
    assert message in refused("simulate", data, "--column", "word", *GIVEN, *more)


def test_plans_of_another_kind_are_refused(cli, refused, data, listed, tmp_path):
    labels = tmp_path / "labels.txt"
    labels.write_text("\n".join([*WORDS, *RARE]), encoding="utf-8")
    path, old = tmp_path / "plan.json", tmp_path / "old.json"
    cli("plan", "--labels", labels, "--users", 2475, *GIVEN[:4], "--out", path)
    line = refused("simulate", data, "--column", "word", "--plan", path, "--candidates", listed)
    assert "wanted bins that values share by a hash" in line
    plan = json.loads(path.read_bytes())
    plan["question"] |= {"hashed": 1_000_000, "labels": None}
    old.write_text(json.dumps(plan, indent=1))
    line = refused("simulate", data, "--column", "word", "--plan", old, "--candidates", listed)
    assert "question.hashed: wanted an object" in line


def test_other_crowds_than_the_plans_are_refused(cli, refused, data, listed, tmp_path):
    path = tmp_path / "plan.json"
    cli("plan", "--hash-bins", 3000, "--users", 2476, *GIVEN[:4], "--out", path)
    line = refused("simulate", data, "--column", "word", "--plan", path, "--candidates", listed)
    assert "wanted a plan for 2,475 users" in line


def test_a_plan_with_a_hash_comes_back_from_its_bytes(cli, tmp_path):
    path = tmp_path / "plan.json"
    cli(
        "plan",
        "--hash-bins",
        50,
        "--hash-seed",
        "0f" * 16,
        "--users",
        900,
        *GIVEN[:5],
        "--out",
        path,
    )
    plan = read_plan(path)
    assert write_plan(plan) == path.read_bytes()
    hashed = json.loads(path.read_bytes())["question"]["hashed"]
    assert hashed == {"function": "HMAC-SHA-256", "seed": "0f" * 16, "values": None}
