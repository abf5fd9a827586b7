"""One rule for what is missing, and what may be done about it, in every format."""

import numpy as np
import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from helpers.data_files import delimited, in_every_format, in_parquet, json_lines, people, workbook
from mixtally.errors import DataError, ParameterError
from mixtally.lab.data.file import DataFile
from mixtally.lab.data.readers import read_epochs
from mixtally.lab.data.reading import DROP, Reading, RecordType, RowCombination
from mixtally.lab.data.timeline import EpochColumn
from mixtally.protocol.encode.numbers import Points

GAPS = {"no": [1, 2, 3, 4, 5, 6], "color": ["red", None, "blue", "", "  ", "red"]}
FORMATS = in_every_format(GAPS)


def labels(population):
    return [population.question.label(code) for code in population.codes.tolist()]


@pytest.mark.parametrize("name", FORMATS)
def test_gaps_are_refused_dropped_or_labelled_alike(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(FORMATS[name])
    with pytest.raises(DataError, match="row 2: expected a value in column 'color', got a missing"):
        people(path, "color")
    dropped = people(path, "color", missing=DROP)
    assert labels(dropped) == ["red", "blue", "red"]
    assert dropped.note == "Rows left out for a missing value: 3."
    filled = people(path, "color", missing="none given")
    assert labels(filled) == ["red", "none given", "blue", "none given", "none given", "red"]
    assert filled.note == ""


@pytest.mark.parametrize("text", ["NA", "nan", "null", "None", "-", "0", "#N/A"])
def test_words_are_values(tmp_path, text):
    for name, data in in_every_format({"no": [1, 2], "color": ["red", text]}).items():
        path = tmp_path / name
        path.write_bytes(data)
        assert labels(people(path, "color")) == ["red", text]


def test_not_a_number_is_missing_where_there_are_types(tmp_path):
    path = tmp_path / "data.parquet"
    path.write_bytes(in_parquet({"c": [1.0, float("nan"), None, 2.5]}))
    assert labels(people(path, "c", missing=DROP)) == ["1", "2.5"]
    numbers = people(path, "c", form=RecordType.NUMBER, scale=Points(0, 4), missing=DROP)
    assert numbers.values.tolist() == [1.0, 2.5]
    filled = people(path, "c", form=RecordType.NUMBER, scale=Points(0, 4), missing="3.5")
    assert filled.values.tolist() == [1.0, 3.5, 3.5, 2.5]


def test_a_column_of_nulls_alone_is_missing(tmp_path):
    path = tmp_path / "data.parquet"
    parquet.write_table(arrow.table({"c": arrow.nulls(3)}), path)
    with pytest.raises(DataError, match="row 1: expected a value"):
        people(path, "c")
    with pytest.raises(DataError, match="two rows, got none"):
        people(path, "c", missing=DROP)


def test_a_person_is_dropped_for_any_value_that_lacks(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,b\n1,\n,0\n1,1\n0,1\n")
    found = people(path, "a", "b", form=RecordType.BITS, missing=DROP)
    assert found.records[:, 0].tolist() == [3, 2]
    both = people(path, "a", "b", form=RecordType.ATTRIBUTES, missing="?")
    assert both.question.labels == ("a=0", "a=1", "a=?", "b=0", "b=1", "b=?")
    assert people(path, "a", "b", form=RecordType.BITS, missing="0").records[:, 0].tolist() == [
        1,
        0,
        3,
        2,
    ]


def test_sets_have_gaps_or_are_empty_but_not_both(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("no,c\n1,a;b\n2,\n3,b\n")
    dropped = people(path, "c", form=RecordType.SET, missing=DROP)
    assert dropped.users == 2
    filled = people(path, "c", form=RecordType.SET, missing="none")
    assert filled.question.labels == ("a", "b", "none")
    assert filled.truth.tolist() == [1, 2, 1]
    with pytest.raises(ParameterError, match="missing: expected drop, or a label"):
        Reading(columns=("c",), form=RecordType.SET, missing=DROP, empty_sets=True)


@pytest.mark.parametrize("label", ["", " "])
def test_a_label_for_gaps_can_be_seen(label):
    with pytest.raises(ParameterError, match="a label that is not blank"):
        Reading(columns=("c",), missing=label)


def test_a_label_for_gaps_is_among_those_that_are_fixed(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("no,c\n1,a\n2,\n3,b\n")
    assert people(path, "c", missing="b", labels=("a", "b")).truth.tolist() == [1, 2]
    with pytest.raises(DataError, match=r"row 2: expected one of the 2 labels .* got 'none'"):
        people(path, "c", missing="none", labels=("a", "b"))


@pytest.mark.parametrize("missing", [None, "somebody"])
def test_nobody_is_given_a_label(tmp_path, missing):
    path = tmp_path / "data.csv"
    path.write_text("who,c\n1,a\n,b\n3,b\n")
    with pytest.raises(DataError, match="row 2: expected a value in column 'who'"):
        people(path, "c", person="who", missing=missing)
    assert people(path, "c", person="who", missing=DROP).users == 2


def test_rows_are_told_by_their_numbers_in_the_file_when_others_were_dropped(tmp_path):
    path = tmp_path / "data.csv"
    rows = [f"{i},{'' if i % 3 == 0 else 'ab'[i % 2]}" for i in range(1, 101)]
    path.write_text("who,c\n" + "\n".join([*rows, "50,a", "101,x"]) + "\n")
    with pytest.raises(DataError, match=r"row 101: .* after row 50"):
        people(path, "c", person="who", missing=DROP, block=64)
    taken = people(path, "c", person="who", missing=DROP, block=64, several=RowCombination.LAST)
    assert taken.users == 68
    with pytest.raises(DataError, match="row 102: expected one of the 2 labels"):
        people(path, "c", missing=DROP, block=64, labels=("a", "b"))


def test_an_epoch_lacks_no_answer(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("who,week,c\n1,1,a\n2,1,b\n3,,b\n4,1,\n")
    found = read_epochs(
        DataFile(path), Reading(columns=("c",), person="who", missing=DROP), EpochColumn("week")
    )
    assert found.users.tolist() == [2]
    assert found.note == "Rows left out for a missing value: 2."
    with pytest.raises(DataError, match="row 3: expected a value in column 'week'"):
        read_epochs(DataFile(path), Reading(columns=("c",)), EpochColumn("week"))


@pytest.mark.parametrize("write", [lambda t: delimited(t, ","), workbook])
def test_a_blank_row_is_nobody_but_a_blank_value_between_others_is_missing(tmp_path, write):
    path = tmp_path / "data"
    path.write_bytes(write({"a": ["x", None, "y", None], "b": ["1", None, "2", None]}))
    if write is not workbook:  # a row of delimiters is a row; a line without any is blank
        path.write_bytes(b"a,b\nx,1\n\ny,2\n\n\n")
    assert people(path, "a").users == 2
    path.write_bytes(write({"a": ["x", None, "y", None]}))
    with pytest.raises(DataError, match="row 2: expected a value"):
        people(path, "a")
    assert people(path, "a", missing="?").truth.tolist() == [1, 1, 1]


def test_a_key_that_is_not_there_is_missing(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_bytes(json_lines({"no": [1], "c": ["a"]}) + b'{"no": 2}\n{"c": "b"}\n')
    assert labels(people(path, "c", missing="?")) == ["a", "?", "b"]
    assert np.array_equal(people(path, "no", missing="?").truth, [1, 1, 1])
