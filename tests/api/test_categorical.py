"""Categorical types of any library fix the bins: all of them, in their order."""

import pandas as pd
import pyarrow as arrow
import pytest

from mixtally.api.values import ReadingRequest, read_crowd
from mixtally.lab.data.population import LABELS, LARGEST_SET

LEVELS = ["high", "never", "low"]
VALUES = ["low", "high", "low"]
KIND = pd.CategoricalDtype(LEVELS)
CODES = arrow.DictionaryArray.from_arrays([2, 0, 2], LEVELS)
MAKERS = {
    "series": pd.Series(VALUES, dtype=KIND),
    "ordered": pd.Series(VALUES, dtype=pd.CategoricalDtype(LEVELS, ordered=True)),
    "pandas categorical": pd.Categorical(VALUES, dtype=KIND),
    "index": pd.CategoricalIndex(VALUES, dtype=KIND),
    "a column": pd.DataFrame({"answer": pd.Series(VALUES, dtype=KIND)}),
    "in a dict": {"answer": pd.Series(VALUES, dtype=KIND)},
    "arrow": CODES,
    "chunks of arrow": arrow.chunked_array([CODES, CODES[:0]]),
    "a table of arrow": arrow.table({"answer": CODES}),
}


def crowd(values, **wanted):
    return read_crowd(values, None, ReadingRequest(**wanted)).population


@pytest.mark.parametrize("maker", MAKERS)
def test_all_levels_are_bins_in_their_order(maker):
    found = crowd(MAKERS[maker])
    assert found.question.labels == tuple(LEVELS)
    assert found.codes.tolist() == [2, 0, 2]
    assert found.from_data == ()


@pytest.mark.parametrize(("kind", "declared"), [("Enum", True), ("Categorical", False)])
def test_an_enum_of_polars_declares_and_a_categorical_does_not(kind, declared):
    polars = pytest.importorskip("polars")
    dtype = polars.Enum(LEVELS) if declared else polars.Categorical
    series = polars.Series("answer", VALUES, dtype=dtype)
    for values in (series, series.to_frame()):
        found = crowd(values)
        assert found.question.labels == (tuple(LEVELS) if declared else ("high", "low"))
        assert found.from_data == (() if declared else (LABELS,))


def test_chunks_that_declare_different_labels_declare_none():
    other = arrow.DictionaryArray.from_arrays([0, 1], ["low", "mid"])
    found = crowd(arrow.chunked_array([CODES, other]))
    assert found.question.labels == ("high", "low", "mid")
    assert found.from_data == (LABELS,)


def test_labels_that_are_given_go_before_levels():
    assert crowd(MAKERS["series"], labels=["low", "high"]).question.labels == ("low", "high")


def test_levels_may_be_numbers_and_the_label_of_missing_values_is_one_more():
    for values in ([3, 1, None], [3, 1, 1]):
        series = pd.Series(values, dtype=pd.CategoricalDtype([3, 2, 1]))
        assert crowd(series, missing="drop").question.labels == ("3", "2", "1")
    for values in (["low", None], ["low", "high"]):
        series = pd.Series(values, dtype=KIND)
        assert crowd(series, missing="?").question.labels == (*LEVELS, "?")


def test_what_was_read_off_the_values_is_told():
    attributes = pd.DataFrame({"a": MAKERS["series"], "b": ["x", "y", "x"]})
    assert crowd(attributes).from_data == (LABELS,)
    assert crowd(attributes, labels={"b": ["x", "y"]}).from_data == ()
    assert crowd(VALUES).from_data == (LABELS,)
    assert crowd(VALUES, labels=LEVELS).from_data == ()
    assert crowd([["a"], ["a", "b"]]).from_data == (LABELS, LARGEST_SET)
    assert crowd([["a"], ["a", "b"]], labels=["a", "b"]).from_data == (LARGEST_SET,)
    assert crowd([["a"], ["a", "b"]], labels=["a", "b"], max_set=2).from_data == ()
    assert crowd({"a": [True, False], "b": [True, True]}).from_data == ()
