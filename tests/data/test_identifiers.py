"""Columns that identify people are found by their values; then nothing is released unasked."""

import random

import pyarrow
import pytest

from helpers.data_files import in_every_format, people
from mixtally.errors import ParameterError
from mixtally.lab.data import identifiers
from mixtally.lab.data.file import DataFile
from mixtally.lab.data.population import LABELS, PEOPLE
from mixtally.lab.data.readers import read_counts, read_epochs
from mixtally.lab.data.reading import Reading, RecordType
from mixtally.lab.data.timeline import EpochColumn

PICK = random.Random(3)
TWICE = 300
NAMES = ["Ada", "Bob", "Cleo", "Dan", "Eva", "Finn"]
PEOPLE_COLUMNS = {
    "codes": [f"R{i // 2:04d}x" for i in range(TWICE)],
    "mixed numbers of rows": [f"d{PICK.randrange(90)}" for _ in range(TWICE)],
    "few repeat": [f"k-{i if i > 9 else 0}" for i in range(TWICE)],
    "numbers of a panel": [i // 3 for i in range(TWICE)],
    "wide numbers": [70_000 + 37 * PICK.randrange(100) for _ in range(TWICE)],
    "addresses": [f"{NAMES[i % 6]}{i % 50}@example.org" for i in range(TWICE)],
    "full names": [f"{NAMES[i % 5]} {'abcdefghij'[i // 5 % 10]}" for i in range(TWICE)],
}
OTHER_COLUMNS = {
    "ages": [18 + int(PICK.triangular(0, 70)) for _ in range(TWICE)],
    "years of birth": [1940 + PICK.randrange(65) for _ in range(TWICE)],
    "prices": [f"{PICK.randrange(900) / 100:.2f}" for _ in range(TWICE)],
    "incomes": [1000 * int(PICK.gauss(40, 9)) for _ in range(TWICE)],
    "days": [f"2024-01-{1 + PICK.randrange(28):02d}" for _ in range(TWICE)],
    "moments": [f"2024-01-01T10:{PICK.randrange(60):02d}:00Z" for _ in range(TWICE)],
    "groups": [NAMES[i % 6] for i in range(TWICE)],
    "cities": [f"city {'abcdefghijkl'[int(12 * PICK.random() ** 3)]}" for _ in range(TWICE)],
    "people who come once": [f"R{i:04d}x" for i in range(TWICE)],
    "comments": [["none", f"it was {i} times worse"][i % 2] for i in range(TWICE)],
    "nothing": [None] * TWICE,
}


def table(tmp_path, **columns):
    path = tmp_path / "data.jsonl"
    answers = {"answer": ["yes", "no"] * (TWICE // 2)}
    path.write_bytes(in_every_format({**columns, **answers})["lines.jsonl"])
    return path


@pytest.mark.parametrize("name", PEOPLE_COLUMNS)
def test_people_are_found_by_their_values(tmp_path, name):
    path = table(tmp_path, unit=PEOPLE_COLUMNS[name])
    found = people(path, "answer", labels=("yes", "no"))
    assert found.from_data == (PEOPLE,)
    assert "column 'unit' has the same values in several rows" in found.warning
    assert found.people_per_row == "each taken for one person"
    sure = people(path, "answer", labels=("yes", "no"), rows_are_people=True)
    assert (sure.from_data, sure.warning) == ((), "")


@pytest.mark.parametrize("name", OTHER_COLUMNS)
def test_other_columns_do_not_stand_in_the_way(tmp_path, name):
    found = people(table(tmp_path, unit=OTHER_COLUMNS[name]), "answer", labels=("yes", "no"))
    assert (found.from_data, found.warning) == ((), "")


@pytest.mark.parametrize("name", in_every_format({"c": ["x"]}))
def test_people_are_found_in_every_format(tmp_path, name):
    rows = {"unit": PEOPLE_COLUMNS["codes"], "answer": ["yes", "no"] * (TWICE // 2)}
    path = tmp_path / name
    path.write_bytes(in_every_format(rows)[name])
    assert PEOPLE in people(path, "answer").from_data


def test_a_column_that_is_only_watched_is_never_refused(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_text('{"id": {"a": [1]}, "c": "x"}\n{"id": 1, "c": "y"}\n{"id": "1", "c": "y"}\n')
    assert people(path, "c", labels=("x", "y")).users == 3


def test_several_rows_in_one_epoch_are_found_and_one_in_each_are_not(tmp_path):
    for weeks, expected in ((lambda i: i % 2, ()), (lambda i: i % 4 // 2, (PEOPLE,))):
        path = tmp_path / "data.csv"
        rows = "".join(f"R{i // 2}x,{weeks(i)},{'ab'[i % 2]}\n" for i in range(TWICE))
        path.write_text("unit,week,answer\n" + rows)
        reading = Reading(columns=("answer",), labels=("a", "b"))
        assert read_epochs(DataFile(path), reading, EpochColumn("week")).from_data == expected


@pytest.mark.parametrize(
    ("units", "events", "expected"),
    [
        ([f"d{i % 50}" for i in range(200)], "ab", (PEOPLE,)),
        ([f"d{i}" for i in range(200)], "ab", (PEOPLE,)),  # a person a row, many events each
        (["", ""], "ab", ()),
        (["first", "second"], "ab", ()),
    ],
)
def test_counts_of_rows_of_people_are_no_counts_of_people(tmp_path, units, events, expected):
    path = tmp_path / "data.csv"
    rows = "".join(f"{unit},{events[i % 2]},7\n" for i, unit in enumerate(units))
    path.write_text("unit,event,count\n" + rows)
    found = read_counts(DataFile(path), Reading(columns=("event",), labels=("a", "b")), "count")
    assert found.from_data == expected
    assert bool(found.warning) == bool(expected)
    sure = Reading(columns=("event",), labels=("a", "b"), rows_are_people=True)
    assert read_counts(DataFile(path), sure, "count").from_data == ()


def test_a_column_whose_values_repeat_is_named_before_one_of_own_values(tmp_path):
    path = tmp_path / "data.csv"
    rows = "".join(f"d{i},R{i // 2}x,{'ab'[i % 2]},7\n" for i in range(200))
    path.write_text("row,unit,event,count\n" + rows)
    found = read_counts(DataFile(path), Reading(columns=("event",), labels=("a", "b")), "count")
    assert "column 'unit' has the same values in several rows" in found.warning


def test_a_code_of_each_label_is_no_person(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("code,event,count\n" + "".join(f"c{i},e{i},7\n" for i in range(30)))
    found = read_counts(DataFile(path), Reading(columns=("event",)), "count")
    assert found.from_data == (LABELS,)


def test_an_identifier_is_no_attribute_in_silence(tmp_path):
    path = table(tmp_path, unit=PEOPLE_COLUMNS["codes"])
    found = people(path, "unit", "answer", form=RecordType.ATTRIBUTES)
    assert found.from_data == (LABELS, PEOPLE)
    assert "column 'unit'" in found.warning
    given = tuple(f"unit={one}" for one in dict.fromkeys(PEOPLE_COLUMNS["codes"]))
    listed = people(path, "unit", "answer", form=RecordType.ATTRIBUTES, labels=given)
    assert listed.from_data == (LABELS,)
    own = table(tmp_path, unit=[f"R{i if i else 1}x" for i in range(TWICE)])
    assert PEOPLE in people(own, "unit", "answer", form=RecordType.ATTRIBUTES).from_data


def test_people_may_repeat_in_rows_that_are_not_watched(monkeypatch):
    """A column named like people is in doubt then; others have no doubt by their values."""
    monkeypatch.setattr(identifiers, "_WATCHED_ROWS", 100)
    watch = identifiers.IdentifierWatch(["user id", "color"])
    half = {"user id": pyarrow.array(range(100)), "color": pyarrow.array(["red", "blue"] * 50)}
    watch.take(half)
    assert watch.find_identifiers() == []
    watch.take(half)
    assert watch.find_identifiers() == [("user id", True, False)]


def test_rows_are_people_or_a_column_says_who(tmp_path):
    with pytest.raises(ParameterError, match="--rows-are-people without --person-column, got both"):
        Reading(columns=("a",), person="b", rows_are_people=True)
