"""``--total FILE``: sums of the counts of groups of labels; files of groups that are refused."""

import csv
import json
import math

import pytest

GIVEN = ("--epsilon", 1, "--delta", "1e-6", "--seed", 1)
RAW = (*GIVEN, "--no-project")
"""Counts that do not use the known number of people."""
LABELS = ["red", "green", "blue", "grey"]


@pytest.fixture
def data(tmp_path):
    """Two thousand people with a color, two attributes and two bits."""
    kinds = [(LABELS[i % 4], "xyz"[i % 3], ["old", "young"][i % 2], i) for i in range(2000)]
    rows = [f"{color},{city},{age},{i % 2},{i % 5 % 2}" for color, city, age, i in kinds]
    lines = ["color,city,age,a,b", *rows]
    path = tmp_path / "data.csv"
    path.write_text("\n".join(lines) + "\n")
    (tmp_path / "labels.txt").write_text("\n".join(LABELS) + "\n")
    return path


@pytest.fixture
def groups(tmp_path):
    """A file of groups with these rows."""

    def written(*rows, head="label,group"):
        path = tmp_path / "groups.csv"
        path.write_text("\n".join([head, *rows]) + "\n")
        return path

    return written


def asked(data, *more):
    return ("simulate", data, "--labels", data.parent / "labels.txt", "--column", "color", *more)


PROTOCOLS = ["flip", "flip-blank", "clear-shaped", "clear-uniform", "kary-response"]


@pytest.mark.parametrize("given", [GIVEN, RAW], ids=["known", "raw"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_totals_are_the_sums_of_counts(protocol, given, cli, data, groups):
    """False alarm below 10^-8 a row: within six standard errors."""
    file = groups("red,warm", "blue,cold", "green,cold")
    more = ("--mix-fakes",) if protocol == "clear-shaped" else ()
    found = cli(*asked(data, "--protocol", protocol, *more, *given, "--total", file, "--json"))
    assert (found.status, found.err.strip()) == (0, "")
    (release,) = json.loads(found.out)["releases"]
    counts = {row["label"]: row for row in release["estimates"]}
    rows = {row["label"]: row for row in release["totals"]}
    assert list(rows) == ["warm", "cold"]
    for name, labels in (("warm", ["red"]), ("cold", ["blue", "green"])):
        row = rows[name]
        total = sum(counts[label]["estimate"] for label in labels)
        assert row["estimate"] == pytest.approx(total)
        assert row["truth"] == sum(counts[label]["truth"] for label in labels)
        assert abs(row["estimate"] - row["truth"]) < 6 * row["standard_error"]
        assert row["lower_simultaneous"] <= row["lower"] <= row["upper"]
    alone = counts["red"]["standard_error"]
    assert rows["warm"]["standard_error"] == pytest.approx(alone, rel=1e-3)
    assert [rows["warm"][end] for end in ("lower", "upper")] == [
        counts["red"][end] for end in ("lower", "upper")
    ]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_whole_list_is_everybody_without_error(protocol, cli, data, groups):
    file = groups(*(f"{label},all" for label in LABELS))
    more = ("--mix-fakes",) if protocol == "clear-shaped" else ()
    found = cli(*asked(data, "--protocol", protocol, *more, *GIVEN, "--total", file, "--json"))
    (row,) = json.loads(found.out)["releases"][0]["totals"]
    assert [row[key] for key in ("estimate", "lower", "upper", "standard_error")] == [
        2000.0, 2000, 2000, 0.0,
    ]  # fmt: skip


ATTRIBUTES = ("--columns", "city,age", "--as", "attributes")


@pytest.mark.parametrize("given", [GIVEN, RAW], ids=["known", "raw"])
@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        ((*ATTRIBUTES, "--mix-fakes"), ("city=x,some", "age=old,some", "city=y,rest")),
        ((*ATTRIBUTES, "--messages-per-user", 5), ("city=x,some", "age=old,some", "city=y,rest")),
        ((*ATTRIBUTES, "--protocol", "flip-blank"), ("city=x,some", "age=old,some")),
        (("--columns", "a,b", "--as", "bits", "--messages-per-user", 5), ("a,both", "b,both")),
    ],
)
def test_a_group_over_several_known_sums_adds_their_variances(kind, rows, given, cli, data, groups):
    """False alarm below 10^-8 a row: within six standard errors."""
    found = cli("simulate", data, *kind, *given, "--total", groups(*rows), "--json")
    assert (found.status, found.err.strip()) == (0, "")
    (release,) = json.loads(found.out)["releases"]
    chosen = [row.split(",")[0] for row in rows[:2]]
    counts = [row for row in release["estimates"] if row["label"] in chosen]
    row = release["totals"][0]
    errors = [count["standard_error"] for count in counts]
    assert row["standard_error"] == pytest.approx(math.hypot(*errors), rel=1e-6)
    assert row["estimate"] == pytest.approx(sum(count["estimate"] for count in counts))
    assert abs(row["estimate"] - row["truth"]) < 6 * row["standard_error"]


def test_files_hold_totals_beside_the_counts(cli, data, groups, tmp_path):
    out = tmp_path / "out"
    file = groups("red,warm", "blue,cold")
    given = GIVEN[:-2]  # without a seed
    found = cli(*asked(data, *given, "--total", file, "--out", out))
    assert (found.status, found.err.strip().count("\n")) == (0, 0)
    (path,) = [one for one in out.rglob("totals.csv") if "simulation" not in one.parts]
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert [row["label"] for row in rows] == ["warm", "cold"]
    assert "truth" not in rows[0]
    assert "color: totals" in (out / "report.html").read_text()


BAD = {
    "an unknown label": (("red,warm", "pink,cold"), "red, green, blue, grey, got 'pink'"),
    "a label in two groups": (("red,warm", "red,cold"), "row 3: expected a label that occurs"),
    "a label twice": (("red,warm", "red,warm"), "which is also in row 2"),
    "no group": (("red,",), "row 2: expected a label and a group"),
    "three cells": (("red,warm,x",), "row 2: expected a label and a group"),
    "nothing": ((), "expected a row for each label"),
    "a control character": (("red,wa\x1brm",), "expected printable text"),
    "an open quote": (('"red,warm',), "expected a CSV of labels and groups"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_wrong_file_is_refused_in_one_line(name, cli, data, groups, tmp_path):
    rows, said = BAD[name]
    out = tmp_path / "out"
    found = cli(*asked(data, *GIVEN, "--total", groups(*rows), "--out", out))
    assert found.status != 0
    (line,) = found.err.strip().splitlines()
    assert said in line
    assert not out.exists()


def test_another_heading_is_refused(cli, data, groups):
    found = cli(*asked(data, *GIVEN, "--total", groups("red,warm", head="group,label")))
    assert "expected the header label,group, got 'group,label'" in found.err


def test_a_missing_file_is_refused(cli, data, tmp_path):
    found = cli(*asked(data, *GIVEN, "--total", tmp_path / "none.csv"))
    assert found.status != 0
    assert len(found.err.strip().splitlines()) == 1
