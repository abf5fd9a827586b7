"""``mixtally batch`` and ``mixtally batch tally``: files in, files out, counts at the end."""

import json

import pytest

COLORS = ["red"] * 400 + ["green"] * 300 + ["blue"] * 200 + ["teal"] * 100
PROMISE = ("--epsilon", 1, "--delta", "1e-6")


@pytest.fixture
def planned(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("\n".join(["color", *COLORS]) + "\n")
    (tmp_path / "labels.txt").write_text("red\ngreen\nblue\nteal\n")
    made = cli("plan", *PROMISE, "--users", 1000, "--labels", "labels.txt", "--out", "plan.json")
    assert made.status == 0
    return tmp_path


def drawn(cli, *more):
    made = cli("batch", "randomize", "people.csv", "--column", "color", "--plan", "plan.json",
               "--out", "raw", "--each", 300, "--processes", 0, *more)  # fmt: skip
    assert (made.status, made.out, made.err) == (0, "4 shards in raw\n", "")


def mixed(cli, *more):
    made = cli("batch", "mix", "raw", "--plan", "plan.json", "--out", "mixed", *more)
    assert (made.status, made.err) == (0, "")


def tallied(cli, *shards):
    made = cli("batch tally", *shards, "--plan", "plan.json", "--processes", 0, "--json")
    assert made.status == 0
    return json.loads(made.out), made.err


def test_from_rows_to_counts(cli, planned):
    drawn(cli)
    mixed(cli)
    found, said = tallied(cli, "mixed")
    assert said == ""
    (release,) = found["releases"]
    counts = {row["label"]: row["estimate"] for row in release["estimates"]}
    error = found["releases"][0]["estimates"][0]["standard_error"]
    assert abs(counts["red"] - 400) < 8 * error
    assert sum(counts.values()) == pytest.approx(1000, abs=40 * error)
    assert "truth" not in json.dumps(found)


def test_a_seed_draws_the_same(cli, planned):
    drawn(cli, "--seed", 5)
    first = sorted(path.name for path in (planned / "raw").glob("*.parquet"))
    (planned / "raw").rename(planned / "before")
    drawn(cli, "--seed", 5)
    assert sorted(path.name for path in (planned / "raw").glob("*.parquet")) == first


def test_numbers_are_rounded_to_the_grid_of_the_plan(cli, refused, planned):
    ages = [20 + place % 50 for place in range(1000)]
    (planned / "ages.csv").write_text("\n".join(["age", *map(str, ages)]) + "\n")
    made = cli("plan", *PROMISE, "--users", 1000, "--number", "0,100", "--out", "plan.json")
    assert made.status == 0
    given = ("batch", "randomize", "ages.csv", "--column", "age", "--plan", "plan.json")
    assert cli(*given, "--out", "raw", "--processes", 0, "--seed", 0).status == 0
    mixed(cli)
    found, _ = tallied(cli, "mixed")
    mean = found["releases"][0]["numbers"][0]
    assert mean["label"] == "mean"
    assert abs(mean["estimate"] - sum(ages) / 1000) < 8 * mean["standard_error"]
    assert "--plan without --number" in refused(*given, "--number", "0,100", "--out", "other")
    made = cli(
        "plan", *PROMISE, "--users", 1000, "--number", "0,100", "--bins", 5, "--out", "plan.json"
    )
    assert made.status == 0
    assert cli(*given, "--out", "binned", "--processes", 0).status == 0


def test_a_shard_named_twice_is_counted_once(cli, planned):
    drawn(cli)
    mixed(cli, "--each", 200)
    once, said = tallied(cli, "mixed")
    assert tallied(cli, "mixed", planned / "mixed") == (once, said)
    first = min((planned / "mixed").glob("*.parquet"))
    (planned / "copy.parquet").write_bytes(first.read_bytes())
    again, said = tallied(cli, "mixed", "copy.parquet")
    assert again["releases"] == once["releases"]
    assert said.startswith("mixtally: warning: 1 of the shards are copies of others")


def test_nothing_is_concluded_of_a_part(refused, cli, planned):
    drawn(cli, "--seed", 1)  # one time in 140 the rest are messages enough
    mixed(cli, "--each", 200)
    shards = sorted((planned / "mixed").glob("*.parquet"))
    line = refused("batch tally", *shards[1:], "--plan", "plan.json")
    assert "expected 1,000 to 2,000 from 1,000 people" in line
    shards[0].write_bytes(shards[0].read_bytes()[:-30])
    line = refused("batch tally", "mixed", "--plan", "plan.json", "--tallies", "kept")
    assert f"1 of {len(shards)} that cannot be counted" in line
    assert shards[0].name in line
    assert len(list((planned / "kept").iterdir())) == len(shards) - 1


def test_totals_of_groups_are_counted(cli, refused, planned):
    """False alarm below 10^-13: within eight standard errors."""
    drawn(cli)
    mixed(cli)
    (planned / "groups.csv").write_text("label,group\nred,warm\ngreen,cold\nblue,cold\n")
    given = ("batch tally", "mixed", "--plan", "plan.json", "--processes", 0)
    found = json.loads(cli(*given, "--total", "groups.csv", "--json").out)
    warm, cold = found["releases"][0]["totals"]
    assert (warm["label"], cold["label"]) == ("warm", "cold")
    assert abs(warm["estimate"] - 400) < 8 * warm["standard_error"]
    assert abs(cold["estimate"] - 500) < 8 * cold["standard_error"]
    rows = json.loads(cli(*given, "--shares", "--json").out)["releases"][0]["estimates"]
    assert [row["share"] for row in rows] == [row["estimate"] / 1000 for row in rows]
    (planned / "groups.csv").write_text("label,group\npink,warm\n")
    assert "labels of totals" in refused(*given, "--total", "groups.csv")


def test_what_cannot_be_used(refused, cli, planned):
    drawn(cli)
    assert "nothing there" in refused("batch tally", "nowhere", "--plan", "plan.json")
    assert "at least 1" in refused(
        "batch", "mix", "raw", "--plan", "plan.json", "--out", "m", "--each", 0
    )
    made = cli("plan", *PROMISE, "--users", 999, "--labels", "labels.txt", "--out", "other.json")
    assert made.status == 0
    line = refused("batch tally", "raw", "--plan", "other.json")
    assert "some made under" in line
    line = refused(
        "batch", "randomize", "people.csv", "--column", "color", "--plan", "other.json",
        "--out", "other",
    )  # fmt: skip
    assert "a plan for 1,000 users" in line


@pytest.mark.usefixtures("planned")
def test_messages_in_the_order_of_people_are_not_counted(cli, refused):
    """Who counts them would see whose they are: no promise covers that."""
    drawn(cli)
    assert "order of the people" in refused("batch tally", "raw", "--plan", "plan.json")
