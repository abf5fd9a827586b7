"""``--shares``: counts as shares of the people who took part, wherever counts are shown."""

import csv
import json

import pytest

import mixtally

GIVEN = ("--column", "drink", "--epsilon", 1, "--delta", "1e-6", "--seed", 1)
PEOPLE = 1200
NUMBERS = ("standard_error", "lower", "upper", "lower_simultaneous", "upper_simultaneous")


@pytest.fixture
def data(tmp_path):
    """Twelve hundred people, of whom half drink tea."""
    rows = [["tea", "coffee", "tea", "milk"][i % 4] for i in range(PEOPLE)]
    path = tmp_path / "data.csv"
    path.write_text("\n".join(["drink", *rows]) + "\n")
    (tmp_path / "labels.txt").write_text("tea\ncoffee\nmilk\n")
    return path


def asked(data, *more):
    return ("simulate", data, "--labels", data.parent / "labels.txt", *GIVEN, *more)


def test_estimates_errors_and_intervals_are_divided_by_the_people(cli, data):
    (release,) = json.loads(cli(*asked(data, "--shares", "--json")).out)["releases"]
    for row in release["estimates"]:
        assert row["share"] == row["estimate"] / PEOPLE
        for name in NUMBERS:
            assert row[f"share_{name}"] == row[name] / PEOPLE
        assert row["share_lower"] <= row["truth"] / PEOPLE <= row["share_upper"]
    (plain,) = json.loads(cli(*asked(data, "--json")).out)["releases"]
    assert not [name for row in plain["estimates"] for name in row if "share" in name]


def test_table_page_and_files_show_shares_and_whose_they_are(cli, data, tmp_path):
    out = tmp_path / "out"
    found = cli(*asked(data, "--shares", "--out", out), columns=200)
    shown = " ".join(found.out.split())
    assert "95 % interval, share" in shown
    note = f"Shares are those of the {PEOPLE:,} people who took part, not of a larger population"
    page = (out / "simulation" / "report.html").read_text()
    assert note in shown
    assert note in page
    assert "95 % interval, share" in page
    text = (out / "simulation" / "estimates.csv").read_text()
    lines = list(csv.DictReader(text.splitlines()[1:]))
    assert [float(row["share"]) * PEOPLE for row in lines] == pytest.approx(
        [float(row["estimate"]) for row in lines]
    )
    tea = next(line for line in found.out.splitlines() if "tea" in line and "%" in line)
    low, high = (100 * float(lines[0][f"share_{end}"]) for end in ("lower", "upper"))
    cells = [cell.strip() for cell in tea.split("│")]
    ends = [float(end) for end in cells[6].removesuffix(" %").split(" .. ")]
    assert ends[0] <= low < high <= ends[1]
    assert ends == pytest.approx([low, high], abs=0.1)


def test_shares_of_bits_need_not_add_up_to_one(cli, tmp_path):
    data = tmp_path / "bits.csv"
    data.write_text("a,b\n" + "1,1\n0,1\n" * 500)
    given = ("--columns", "a,b", "--as", "bits", "--epsilon", 1, "--delta", "1e-6", "--seed", 1)
    found = cli("simulate", data, *given, "--shares", "--json")
    (release,) = json.loads(found.out)["releases"]
    for row in release["estimates"]:
        assert row["share"] == row["estimate"] / 1000
        assert row["share_lower"] <= row["truth"] / 1000 <= row["share_upper"]


def test_shares_in_python():
    result = mixtally.simulate(["tea", "coffee"] * 600, epsilon=1, delta=1e-6, seed=1)
    assert list(result.shares) == [row.label for row in result.rows]
    for row in result.rows:
        share = result.shares[row.label]
        assert share.estimate == row.estimate / PEOPLE
        for name in NUMBERS:
            assert getattr(share, name) == getattr(row, name) / PEOPLE
