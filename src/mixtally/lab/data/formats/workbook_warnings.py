"""Warnings about a workbook in which a spreadsheet program shows something else than is read.

``excel_table`` calls `describe_unseen`. A workbook can hide rows, and can show errors, or fractions
as percentages. The library that reads the cells reports none of the three.
"""

import posixpath
from collections import Counter
from collections.abc import Collection, Mapping
from typing import IO
from xml.etree import ElementTree
from xml.parsers import expat
from zipfile import BadZipFile, ZipFile

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_ROW, _CELL = (f"{_MAIN}{name}".removeprefix("{") for name in ("row", "c"))
_LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_BOOK, _STYLES = "xl/workbook.xml", "xl/styles.xml"
_SIGNS = (b"hidden", b'"e"', b"'e'", b"\0")  # a zero byte: UTF-16, which must be parsed
_LONGEST_SIGN = max(map(len, _SIGNS))
_AT_ONCE = 1 << 20


def describe_unseen(
    workbook: str | IO[bytes], sheet: str, header_row: int, columns: Mapping[str, str]
) -> str:
    """Return a warning about hidden rows, errors and percentages of a sheet below its header.

    The text is empty if there are none.

    ``columns`` maps the letters of the columns that are read to their names. The XML is defined in
    ECMA-376, part 1: section 18.3.1.73 for the attribute ``hidden`` of ``row``, and 18.3.1.4 for
    the type ``e`` and style ``s`` of cells. Section 18.8.30 defines number formats, of which 9 and
    10 are percentages.
    """
    try:
        with ZipFile(workbook) as book:
            place = _sheet_path(book, sheet)
            percent = _percent_styles(book)
            with book.open(place) as file:
                if not percent and not _can_have_unseen(file):
                    return ""
            with book.open(place) as file:
                hidden, errors, shown = _count_unseen(file, header_row, percent)
    except (BadZipFile, KeyError, ValueError, ElementTree.ParseError, expat.ExpatError):
        return ""  # the workbook has another format, without these files
    said = [f"{hidden:,} hidden rows of sheet {sheet!r} are read as people"] if hidden else []
    said += [f"{errors:,} cells with an error such as #N/A are read as missing"] if errors else []
    said += [
        f"{many:,} cells of column {columns[letters]!r} are shown as percentages and read as "
        "fractions: 50 % is 0.5"
        for letters, many in shown.items()
        if letters in columns
    ]
    return "; ".join(said)


def _percent_styles(book: ZipFile) -> frozenset[str]:
    """Return the cell styles that show a number as a percentage."""
    if _STYLES not in book.namelist():
        return frozenset()
    styles = ElementTree.fromstring(book.read(_STYLES))
    formats = {"9", "10"} | {
        one.get("numFmtId")
        for one in styles.iter(f"{_MAIN}numFmt")
        if "%" in one.get("formatCode", "")
    }
    cells = styles.find(f"{_MAIN}cellXfs")
    numbered = enumerate(() if cells is None else cells)
    return frozenset(str(place) for place, one in numbered if one.get("numFmtId") in formats)


def _can_have_unseen(file: IO[bytes]) -> bool:
    """Return whether the bytes contain any sign of hidden rows or errors.

    Parsing the XML takes longer than everything else, so it must be avoided if possible.
    """
    seen = b""
    while some := file.read(_AT_ONCE):
        seen = seen[-_LONGEST_SIGN:] + some
        if any(sign in seen for sign in _SIGNS):
            return True
    return False


def _count_unseen(
    file: IO[bytes], header_row: int, percent: Collection[str]
) -> tuple[int, int, Counter[str]]:
    """Return the numbers of hidden rows, of cells with an error, and of percentages by column.

    Percentages are cells of the styles ``percent``. Only opening tags are read, and no tree is
    built.
    """
    row = hidden = errors = 0
    shown: Counter[str] = Counter()

    def count_element(tag: str, given: dict[str, str]) -> None:
        nonlocal row, hidden, errors
        if tag == _CELL:
            errors += row > header_row and given.get("t") == "e"
            if row > header_row and given.get("s") in percent:
                shown[given.get("r", "").rstrip("0123456789")] += 1
        elif tag == _ROW:
            row = int(given.get("r", row + 1))
            hidden += row > header_row and given.get("hidden", "0") not in ("0", "false")

    parser = expat.ParserCreate(namespace_separator="}")
    parser.StartElementHandler = count_element
    parser.ParseFile(file)
    return hidden, errors, shown


def _sheet_path(book: ZipFile, sheet: str) -> str:
    """Return the name of the sheet's XML file; raise ValueError or KeyError if it is missing."""
    (link,) = [
        one.attrib[_LINK]
        for one in ElementTree.fromstring(book.read(_BOOK)).iter(f"{_MAIN}sheet")
        if one.get("name") == sheet
    ]
    links = ElementTree.fromstring(book.read("xl/_rels/workbook.xml.rels"))
    (target,) = [one.attrib["Target"] for one in links if one.get("Id") == link]
    return posixpath.normpath(posixpath.join("xl", target)).lstrip("/")
