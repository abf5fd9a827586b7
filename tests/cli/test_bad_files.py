"""Files that cannot be read, or hold no records: one line, status 2, nothing written."""

import bz2
import gzip
import os
import sys
import zipfile

import pyarrow as arrow
import pytest

import mixtally.lab.data
import mixtally.lab.data.crowd
from helpers.data_files import BOOK, GOOD, LINES, PARQUET, WESTERN, in_parquet, people, workbook
from mixtally.errors import DataError

ASKED = ("--epsilon", 1, "--delta", "1e-6")
PACKED = gzip.compress(GOOD)
DAMAGED = PACKED[:12] + bytes(byte ^ 0x55 for byte in PACKED[12:20]) + PACKED[20:]
ENDLESS = b"no,color\n1," + b"x" * (1 << 23)

BAD = {
    "empty cell": (b"no,color\n1,red\n2,\n3,blue\n", "row 2: expected a value in column 'color'"),
    "cell of spaces": (b"no,color\n1,red\n2,  \n", "row 2: expected a value in column 'color'"),
    "short row": (
        b"no,color\n1,red\n2\n3,blue\n",
        "row 2: expected 2 cells, as in the header, got 1",
    ),
    "long row": (
        b"no,color\n1,red, dark\n2,blue\n",
        "row 1: expected 2 cells, as in the header, got 3",
    ),
    "empty file": (b"", "an empty file"),
    "header only": (b"no,color\n", "at least two rows, got none"),
    "header without a line end": (b"no,color", "at least two rows, got none"),
    "blank header": (b"\n\nno,color\n1,red\n", "expected a header line, got a blank line"),
    "header of delimiters": (b",,\n1,2,3\n", "expected a header line, got a blank line"),
    "missing column": (
        b"no,shade\n1,red\n",
        "expected a column 'color', got the columns 'no', 'shade'. Name one of these",
    ),
    "column of another case": (b"no,Color\n1,red\n", "Did you mean 'Color'?"),
    "misspelt column": (b"no,colour\n1,red\n", "Did you mean 'colour'?"),
    "unusual delimiter": (b"no|color\n1|red\n", "Say --delimiter '|'"),
    "column twice": (b"color,color\n1,red\n2,blue\n", "one column 'color', got 2 of that name"),
    "one distinct value": (b"no,color\n1,red\n2,red\n", "two distinct values, got only 'red'"),
    "not UTF-8": (WESTERN, "expected UTF-8 text, got byte 0xe9 in line 2. Say how it is encoded"),
    "UTF-16 without a mark": (GOOD.decode().encode("utf-16-be"), "Say --encoding utf-16-be"),
    "UTF-16 cut in two": (GOOD.decode().encode("utf-16")[:-1], "text in utf-16, as its mark says"),
    "commands to a terminal": (
        b"no,color\n1,red\n2,\x1b[2J\n",
        "labels without control characters, got '\\x1b[2J'",
    ),
    "huge cell": (b"no,color\n1," + b"x" * 200_000 + b"\n2,red\n", "labels of at most 10,000"),
    "line without an end": (ENDLESS, "expected rows of less than 4,194,304 bytes"),
    "packed line without an end": (gzip.compress(ENDLESS), "expected rows of less than 4,194,304"),
    "header without an end": (b"x" * 200_000, "expected a header line"),
    "open quote": (
        GOOD + b'3,"teal\n' + GOOD[9:],
        "none after the quote in line",
    ),
    "two open quotes": (b'no,color\n1,"red\n2,"blue\n', "a quote inside of a cell, in line 3"),
    "quote inside a cell": (b'no,color\n1,"re"d\n2,blue\n', "a quote inside of a cell, in line 2"),
    "zeros": (bytes(5000), "expected text, or a Parquet or Excel file, got zero bytes"),
    "missing file": (None, "no file there"),
    "truncated gzip": (PACKED[:-20], "truncated compressed stream"),
    "damaged gzip": (DAMAGED, "expected a file that can be read to its end"),
    "something behind gzip": (PACKED + b"and more", "expected a file that can be read to its end"),
    "gzip of nothing": (gzip.compress(b""), "an empty file"),
    "truncated zstd": (
        arrow.compress(GOOD, codec="zstd", asbytes=True)[:-5],
        "truncated compressed stream",
    ),
    "bzip2": (bz2.compress(GOOD), "plain or packed with gzip or zstd, got bzip2"),
    "a zip archive": (b"PK\x03\x04 and more", "expected an Excel or OpenDocument workbook"),
    "a truncated workbook": (BOOK[: len(BOOK) // 2], "expected an Excel or OpenDocument workbook"),
    "an empty workbook": (workbook({}), "a header row, got a blank row"),
    "a workbook with a gap": (
        workbook({"no": [1, 2, 3], "color": ["red", None, "blue"]}),
        "row 2: expected a value in column 'color'",
    ),
    "a broken line of JSON": (LINES + b'{"color": "re\n', "row 3: expected a JSON object per line"),
    "a scalar among lines of JSON": (LINES + b"3\n", "row 3: expected a JSON object per line"),
    "a list in a line of JSON": (
        LINES + b'{"color": ["red"]}\n',
        "or no and yes in column 'color', got lists",
    ),
    "not-a-number in JSON": (LINES + b'{"color": NaN}\n', "row 3: expected a JSON object per line"),
    "an array of JSON": (b'[{"color": "red"}]', "at least two rows, got 1"),
    "one object over lines": (b'{\n"color": "red",\n', "row 1: expected a JSON object per line"),
    "a key twice": (b'{"color": "red", "color": "blue"}\n', "one column 'color', got 2"),
    "a key that never comes": (
        b'{"shade": "red"}\n' * 9,
        "expected a column 'color', got the columns",
    ),
    "a null in JSON": (LINES + b'{"color": null}\n', "row 3: expected a value in column 'color'"),
    "a null in Parquet": (in_parquet({"color": ["red", None]}), "row 2: expected a value"),
    "not-a-number in Parquet": (
        in_parquet({"color": [1.0, float("nan")]}),
        "row 2: expected a value",
    ),
    "Parquet without rows": (in_parquet({"color": []}), "two rows, got none"),
    "Parquet without the column": (
        in_parquet({"shade": ["red"]}),
        "a column 'color', got the columns",
    ),
    "lists in Parquet": (
        in_parquet({"color": [["red"], ["blue"]]}),
        "expected text, numbers, dates",
    ),
    "bytes in Parquet that are no text": (in_parquet({"color": [b"\xff", b"a"]}), "UTF8"),
    "four bytes of Parquet": (PARQUET[:4], "expected a file that can be read to its end"),
    "half of Parquet": (PARQUET[:100], "expected a file that can be read to its end"),
    "Parquet without its end": (PARQUET[:-20], "expected a file that can be read to its end"),
    "damaged Parquet": (
        PARQUET[:40] + b"\xff" * 30 + PARQUET[70:],
        "expected a file that can be read to its end",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_data_that_cannot_be_counted_are_refused(refuses, case):
    content, said = BAD[case]
    assert said in refuses(content)


@pytest.mark.parametrize("name", ["data.csv", "data", "data.gz", "data.xlsx"])
def test_every_refusal_names_the_file_and_its_name_says_nothing(refuses, name):
    assert f"/{name}, row 2: expected a value" in refuses(b"no,color\n1,red\n2,\n", name=name)


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/urandom"])
def test_devices_are_refused_unread(refused, device):
    line = refused("simulate", device, "--column", "color", *ASKED)
    assert f"{device}: expected a data file or a pipe, got a device or a socket" in line


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_a_device_as_standard_input_is_refused_unread(refused, device):
    before = os.dup(0)
    try:
        with open(device, "rb") as file:
            os.dup2(file.fileno(), 0)
            line = refused("simulate", "-", "--column", "color", *ASKED)
    finally:
        os.dup2(before, 0)
        os.close(before)
    assert "standard input: expected a data file or a pipe, got a device" in line


def test_a_pipe_without_an_end_is_refused_before_it_fills_the_memory(refused, piped, monkeypatch):
    monkeypatch.setattr("mixtally.lab.data.rows.MOST_PIPED", 100_000)
    piped(["yes", "color"])
    line = refused("simulate", "-", "--column", "color", *ASKED)
    assert "standard input: expected at most 100,000 rows from a pipe, got more" in line


def test_a_pipe_of_one_endless_line_is_refused(refused, piped):
    piped(["cat", "/dev/zero"])
    assert "got zero bytes" in refused("simulate", "-", "--column", "color", *ASKED)


def test_a_folder_is_no_data_file(refused, tmp_path):
    assert "got a folder" in refused("simulate", tmp_path, "--column", "color", *ASKED)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_file_that_may_not_be_read_is_refused(refuses, tmp_path):
    path = tmp_path / "data.csv"
    path.touch(mode=0)
    assert "permission denied" in refuses(None)


@pytest.mark.parametrize(
    "change",
    [
        lambda path: path.write_bytes(path.read_bytes() + b"3,teal\n"),
        lambda path: path.write_bytes(path.read_bytes()[:-7]),
        lambda path: path.unlink(),
        lambda path: path.with_name("new").replace(path),
    ],
    ids=["longer", "shorter", "gone", "another"],
)
@pytest.mark.parametrize(
    "content", [GOOD, PACKED, LINES, PARQUET, BOOK], ids=["CSV", "gzip", "JSON", "Parquet", "Excel"]
)
def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, content, change):
    path = tmp_path / "data"
    path.write_bytes(content)
    path.with_name("new").write_bytes(content)
    assert people(path, "color").users >= 2

    def progress(*_):
        if path.with_name("new").exists():
            change(path)
            path.with_name("new").unlink(missing_ok=True)

    with pytest.raises(DataError, match=r"one that changed meanwhile|no file there"):
        people(path, "color", progress=progress)


def test_without_a_reader_the_refusal_says_what_to_install(refuses, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for name in ("crowd", "columns"):  # loaded anew, and in the end what they were
        monkeypatch.delitem(sys.modules, f"mixtally.lab.data.{name}")
        monkeypatch.delattr(mixtally.lab.data, name)
    assert "pyarrow is not installed. pip install 'mixtally[data]'" in refuses(GOOD)


def test_without_a_reader_of_workbooks_the_refusal_says_what_to_install(refuses, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    assert "python-calamine is not installed. pip install 'mixtally[data]'" in refuses(BOOK)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            b"$FL2@(#) SPSS DATA FILE",
            "an SPSS file. Export it as CSV",
        ),
        (
            b"<stata_dta><header>",
            "or read it with pandas.read_stata",
        ),
        (b"\x72\x02\x01\x00\x03\x00", "a Stata file"),
        (b"HEADER RECORD*******LIBRARY", "a SAS transport file"),
    ],
)
def test_files_of_statistical_packages_are_named(refused, tmp_path, content, said):
    path = tmp_path / "data.sav"
    path.write_bytes(content)
    assert said in refused("simulate", path, "--column", "c", "--epsilon", 1, "--delta", 1e-6)


def test_a_packed_folder_is_unpacked_first(refused, tmp_path, piped):
    path = tmp_path / "data.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("people.csv", "c\na\nb\n")
    asked = ("--column", "c", "--epsilon", 1, "--delta", 1e-6)
    said = "a ZIP archive of 'people.csv'. Unpack it and name the file inside"
    assert said in refused("simulate", path, *asked)
    piped(path.read_bytes())
    assert said in refused("simulate", "-", *asked)


def test_a_count_with_marks_is_named_by_its_row(refused, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text('c,n\nb,800\na,"1,200"\n')
    line = refused(
        "simulate", path, "--column", "c", "--counts", "n", "--epsilon", 1, "--delta", 1e-6
    )
    assert "row 2: expected a whole number, in digits only, in column 'n', got '1,200'" in line
