"""Location of a data file, and the options that say how the file is written.

The command line makes a `DataFile` from its options; the readers open it. `Origin` is the protocol
by which error messages name a data source and its rows. `DataFile` implements this protocol, and
the Python functions implement it for values in memory.
"""

import codecs
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from mixtally.errors import DataError, ParameterError, in_range

MOST_LEFT_OUT = 1000
"""Largest number of rows that may be skipped before the header, and after it."""
DELIMITERS = ",;\t"
"""Characters that are tried as the delimiter if the user states none."""
BLOCK = 1 << 22
"""Bytes of text that are parsed at a time. A row of CSV or JSON must be shorter."""
_TAB = ("tab", "\\t")
_FORBIDDEN = '"\r\n'


class Origin(Protocol):
    """Where a table comes from: a data file, or values passed by a program."""

    @property
    def is_piped(self) -> bool:
        """Whether the data arrive through a pipe, so that their end is unknown."""

    @property
    def skip_rows(self) -> int:
        """Number of rows after the header that are skipped."""

    def unreadable(self, expected: str, got: object, do: str) -> DataError:
        """Return an error about the source as a whole, not about one of its rows."""

    def column(self, name: str) -> str:
        """Return the text by which an error refers to a column."""

    def row(self, number: int) -> str:
        """Return the text by which an error refers to a row, counted after the skipped rows."""

    def skip_advice(self, rows: int) -> str:
        """Return advice on how to skip the first ``rows`` rows."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A data file, with the options for reading it that its bytes do not determine.

    Attributes
    ----------
    path
        A file, or ``-`` for standard input.
    delimiter
        The character between cells of CSV: one ASCII character, or "tab". None to detect it.
    encoding
        The encoding of text, by a name that Python knows. None for UTF-8, or for UTF-16 with a byte
        order mark.
    sheet
        The sheet of a workbook. None for the first.
    header_row
        In CSV and workbooks, the row that names the columns, counted from 1.
    skip_rows
        Number of rows after the header that are skipped, because they are not people.
    block
        The number of bytes that are parsed at a time.

    Raises
    ------
    ParameterError
        If the delimiter, the encoding, ``header_row`` or ``skip_rows`` is invalid.
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
                expected="one ASCII character other than a quote or a line end, or tab",
                got=repr(self.delimiter),
                do="say --delimiter ';', for example",
            )
        if self.encoding is not None and not _is_encoding(self.encoding):
            raise ParameterError(
                "encoding",
                expected="the name of a text encoding",
                got=repr(self.encoding),
                do="choose one that Python knows, such as cp1252, latin-1, utf-16-le or shift_jis",
            )
        for name, value, least in (
            ("header row", self.header_row, 1),
            ("skip rows", self.skip_rows, 0),
        ):
            in_range(
                name, value, least, MOST_LEFT_OUT, "say --header-row 3 --skip-rows 2, for example"
            )

    @property
    def mark(self) -> str | None:
        """The delimiter as one character; None to detect it."""
        return "\t" if self.delimiter in _TAB else self.delimiter

    @property
    def is_piped(self) -> bool:
        """Whether the data come through standard input."""
        return str(self.path) == "-"

    @property
    def name(self) -> str:
        """The name of the file for texts that people read."""
        return "the standard input" if self.is_piped else self.path.name

    def __str__(self) -> str:
        """Return the text by which an error refers to the file."""
        return "standard input" if self.is_piped else str(self.path)

    def unreadable(self, expected: str, got: object, do: str) -> DataError:
        """Return an error about the file as a whole, not about one of its rows."""
        return DataError(str(self), expected=expected, got=got, do=do)

    def column(self, name: str) -> str:
        """Return the text by which an error refers to a column."""
        return f"{self}, column {name!r}"

    def skip_advice(self, rows: int) -> str:
        """Return advice on how to skip ``rows`` more rows than are skipped already."""
        return f"say --skip-rows {rows + self.skip_rows}"

    def row(self, number: int) -> str:
        """Return the text by which an error refers to a row, counted after the skipped rows."""
        return f"{self}, row {number + self.skip_rows}"


def _is_encoding(name: str) -> bool:
    try:
        "a".encode(name)
        # Encoding alone is not enough: some codecs of Python cannot decode a stream in parts.
        codecs.getincrementaldecoder(name)
    except (LookupError, UnicodeError, ValueError):
        return False
    return True
