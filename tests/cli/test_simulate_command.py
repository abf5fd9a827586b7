"""``mixtally simulate``: one crowd in three file types, repeatable for a seed, whole files."""

import csv
import json

import pytest

RESULT = ("estimates.csv", "report.html", "result.json")
SIMULATION = tuple(f"simulation/{name}" for name in RESULT)


@pytest.fixture
def simulate(cli, crowd):
    """Plays the crowd and returns the outcome."""

    def call(*more, name="crowd.csv"):
        given = ("simulate", crowd / name, "--column", "color")
        return cli(*given, "--epsilon", 1, "--delta", "1e-6", *more)

    return call


@pytest.fixture
def played(simulate):
    """Plays the crowd and returns the facts."""

    def call(*more, **named):
        outcome = simulate(*more, "--json", **named)
        assert (outcome.status, outcome.err.strip()) == (0, "")
        return json.loads(outcome.out)

    return call


def estimates(facts):
    return [row["estimate"] for row in facts["releases"][0]["estimates"]]


@pytest.mark.parametrize("name", ["crowd.csv.gz", "crowd.parquet"])
def test_file_types_give_identical_results(played, name):
    facts = played("--seed", 3)
    other = played("--seed", 3, name=name)
    assert other.pop("source") == facts.pop("source").replace("crowd.csv", name)
    assert other == facts


def test_a_seed_repeats_and_another_differs(played):
    assert played("--seed", 3) == played("--seed", 3)
    assert estimates(played("--seed", 3)) != estimates(played("--seed", 4))


def test_without_a_seed_two_runs_differ(played):
    """False alarm: below 10^-12.

    Five independent tallies agree twice; with standard errors above 8 the likeliest value of each
    has a probability below 0.05.
    """
    given = ("--protocol", "flip-blank")
    first = played(*given)
    assert first["seed"] is None
    assert any(estimates(played(*given)) != estimates(first) for _ in range(2))


def test_json_holds_the_plan_the_estimates_and_the_truth(played):
    facts = played("--seed", 3, "--protocol", "flip-blank", "--project", "simplex")
    (release,) = facts["releases"]
    assert (release["users"], release["bins"], release["fakes"]) == (1000, 5, 1000)
    assert (release["messages"], release["delta_target"]) == (2000, 1e-6)
    rows = {row["label"]: row for row in release["estimates"]}
    assert {name: row["truth"] for name, row in rows.items()} == {
        "blue": 200, "green": 300, "pink": 10, "red": 400, "teal": 90,
    }  # fmt: skip
    assert sum(row["simplex"] for row in rows.values()) == pytest.approx(1000)
    for row in rows.values():  # no count is below zero, whatever its estimate
        assert row["lower"] <= max(0.0, row["estimate"]) <= row["upper"]


def test_confidence_level_widens_the_intervals(played):
    def widths(level):
        (release,) = played("--seed", 3, "--level", level)["releases"]
        assert release["confidence_level"] == level
        return [row["upper"] - row["lower"] for row in release["estimates"]]

    assert all(a < b for a, b in zip(widths(0.5), widths(0.99), strict=True))


def test_labels_fix_the_bins_and_their_order(played, tmp_path):
    labels = tmp_path / "fixed.txt"
    labels.write_text("teal\nviolet\nred\nblue\npink\ngreen\n")
    facts = played("--labels", labels)
    rows = facts["releases"][0]["estimates"]
    assert [row["label"] for row in rows] == labels.read_text().split()
    assert "not_covered" not in facts
    assert played()["not_covered"] == ["the list of answers was read from the data; give --labels"]


def test_out_holds_both_sets_whole_and_no_other_file(simulate, crowd, tmp_path):
    out = tmp_path / "deep" / "out"
    outcome = simulate("--labels", crowd / "colors.txt", "--out", out, "--json")
    files = sorted(str(p.relative_to(out)) for p in out.rglob("*") if p.is_file())
    assert files == sorted((*RESULT, *SIMULATION, "plan.json"))
    facts = json.loads(outcome.out)
    assert json.loads((out / "simulation" / "result.json").read_text()) == facts
    with (out / "estimates.csv").open(newline="") as file:
        found = [float(row["estimate"]) for row in csv.DictReader(file)]
    assert found == estimates(facts)  # labels that were given keep their order
    assert (out / "report.html").read_text().startswith("<!doctype html>")


def test_the_same_seed_writes_the_same_bytes(simulate, crowd, tmp_path):
    for name in ("one", "two"):
        simulate("--labels", crowd / "colors.txt", "--seed", 3, "--out", tmp_path / name)
    for name in (*SIMULATION, "plan.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_the_table_shows_top_bins_both_errors_and_the_files(simulate, tmp_path):
    outcome = simulate("--seed", 3, "--top", 2, "--out", tmp_path / "out")
    assert outcome.status == 0
    assert "│ red" in outcome.out
    assert "│ green" in outcome.out
    assert "│ blue" not in outcome.out
    for text in ("central model", "local model", "95 % interval", "true"):
        assert text in outcome.out
    assert all(f"wrote {tmp_path / 'out' / name}" in outcome.out for name in SIMULATION)


def test_nothing_is_written_unless_asked(simulate, crowd, monkeypatch):
    monkeypatch.chdir(crowd)
    before = sorted(crowd.rglob("*"))
    assert simulate().status == 0
    assert sorted(crowd.rglob("*")) == before


@pytest.mark.parametrize("column", ["[/x]", "[red]a[/red]", ":smile:", "[bold]"])
def test_a_column_name_is_printed_as_it_is_written(cli, tmp_path, column):
    path = tmp_path / "data.csv"
    path.write_text(f"{column}\n" + "red\nblue\n" * 500)
    outcome = cli("simulate", path, "--column", column, "--epsilon", 1, "--delta", "1e-6")
    assert outcome.status == 0
    assert f"{column}, counted privately" in outcome.out
    assert f"┃ {column} " in outcome.out


@pytest.mark.parametrize("protocol", ["flip-blank", "clear-uniform", "clear-shaped"])
def test_every_protocol_is_played(played, protocol):
    (release,) = played("--protocol", protocol, "--mix-fakes", "--seed", 3)["releases"]
    assert release["protocol"] == protocol
    assert release["measured_error"] < 5 * release["standard_error"]
