"""Texts of sets that are split all at once are read as those that are read one by one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixtally.errors import InputError
from mixtally.lab.data.file import DataFile
from mixtally.lab.data.forms.sets import Sets
from mixtally.lab.data.readers import read_population
from mixtally.lab.data.reading import Reading, RecordType

CELL = st.lists(
    st.sampled_from(["a", "b ", " c", "d e", "é", "e\u0301", "a", ""]), min_size=1, max_size=4
)


def outcome(path, reading):
    """What is read, or the refusal."""
    try:
        crowd = read_population(DataFile(path), reading)
    except InputError as error:
        return str(error)
    return crowd.question.labels, crowd.records.tolist(), crowd.question.max_set


def both(path, reading, monkeypatch):
    """The outcome of texts that are split at once, and of texts that are read one by one."""
    split = outcome(path, reading)
    with monkeypatch.context() as patch:
        patch.setattr(Sets, "_split_all_texts", lambda *_: None)
        return split, outcome(path, reading)


def written(path, cells):
    path.write_text("id,set\n" + "".join(f'{i},"{cell}"\n' for i, cell in enumerate(cells)))
    return path


@settings(max_examples=60, deadline=None)
@given(cells=st.lists(CELL.map(";".join), min_size=2, max_size=8))
@pytest.mark.parametrize("labels", [None, ("a", "b", "c", "d e", "é")])
def test_both_readers_agree(tmp_path_factory, labels, cells):
    path = written(tmp_path_factory.mktemp("sets") / "sets.csv", cells)
    reading = Reading(
        columns=("set",),
        form=RecordType.SET,
        separator=";",
        labels=labels,
        max_set=3,
        empty_sets=True,
    )
    with pytest.MonkeyPatch.context() as patch:
        one, other = both(path, reading, patch)
    assert one == other


@pytest.mark.parametrize(
    ("cells", "labels", "refused"),
    [
        (["a;b;", "b", " a ; c"], None, ""),
        (["a;;b", "a"], None, "labels between"),
        (["a;b", "a;z"], ("a", "b"), "row 2: expected one of the 2 labels"),
        (["a;b", "a;b;c;d"], None, "row 2: expected at most 3 labels"),
        (["a;b", "x;y;a", "a"], ("a", "b", "x;y"), ""),
        (["a;\u0301b", "b"], None, ""),
        (["a;b;c", "", "b"], None, ""),
    ],
)
def test_what_needs_a_look_at_single_texts_has_it(tmp_path, cells, labels, refused, monkeypatch):
    reading = Reading(
        columns=("set",),
        form=RecordType.SET,
        separator=";",
        labels=labels,
        max_set=3,
        empty_sets=True,
    )
    one, other = both(written(tmp_path / "sets.csv", cells), reading, monkeypatch)
    assert one == other
    assert refused in one if refused else not isinstance(one, str)


def test_ordinary_texts_are_not_read_one_by_one(tmp_path, monkeypatch):
    monkeypatch.setattr(Sets, "_parse_each_text", None)
    reading = Reading(columns=("set",), form=RecordType.SET, separator=";", labels=("a", "b", "c"))
    path = written(tmp_path / "sets.csv", ["a;b", "c", "b;a", "a ; b;"])
    assert read_population(DataFile(path), reading).truth.tolist() == [3, 3, 1]
