"""What a workbook does not show or could not compute: rows that are hidden, cells with an error."""

import posixpath
from typing import IO
from xml.etree import ElementTree
from zipfile import BadZipFile, ZipFile

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_BOOK = "xl/workbook.xml"


def unseen(workbook: str | IO[bytes], sheet: str, after: int) -> str:
    """What is not seen of ``sheet`` below row ``after``, in words; empty where nothing is known.

    Source: ECMA-376, part 1, 18.3.1.73, the attribute ``hidden`` of ``row``; 18.3.1.4, cells of
    type ``e``.
    """
    try:
        with ZipFile(workbook) as book, book.open(_place(book, sheet)) as file:
            hidden = errors = 0
            for _, row in ElementTree.iterparse(file):
                if row.tag != f"{_MAIN}row":
                    continue
                if int(row.get("r", "0")) > after:
                    hidden += row.get("hidden", "0") not in ("0", "false")
                    errors += sum(cell.get("t") == "e" for cell in row)
                row.clear()
    except (BadZipFile, KeyError, ValueError, ElementTree.ParseError):
        return ""  # another format, which has no such file
    said = [f"{hidden:,} hidden rows of sheet {sheet!r} are read as people"] if hidden else []
    said += [f"{errors:,} cells with an error such as #N/A are read as missing"] if errors else []
    return "; ".join(said)


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
