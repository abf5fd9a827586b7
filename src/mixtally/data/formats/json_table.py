"""JSON lines: an object a line, its keys the columns; a key that is not there has no value."""

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, cast

import msgspec
import pyarrow

from mixtally.data.file import DataFile
from mixtally.data.formats.source import Source
from mixtally.data.formats.table import Part, Table
from mixtally.data.formats.text import BLOCK, ended, long_row
from mixtally.data.formats.written import written
from mixtally.errors import DataError

_Value = str | int | float | bool | None


def json_table(source: Source, parts: Iterator[bytes]) -> Table:
    """The table in the UTF-8 ``parts``; its columns are the keys in the first of them."""
    file = source.file
    blocks = _whole_lines(file, ended(file, parts))
    first = next(blocks, b"")
    keys = _keys(file, first)

    def read(places: Sequence[int]) -> Iterator[Part]:
        names, row = [keys[place] for place in places], 0
        fields = [
            (f"f{i}", _Value, msgspec.field(default=None, name=n)) for i, n in enumerate(names)
        ]
        decoder = msgspec.json.Decoder(msgspec.defstruct("Row", fields))
        for block in chain([first], blocks):
            rows = _decoded(file, decoder, block, row)
            row += len(rows)
            yield Part(
                [
                    pyarrow.array([written(getattr(one, field)) for one in rows], pyarrow.string())
                    for field, *_ in fields
                ],
                source.done,
                source.size,
            )

    return Table(keys, read)


def _whole_lines(file: DataFile, parts: Iterator[bytes]) -> Iterator[bytes]:
    """The same text, cut at ends of lines; blank lines are dropped."""
    held = b""
    for part in parts:
        lines, end, rest = part.rpartition(b"\n")
        if end:
            yield held + lines
            held = b""
        held += rest
        if len(held) > BLOCK:
            raise long_row(file)


def _keys(file: DataFile, block: bytes) -> tuple[str, ...]:
    """The keys of the objects in ``block`` in the order in which they come.

    One that the first object has twice comes twice.
    """
    rows = _decoded(file, msgspec.json.Decoder(dict[str, msgspec.Raw]), block, 0)
    if not rows:
        raise file.unreadable("an object a line", "an empty file", "check the file")
    opening, _ = json.JSONDecoder(object_pairs_hook=_names).raw_decode(block.decode().lstrip())
    later = chain.from_iterable(rows)
    return (*opening, *(key for key in dict.fromkeys(later) if key not in opening))


def _names(pairs: list[tuple[str, object]]) -> list[str]:
    return [name for name, _ in pairs]


def _decoded(file: DataFile, decoder: Any, block: bytes, before: int) -> list[Any]:
    """The objects in ``block``; raises DataError for a line that is none, by its row."""
    try:
        return cast("list[Any]", decoder.decode_lines(block))
    except msgspec.DecodeError as error:
        found = error
    for row, line in enumerate(filter(bytes.strip, block.split(b"\n")), start=before + 1):
        try:
            decoder.decode(line)
        except msgspec.DecodeError as error:
            raise _no_object(file, row, error) from error
    raise _no_object(file, before + 1, found)


def _no_object(file: DataFile, row: int, error: Exception) -> DataError:
    return DataError(
        file.row(row),
        wanted="a JSON object a line, with text, numbers, true, false or null",
        got=str(error).replace("`", ""),
        do="write each object on one line, null for what is missing, and a set as one text",
    )
