"""Where rows of CSV end: what stands before the header is left out, the rest cut into blocks."""

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mixtally.lab.data.file import DataFile
from mixtally.lab.data.formats.text import long_row_error

_SEP = re.compile(rb"sep=(.)\r?\n", re.IGNORECASE)
"""What Excel writes and reads before a header, to say what stands between cells."""


def find_row_ends(data: bytes) -> NDArray[np.int64]:
    """Places behind each row of ``data``, which begins with one: line ends outside of quotes."""
    found = np.frombuffer(data, dtype=np.uint8)
    ended = found == ord("\n")
    if b"\r" in data:
        ended |= (found == ord("\r")) & (np.append(found[1:], 0) != ord("\n"))
    lines = np.flatnonzero(ended)
    if b'"' not in data:
        return lines + 1
    quotes = np.flatnonzero(found == ord('"'))
    outside: NDArray[np.bool_] = np.searchsorted(quotes, lines) % 2 == 0
    places: NDArray[np.int64] = lines[outside] + 1
    return places


def parse_separator_line(first: bytes) -> tuple[str | None, int]:
    """The delimiter that a first line ``sep=;`` names, and where the next line begins."""
    found = _SEP.match(first)
    return (None, 0) if found is None else (found[1].decode("latin-1"), found.end())


def find_header_start(file: DataFile, first: bytes, row: int) -> int:
    """Where row number ``row`` of a file begins, counted from 1; DataError where there is none."""
    if row == 1:
        return 0
    found = find_row_ends(first)
    if len(found) < row - 1 or found[row - 2] >= len(first):
        raise file.unreadable(
            f"a header in row {row:,}", f"{len(found):,} rows before", "check --header-row"
        )
    return int(found[row - 2])


def split_into_blocks(
    file: DataFile, parts: Iterator[bytes], drop: int, size: int
) -> Iterator[bytes]:
    """The rows of ``parts`` but for the first ``drop``, whole, some ``size`` bytes at a time.

    A block is bytes, and not a stream that a thread of Arrow asks for more: such a thread may
    still be asking when the process ends, which then aborts.
    """
    held = bytearray()
    for part in parts:
        held += part
        if len(held) < size:
            continue
        found = find_row_ends(bytes(held))
        found = found[found < len(held)]  # the next part may begin with the rest of a line end
        if len(held) - (int(found[-1]) if len(found) else 0) > size:
            raise long_row_error(file)
        if len(found) <= drop:
            continue
        start = int(found[drop - 1]) if drop else 0
        drop = 0
        yield bytes(held[start : found[-1]])
        del held[: found[-1]]
    found = find_row_ends(bytes(held))
    start = 0 if not drop else int(found[drop - 1]) if len(found) >= drop else len(held)
    if start < len(held):
        yield bytes(held[start:])
