"""``mixtally simulate epochs`` on sets, bits and numbers."""

import csv
import json

import pytest

PROMISE = ("--epsilon", 4, "--delta", "1e-5", "--seed", 1)
WHEN = ("--epoch-column", "week", "--person-column", "who")


@pytest.fixture
def diary(tmp_path):
    lines = ["who,week,age,a,b,likes"]
    lines += [
        f"p{i},{week},{i % 80 + week},{i % 2},{int(i % 3 == 0)},{'x;y' if i % 4 else 'y'}"
        for week in (1, 2)
        for i in range(1500)
    ]
    path = tmp_path / "diary.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


READ = {
    "sets": ("--column", "likes", "--set", ";"),
    "bits": ("--columns", "a,b", "--as", "bits"),
    "number": ("--column", "age", "--number", "0,100"),
}


@pytest.mark.seconds
@pytest.mark.parametrize("kind", READ)
def test_every_kind_is_counted_over_time(cli, diary, kind):
    """False alarm below 10^-6: every count and change within six standard errors."""
    outcome = cli("simulate epochs", diary, *READ[kind], *WHEN, *PROMISE, "--json")
    assert (outcome.status, outcome.err.strip()) == (0, "")
    told = json.loads(outcome.out)
    assert told["delta"] <= 1e-5
    for row in [row for epoch in told["epochs"] for row in epoch["estimates"]]:
        assert abs(row["estimate"] - row["truth"]) < 6 * row["standard_error"]
    for row in told["changes"]:
        assert abs(row["change"] - row["truth"]) < 6 * row["standard_error"]


@pytest.mark.seconds
def test_means_over_time_are_in_every_file(cli, diary, tmp_path):
    out = tmp_path / "out"
    outcome = cli("simulate epochs", diary, *READ["number"], *WHEN, *PROMISE, "--out", out)
    assert (outcome.status, outcome.err.strip()) == (0, "")
    assert "mean over time" in outcome.out
    assert "change of the mean" in (out / "simulation" / "report.html").read_text()
    facts = json.loads((out / "simulation" / "result.json").read_text())
    with (out / "simulation" / "mean_changes.csv").open(newline="") as file:
        assert "holds raw counts" in next(file)
        (row,) = csv.DictReader(file)
    assert float(row["estimate"]) == facts["mean_changes"][0]["estimate"]
    assert float(row["truth"]) == pytest.approx(1.0)
    assert len(facts["means"]) == 2
    assert facts["source"].endswith("0 of 3,000 were clipped.")


@pytest.mark.seconds
def test_sets_are_charged_to_the_ledger(cli, diary, tmp_path):
    ledger = tmp_path / "ledger.json"
    assert cli("budget", "open", ledger, "--epsilon", 5, "--delta", "1e-4").status == 0
    given = ("simulate epochs", diary, *READ["sets"], *WHEN, *PROMISE, "--ledger", ledger)
    assert cli(*given).status == 0
    assert "epoch 2" in ledger.read_text()
    assert cli(*given).status != 0  # the same epochs again
