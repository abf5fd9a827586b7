"""Missing values of every type have a label; values that mean missing are named."""

import datetime

import numpy as np
import pandas as pd
import pytest

from mixtally.api.labels import missing_texts
from mixtally.api.values import ReadingRequest, read_crowd
from mixtally.errors import DataError, ParameterError

DAY = datetime.date(2024, 2, 29)


def crowd(values, **wanted):
    return read_crowd(values, None, ReadingRequest(**wanted)).population


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([10, None, 2], ("2", "10", "?")),
        (pd.Series([10.0, None, 2.0]), ("2", "10", "?")),
        (pd.Series([10, None, 2], dtype="Int64"), ("2", "10", "?")),
        ([True, None, False], ("?", "False", "True")),
        ([DAY, None, DAY + datetime.timedelta(1)], ("2024-02-29", "2024-03-01", "?")),
        (["b", None, "a"], ("?", "a", "b")),
    ],
)
def test_a_label_for_missing_values_goes_with_every_type(values, labels):
    found = crowd(values, missing="?")
    assert found.question.labels == labels
    assert found.question.label(int(found.codes[1])) == "?"
    assert crowd(values, missing="?", labels=[*labels, "!"]).codes.tolist() == found.codes.tolist()


@pytest.mark.parametrize("values", [["a", "NA", "b", " "], pd.Series(["a", "NA", "b", " "])])
def test_named_values_are_missing(values):
    assert crowd(values, missing="drop", missing_values=("NA", " ")).codes.tolist() == [0, 1]
    assert crowd([1, -99, 2.0], missing="drop", missing_values=("-99",)).users == 2
    assert missing_texts(["NA", -99, 2.0]) == ("NA", "-99", "2")
    assert missing_texts([None, float("nan"), "", DAY, np.int64(-99)]) == ("2024-02-29", "-99")
    with pytest.raises(ParameterError, match="a list of values"):
        missing_texts("NA")
    with pytest.raises(ParameterError, match="text, numbers or dates, got ndarray"):
        missing_texts([np.array([1, 2])])


@pytest.mark.parametrize(
    ("values", "kind", "counts"),
    [
        ({"a": [True, False, "NA"], "b": [True] * 3}, "bits", [1, 2]),
        ({"a": ["x", "y", "NA"], "b": ["u", "u", "v"]}, "attributes", [1, 1, 2, 0]),
        ([["x"], ["y", "x"], "NA"], "set", [2, 1]),
    ],
)
def test_named_values_are_missing_in_every_kind_of_record(values, kind, counts):
    labels = {"a": ["x", "y"], "b": ["u", "v"]} if kind == "attributes" else None
    found = crowd(values, kind=kind, labels=labels, missing="drop", missing_values=("NA",))
    assert found.truth.tolist() == counts
    if kind != "bits":
        found = crowd(values, kind=kind, missing="?", missing_values=("NA",))
        assert found.users == 3
        assert any(label.endswith("?") for label in found.question.labels)


def test_a_bin_that_reads_like_a_missing_value_is_told_when_nothing_was_said():
    def notes(**wanted):
        return read_crowd(["a", "NA", "b"], None, ReadingRequest(**wanted)).public

    assert any("missing_values NA" in note for note in notes())
    assert not any("'NA'" in note for note in notes(labels=["a", "b", "NA"]))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([("yes", 3), ("no", 2)], "got tuples, which may be rows"),
        (pd.Series(["a", "b", "a"]).value_counts(), "before value_counts"),
        (pd.Series(["a", "b", "a"]).value_counts(normalize=True), "before value_counts"),
        (pd.Series(["a", "b", "a"], name="x").value_counts().reset_index(), "before value_counts"),
    ],
)
def test_counts_and_rows_are_not_taken_for_people(values, said):
    with pytest.raises(DataError, match=said):
        crowd(values)
    if "tuple" in said:
        assert crowd([("a", "b"), ("b",)], kind="set").truth.tolist() == [1, 2]
