"""Several rows of a person: refused, the first, the last, or a set."""

import numpy as np
import pytest

from helpers.data_files import people
from mixtally.errors import DataError, ParameterError
from mixtally.lab.data.file import DataFile
from mixtally.lab.data.readers import read_epochs, read_population
from mixtally.lab.data.reading import Reading, RecordType, RowCombination
from mixtally.lab.data.timeline import EpochColumn
from mixtally.model.question import Kind, Question
from mixtally.protocol.encode.numbers import Points

DIARY = """who,week,color,smokes,age,likes
ada,1,red,1,10,tea
bob,1,blue,0,20,tea;rum
ada,1,green,0,30,rum
cleo,1,red,1,40,milk
bob,2,red,1,50,milk
ada,2,red,0,60,tea
"""


@pytest.fixture
def diary(tmp_path):
    path = tmp_path / "diary.csv"
    path.write_text(DIARY)
    return path


def labels(population):
    return [population.question.label(code) for code in population.codes.tolist()]


def test_several_rows_of_a_person_are_refused_by_their_numbers(diary):
    with pytest.raises(DataError, match=r"row 3: expected one row per person, .* row 1"):
        people(diary, "color", person="who")


def test_without_a_column_of_people_every_row_is_one(diary):
    assert people(diary, "color").users == 6


@pytest.mark.parametrize(
    ("several", "colors"), [("first", ["red", "blue", "red"]), ("last", ["red", "red", "red"])]
)
def test_the_first_or_the_last_row_of_a_person_is_theirs(diary, several, colors):
    fixed = ("red", "blue", "green")
    found = people(diary, "color", person="who", several=RowCombination(several), labels=fixed)
    assert sorted(labels(found)) == sorted(colors)
    assert found.note == f"Further rows of a person, left out for the {several}: 3."


def test_records_keep_the_order_of_the_rows_that_are_taken(diary):
    first = people(
        diary,
        "age",
        person="who",
        several=RowCombination.FIRST,
        form=RecordType.NUMBER,
        scale=Points(0, 99),
    )
    assert first.values.tolist() == [10, 20, 40]
    last = people(
        diary,
        "age",
        person="who",
        several=RowCombination.LAST,
        form=RecordType.NUMBER,
        scale=Points(0, 99),
    )
    assert last.values.tolist() == [40, 50, 60]


def test_labels_that_only_left_out_rows_have_are_no_bins(diary):
    found = people(diary, "color", person="who", several=RowCombination.FIRST)
    assert found.question.labels == ("blue", "red")


def bits(population):
    count, label = population.question.bins, population.question.label
    table = np.unpackbits(population.records, axis=1, count=count, bitorder="little")
    return [set(map(label, np.flatnonzero(row).tolist())) for row in table]


def test_the_values_of_a_person_become_a_set(diary):
    found = people(
        diary,
        "color",
        form=RecordType.SET,
        separator=None,
        person="who",
        several=RowCombination.SET,
    )
    assert bits(found) == [{"red", "green"}, {"blue", "red"}, {"red"}]
    assert found.question.kind is Kind.SET
    assert found.question.max_set == 2
    assert found.truth.tolist() == [1, 1, 3]
    assert found.note == "Further rows of a person, joined to a set: 3."


def test_the_sets_of_a_person_are_joined_and_bounded(diary):
    reading = {"form": RecordType.SET, "person": "who", "several": RowCombination.SET}
    assert bits(people(diary, "likes", **reading)) == [
        {"tea", "rum"},
        {"tea", "rum", "milk"},
        {"milk"},
    ]
    with pytest.raises(DataError, match="at most 2 labels of a person, got 3"):
        people(diary, "likes", max_set=2, **reading)


def test_bits_and_attributes_take_a_row_of_each_person(diary):
    found = people(diary, "smokes", form=RecordType.BITS, person="who", several=RowCombination.LAST)
    assert found.records[:, 0].tolist() == [1, 1, 0]
    both = people(
        diary,
        "color",
        "smokes",
        form=RecordType.ATTRIBUTES,
        person="who",
        several=RowCombination.FIRST,
    )
    assert both.truth.tolist() == [1, 2, 1, 2]


def test_a_person_answers_once_an_epoch(diary):
    reading = {"columns": ("color",), "person": "who"}
    with pytest.raises(DataError, match=r"row 3: .* a second one in epoch '1', after row 1"):
        read_epochs(DataFile(diary), Reading(**reading), EpochColumn("week"))
    found = read_epochs(
        DataFile(diary), Reading(**reading, several=RowCombination.LAST), EpochColumn("week")
    )
    assert found.users.tolist() == [3, 2]
    assert found.attendance == {1: 1, 2: 2}
    assert [found.question.label(code) for code in found.codes.tolist()] == [
        "blue", "green", "red", "red", "red"
    ]  # fmt: skip


def test_a_set_is_made_in_every_epoch(diary):
    reading = Reading(
        columns=("color",),
        form=RecordType.SET,
        separator=None,
        person="who",
        several=RowCombination.SET,
    )
    found = read_epochs(DataFile(diary), reading, EpochColumn("week"))
    assert bits(found.crowd(0)) == [{"red", "green"}, {"blue"}, {"red"}]
    assert bits(found.crowd(1)) == [{"red"}, {"red"}]


@pytest.mark.parametrize("form", [RecordType.ONE, RecordType.BITS, RecordType.NUMBER])
def test_only_labels_become_a_set(form):
    scale = Points(0, 1) if form is RecordType.NUMBER else None
    with pytest.raises(ParameterError, match="several: expected first or last for records of type"):
        Reading(columns=("c",), form=form, scale=scale, person="p", several=RowCombination.SET)


def test_nothing_is_taken_of_nobodys_rows():
    with pytest.raises(ParameterError, match="several: expected --person-column with it"):
        Reading(columns=("c",), several=RowCombination.FIRST)


def test_a_set_is_asked_by_a_plan_for_sets(diary):
    reading = Reading(
        columns=("color",),
        form=RecordType.SET,
        separator=None,
        person="who",
        several=RowCombination.SET,
    )
    asked = Question(name="q", bins=3, labels=("red", "blue", "green"), kind=Kind.SET, max_set=2)
    assert read_population(DataFile(diary), reading, asked).question == asked


@pytest.mark.parametrize(
    ("name", "values", "warned"),
    [
        ("user_id", "a,b,a", True),
        ("ID", "1,2,1", True),
        ("E-Mail Address", "a@b,c@d,a@b", True),
        ("respondent", "1,1,2", True),
        ("user_id", "a,b,c", False),
        ("user_id", "a,,", False),
        ("device", "a,b,a", False),
        ("grid", "a,b,a", False),
        ("paid", "a,b,a", False),
    ],
)
def test_a_column_with_the_name_of_people_is_warned_of(tmp_path, name, values, warned):
    path = tmp_path / "data.csv"
    rows = zip(values.split(","), ("red", "blue", "red"), strict=True)
    path.write_text(f"{name},color\n" + "".join(f"{who},{color}\n" for who, color in rows))
    warning = people(path, "color").warning
    assert bool(warning) == warned
    assert (f"column {name!r}" in warning) == warned


def test_a_column_that_is_named_or_counted_is_not_warned_of(diary):
    assert people(diary, "color").warning
    assert not people(diary, "color", person="who", several=RowCombination.FIRST).warning
    assert not people(diary, "who").warning


def test_more_rows_than_were_looked_at_are_warned_of(tmp_path, monkeypatch):
    monkeypatch.setattr("mixtally.lab.data.identifiers._WATCHED_ROWS", 2)
    path = tmp_path / "data.csv"
    path.write_text("id,color\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(100)))
    assert "column 'id'" in people(path, "color", block=40).warning
