"""Text is found to be UTF-8, marked or named; quotes and delimiters are as they should be."""

import csv
import io
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from helpers.data_files import people
from mixtally.errors import DataError, ParameterError
from mixtally.lab.data.file import DataFile
from mixtally.lab.data.formats import text
from mixtally.lab.data.formats.tables import open_table
from mixtally.lab.data.readers import read_population
from mixtally.lab.data.reading import Reading

CROWD = "no,color\n1,réd\n2,bleu\n3,réd\n"
WESTERN = ["latin-1", "cp1252", "utf-16-le", "utf-16-be", "utf-8", "utf-8-sig", "utf-16", "cp850"]


def crowd(path, **options):
    return read_population(DataFile(path, **options), Reading(columns=("color",)))


@pytest.mark.parametrize("encoding", WESTERN)
def test_an_encoding_that_is_named_is_read(tmp_path, encoding):
    path = tmp_path / "data.csv"
    path.write_bytes(CROWD.encode(encoding))
    assert crowd(path, encoding=encoding).question.labels == ("bleu", "réd")


@pytest.mark.parametrize("mark", ["utf-8-sig", "utf-16"])
@pytest.mark.parametrize("size", [7, 8, 1 << 20])
def test_a_mark_is_found_and_characters_may_be_cut(tmp_path, mark, size):
    """The text comes in parts of ``size`` bytes, which end in the middle of characters."""
    stream = io.BytesIO((CROWD * 9).encode(mark))
    parts = b"".join(text.decode_chunks(DataFile(tmp_path), stream, size))
    assert parts.decode() == CROWD * 9


@pytest.mark.parametrize(
    ("data", "options", "said"),
    [
        (
            CROWD.encode("latin-1"),
            {},
            r"UTF-8 text, got byte 0xe9 in line 2\. .* --encoding cp1252,",
        ),
        (b"no,color\n1,\x81\n", {}, "--encoding latin-1, most likely"),
        (CROWD.encode("utf-16-le"), {}, "--encoding utf-16-le, most likely"),
        ("no,color\n1,red\n".encode("utf-16-be"), {}, "zero bytes. Say --encoding utf-16-be if"),
        (CROWD.encode("latin-1"), {"encoding": "ascii"}, "text in ascii, got .*another"),
        (CROWD.encode("utf-16")[:-1], {}, "text in utf-16, as its mark says, got .*truncated"),
        (CROWD.encode()[:13], {}, "UTF-8 text, got byte 0xc3 in line 2"),
        (b"no,color\n1,red\0\n", {}, "zero bytes"),
    ],
)
def test_what_is_no_text_is_refused_with_a_name_to_try(tmp_path, data, options, said):
    path = tmp_path / "data.csv"
    path.write_bytes(data)
    with pytest.raises(DataError, match=said):
        crowd(path, **options)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", ":", " "])
def test_delimiters_are_found_or_told(tmp_path, delimiter):
    path = tmp_path / "data.csv"
    path.write_text(CROWD.replace(",", delimiter))
    if delimiter in ",;\t":
        assert crowd(path).question.labels == ("bleu", "réd")
    else:
        with pytest.raises(DataError, match="expected a column 'color'"):
            crowd(path)
    assert crowd(path, delimiter=delimiter).question.labels == ("bleu", "réd")


def test_the_delimiter_is_the_one_that_finds_the_columns(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a;b,c;d,color\n1;2,3;4,red\n5;6,7;8,blue\n")
    assert crowd(path).question.labels == ("blue", "red")
    path.write_text("a,b,c,d;color\n1,2,3,4;red\n1,2,3,4;blue\n")
    assert crowd(path).question.labels == ("blue", "red")
    path.write_text("color\nred;dark\nblue\n")
    assert crowd(path).question.labels == ("blue", "red;dark")


def test_a_tab_may_be_named(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,b\tcolor\n1\tred\n2\tblue\n")
    for tab in ("tab", "\\t", "\t"):
        assert crowd(path, delimiter=tab).question.labels == ("blue", "red")


@pytest.mark.parametrize("bad", ["", "ab", '"', "\n", "é"])
def test_a_delimiter_is_one_character(tmp_path, bad):
    with pytest.raises(ParameterError, match="delimiter: expected one ASCII character"):
        DataFile(tmp_path, delimiter=bad)


@pytest.mark.parametrize("bad", ["", "nope", "rot13", "undefined", "base64"])
def test_an_encoding_is_one_of_text(tmp_path, bad):
    with pytest.raises(ParameterError, match="encoding: expected the name of a text encoding"):
        DataFile(tmp_path, encoding=bad)


PIECES = st.text(st.sampled_from('",;a \n\r'), max_size=24)


def read_by_the_standard_library(body):
    """The second cells of all rows that are not blank, or None for what it cannot read."""
    try:
        rows = [row for row in csv.reader(io.StringIO(body, newline=""), strict=True) if row]
    except csv.Error:
        return None
    return [row[1] for row in rows] if all(len(row) == 2 for row in rows) else None


def without_blank_rows(body):
    """Rows without those at the end that hold nothing but commas."""
    filled = body.rstrip("\r\n,")
    return filled + body[len(filled) :].splitlines()[0] if filled != body and filled else filled


@given(PIECES)
@example("1,a\n,\n,")
@example('1,"a\n2,"b\n')
@example('1,"a""b"\n2,""\n')
@example('1,"a"\r\n\r\n2,"b\r\nc"\r')
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=300,
)
def test_what_is_read_is_what_the_standard_library_reads(tmp_path, body):
    """It refuses more (a quote inside a cell without quotes), and reads nothing else."""
    path = tmp_path / "data.csv"
    path.write_text("no,color\n" + body, newline="")
    try:
        with open_table(DataFile(path, delimiter=","), ["color"], []) as found:
            cells = [cell or "" for part in found.read([1]) for cell in part.arrays[0].to_pylist()]
    except DataError:
        plain = read_by_the_standard_library(body)
        assert plain is None or any('"' in line for line in body.splitlines())
    else:
        assert cells == read_by_the_standard_library(without_blank_rows(body) + "\n")


@given(PIECES, st.lists(st.integers(0, 24), max_size=5))
@example('1,"a"', [4])
@example('1,"a""b"', [5])
@settings(deadline=None, max_examples=300)
def test_where_text_is_cut_does_not_matter(body, cuts):
    def verdict(parts):
        try:
            return b"".join(
                text.check_quotes(DataFile("x"), text.trim_end(DataFile("x"), parts), ",")
            )
        except DataError as error:
            return str(error)

    ends = [0, *sorted(cuts), len(body)]
    parts = [body[a:b].encode() for a, b in pairwise(ends)]
    assert verdict(filter(None, parts)) == verdict(filter(None, [body.encode()]))


def test_quotes_may_span_blocks(tmp_path):
    path = tmp_path / "data.csv"
    values = ["two\nlines", 'say "x"', "a,b", "plain"] * 20
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["no", "color"], *enumerate(values)])
    found = people(path, "color", block=32)
    assert [found.question.label(code) for code in found.codes.tolist()] == values
