"""Columns of rankings that are read as sets are warned of; ticked options and lists are not."""

import itertools
import json

import numpy as np
import pytest

import mixtally
from helpers.data_files import people
from mixtally.lab.data.rankings import RankingWatch
from mixtally.lab.data.reading import RecordType, RowCombination

SETS = {"form": RecordType.SET, "separator": ";"}
SAID = "in different orders: if they are rankings, a set forgets the order"
ORDERS = [";".join(one) for one in itertools.permutations("abc")]
TOP_TWO = [";".join(one) for one in itertools.permutations("abcde", 2)]
TICKED = [";".join(one) for one in itertools.combinations("abcde", 2)]
LISTS = ["b;a", "a;b", "c", "c;a;b"]


def told(tmp_path, texts, **more):
    path = tmp_path / "data.csv"
    path.write_text("\n".join(["who,c", *(f"{i},{text}" for i, text in enumerate(texts))]) + "\n")
    return people(path, "c", **{**SETS, **more}).warning


@pytest.mark.parametrize(
    ("texts", "ranked"), [(ORDERS, True), (TOP_TWO, True), (TICKED, False), (LISTS, False)]
)
def test_equally_long_lists_in_different_orders_look_like_rankings(tmp_path, texts, ranked):
    labels = tuple("abcde")
    for every in (texts * 3, texts[::-1]):
        for more in ({}, {"labels": labels}, {"block": 64}):
            assert (SAID in told(tmp_path, every, **more)) == ranked


def test_one_answer_a_cell_and_rows_that_are_joined_are_no_rankings(tmp_path):
    assert told(tmp_path, ["a", "b", "c"]) == ""
    rows = [f"{i // 2},{'ab'[(i + i // 2) % 2]}" for i in range(40)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["who,c", *rows]) + "\n")
    how = {
        "form": RecordType.SET,
        "separator": None,
        "person": "who",
        "several": RowCombination.SET,
    }
    assert people(path, "c", **how).warning == ""


def test_lists_of_a_typed_file_and_of_python(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_text("\n".join(json.dumps({"c": one.split(";")}) for one in ORDERS) + "\n")
    assert SAID in people(path, "c", **SETS).warning
    result = mixtally.simulate(
        [one.split(";") for one in ORDERS] * 200, labels=list("abc"), epsilon=1, delta=1e-6, seed=1
    )
    assert SAID.removeprefix("in") in result.note


def test_only_some_texts_are_looked_at_and_all_sizes():
    watch, many = RankingWatch(), 20_000
    ordered = np.tile(np.array([0, 1], dtype=np.int32), many)
    watch.take(np.full(many, 2), ordered)
    assert watch.warning() == ""
    watch.take(np.full(1, 2), np.array([1, 0], dtype=np.int32))
    assert watch.warning() == ""
    early = RankingWatch()
    early.take(np.full(2, 2), np.array([0, 1, 1, 0], dtype=np.int32))
    assert SAID in early.warning()
    early.take(np.array([2, 1]), np.array([0, 1, 0], dtype=np.int32))
    assert early.warning() == ""
