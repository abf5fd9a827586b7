"""``mixtally example``: a survey of people who do not exist, and nobody's file lost for it."""

import csv
import importlib.util
import json
from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest

from mixtally.lab.data.example_data import LABELS, example_files, people

ROOT = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("make", ROOT / "scripts/make_example_data.py")
MAKER = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(MAKER)
SHIPPED = (files("mixtally.lab.data") / "files" / "example_survey.csv").read_text(encoding="ascii")


def test_what_ships_is_what_the_script_makes():
    assert MAKER.survey() == SHIPPED


def test_another_seed_makes_other_people(monkeypatch):
    """Twin: a file that the script did not make is noticed."""
    monkeypatch.setattr(MAKER, "SEED", 2)
    assert MAKER.survey() != SHIPPED


def test_the_file_is_written_and_said_to_be_made_up(cli, tmp_path):
    outcome = cli("example", tmp_path / "survey.csv")
    assert (outcome.status, outcome.err) == (0, "")
    first, labels, second, third = outcome.out.splitlines()
    assert first.startswith(f"{tmp_path / 'survey.csv'}: 2,000 people; columns age, age_group, ")
    assert labels == f"{tmp_path / 'fruits.txt'}: the possible answers of the column fruit"
    assert second.startswith("All people in this file are invented")
    assert third.startswith("Try: mixtally simulate ")
    assert (tmp_path / "survey.csv").read_text() == SHIPPED


def test_every_row_is_a_person_with_all_answers(cli, tmp_path):
    told = json.loads(cli("example", tmp_path / "survey.csv", "--json").out)
    with (tmp_path / "survey.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert (told["people"], told["columns"], told["made_up"]) == (len(rows), [*rows[0]], True)
    assert len(rows) == 2_000
    for row in rows:
        low, high = map(int, row["age_group"].split("-"))
        assert low <= int(row["age"]) <= high
        assert all(row.values())
        assert {row["smokes"], row["drives"], row["cycles"]} <= {"0", "1"}
    assert Counter(row["fruit"] for row in rows).keys() == MAKER.FRUIT.keys()
    assert {row["answer"] for row in rows} == {"yes", "no", "unsure"}


def test_what_it_says_to_try_runs(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    *_, line = cli("example", "survey.csv").out.splitlines()
    outcome = cli(*line.removeprefix("Try: mixtally ").split())
    assert (outcome.status, outcome.err) == (0, "")
    assert "apple" in outcome.out
    assert "not covered" not in outcome.out


def test_twice_is_as_good_as_once(cli, tmp_path):
    assert cli("example", tmp_path / "survey.csv").status == 0
    assert cli("example", tmp_path / "survey.csv").status == 0


@pytest.mark.parametrize("mine", ["answer\nyes\n", SHIPPED.replace("apple", "peach")])
def test_a_file_of_somebodys_own_is_never_replaced(refused, tmp_path, mine):
    (tmp_path / "survey.csv").write_text(mine)
    assert "expected the name of a new file" in refused("example", tmp_path / "survey.csv")
    assert (tmp_path / "survey.csv").read_text() == mine
    assert [path.name for path in tmp_path.iterdir()] == ["survey.csv"]


def test_every_file_of_the_pages_is_written_into_a_folder(cli, tmp_path):
    outcome = cli("example", "--all", tmp_path / "new")
    assert (outcome.status, outcome.err) == (0, "")
    first, second = outcome.out.splitlines()
    assert first == f"{tmp_path / 'new'}: {', '.join(example_files())}"
    assert second.startswith("All people in this file are invented")
    written = {path.name: path.read_bytes() for path in (tmp_path / "new").iterdir()}
    assert written == example_files()
    assert written["survey.csv"].decode() == SHIPPED
    again = json.loads(cli("example", "--all", tmp_path / "new", "--json").out)
    assert (again["files"], again["made_up"]) == ([*example_files()], True)


def test_labels_are_those_of_the_survey():
    for column, labels in LABELS.items():
        said = {one for row in people() for one in row[column].split(";")}
        assert said == {*labels}, column


def test_one_file_of_somebodys_own_keeps_all_from_being_written(refused, tmp_path):
    (tmp_path / "words.txt").write_text("mine\n")
    assert "words.txt: expected the name of a new file" in refused("example", "--all", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["words.txt"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "expected a file, or a folder for all files, got neither"),
        (["survey.csv", "--all", "."], "expected a file without --all, got both"),
    ],
)
def test_one_of_a_file_and_a_folder_is_named(refused, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert message in refused("example", *arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_and_a_device_are_no_place_for_it(refused, tmp_path):
    assert "got a directory" in refused("example", tmp_path)
    assert "got a device" in refused("example", "/dev/null")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_a_file_is_said_in_one_line(refused, tmp_path):
    (tmp_path / "here").write_text("")
    refused("example", tmp_path / "here" / "survey.csv")
