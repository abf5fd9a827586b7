"""Labels that the type of a column declares are fixed; those that were met are from the data."""

import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from helpers.data_files import in_parquet, people
from mixtally.lab.data import rows
from mixtally.lab.data.file import DataFile
from mixtally.lab.data.population import LABELS, LARGEST_SET
from mixtally.lab.data.readers import read_counts, read_epochs
from mixtally.lab.data.reading import DROP, Reading, RecordType, RowCombination
from mixtally.lab.data.timeline import EpochColumn

LEVELS = ["high", "never", "low"]
CODES = [0, 2, 0, 2, 2, 0]


def levels(codes, values=LEVELS, **more):
    return arrow.DictionaryArray.from_arrays(codes, values, **more)


def write(path, columns, **more):
    parquet.write_table(arrow.table(columns), path, **more)
    return path


def test_a_dictionary_of_arrow_gives_all_labels_in_their_order(tmp_path):
    path = write(tmp_path / "a", {"c": levels(CODES)}, row_group_size=2)
    found = people(path, "c")
    assert found.question.labels == tuple(LEVELS)
    assert found.truth.tolist() == [3, 0, 3]
    assert found.from_data == ()


def test_the_question_is_the_same_whatever_one_person_answers(tmp_path):
    """Somebody alone in a bin leaves it: the bins stay as they are."""
    questions = [
        people(write(tmp_path / "a", {"c": levels(codes)}), "c").question
        for codes in ([0, 0, 2], [0, 0, 0], [1, 0, 2])
    ]
    assert questions[0] == questions[1] == questions[2]


def test_text_that_a_file_stores_as_codes_is_no_declaration(tmp_path):
    path = write(tmp_path / "a", {"c": ["b", "a", "b", "a"]}, use_dictionary=True)
    assert people(path, "c").from_data == (LABELS,)
    assert people(path, "c", labels=("a", "b")).from_data == ()


def test_parts_that_declare_different_labels_declare_none(tmp_path):
    path = tmp_path / "a"
    kind = levels([0], ["x"]).type
    with parquet.ParquetWriter(path, arrow.schema([("c", kind)])) as writer:
        for values in (["b", "a"], ["a", "c"]):
            writer.write_table(arrow.table({"c": levels([0, 1], values)}))
    found = people(path, "c")
    assert found.question.labels == ("a", "b", "c")
    assert found.from_data == (LABELS,)


@pytest.mark.parametrize(("kind", "declared"), [("Enum", True), ("Categorical", False)])
def test_an_enum_of_polars_declares_and_a_categorical_does_not(tmp_path, kind, declared):
    polars = pytest.importorskip("polars")
    dtype = polars.Enum(LEVELS) if declared else polars.Categorical
    series = polars.Series(["low", "high", "low"], dtype=dtype)
    polars.DataFrame({"c": series}).write_parquet(tmp_path / "a")
    found = people(tmp_path / "a", "c")
    assert found.question.labels == (tuple(LEVELS) if declared else ("high", "low"))
    assert found.from_data == (() if declared else (LABELS,))


def test_a_label_for_what_is_missing_is_declared_too(tmp_path):
    for codes in ([0, 2, None], [0, 2, 0]):
        path = write(tmp_path / "a", {"c": levels(arrow.array(codes))})
        assert people(path, "c", missing="?").question.labels == (*LEVELS, "?")
        assert people(path, "c", missing=DROP).question.labels == tuple(LEVELS)
        assert people(path, "c", missing="low").question.labels == tuple(LEVELS)


def test_a_dictionary_that_its_file_does_not_hold_whole_declares_none(tmp_path):
    """Of numbers, and without a dictionary page, the reader makes one out of the rows."""
    path = write(tmp_path / "a", {"c": levels(CODES, [10, 9, 2])})
    assert people(path, "c").from_data == (LABELS,)
    path = write(tmp_path / "a", {"c": levels(CODES)}, use_dictionary=False)
    assert people(path, "c").from_data == (LABELS,)


def test_blanks_among_the_levels_are_no_labels(tmp_path):
    path = write(tmp_path / "a", {"c": levels(CODES, ["x", " ", "y"])})
    assert people(path, "c").question.labels == ("x", "y")


def test_attributes_are_given_when_all_of_them_are(tmp_path):
    columns = {"a": levels(CODES), "b": levels(CODES), "c": ["x", "y"] * 3}
    path = write(tmp_path / "a", columns)
    both = people(path, "a", "b", form=RecordType.ATTRIBUTES)
    assert (both.question.attributes, both.from_data) == ((3, 3), ())
    mixed = people(path, "a", "c", form=RecordType.ATTRIBUTES)
    assert (mixed.question.attributes, mixed.from_data) == ((3, 2), (LABELS,))


def test_sets_take_their_size_from_the_data_unless_it_is_given(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(in_parquet({"who": [1, 2, 3], "c": ["a;b", "b", "a"]}))
    assert people(path, "c", form=RecordType.SET).from_data == (LABELS, LARGEST_SET)
    assert people(path, "c", form=RecordType.SET, max_set=2).from_data == (LABELS,)
    assert people(path, "c", form=RecordType.SET, max_set=2, labels=("a", "b")).from_data == ()
    path = write(path, {"c": levels(CODES)})
    path = write(path, {"who": [1, 1, 2, 2, 3, 3], "c": levels(CODES)})
    rows = {"separator": None, "person": "who", "several": RowCombination.SET}
    assert people(path, "c", form=RecordType.SET, max_set=2, **rows).from_data == ()
    assert people(path, "c", form=RecordType.SET, max_set=2, rows_are_people=True).from_data == (
        LABELS,
    )


def test_epochs_and_counted_values_know_it_too(tmp_path):
    path = write(tmp_path / "a", {"w": [1, 1, 1, 2, 2, 2], "c": levels(CODES), "d": ["x", "y"] * 3})
    reading = {name: Reading(columns=(name,)) for name in "cd"}
    for name, told in (("c", ()), ("d", (LABELS,))):
        found = read_epochs(DataFile(path), reading[name], EpochColumn("w"))
        assert found.from_data == found.crowd(0).from_data == told
        assert read_counts(DataFile(path), reading[name], "w").from_data == told


def test_declared_labels_are_read_once_for_many_batches(tmp_path, watch):
    path = write(tmp_path / "a", {"c": levels(CODES * 10)}, row_group_size=6)
    read = watch(rows, "levels_of")
    found = people(path, "c")
    assert (found.question.labels, found.truth.tolist()) == (tuple(LEVELS), [30, 0, 30])
    assert len(read) == 1
