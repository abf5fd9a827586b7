"""Marks for missing values are named or warned of; so are rows that look like no person."""

import pytest

from helpers.data_files import in_every_format, in_parquet, people
from mixtally.cli.rows import split_list
from mixtally.errors import DataError, ParameterError
from mixtally.lab.data.reading import DROP, RecordType
from mixtally.protocol.encode.numbers import Points

NAMED = {"missing_values": ("NA", "n/a", "-99")}


def at(tmp_path, text):
    path = tmp_path / "data.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", in_every_format({"c": ["x"]}))
def test_named_values_are_missing_in_every_format(tmp_path, name):
    path = tmp_path / name
    table = {"c": ["red", "NA", "n/a", "blue"], "n": [1, -99, 2, 3]}
    path.write_bytes(in_every_format(table)[name])
    with pytest.raises(DataError, match="row 2: expected a value in column 'c'"):
        people(path, "c", **NAMED)
    assert people(path, "c", missing=DROP, **NAMED).question.labels == ("blue", "red")
    assert people(path, "c", missing="?", **NAMED).truth.tolist() == [2, 1, 1]
    numbers = people(path, "n", form=RecordType.NUMBER, scale=Points(0, 4), missing=DROP, **NAMED)
    assert numbers.values.tolist() == [1, 2, 3]


def test_typed_numbers_are_missing_by_their_text(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(in_parquet({"n": [1.5, -99.0, None, 2.0]}))
    found = people(path, "n", form=RecordType.NUMBER, scale=Points(0, 4), missing=DROP, **NAMED)
    assert found.values.tolist() == [1.5, 2]


@pytest.mark.parametrize("mark", ["NA", "N/A", "null", "None", "#DIV/0!", "-99"])
def test_a_bin_that_is_called_so_is_warned_of_when_nothing_was_said(tmp_path, mark):
    path = at(tmp_path, f"no,c\n1,red\n2,{mark}\n")
    told = people(path, "c").warning
    assert f"{mark!r} is counted as an answer" in told
    assert f"--missing-values {mark}" in told
    assert people(path, "c", labels=("red", mark)).warning == ""
    assert people(path, "c", missing_values=("x",)).warning == ""


def test_rows_that_look_like_no_person_are_warned_of(tmp_path):
    path = at(tmp_path, "no,c\nNo.,What is your color?\n1,red\n2,blue\n")
    assert "say --skip-rows 1" in people(path, "c").warning
    path = at(tmp_path, "no,c\n1,red\n2,blue\n,Total\n")
    assert "the last row, 'Total', looks like a total" in people(path, "c").warning
    assert people(at(tmp_path, "no,c\n1,red\n2,blue\n"), "c").warning == ""


def test_rows_of_a_survey_tool_are_refused_with_how_many_to_skip(tmp_path):
    text = 'no,c\nNo.,Color\n"{""ImportId"":""a""}","{""ImportId"":""b""}"\n1,red\n2,blue\n'
    with pytest.raises(DataError, match=r"names of the questions in row 2. Say --skip-rows 2"):
        people(at(tmp_path, text), "c")


def test_options_of_sets_may_hold_the_separator(tmp_path):
    options = ("Fish (tuna, salmon)", "Meat", "Meat, cold")
    path = at(tmp_path, 'no,c\n1,"Fish (tuna, salmon), Meat"\n2,"Meat, cold"\n3,"Meat,"\n')
    found = people(path, "c", form=RecordType.SET, separator=",", labels=options)
    assert found.truth.tolist() == [1, 2, 1]
    told = people(path, "c", form=RecordType.SET, separator=",").warning
    assert "half a pair of brackets" in told
    assert "--labels" in told


def test_a_separator_at_the_end_ends_the_last_label(tmp_path):
    path = at(tmp_path, "no,c\n1,a;b;\n2,b; \n3,a\n")
    assert people(path, "c", form=RecordType.SET).truth.tolist() == [2, 2]
    with pytest.raises(DataError, match="separator that stands alone"):
        people(at(tmp_path, "no,c\n1,a;;b\n2,b\n"), "c", form=RecordType.SET)


def test_names_with_commas_have_quotes_around_them():
    assert split_list('a,"b, c","say ""x"""') == ("a", "b, c", 'say "x"')
    with pytest.raises(ParameterError, match="Quote a text that contains a comma"):
        split_list('a,"b')
