"""Whatever they come from, a file or a program, the same values are the same records."""

import datetime
from functools import cache

import pandas as pd
import polars
import pyarrow as arrow
import pytest

from helpers.data_files import delimited, in_every_format, in_parquet, json_lines, people
from mixtally.api.values import ReadingRequest, read_crowd
from mixtally.errors import DataError
from mixtally.lab.data.reading import DROP, RecordType
from mixtally.protocol.encode.numbers import Scale

FRAMES = {
    "lists": lambda table: table,
    "pandas": lambda table: pd.DataFrame(table),
    "pandas objects": lambda table: pd.DataFrame(table, dtype=object),
    "polars": lambda table: polars.DataFrame(table),
    "arrow": lambda table: arrow.table(table),
}
FILES = list(in_every_format({"c": ["x"]}))
WRITERS = {
    "comma.csv": lambda table: delimited(table, ","),
    "lines.jsonl": json_lines,
    "table.parquet": in_parquet,
}
TYPED = ["lines.jsonl", "table.parquet", *FRAMES]
LISTS = [name for name in TYPED if name != "pandas objects"]
NO = list(range(6))


@pytest.fixture
def read(tmp_path):
    """Columns from a source, read as the fields of a ``Reading`` say."""

    def call(source, table, form=RecordType.ONE, file=None, **reading):
        if source in FRAMES:
            wanted = {"missing": "refuse", **reading}
            if form is RecordType.ATTRIBUTES and "labels" in wanted:
                wanted["labels"] = by_column(wanted["labels"])
            return read_crowd(
                FRAMES[source](table), None, ReadingRequest(kind=form, **wanted)
            ).population
        path = tmp_path / "data"
        path.write_bytes(file or WRITERS[source](numbered(table)))
        if form is RecordType.SET:
            reading = {"separator": None, **reading}
        return people(path, *table, form=form, **reading)

    return call


def numbered(table):
    """``table`` with a column more: in one alone a blank row is nobody."""
    return {**table, "no": NO[: len(next(iter(table.values())))]}


def by_column(labels):
    found = {}
    for label in labels:
        column, _, value = label.partition("=")
        found.setdefault(column, []).append(value)
    return found


def facts(population):
    values = None if population.values is None else population.values.tolist()
    return population.question, population.records.tolist(), values, population.from_data


CELLS = ["b;a;", "a", "x; y;b", "  b ;  x; y ", "cafe\u0301;a;a", "a;caf\u00e9"]
TABLES = {
    "texts with gaps": ({"c": ["red", None, "b", "red", " ", "caf\u00e9"]}, {"missing": DROP}),
    "a label for gaps": ({"c": ["red", None, "b", "red", " ", "x"]}, {"missing": "none"}),
    "texts": ({"c": ["red", "blue", "Gr\u00fcn", "red", 'say "x", y', "blue"]}, {}),
    "wholes": ({"c": [10, 9, 2, 100, 9, 10]}, {}),
    "wholes with gaps": ({"c": [10, None, 2, 100, 9, 10]}, {"missing": "?"}),
    "fractions": ({"c": [1.5, 2.0, 1.5, -3.25, 2.0, 0.1]}, {}),
    "named values": ({"c": ["a", "NA", "b", " NA", "a", "b"]}, {"missing_values": ("NA",),
                                                               "missing": DROP}),
    "named numbers": ({"c": [1, -99, 2, 1, 2, 2]}, {"missing_values": ("-99",), "missing": "2"}),
    "numbers": ({"c": [1.5, 99.0, None, -3.25, 2.0, 0.1]},
                {"form": RecordType.NUMBER, "scale": Scale(0, 4, 4), "missing": "1"}),
    "numbers as text": ({"c": ["1.5", "99", "3", "-3.25", "2.0", ".1"]},
                        {"form": RecordType.NUMBER, "scale": Scale(0, 4, 4)}),
    "bits": ({"a": [1, 0, None, 1, 0, 0], "b": ["yes", "no", "no", "Yes", "no", "yes"]},
             {"form": RecordType.BITS, "missing": "0"}),
    "strings of bits": ({"c": ["010", "111", "000", "010", "001", "111"]},
        {"form": RecordType.BITS}),
    "attributes": ({"a": ["x", "y", "x", None, "y", "x"], "b": [10, 9, 10, 9, 9, 10]},
                   {"form": RecordType.ATTRIBUTES, "missing": DROP}),
    "labels of one attribute": (
        {"a": ["x", "y", "x", "y", "y", "x"], "b": [10, 9, 10, 9, 9, 10]},
        {"form": RecordType.ATTRIBUTES, "labels": ("a=y", "a=x", "a=z")},
    ),
    "options that hold the separator": (
        {"c": CELLS},
        {"form": RecordType.SET, "separator": ";", "labels": ("a", "b", "x; y", "caf\u00e9")},
    ),
    "options that are cut": ({"c": CELLS}, {"form": RecordType.SET, "separator": ";"}),
    "sets in cells": ({"c": ["a;b", "b;", "b; a", "x;a", None, "a"]},
                      {"form": RecordType.SET, "separator": ";", "missing": DROP}),
    "members that are missing": ({"c": ["a;NA", "b", "NA", "a;b", "a", "b"]},
                                 {"form": RecordType.SET, "separator": ";", "missing": DROP,
                                  "missing_values": ("NA",)}),
    "sets without labels": ({"c": ["a;b", "b", "b", "a", None, "a"]},
                            {"form": RecordType.SET, "separator": ";", "empty_sets": True}),
}  # fmt: skip


@cache
def written(name):
    return in_every_format(numbered(TABLES[name][0]))


@pytest.mark.parametrize("source", [*FILES, *FRAMES])
@pytest.mark.parametrize("name", TABLES)
def test_the_same_table_is_the_same_records(read, name, source):
    table, reading = TABLES[name]
    found = read(source, table, file=written(name).get(source), **reading)
    assert facts(found) == facts(read("lists", table, **reading))


def test_the_records_are_those_that_stand_there(read):
    """The twin: sources that agree on nonsense would pass the comparison."""
    table, reading = TABLES["members that are missing"]
    assert read("comma.csv", table, **reading).truth.tolist() == [2, 3]
    for name, counts in (
        ("options that hold the separator", [4, 3, 2, 2]),
        ("options that are cut", [4, 3, 2, 2, 2]),
    ):
        table, reading = TABLES[name]
        assert read("comma.csv", table, **reading).truth.tolist() == counts
    table, reading = TABLES["labels of one attribute"]
    found = read("comma.csv", table, **reading)
    assert found.question.labels == ("a=y", "a=x", "a=z", "b=9", "b=10")
    assert found.truth.tolist() == [3, 3, 0, 3, 3]
    table, reading = TABLES["numbers"]
    assert read("comma.csv", table, **reading).truth.tolist() == [2, 2, 1, 1]


@pytest.mark.parametrize("source", LISTS)
def test_lists_are_sets_whose_labels_count_once(read, source):
    lists = [["x", "x"], ["a;b", "x"], [], ["x"], ["a;b"], ["x"]]
    found = read(source, {"c": lists}, RecordType.SET)
    assert (found.question.labels, found.truth.tolist()) == (("a;b", "x"), [2, 4])
    with pytest.raises(DataError, match="at most 1 label, the largest set that is hidden"):
        read(source, {"c": lists}, RecordType.SET, max_set=1)


@pytest.mark.parametrize("source", LISTS)
@pytest.mark.parametrize("gap", [None, "NA", " "])
def test_a_set_that_lacks_a_label_is_missing(read, source, gap):
    lists = [["a", "b"], ["a", gap], ["b"], ["a"], ["b"], ["a"]]
    with pytest.raises(DataError, match=r"row 2: .* missing|values\[1\]: .* missing"):
        read(source, {"c": lists}, RecordType.SET, missing_values=("NA",))
    found = read(source, {"c": lists}, RecordType.SET, missing_values=("NA",), missing=DROP)
    assert (found.users, found.truth.tolist()) == (5, [3, 3])
    found = read(source, {"c": lists}, RecordType.SET, missing_values=("NA",), missing="?")
    assert dict(zip(found.question.labels, found.truth, strict=True)) == {"?": 1, "a": 3, "b": 3}


@pytest.mark.parametrize("source", ["lines.jsonl", "lists", "pandas objects"])
@pytest.mark.parametrize(
    "values", [[1, "1"], ["1", 1], [1, True], ["True", False], [["a"], 1], [1.5, "2"]]
)
def test_values_of_two_types_are_not_taken_for_one_another(read, source, values):
    form = RecordType.SET if isinstance(values[0], list) else RecordType.ONE
    with pytest.raises(DataError, match=r"one type: .* as before|expected a list of labels"):
        read(source, {"c": values}, form)


@pytest.mark.parametrize("source", ["lines.jsonl", "lists", "pandas objects"])
def test_text_that_reads_like_no_other_type_stands_beside_any(read, source):
    assert read(source, {"c": [1, "many", 2, 1]}).question.labels == ("1", "2", "many")
    found = read(source, {"c": [1, "NA", 2, 1]}, missing=DROP, missing_values=("NA",))
    assert found.truth.tolist() == [2, 1]


@pytest.mark.parametrize("source", TYPED)
def test_truth_values_have_one_text(read, source):
    """The CSV of a library has its own."""
    found = read(source, {"c": [True, False, True, None]}, missing="?")
    assert (found.question.labels, found.truth.tolist()) == (("?", "False", "True"), [1, 1, 2])


DAYS = [datetime.date(2024, 2, 29), datetime.date(2024, 3, 1)] * 3
MOMENTS = [datetime.datetime(2024, 2, 29, 13, 5), datetime.datetime(2024, 3, 1)] * 3


@pytest.mark.parametrize("source", ["table.parquet", *FRAMES])
@pytest.mark.parametrize(
    ("values", "labels"),
    [(DAYS, ("2024-02-29", "2024-03-01")), (MOMENTS, ("2024-02-29 13:05:00", "2024-03-01"))],
)
def test_days_and_moments_have_one_text(read, source, values, labels):
    assert read(source, {"c": values}).question.labels == labels
