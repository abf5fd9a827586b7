"""Sets in Python: as lists, or as text that is split as the cells of a file are."""

import pandas as pd
import pytest

from mixtally import plan, simulate
from mixtally.api.values import ReadingRequest, read_crowd
from mixtally.errors import DataError, InputError, ParameterError

WISH = {"epsilon": 1, "delta": 1e-6}


def crowd(values, **wanted):
    return read_crowd(values, None, ReadingRequest(separator=";", **wanted)).population


def test_half_a_pair_of_brackets_is_said(tmp_path):
    cells = ["tea (black; green);water", "water"]
    (said,) = read_crowd(cells, None, ReadingRequest(separator=";")).public
    assert said.startswith("The label 'green)' has half a pair of brackets: if the separator")
    assert said.endswith("give them unsplit and list these with labels.")
    assert said in repr(simulate(cells * 200, separator=";", **WISH))
    lists = [cell.split(";") for cell in cells]
    assert "half a pair" in "".join(read_crowd(lists, None, ReadingRequest()).public)
    labels = ["water", "tea (black; green)"]
    assert read_crowd(cells, None, ReadingRequest(separator=";", labels=labels)).public == ()
    assert crowd(cells, labels=labels).truth.tolist() == [2, 1]


def test_a_plan_knows_the_options(tmp_path):
    asked = plan(["x; y", "z"], users=400, max_set=2, **WISH)
    found = simulate(["x; y;z", "z;"] * 200, plan=asked, separator=";")
    assert (found.people, found.from_data) == (400, ())


def test_lists_numbers_and_gaps_stand_beside_text():
    found = crowd(["1;2", 2, ["2", "3"], None], missing="?")
    assert found.question.labels == ("1", "2", "3", "?")
    assert found.truth.tolist() == [1, 3, 1, 1]
    assert crowd(["1;2", "2", " "], missing="drop").users == 2
    assert crowd(["1;2", "2", "NA"], missing="drop", missing_values=("NA",)).users == 2


@pytest.mark.parametrize("gap", [None, "NA"])
def test_a_label_for_missing_values_goes_with_lists(gap):
    found = read_crowd([["b"], gap, []], None, ReadingRequest(missing="?", missing_values=("NA",)))
    assert found.population.question.labels == ("?", "b")
    assert found.population.truth.tolist() == [1, 1]


def test_arrays_of_labels_stand_beside_values_that_mean_missing():
    cells = [pd.Series(["a", "b"]).to_numpy(), pd.Series(["b"]).to_numpy()]
    assert read_crowd(cells, None, ReadingRequest(missing_values=("NA",))).population.users == 2


@pytest.mark.parametrize(
    ("values", "given", "said"),
    [
        (["a;;b", "a"], {}, r"values\[0\]: expected labels between ';'"),
        ([1j, "a"], {}, r"values\[0\]: expected text, a number"),
        ([["a\x02"], "b"], {}, "text without control characters"),
        ([["a"], {"b": 1}], {}, r"values\[1\]: expected text, a number"),
        (["a;b"] * 9, {"separator": ""}, "separator: expected the text between labels"),
        (["a;b"] * 9, {"separator": 1}, "separator: expected text"),
        (["a;b"] * 9, {"kind": "one"}, "separator: expected another kind of record than one"),
        (["a;b"] * 9, {"separator": None, "kind": "set"}, r"with separator=';'"),
        (["a;b;c"] * 9, {"max_set": 2}, "at most 2 labels"),
    ],
)
def test_what_cannot_be_split_is_refused(values, given, said):
    with pytest.raises(InputError, match=said) as refused:
        simulate(values, **{"separator": ";", **WISH, **given})
    assert isinstance(refused.value, DataError | ParameterError)
