"""Where data come from, as refusals name it; a data file, and how it is said to be written."""

import codecs
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from mixtally.errors import DataError, ParameterError, in_range

MOST_LEFT_OUT = 1000
"""Rows before and after the header that may be left out."""
DELIMITERS = ",;\t"
"""What may stand between cells unless another character is named."""
BLOCK = 1 << 22
"""Bytes of text that are parsed at a time; a row of CSV or JSON is shorter."""
_TAB = ("tab", "\\t")
_FORBIDDEN = '"\r\n'


class Origin(Protocol):
    """Where a table comes from: a data file, or the values of a program."""

    @property
    def is_piped(self) -> bool:
        """Whether nobody knows where it ends."""

    @property
    def skip_rows(self) -> int:
        """Rows before the first that counts."""

    def unreadable(self, expected: str, got: object, do: str) -> DataError:
        """The refusal of all of it."""

    def column(self, name: str) -> str:
        """The subject of a refusal of a column."""

    def row(self, number: int) -> str:
        """The subject of a refusal of a row, counted from 1."""

    def skip_advice(self, rows: int) -> str:
        """How the first rows are left out."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """Where the data are, and what their bytes do not say themselves.

    where
      path        a file, or ``-`` for the standard input
      delimiter   between the cells of CSV: one ASCII character, or "tab"; None to find it out
      encoding    of text, a name that Python knows; None for UTF-8, or UTF-16 with its mark
      sheet       of an Excel workbook; None for the first
      header_row  of CSV and workbooks, the row that names the columns, from 1
      skip_rows   rows after it that are no people
      block       bytes that are parsed at a time

    Raises ParameterError for a delimiter, an encoding or a row that is none.
    """

    path: Path
    delimiter: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    header_row: int = 1
    skip_rows: int = 0
    block: int = BLOCK

    def __post_init__(self) -> None:
        mark = self.mark
        if mark is not None and not (len(mark) == 1 and mark.isascii() and mark not in _FORBIDDEN):
            raise ParameterError(
                "delimiter",
                expected="one ASCII character that is no quote, or tab",
                got=repr(self.delimiter),
                do="--delimiter ';', for example",
            )
        if self.encoding is not None and not _is_encoding(self.encoding):
            raise ParameterError(
                "encoding",
                expected="the name of an encoding of text",
                got=repr(self.encoding),
                do="cp1252, latin-1, utf-16-le, shift_jis, for example",
            )
        for name, value, least in (
            ("header row", self.header_row, 1),
            ("skip rows", self.skip_rows, 0),
        ):
            in_range(name, value, least, MOST_LEFT_OUT, "--header-row 3 --skip-rows 2, for example")

    @property
    def mark(self) -> str | None:
        """The delimiter as one character."""
        return "\t" if self.delimiter in _TAB else self.delimiter

    @property
    def is_piped(self) -> bool:
        """Whether the data come through the standard input."""
        return str(self.path) == "-"

    @property
    def name(self) -> str:
        """What people call it."""
        return "the standard input" if self.is_piped else self.path.name

    def __str__(self) -> str:
        """The subject of a refusal."""
        return "standard input" if self.is_piped else str(self.path)

    def unreadable(self, expected: str, got: object, do: str) -> DataError:
        """The refusal of the file; ``got`` is put into one line."""
        return DataError(str(self), expected=expected, got=" ".join(str(got).split()), do=do)

    def column(self, name: str) -> str:
        """The subject of a refusal of a column."""
        return f"{self}, column {name!r}"

    def skip_advice(self, rows: int) -> str:
        """How the first rows are left out."""
        return f"say --skip-rows {rows + self.skip_rows}"

    def row(self, number: int) -> str:
        """The subject of a refusal of a row that counts, which stands so far below the header."""
        return f"{self}, row {number + self.skip_rows}"


def _is_encoding(name: str) -> bool:
    try:
        "a".encode(name)
        codecs.getincrementaldecoder(name)
    except (LookupError, UnicodeError, ValueError):
        return False
    return True
