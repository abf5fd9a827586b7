"""What a new user tries in the first minutes: labels as arrays, single rows, copies and pickles."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import mixtally
from mixtally.errors import DataError, ParameterError

ANSWERS = ["tea", "milk"] * 50
LABELS = ["tea", "milk", "water"]
GIVEN = {"epsilon": 1, "delta": 1e-6, "seed": 1}


@pytest.fixture(scope="module")
def result():
    return mixtally.simulate(ANSWERS, labels=LABELS, **GIVEN)


@pytest.mark.parametrize(
    "make", [np.array, pd.Series, pd.Index, pl.Series, pa.array, tuple, pd.Categorical]
)
def test_labels_may_be_an_array_or_a_series(make, result):
    assert mixtally.simulate(ANSWERS, labels=make(LABELS), **GIVEN).tables == result.tables
    for given in ({"question": make(LABELS)}, {"labels": make(LABELS)}):
        plan = mixtally.plan(**given, epsilon=1, delta=1e-6, users=100)
        assert list(plan.question.labels) == LABELS


@pytest.mark.parametrize(
    "labels", [set(LABELS), iter(LABELS), np.array([LABELS]), np.array("tea"), np.int64(3)]
)
def test_labels_without_an_order_or_with_more_dimensions_are_refused(labels):
    with pytest.raises(ParameterError, match="labels: expected a list of labels"):
        mixtally.simulate(ANSWERS, labels=labels, **GIVEN)


@pytest.mark.parametrize(
    ("answers", "labels", "said"),
    [
        (["tea"], LABELS, "values: expected at least two rows, got 1. Add a row for each person"),
        ([], LABELS, "values: expected at least two rows, got none. Add a row for each person"),
        (ANSWERS, [], "labels: expected at least 2 labels, got 0"),
        (ANSWERS, ["tea"], "labels: expected at least 2 labels, got 1"),
        (ANSWERS, ["tea", "milk", "tea"], "got 'tea' at position 2.*positions begin at 0"),
    ],
)
def test_too_few_rows_or_labels_are_named(answers, labels, said):
    with pytest.raises(mixtally.MixtallyError, match=said):
        mixtally.simulate(answers, labels=labels, **GIVEN)


def test_a_plan_is_not_made_of_the_name_of_its_file():
    with pytest.raises(ParameterError, match=r"got str 'plan.json'. .*mixtally.Plan.load"):
        mixtally.Plan("plan.json")


def test_a_file_in_the_place_of_a_folder_is_called_a_file(result, tmp_path):
    (tmp_path / "taken").write_text("")
    for folder in ("taken", "taken/deeper"):
        with pytest.raises(DataError, match="expected a folder to write to, got a file"):
            result.save(tmp_path / folder)


def test_a_result_contains_its_labels_and_its_rows(result):
    assert "tea" in result
    assert "cake" not in result
    assert 0 not in result
    assert result["milk"] in result


def test_a_result_may_be_copied_but_not_pickled(result):
    assert copy.copy(result) is result
    assert copy.deepcopy([result]) == [result]
    with pytest.raises(ParameterError, match=r"true counts. Write result.save"):
        pickle.dumps(result)


@pytest.mark.parametrize("asked", [0, None, ["tea"]])
def test_a_label_that_is_no_text_is_shown_without_quotes(asked, result):
    with pytest.raises(ParameterError, match=rf"got {type(asked).__name__} .*\. Choose one"):
        result[asked]


def test_what_only_numbers_have_is_refused_by_its_name(result):
    for name in ("mean", "quantiles"):
        with pytest.raises(ParameterError, match=f"{name}: expected a question about numbers"):
            getattr(result, name)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: mixtally.plan(3, delta=1e-6), "got a call without epsilon. Add epsilon"),
        (lambda: mixtally.delta(epsilon=1), "got a call without protocol. Add protocol"),
    ],
)
def test_an_argument_that_is_missing_is_named(call, said):
    with pytest.raises((DataError, ParameterError), match=said):
        call()
