"""Labels that differ in case or outer spaces only are named, and merged where that is asked."""

import pandas
import pytest

import mixtally
from helpers.data_files import in_every_format, people
from mixtally.errors import DataError, ParameterError
from mixtally.lab.data.file import DataFile
from mixtally.lab.data.label_merging import Merging
from mixtally.lab.data.readers import read_counts, read_population
from mixtally.lab.data.reading import Reading, RecordType
from mixtally.model.question import Question

ANSWERS = ["Very satisfied", "very satisfied ", "satisfied", " Satisfied", "no"]
BOTH = Merging(strip=True, ignore_case=True)


def table(tmp_path, values, name="lines.jsonl"):
    path = tmp_path / name
    path.write_bytes(in_every_format({"no": [*range(len(values))], "c": values})[name])
    return path


def test_labels_that_differ_in_case_or_outer_spaces_are_named(tmp_path):
    warning = people(table(tmp_path, ANSWERS), "c").warning
    assert "'Very satisfied' and 'very satisfied '" in warning or "' Satisfied'" in warning
    assert warning.endswith("say --ignore-case and --strip")
    assert people(table(tmp_path, ["a", "A", "b"]), "c").warning.endswith("say --ignore-case")
    assert people(table(tmp_path, ["a", "A", "b"]), "c", labels=("a", "A", "b")).warning == ""
    with pytest.raises(DataError, match="--strip leaves out spaces"):
        people(table(tmp_path, ["a", "a ", "b"]), "c")


@pytest.mark.parametrize("name", in_every_format({"c": ["x"]}))
def test_they_are_merged_in_every_format(tmp_path, name):
    found = people(table(tmp_path, ANSWERS, name), "c", merging=BOTH)
    assert found.question.labels == ("Very satisfied", "no", "satisfied")
    assert found.truth.tolist() == [2, 1, 2]
    assert found.warning == ""
    listed = ("SATISFIED", "Very Satisfied", "no")
    found = people(table(tmp_path, ANSWERS, name), "c", merging=BOTH, labels=listed)
    assert (found.question.labels, found.truth.tolist()) == (listed, [2, 2, 1])


def test_labels_of_sets_attributes_and_types_are_merged(tmp_path):
    path = table(tmp_path, ["a;B", "A; b", "a;a", "B"])
    found = people(path, "c", form=RecordType.SET, max_set=2, merging=BOTH)
    assert found.truth.tolist() == [3, 3]
    path.write_text('{"c": "x", "d": "Y"}\n{"c": "X ", "d": "z"}\n{"c": "w", "d": "y"}\n')
    found = people(path, "c", "d", form=RecordType.ATTRIBUTES, merging=BOTH)
    assert found.question.labels == ("c=w", "c=x", "d=Y", "d=z")
    frame = pandas.DataFrame({"c": pandas.Categorical(["b", "a", "A"], ["b", "A", "a"])})
    frame.to_parquet(tmp_path / "a")
    found = people(tmp_path / "a", "c", merging=BOTH)
    assert (found.question.labels, found.truth.tolist()) == (("b", "A"), [1, 2])
    assert found.from_data == ()


def test_all_values_that_are_not_listed_are_one_bin(tmp_path):
    path, other = table(tmp_path, ["a", "b", "c", "d", "a"]), Merging(other="rest")
    found = people(path, "c", labels=("a", "b"), merging=other)
    assert (found.question.labels, found.truth.tolist()) == (("a", "b", "rest"), [2, 1, 2])
    assert found.from_data == ()
    planned = Question(name="c", bins=3, labels=("rest", "a", "b"))
    assert (
        read_population(DataFile(path), Reading(columns=("c",), merging=other), planned).truth[0]
        == 2
    )
    sets = table(tmp_path, ["a;x;y", "b", "x"])
    found = people(sets, "c", form=RecordType.SET, labels=("a", "b"), max_set=3, merging=other)
    assert found.truth.tolist() == [1, 1, 2]
    path = tmp_path / "counts.csv"
    path.write_text("c,n\na,5\nb,7\nc,2\nd,1\n")
    reading = Reading(columns=("c",), labels=("a", "b"), merging=other)
    assert read_counts(DataFile(path), reading, "n").counts.tolist() == [5, 7, 3]


def test_what_cannot_be_merged_is_refused(tmp_path):
    path = table(tmp_path, ["a", "b"])
    with pytest.raises(ParameterError, match="--other: expected --labels with it"):
        people(path, "c", merging=Merging(other="x"))
    planned = Question(name="c", bins=2, labels=("a", "b"))
    with pytest.raises(ParameterError, match="--other: expected a label of the plan"):
        read_population(
            DataFile(path), Reading(columns=("c",), merging=Merging(other="x")), planned
        )
    with pytest.raises(ParameterError, match="--strip: expected records of labels, got bits"):
        Reading(columns=("c",), form=RecordType.BITS, merging=Merging(strip=True))
    with pytest.raises(ParameterError, match="--other: expected a label that is not blank"):
        Reading(columns=("c",), merging=Merging(other=" "))
    with pytest.raises(DataError, match=r"got 'a' and 'A'\. List one of them"):
        people(path, "c", labels=("a", "A", "b"), merging=BOTH)


def test_python_merges_alike():
    asked = {"epsilon": 8, "delta": 1e-3, "seed": 1}
    told = mixtally.simulate(ANSWERS * 100, strip=True, ignore_case=True, **asked)
    assert told.simulation.truth == [200, 100, 200]
    told = mixtally.simulate(["a", "b", "c"] * 100, labels=["a"], other="rest", **asked)
    assert told.simulation.truth == [100, 200]


@pytest.mark.parametrize(
    ("values", "labels", "said"),
    [
        (["1.0", "2.0"], ("1", "2"), r"write '1' in the file, in pandas by astype\('Int64'\)"),
        (["1", "2"], ("1.0", "2.0"), "Write '1' in the labels too, instead of '1.0'"),
        (["a", "c"], ("a", "b"), "count all others with --other LABEL"),
    ],
)
def test_a_value_that_is_not_listed_is_told_what_to_do(tmp_path, values, labels, said):
    with pytest.raises(DataError, match=said):
        people(table(tmp_path, values), "c", labels=labels)
