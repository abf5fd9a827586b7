"""Lists of labels are sets in Parquet and JSON; arrays of objects are rows; keys stand once."""

import json

import pytest

from helpers.data_files import in_parquet, people
from mixtally.errors import DataError, PlanError
from mixtally.lab.data.reading import DROP, RecordType

LISTS = {"no": [1, 2, 3], "c": [["a;b", "x"], [], ["x", "x"]]}
ROWS = [{"no": no, "c": c} for no, c in zip(*LISTS.values(), strict=True)]
WRITTEN = {
    "parquet": in_parquet(LISTS),
    "lines": "".join(json.dumps(row) + "\n" for row in ROWS).encode(),
    "array": json.dumps(ROWS).encode(),
    "pretty array": json.dumps(ROWS, indent=2).encode(),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_lists_are_sets(tmp_path, name):
    path = tmp_path / "data"
    path.write_bytes(WRITTEN[name])
    found = people(path, "c", form=RecordType.SET)
    assert found.question.labels == ("a;b", "x")
    assert found.truth.tolist() == [1, 2]
    assert found.users == 3
    with pytest.raises(DataError, match="read lists of labels as sets"):
        people(path, "c")


def test_a_text_that_begins_like_a_list_is_none(tmp_path):
    """The marks by which lists are told from text here are refused where a label has them."""
    path = tmp_path / "data.csv"
    path.write_text("no,c\n1,\x01a\n2,b\n")
    with pytest.raises(PlanError, match="without control characters"):
        people(path, "c", form=RecordType.SET)


def lines(tmp_path, *texts):
    path = tmp_path / "data.jsonl"
    path.write_text("\n".join(texts) + "\n")
    return path


def test_a_list_that_lacks_a_value_is_refused(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(in_parquet({"c": [["a", None], ["b"]]}))
    for one in (path, lines(tmp_path, '{"c": ["a", null]}', '{"c": ["b"]}')):
        with pytest.raises(DataError, match="row 1: expected a value in column 'c'"):
            people(one, "c", form=RecordType.SET)


@pytest.mark.parametrize("block", [24, 1 << 22])
def test_numbers_and_their_texts_are_not_merged(tmp_path, block):
    with pytest.raises(
        DataError, match=r"row 2, column 'c': .* one type: a number as before, got the text"
    ):
        people(lines(tmp_path, '{"c": 1}', '{"c": "1"}'), "c", block=block)
    path = lines(tmp_path, '{"c": ["x"]}', '{"c": "y;x"}', '{"c": "NA"}')
    found = people(
        path, "c", form=RecordType.SET, missing=DROP, missing_values=("NA",), block=block
    )
    assert (found.question.labels, found.truth.tolist()) == (("x", "y"), [2, 1])
    with pytest.raises(
        DataError, match=r"in column 'c', got lists\. .*read lists of labels as sets"
    ):
        people(path, "c", block=block)
    assert people(lines(tmp_path, '{"c": 1}', '{"c": "NA"}'), "c", block=block).question.labels == (
        "1",
        "NA",
    )


def test_a_doubled_key_is_refused_by_its_row(tmp_path):
    path = lines(tmp_path, '{"c": "a"}', '{"no": 1, "c": "b", "c" : "d"}')
    with pytest.raises(DataError, match="row 2: expected every key once, got 'c' twice"):
        people(path, "c")
    inside = '{"no": {"c": 1, "x": "\\"c\\": "}, "c": "b"}'
    assert people(lines(tmp_path, '{"c": "a"}', inside), "c").users == 2
