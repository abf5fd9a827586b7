"""Rows that are no people: titles above the header, questions below it, marks and comments."""

import threading

import pytest

from helpers.data_files import people, workbook
from mixtally.errors import DataError, ParameterError
from mixtally.lab.data.file import DataFile
from mixtally.lab.data.formats import csv_table
from mixtally.lab.data.formats.csv_rows import find_row_ends, split_into_blocks
from mixtally.lab.data.readers import read_population
from mixtally.lab.data.reading import Reading

PEOPLE = "1,red\n2,blue\n3,red\n"


def crowd(path, column="color", **options):
    return read_population(DataFile(path, **options), Reading(columns=(column,)))


def at(tmp_path, text):
    path = tmp_path / "data.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("Survey 2024\n\nno,color\n" + PEOPLE, {"header_row": 3}),
        ('A title, "quoted" inside,,\nno,color\n' + PEOPLE, {"header_row": 2}),
        ('"A title\nof two lines"\nno,color\n' + PEOPLE, {"header_row": 2}),
        (
            'no,color\nNumber,"What is\nyour color?"\n"{""ImportId"":""Q1""}",{}\n' + PEOPLE,
            {"skip_rows": 2},
        ),
        ("Title\r\nno,color\r\nNo.,Color?\r\n" + PEOPLE, {"header_row": 2, "skip_rows": 1}),
        ("sep=;\nno;color\n" + PEOPLE.replace(",", ";"), {}),
        ("sep=|\r\nno|color\r\n" + PEOPLE.replace(",", "|"), {}),
        ("# made by a tool\n# color, again\nno,color\n" + PEOPLE, {}),
        ("#no,color\n" + PEOPLE, {}),
    ],
)
def test_what_is_no_person_is_left_out(tmp_path, text, options):
    found = crowd(at(tmp_path, text), **options)
    assert found.question.labels == ("blue", "red")
    assert found.codes.tolist() == [1, 0, 1]


def test_workbooks_have_such_rows_too(tmp_path):
    path = tmp_path / "book"
    path.write_bytes(
        workbook({"Title": ["no", "No.", 1, 2], "": ["color", "Color?", "red", "blue"]})
    )
    assert crowd(path, header_row=2, skip_rows=1).question.labels == ("blue", "red")


def test_names_below_the_first_row_are_pointed_at(tmp_path):
    path = at(tmp_path, "Survey 2024\nMay\nno;color\n1;red\n2;blue\n")
    with pytest.raises(DataError, match="Say --header-row 3, where these names are"):
        crowd(path)
    assert crowd(path, header_row=3).users == 2
    with pytest.raises(DataError, match="Did you mean 'color'"):
        crowd(at(tmp_path, "no,color\n" + PEOPLE), column="colour")


def test_rows_keep_their_numbers_in_the_file(tmp_path):
    path = at(tmp_path, "no,color\nNo.,Color?\n1,red\n2,\n")
    with pytest.raises(DataError, match="row 3: expected a value in column 'color'"):
        crowd(path, skip_rows=1)
    path = at(tmp_path, "no,color\nNo.,Color?\n1,red\n2\n")
    with pytest.raises(DataError, match="row 3: expected 2 cells"):
        crowd(path, skip_rows=1)


@pytest.mark.parametrize("options", [{"header_row": 0}, {"skip_rows": -1}, {"skip_rows": 10**6}])
def test_rows_are_few_and_counted_from_one(tmp_path, options):
    with pytest.raises(ParameterError, match="an integer in"):
        DataFile(tmp_path, **options)


def test_a_header_below_the_file_and_rows_of_other_formats_are_refused(tmp_path):
    with pytest.raises(DataError, match="a header in row 9"):
        crowd(at(tmp_path, "no,color\n" + PEOPLE), header_row=9)
    with pytest.raises(ParameterError, match="--skip-rows: expected a file that needs it"):
        crowd(at(tmp_path, '{"color": "red"}\n'), skip_rows=1)


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("drop", [0, 1, 3])
def test_blocks_are_whole_rows_wherever_the_text_is_cut(line_end, drop):
    rows = ["a,b", '"x' + line_end + 'y",1', '"say ""z""",2', "", "p,q"] * 3
    text = line_end.join([*rows, ""]).encode()
    whole = text[find_row_ends(text)[drop - 1] :] if drop else text
    for size in (1, 7, 64, 1000):
        for step in (1, 5, 999):
            parts = [text[at : at + step] for at in range(0, len(text), step)]
            found = list(split_into_blocks(DataFile("x"), iter(parts), drop, max(size, 40)))
            assert b"".join(found) == whole
            assert all(len(find_row_ends(block)) for block in found)


@pytest.mark.parametrize("body", ["", "1,red\n", PEOPLE, PEOPLE * 300])
def test_no_thread_of_a_library_is_left_asking_for_text(tmp_path, monkeypatch, body):
    """All text is asked for by the one who reads: a process may end at any time."""
    askers = set()

    def watched(file, parts, drop, size):
        def told():
            for part in parts:
                askers.add(threading.get_ident())
                yield part

        return split_into_blocks(file, told(), drop, size)

    monkeypatch.setattr(csv_table, "split_into_blocks", watched)
    try:
        crowd(at(tmp_path, "no,color\n" + body))
    except DataError:
        assert body.count("\n") < 2
    assert askers == {threading.get_ident()}


@pytest.mark.parametrize("end", ["", "\n", ",,\n", ",,\r\n,,\r\n", "\n\n,,\n,,"])
@pytest.mark.parametrize("block", [7, 1 << 22])
def test_rows_of_delimiters_below_the_last_one_are_nobody(tmp_path, end, block):
    path = tmp_path / "data.csv"
    path.write_text("a,b,c\nx,y,z\nu,,\n" + end, newline="")
    found = people(path, "a", block=max(block, 16))
    assert found.question.labels == ("u", "x")
    assert found.users == 2
