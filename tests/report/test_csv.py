"""CSV that no spreadsheet computes: one writer, and every text comes back from what it wrote."""

import ast
import csv
import io
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from helpers.spreadsheet_formulas import computed, read_back
from mixtally.report.document import Batches
from mixtally.report.texts import csv_chunks, csv_text

SOURCES = Path(__file__).parents[2] / "src" / "mixtally"
LIVE = ["=1+1", "+1-cmd", "-2+3", "@SUM(A1)", "\tx", "\rx", "\n=x", " =1", "'=1", "\uff1d1"]
DEAD = ["yes", "", "-99", "+4.5e3", "'tis", "a=b", "1-2", "#N"]


def cells(text):
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


def test_batches_of_columns_are_written_as_rows_are():
    labels = ["yes", "=1+1", 'a "b", c', "-3"]
    batches = [
        [
            "one, two",
            [0, 1, 2, 3],
            labels,
            [0.5, -1e-9, 3.0, 2.25],
            None,
            [True, False, True, True],
        ],
        ["three", [4, 5, 6, 7], labels, [1.0, 2.0, 3.0, 4.0], [None, 1.5, 2.5, None], [False] * 4],
        ["four", [8], ["=2"], [1.5], 7.5, [True]],
    ]
    table = Batches(("epoch", "bin", "label", "estimate", "error", "sure"), lambda: iter(batches))
    assert len(table.rows) == 9
    assert "".join(csv_chunks(table)) == csv_text(table.rows, table.names)
    assert next(csv_chunks(table, "# mark\r\n")).startswith("# mark\r\nepoch,bin,")
    assert len(list(csv_chunks(table))) == 4  # the heading, then a batch at a time
    empty = Batches(("a", "b"), lambda: iter([]))
    assert "".join(csv_chunks(empty)) == csv_text([], empty.names)


def test_equal_numbers_keep_their_kind_and_their_sign():
    columns = [[1, 1.0, True, 1.0], [0.0, -0.0, 0.0, -0.0], [None, 2.5, None, 2.5], [0, 3, 0, 3]]
    table = Batches(("mixed", "zero", "gaps", "whole"), lambda: iter([columns]))
    assert "".join(csv_chunks(table)) == csv_text(table.rows, table.names)
    assert cells("".join(csv_chunks(table)))[2] == ["1.0", "-0.0", "2.5", "3"]


@pytest.mark.parametrize("label", LIVE)
def test_what_a_spreadsheet_would_compute_has_an_apostrophe_before_it(label):
    head, row = cells(csv_text([{"label": label, "n": -3.5}]))
    assert (head, row) == (["label", "n"], ["'" + label, "-3.5"])
    assert not computed(row[0])


@pytest.mark.parametrize("label", DEAD)
def test_other_texts_and_numbers_stay_as_they_are(label):
    assert cells(csv_text([{"label": label, "n": -3, "none": None}]))[1] == [label, "-3", ""]


def test_no_delimiter_lets_a_formula_out_of_its_cell():
    """A program that was told another delimiter finds no cell that begins within a text."""
    for mark in ";\t,":
        text = csv_text([{"label": f"x{mark}=1+1", "n": 1}])
        every = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
        assert not any(computed(cell) for row in every for cell in row)


@given(st.lists(st.text("'=+-@\t\r\n ;,\"x1.e\uff1d"), min_size=1, max_size=3, unique=True))
@example(["=", "'=", "''="])
def test_every_text_comes_back(labels):
    written = [row[0] for row in cells(csv_text([{"label": one, "n": 1} for one in labels]))[1:]]
    assert [read_back(one) for one in written] == labels
    assert not any(computed(one) for one in written)


def test_names_of_columns_are_texts_too():
    assert csv_text([], ["=a", "b"]) == "'=a,b\r\n"


def test_a_row_with_more_than_the_names_is_refused():
    with pytest.raises(ValueError, match="expected rows with no columns but a"):
        csv_text([{"a": 1, "b": 2}], ["a"])


def writers(source):
    """Where a program writes CSV: uses of csv.writer and its like, by their line."""
    used = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)]
    names = {"DictWriter", "write_csv", "to_csv", "CSVWriter"}
    csv_writer = [one.lineno for one in used if ast.unparse(one) == "csv.writer"]
    return csv_writer + [one.lineno for one in used if one.attr in names]


def test_nothing_else_writes_csv():
    found = {str(p.relative_to(SOURCES)): writers(p.read_text()) for p in SOURCES.rglob("*.py")}
    assert not {name: lines for name, lines in found.items() if lines}


@pytest.mark.parametrize(
    "planted", ["csv.writer(out)", "csv.DictWriter(out, ['a'])", "frame.to_csv('x')"]
)
def test_the_twin_that_writes_csv_is_found(planted):
    assert writers(f"import csv\n{planted}\n") == [2]
