"""Boundaries of CSV rows: the end of each row, the header, and blocks of whole rows.

``csv_table`` uses these functions on bytes, before Arrow parses them.
"""

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mixtally.lab.data.file import DataFile
from mixtally.lab.data.formats.text import long_row_error

_SEP = re.compile(rb"sep=(.)\r?\n", re.IGNORECASE)
"""The line that Excel writes and reads above a header to name the delimiter."""


def find_row_ends(data: bytes) -> NDArray[np.int64]:
    """Return the offset after each row of ``data``; a row ends at a line end outside of quotes."""
    found = np.frombuffer(data, dtype=np.uint8)
    ended = found == ord("\n")
    if b"\r" in data:
        # A carriage return before a line feed is part of the same line end.
        ended |= (found == ord("\r")) & (np.append(found[1:], 0) != ord("\n"))
    lines = np.flatnonzero(ended)
    if b'"' not in data:
        return lines + 1
    # A line end is outside of quotes if an even number of quotes precedes it. A doubled quote
    # counts as two, and so changes nothing.
    quotes = np.flatnonzero(found == ord('"'))
    outside: NDArray[np.bool_] = np.searchsorted(quotes, lines) % 2 == 0
    places: NDArray[np.int64] = lines[outside] + 1
    return places


def parse_separator_line(first: bytes) -> tuple[str | None, int]:
    """Return the delimiter in a first line such as ``sep=;``, and the offset of the next line.

    Returns None and 0 if the first line is not of this form.
    """
    found = _SEP.match(first)
    return (None, 0) if found is None else (found[1].decode("latin-1"), found.end())


def find_header_start(file: DataFile, first: bytes, row: int) -> int:
    """Return the offset of row number ``row``, counted from 1; raise DataError if there is none."""
    if row == 1:
        return 0
    found = find_row_ends(first)
    if len(found) < row - 1 or found[row - 2] >= len(first):
        raise file.unreadable(
            f"a header in row {row:,}", f"only {len(found):,} rows", "check --header-row"
        )
    return int(found[row - 2])


def split_into_blocks(
    file: DataFile, parts: Iterator[bytes], drop: int, size: int
) -> Iterator[bytes]:
    """Yield the rows of ``parts`` in blocks of whole rows, about ``size`` bytes each.

    The first ``drop`` rows are left out. Arrow receives a block as bytes. If it received a stream,
    a thread of Arrow could still read from it when the process ends, and the process would abort.
    """
    buffer = bytearray()
    for part in parts:
        buffer += part
        if len(buffer) < size:
            continue
        found = find_row_ends(bytes(buffer))
        # The last row waits: the next part may begin with the second half of its line end.
        found = found[found < len(buffer)]
        if len(buffer) - (int(found[-1]) if len(found) else 0) > size:
            raise long_row_error(file)
        if len(found) <= drop:
            continue
        start = int(found[drop - 1]) if drop else 0
        drop = 0
        yield bytes(buffer[start : found[-1]])
        del buffer[: found[-1]]
    found = find_row_ends(bytes(buffer))
    start = 0 if not drop else int(found[drop - 1]) if len(found) >= drop else len(buffer)
    if start < len(buffer):
        yield bytes(buffer[start:])
