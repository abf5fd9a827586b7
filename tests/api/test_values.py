"""Values of every library and every kind become the same records; missing ones follow one rule."""

import numpy as np
import pandas as pd
import polars
import pyarrow as arrow
import pytest

from mixtally.api.values import ReadingRequest, read_crowd
from mixtally.protocol.encode.numbers import Points, Scale

ANSWERS = ["yes", "no", "yes", "unsure"]
MAKERS = {
    "list": list,
    "tuple": tuple,
    "numpy": np.array,
    "numpy objects": lambda values: np.array(values, dtype=object),
    "pandas": pd.Series,
    "pandas categories": lambda values: pd.Series(values, dtype="category"),
    "a column of pandas": lambda values: pd.DataFrame({"answer": values}),
    "arrow": arrow.array,
    "chunks of arrow": lambda values: arrow.chunked_array([values]),
    "a column of arrow": lambda values: arrow.table({"answer": values}),
    "polars": lambda values: polars.Series("answer", values),
    "a column of polars": lambda values: polars.DataFrame({"answer": values}),
    "a dict": lambda values: {"answer": values},
    "a generator": lambda values: (value for value in values),
}


def crowd(values, **wanted):
    return read_crowd(values, None, ReadingRequest(**wanted)).population


@pytest.mark.parametrize("maker", MAKERS)
def test_labels_of_any_library_are_the_same_records(maker):
    found = crowd(MAKERS[maker](ANSWERS))
    assert found.question.labels == ("no", "unsure", "yes")
    assert found.codes.tolist() == [2, 0, 2, 1]
    assert found.question.name == "answer"


@pytest.mark.parametrize("values", [[10, 9, 100], [10.0, 9.0, 100.0], np.array([10, 9, 100])])
def test_numbers_as_labels_stand_in_their_order(values):
    found = crowd(values)
    assert found.question.labels == ("9", "10", "100")
    assert found.codes.tolist() == [1, 0, 2]


def test_given_labels_keep_their_order_and_may_be_empty_bins():
    found = crowd(["b", "a"], labels=["c", "b", "a"])
    assert found.question.labels == ("c", "b", "a")
    assert found.truth.tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    "values",
    [
        [["a", "b"], ["b"], []],
        [("a", "b"), {"b"}, ()],
        [np.array(["a", "b"]), ["b"], []],
        arrow.array([["a", "b"], ["b"], []]),
        polars.Series([["a", "b"], ["b"], []]),
        pd.Series([["a", "b"], ["b"], []]),
    ],
)
def test_lists_of_labels_are_sets(values):
    found = crowd(values)
    assert (found.question.kind, found.question.max_set) == ("set", 2)
    assert found.truth.tolist() == [1, 2]
    assert found.users == 3


@pytest.mark.parametrize(
    "values",
    [
        {"a": [True, False, True], "b": [True, True, True]},
        pd.DataFrame({"a": [True, False, True], "b": [True, True, True]}),
        arrow.table({"a": [True, False, True], "b": [True, True, True]}),
        np.array([[True, True], [False, True], [True, True]]),
    ],
)
def test_columns_of_booleans_are_bits(values):
    found = crowd(values)
    assert found.question.kind == "bits"
    assert found.truth.tolist() == [2, 3]


def test_other_columns_are_attributes():
    found = crowd(pd.DataFrame({"color": ["red", "blue", "red"], "size": [2, 10, 10]}))
    assert found.question.attributes == (2, 2)
    assert found.question.labels == ("color=blue", "color=red", "size=2", "size=10")
    assert found.truth.tolist() == [1, 2, 1, 2]


def test_numbers_are_cut_and_their_ends_count_inside():
    found = crowd([-5, 0, 9.99, 10, 20, 99], scale=Scale(0, 20, 2))
    assert found.codes.tolist() == [0, 0, 0, 1, 1, 1]
    kept = crowd([-5, 0, 9.99, 10, 20, 99], scale=Points(0, 20))
    assert kept.values.tolist() == [0, 0, 9.99, 10, 20, 20]
    assert kept.grid is None


GAPS = {
    "list": ["yes", None, "no", ""],
    "numpy": np.array(["yes", None, "no", ""], dtype=object),
    "pandas": pd.Series(["yes", np.nan, "no", pd.NA], dtype=object),
    "pandas text": pd.Series(["yes", None, "no", None], dtype="string"),
    "arrow": arrow.array(["yes", None, "no", None]),
}


@pytest.mark.parametrize("maker", GAPS)
def test_missing_values_are_dropped_or_labelled_as_is_said(maker):
    assert crowd(GAPS[maker], missing="drop").codes.tolist() == [1, 0]
    found = crowd(GAPS[maker], missing="none given")
    assert found.question.labels == ("no", "none given", "yes")
    assert found.codes.tolist() == [2, 1, 0, 1]


def test_what_was_done_is_told_apart_from_how_often():
    found = read_crowd(
        [1.0, 30.0, None, 5.0], None, ReadingRequest(scale=Scale(0, 20, 2), missing="drop")
    )
    assert not any(digit in line for line in found.public for digit in "13456789")
    assert found.raw == (
        "Values below 0 count as 0 and values above 20 as 20: 1 of 3 were clipped. "
        "Rows left out for a missing value: 1.",
    )
    assert found.population.note == ""


def test_a_gap_in_any_column_drops_the_person():
    values = {"a": ["x", "y", "x"], "b": ["u", "v", None]}
    assert crowd(values, missing="drop").users == 2
