"""A column of a file becomes a crowd: every row a person, no value guessed."""

import gzip

import numpy as np
import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.data_files import people as people_in
from mixtally.errors import DataError
from mixtally.lab.data.label_merging import (
    check_fractions,
    check_spaces,
    natural_sort_key,
    normalize_nfc,
)
from mixtally.model.question import Question

TEXT = st.characters(codec="utf-8", exclude_categories=["Cc"], include_characters="\t\r\n")


@pytest.fixture
def read(tmp_path):
    """The population of a CSV file with this text."""

    def call(text, column="color", labels=None):
        path = tmp_path / "data.csv"
        path.write_bytes(text.encode())
        return people_in(path, column, labels=labels)

    return call


@pytest.fixture
def read_parquet(tmp_path):
    """The population of a Parquet file with this column."""

    def call(values, labels=None):
        path = tmp_path / "data.parquet"
        parquet.write_table(arrow.table({"other": range(len(values)), "color": values}), path)
        return people_in(path, "color", labels=labels)

    return call


def values(population):
    return [population.question.label(code) for code in population.codes.tolist()]


def test_labels_are_the_distinct_values_sorted(read):
    people = read("color\nred\nblue\nred\ngreen\n")
    assert people.question == Question(name="color", bins=3, labels=("blue", "green", "red"))
    assert people.codes.tolist() == [2, 0, 2, 1]
    assert people.truth.tolist() == [1, 1, 2]
    assert people.codes.dtype == np.int64


def test_fixed_labels_keep_their_order_and_their_empty_bins(read):
    people = read("color\nred\nblue\n", labels=("violet", "red", "blue"))
    assert people.question.labels == ("violet", "red", "blue")
    assert people.codes.tolist() == [1, 2]
    assert people.truth.tolist() == [0, 1, 1]


def test_one_value_is_enough_when_labels_are_fixed(read):
    assert read("color\nred\nred\n", labels=("red", "blue")).truth.tolist() == [2, 0]


def test_a_value_without_a_label_names_its_row(read):
    with pytest.raises(DataError, match=r"row 2: expected one of the 2 labels .* got 'teal'"):
        read("color\nred\nteal\n", labels=("red", "blue"))


def test_a_byte_order_mark_is_no_part_of_the_column_name(read):
    assert read("\ufeffcolor\nred\nblue\n").question.labels == ("blue", "red")


def test_quoted_cells_hold_commas_quotes_and_line_breaks(read):
    people = read('id,color\n1,"red, dark"\n2,"say ""blue"""\n3,"two\nlines"\n')
    assert values(people) == ["red, dark", 'say "blue"', "two\nlines"]


def test_blank_lines_are_no_people(read):
    assert len(read("id,color\n\n1,red\n\n\n2,blue\n\n").codes) == 2


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_kind_of_line_end_is_read(read, end):
    assert values(read(end.join(["color", "red", "blue", ""]))) == ["red", "blue"]


def test_the_last_line_needs_no_end(read):
    assert values(read("color\nred\nblue")) == ["red", "blue"]


@pytest.mark.parametrize("row", ["2,", "2,  ", '2,""'])
def test_an_empty_cell_is_a_missing_value_with_its_number(read, row):
    with pytest.raises(
        DataError, match=r"row 2: expected a value in column 'color', got a missing"
    ):
        read(f"id,color\n1,red\n{row}\n3,blue\n")


def test_a_row_longer_than_the_header_is_refused_not_read_in_the_wrong_column(read):
    """An unquoted comma in the second cell: " dark" is no size."""
    with pytest.raises(DataError, match="row 1"):
        read("id,color,size\n1,red, dark,5\n2,blue,1\n", column="size")


def test_values_are_taken_as_written(read):
    people = read("color\n 2\n1\n3.0\n01\nNA\n")
    assert people.question.labels == ("01", "1", "3.0", " 2", "NA")


@pytest.mark.parametrize("other", [" 1", "1 ", "\u00a01"])
def test_values_that_only_spaces_tell_apart_are_refused(read, other):
    with pytest.raises(DataError, match="differ in more than spaces"):
        read(f"color\n1\n2\n{other}\n")


def test_packed_and_plain_files_are_the_same_crowd(tmp_path, read):
    text = "color\nred\nblue\nred\n"
    (tmp_path / "DATA.CSV.GZ").write_bytes(gzip.compress(text.encode()))
    packed = people_in(tmp_path / "DATA.CSV.GZ", "color")
    assert packed.question == read(text).question
    assert packed.codes.tolist() == read(text).codes.tolist()


@pytest.mark.parametrize(
    ("column", "written"),
    [
        ([3, 10, 3], ["3", "10", "3"]),
        (arrow.array(["red", "blue", "red"]).dictionary_encode(), ["red", "blue", "red"]),
        (arrow.array(["red", "blue"], type=arrow.large_string()), ["red", "blue"]),
        ([True, False], ["True", "False"]),
        ([1.5, 2.0], ["1.5", "2"]),
    ],
    ids=["integers", "dictionary", "large strings", "booleans", "floats"],
)
def test_parquet_values_become_strings(read_parquet, column, written):
    assert values(read_parquet(column)) == written


def test_parquet_integers_match_numbered_labels(read_parquet):
    people = read_parquet([2, 0, 2], labels=("0", "1", "2"))
    assert people.truth.tolist() == [1, 0, 2]


def test_an_empty_string_in_parquet_is_a_missing_value(read_parquet):
    with pytest.raises(DataError, match="row 2"):
        read_parquet(["red", "", "blue"])


def test_text_stored_as_bytes_in_parquet_is_read_as_text_or_refused(read_parquet):
    try:
        people = read_parquet([b"red", b"blue"])
    except DataError:
        return
    assert values(people) == ["red", "blue"]


def test_a_large_parquet_file_is_read_past_its_first_batch(read_parquet):
    assert read_parquet([i % 7 for i in range(200_000)]).truth.sum() == 200_000


@given(st.lists(st.text(TEXT, min_size=1).filter(str.strip), min_size=2))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_any_text_that_parquet_holds_is_read_back(read_parquet, texts):
    whole = [normalize_nfc(text) for text in texts]
    try:
        check_spaces("texts", whole)
        check_fractions("texts", whole)
    except DataError:
        return
    if len(set(whole)) > 1:
        people = read_parquet(texts)
        assert values(people) == whole
        assert list(people.question.labels) == sorted(set(whole), key=natural_sort_key)
