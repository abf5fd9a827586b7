"""Columns become records of every kind; what cannot be one is refused by its row."""

import numpy as np
import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from mixtally.errors import DataError, ParameterError, PlanError
from mixtally.lab.data.file import DataFile
from mixtally.lab.data.readers import read_population
from mixtally.lab.data.reading import Reading, RecordType
from mixtally.model.question import Kind, Question, make_attributes_question
from mixtally.protocol.encode.numbers import Points, Scale


@pytest.fixture
def table(tmp_path):
    """Reads a CSV file with this text."""

    def call(text, *columns, question=None, **more):
        path = tmp_path / "data.csv"
        path.write_text(text)
        return read_population(DataFile(path), Reading(columns=columns, **more), question)

    return call


def bits(population):
    count = population.question.bins
    return np.unpackbits(population.records, axis=1, count=count, bitorder="little").tolist()


SETS = "c\nred;blue\nblue\ngreen; red;blue\n"


def test_sets_are_read_with_labels_from_the_data(table):
    people = table(SETS, "c", form=RecordType.SET)
    assert people.question == Question(
        name="c", bins=3, labels=("blue", "green", "red"), kind=Kind.SET, max_set=3
    )
    assert bits(people) == [[1, 0, 1], [1, 0, 0], [1, 1, 1]]
    assert people.truth.tolist() == [3, 1, 2]


def test_labels_and_the_largest_set_may_be_fixed(table):
    people = table(
        SETS, "c", form=RecordType.SET, labels=("red", "blue", "green", "pink"), max_set=4
    )
    assert people.question.max_set == 4
    assert people.truth.tolist() == [2, 3, 1, 0]


@pytest.mark.parametrize(
    ("text", "more", "said"),
    [
        (SETS, {"max_set": 2}, "row 3: expected at most 2 labels"),
        (SETS, {"labels": ("red", "blue")}, "row 3: expected one of the 2 labels .* 'green'"),
        ("x,c\n1,a;b\n2,\n", {}, "row 2: expected a value in column 'c', .*--empty-sets"),
        ("c\na;;b\n", {}, "row 1: expected labels between"),
        ("c\na\na\n", {}, "two distinct values"),
        ("c\n", {}, "two rows, got none"),
    ],
)
def test_sets_that_cannot_be_hidden_are_refused(table, text, more, said):
    with pytest.raises(DataError, match=said):
        table(text, "c", form=RecordType.SET, **more)


def test_empty_cells_are_empty_sets_when_said_so(table):
    people = table("x,c\n1,a;b\n2,\n3,b\n", "c", form=RecordType.SET, empty_sets=True)
    assert bits(people) == [[1, 1], [0, 0], [0, 1]]


def test_blank_lines_of_one_column_are_empty_sets_too(table):
    people = table("c\na;b\n\n\nb\n", "c", form=RecordType.SET, empty_sets=True)
    assert people.users == 4


def test_columns_of_zeros_and_ones_are_bits(table):
    people = table("a,x,b\n1,9,0\nyes,9,no\nFALSE,9,true\n", "a", "b", form=RecordType.BITS)
    assert people.question == Question(name="a+b", bins=2, labels=("a", "b"), kind=Kind.BITS)
    assert bits(people) == [[1, 0], [1, 0], [0, 1]]
    assert people.truth.tolist() == [2, 1]


def test_a_column_of_strings_is_one_vector_each(table):
    people = table("v\n01101\n10000\n", "v", form=RecordType.BITS)
    assert people.question == Question(name="v", bins=5, kind=Kind.BITS)
    assert bits(people) == [[0, 1, 1, 0, 1], [1, 0, 0, 0, 0]]


def test_one_column_of_yes_and_no_is_one_bit(table):
    people = table("ill\nyes\nno\nno\n", "ill", form=RecordType.BITS)
    assert people.question == Question(name="ill", bins=1, labels=("ill",), kind=Kind.BITS)
    assert people.truth.tolist() == [1]


@pytest.mark.parametrize(
    ("text", "columns", "said"),
    [
        ("v\n01101\n0110\n", ["v"], "row 2: expected 5 bits, got 4"),
        ("v\n01101\n01x01\n", ["v"], "row 2: expected a string of zeros and ones"),
        ("a,b\n1,0\n1,2\n", ["a", "b"], "row 2, column 'b': expected 0 or 1"),
        ("a,b\n1,0\n1,\n", ["a", "b"], "row 2: expected a value in column 'b'"),
        ("v\n" + "0" * 65 + "\n", ["v"], "at most 64 bits, got 65"),
        ("v\n", ["v"], "two rows"),
    ],
)
def test_bits_that_are_none_are_refused(table, text, columns, said):
    with pytest.raises(DataError, match=said):
        table(text, *columns, form=RecordType.BITS)


def test_attributes_are_one_bit_each(table):
    people = table("city,age\nx,old\ny,young\nz,old\n", "city", "age", form=RecordType.ATTRIBUTES)
    assert people.question == Question(
        name="city+age", bins=5, kind=Kind.SET, max_set=2, attributes=(3, 2),
        labels=("city=x", "city=y", "city=z", "age=old", "age=young"),
    )  # fmt: skip
    assert bits(people) == [[1, 0, 0, 1, 0], [0, 1, 0, 0, 1], [0, 0, 1, 1, 0]]


def test_attributes_take_fixed_labels_and_a_plans(table):
    text, labels = "a,b\nx,1\ny,0\n", ("a=y", "a=x", "b=0", "b=1", "b=2")
    people = table(text, "a", "b", form=RecordType.ATTRIBUTES, labels=labels)
    assert people.question.labels == labels
    assert people.question.attributes == (2, 3)
    numbered = make_attributes_question("q", (2, 3))
    people = table("a,b\n1,2\n0,0\n", "a", "b", form=RecordType.ATTRIBUTES, question=numbered)
    assert people.question == numbered
    assert bits(people) == [[0, 1, 0, 0, 1], [1, 0, 1, 0, 0]]


@pytest.mark.parametrize(
    ("text", "more", "said"),
    [
        ("a,b\nx,1\n,0\n", {}, "row 2: expected a value in column 'a'"),
        ("a,b\nx,1\nx,0\n", {}, "column 'a'.*two distinct values"),
        (
            "a,b\nx,1\ny,0\n",
            {"labels": ("a=x", "a=y", "b=1", "b=2")},
            "row 2: expected one of the 2",
        ),
        ("a,b\nx,1\ny,0\n", {"labels": ("x", "y")}, "label 'x': expected column=value"),
    ],
)
def test_attributes_that_cannot_be_counted_are_refused(table, text, more, said):
    with pytest.raises(DataError, match=said):
        table(text, "a", "b", form=RecordType.ATTRIBUTES, **more)


def test_numbers_are_clipped_and_the_clipping_is_told(table):
    people = table("x\n-5\n2.5\n1e2\n", "x", form=RecordType.NUMBER, scale=Points(0, 10))
    assert people.codes.tolist() == [0, 0, 0]  # until they are rounded
    cut = table("x\n-5\n2.5\n1e2\n", "x", form=RecordType.NUMBER, scale=Scale(0, 10, 4))
    assert cut.codes.tolist() == [0, 1, 3]
    assert cut.values is None
    assert people.values.tolist() == [0.0, 2.5, 10.0]
    assert "2 of 3 were clipped" in people.note


@pytest.mark.parametrize(
    ("cell", "said"), [("ten", "row 2: expected a finite number, got 'ten'"),
                       ("nan", "expected a finite number"), ("", "row 2: expected a value")],
)  # fmt: skip
def test_what_is_no_number_is_refused_by_row(table, cell, said):
    with pytest.raises(DataError, match=said):
        table(f"i,x\n1,1\n2,{cell}\n", "x", form=RecordType.NUMBER, scale=Scale(0, 10, 4))


def test_several_columns_of_parquet_are_read(tmp_path):
    path = tmp_path / "data.parquet"
    parquet.write_table(
        arrow.table({"a": [True, False], "z": [0, 0], "b": [1.0, 0.0]}), path
    )  # fmt: skip
    people = read_population(DataFile(path), Reading(columns=("b", "a"), form=RecordType.BITS))
    assert bits(people) == [[1, 1], [0, 0]]


@pytest.mark.parametrize(
    ("columns", "form"),
    [
        ((), RecordType.BITS),
        (("a", "b"), RecordType.ONE),
        (("a",), RecordType.ATTRIBUTES),
        (("a", "a"), RecordType.BITS),
    ],
)
def test_columns_that_are_no_record_are_refused(columns, form):
    with pytest.raises(ParameterError, match="columns: expected"):
        Reading(columns=columns, form=form)


KINDS = {
    "one": Question(name="q", bins=2),
    "set": Question(name="q", bins=3, kind=Kind.SET, max_set=2),
    "attributes": make_attributes_question("q", (2, 2)),
    "bits": Question(name="q", bins=5, kind=Kind.BITS),
}
WAYS = {
    "one": {"form": RecordType.ONE}, "set": {"form": RecordType.SET},
        "bits": {"form": RecordType.BITS},
    "attributes": {"form": RecordType.ATTRIBUTES},
}  # fmt: skip


@pytest.mark.parametrize("read_as", WAYS)
@pytest.mark.parametrize("planned", KINDS)
def test_a_plan_of_another_kind_is_refused(table, read_as, planned):
    if read_as == planned:
        return
    columns = ("a", "b") if read_as == "attributes" else ("a",)
    with pytest.raises(PlanError, match="a plan for data read as " + read_as):
        table("a,b\n0,1\n1,0\n", *columns, question=KINDS[planned], **WAYS[read_as])


def test_a_plan_for_other_bins_is_refused(table):
    with pytest.raises(PlanError, match="a plan for 2 bits, got one for 5"):
        table("a,b\n0,1\n", "a", "b", form=RecordType.BITS, question=KINDS["bits"])
    with pytest.raises(PlanError, match="3 attributes, as in the data, got one for 2"):
        table(
            "a,b,c\n0,1,1\n",
            "a",
            "b",
            "c",
            form=RecordType.ATTRIBUTES,
            question=KINDS["attributes"],
        )
    other = Question(name="q", bins=2, labels=Scale(0, 20, 2).labels)
    with pytest.raises(PlanError, match=r"bins \[0, 5\) to \[5, 10\]"):
        table("a\n1\n", "a", form=RecordType.NUMBER, scale=Scale(0, 10, 2), question=other)
