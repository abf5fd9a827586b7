"""What a workbook does not show or could not compute: rows that are hidden, cells with an error."""

import posixpath
from typing import IO
from xml.etree import ElementTree
from xml.parsers import expat
from zipfile import BadZipFile, ZipFile

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_ROW, _CELL = (f"{_MAIN}{name}".removeprefix("{") for name in ("row", "c"))
_LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_BOOK = "xl/workbook.xml"
_SIGNS = (b"hidden", b'"e"', b"'e'", b"\0")  # the last of text that is not UTF-8
_LONGEST_SIGN = max(map(len, _SIGNS))
_AT_ONCE = 1 << 20


def unseen(workbook: str | IO[bytes], sheet: str, after: int) -> str:
    """What is not seen of ``sheet`` below row ``after``, in words; empty where nothing is known.

    Source: ECMA-376, part 1, 18.3.1.73, the attribute ``hidden`` of ``row``; 18.3.1.4, cells of
    type ``e``.
    """
    try:
        with ZipFile(workbook) as book:
            place = _place(book, sheet)
            with book.open(place) as file:
                if not _may_have_some(file):
                    return ""
            with book.open(place) as file:
                hidden, errors = _counted(file, after)
    except (BadZipFile, KeyError, ValueError, ElementTree.ParseError, expat.ExpatError):
        return ""  # another format, which has no such file
    said = [f"{hidden:,} hidden rows of sheet {sheet!r} are read as people"] if hidden else []
    said += [f"{errors:,} cells with an error such as #N/A are read as missing"] if errors else []
    return "; ".join(said)


def _may_have_some(file: IO[bytes]) -> bool:
    """Whether the bytes can say so at all: parsing takes longer than all other reading does."""
    seen = b""
    while some := file.read(_AT_ONCE):
        seen = seen[-_LONGEST_SIGN:] + some
        if any(sign in seen for sign in _SIGNS):
            return True
    return False


def _counted(file: IO[bytes], after: int) -> tuple[int, int]:
    """Hidden rows and cells with an error, by their opening tags alone: no tree is built."""
    row = hidden = errors = 0

    def opened(tag: str, given: dict[str, str]) -> None:
        nonlocal row, hidden, errors
        if tag == _CELL:
            errors += row > after and given.get("t") == "e"
        elif tag == _ROW:
            row = int(given.get("r", row + 1))
            hidden += row > after and given.get("hidden", "0") not in ("0", "false")

    parser = expat.ParserCreate(namespace_separator="}")
    parser.StartElementHandler = opened
    parser.ParseFile(file)
    return hidden, errors


def _place(book: ZipFile, sheet: str) -> str:
    """The name of the file that holds a sheet; KeyError where there is none."""
    (link,) = [
        one.attrib[_LINK]
        for one in ElementTree.fromstring(book.read(_BOOK)).iter(f"{_MAIN}sheet")
        if one.get("name") == sheet
    ]
    links = ElementTree.fromstring(book.read("xl/_rels/workbook.xml.rels"))
    (target,) = [one.attrib["Target"] for one in links if one.get("Id") == link]
    return posixpath.normpath(posixpath.join("xl", target)).lstrip("/")
