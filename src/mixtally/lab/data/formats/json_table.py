"""Tables in JSON lines, or in one JSON array: an object is a row, and its keys are columns.

``tables`` calls `json_table`, after `objects_of` has split an array. A missing key is a missing
value.
"""

import json
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any, cast

import msgspec
import pyarrow

from mixtally.errors import DataError, describe_error
from mixtally.lab.data.columns import join_lists_and_singles
from mixtally.lab.data.file import DataFile
from mixtally.lab.data.formats.source import Source
from mixtally.lab.data.formats.table import Table, TableBatch
from mixtally.lab.data.formats.text import long_row_error, trim_end
from mixtally.lab.data.label_merging import value_text
from mixtally.lab.data.value_types import ColumnTypes

_One = str | int | float | bool
_Value = _One | list[_One | None] | None
_MOST_ARRAY_BYTES = 1 << 30
"""Largest size of an array of objects, which is decoded in memory."""


def json_table(source: Source, parts: Iterator[bytes]) -> Table:
    """Return the table in ``parts``, which are successive blocks of UTF-8.

    The columns of the table are the keys in the first block.
    """
    file = source.file
    blocks = _whole_lines(file, trim_end(file, parts))
    first = next(blocks, b"")
    keys = _keys(file, first)

    def read_parts(asked: Sequence[int], watched: Sequence[int] = ()) -> Iterator[TableBatch]:
        names, row = [keys[place] for place in asked], 0
        types = [_Value] * len(asked) + [Any] * len(watched)
        fields = [
            (f"f{i}", kind, msgspec.field(default=None, name=keys[place]))
            for i, (place, kind) in enumerate(zip([*asked, *watched], types, strict=True))
        ]
        met = [ColumnTypes() for _ in names]
        decoder = msgspec.json.Decoder(msgspec.defstruct("Row", fields))
        for block in chain([first], blocks):
            rows = _decode_objects(file, decoder, block, row)
            _check_repeated_keys(file, block, row, names)
            values = [[getattr(one, field) for one in rows] for field, *_ in fields]
            # Only requested columns are checked; watched columns follow them in ``values``.
            for name, column, sorts in zip(names, values, met, strict=False):
                sorts.check(column, partial(_subject, file, name, row))
            row += len(rows)
            arrays = [
                *map(_array, values[: len(asked)]),
                *map(_texts_of_singles, values[len(asked) :]),
            ]
            yield TableBatch(arrays, source.bytes_read, source.size)

    return Table(keys, read_parts)


def _array(values: list[Any]) -> pyarrow.Array:
    """Return an array of texts, or of lists of texts if no value is single.

    If lists and single values are mixed, each list is joined to one text.
    """
    if not any(isinstance(value, list) for value in values):
        return pyarrow.array(list(map(value_text, values)), pyarrow.string())
    lists = [list(map(value_text, one)) if isinstance(one, list) else None for one in values]
    singles = [None if isinstance(one, list) else value_text(one) for one in values]
    found = pyarrow.array(lists, pyarrow.list_(pyarrow.string()))
    return (
        join_lists_and_singles(found, pyarrow.array(singles, pyarrow.string()))
        if any(singles)
        else found
    )


def _texts_of_singles(values: list[Any]) -> pyarrow.Array:
    """Return the texts of single values; null for lists and objects."""
    texts = [value_text(one) if isinstance(one, _One) else None for one in values]
    return pyarrow.array(texts, pyarrow.string())


def _subject(file: DataFile, name: str, before: int, place: int) -> str:
    """Return the text by which an error refers to the value in row ``place`` of a block.

    ``name`` is the column, and ``before`` the number of rows before the block.
    """
    return f"{file.row(before + place + 1)}, column {name!r}"


def _check_repeated_keys(file: DataFile, block: bytes, before: int, names: Sequence[str]) -> None:
    """Raise DataError for an object in ``block`` that has one of the keys ``names`` twice.

    ``before`` is the number of rows before the block.
    """
    # Decoders drop one of two equal keys without an error. Decoding again is slow, so cheap
    # searches first exclude blocks and lines without a repeated key.
    if all(block.count(json.dumps(n, ensure_ascii=False).encode()) <= 1 for n in names):
        return
    keys = [re.escape(json.dumps(name, ensure_ascii=False).encode()) for name in names]
    patterns = [re.compile(key + rb"\s*:[^\n]*" + key + rb"\s*:") for key in keys]
    if not any(pattern.search(block) for pattern in patterns):
        return
    for row, line in enumerate(filter(bytes.strip, block.split(b"\n")), start=before + 1):
        if not any(pattern.search(line) for pattern in patterns):
            continue
        found = json.loads(line, object_pairs_hook=_names)
        for name in names:
            if found.count(name) > 1:
                raise DataError(
                    file.row(row), expected="every key once", got=f"{name!r} twice",
                    do="keep one of them",
                )  # fmt: skip


def objects_of(file: DataFile, parts: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the objects of a JSON array, one per line; raise DataError for anything else."""
    buffer = bytearray()
    for part in parts:
        buffer += part
        if len(buffer) > _MOST_ARRAY_BYTES:
            raise file.unreadable(
                f"an array of at most {_MOST_ARRAY_BYTES:,} bytes",
                "a longer one",
                "write JSON lines",
            )
    try:
        rows = msgspec.json.decode(bytes(buffer), type=list[msgspec.Raw])
    except msgspec.DecodeError as error:
        raise file.unreadable(
            "an array of JSON objects", error, "repair or re-export it"
        ) from error
    for row in rows:  # between the tokens of an object, a line end is white space
        yield bytes(row).replace(b"\n", b" ").replace(b"\r", b" ") + b"\n"


def _whole_lines(file: DataFile, parts: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the text in blocks of whole lines, which may be blank."""
    buffer = b""
    for part in parts:
        lines, end, rest = part.rpartition(b"\n")
        if end:
            yield buffer + lines
            buffer = b""
        buffer += rest
        if len(buffer) > file.block:
            raise long_row_error(file)


def _keys(file: DataFile, block: bytes) -> tuple[str, ...]:
    """Return the keys of the objects in ``block`` in the order of occurrence.

    A key that the first object has twice is returned twice, so that the table is refused.
    """
    rows = _decode_objects(file, msgspec.json.Decoder(dict[str, msgspec.Raw]), block, 0)
    if not rows:
        raise file.unreadable("an object on each line", "an empty file", "check the file")
    opening, _ = json.JSONDecoder(object_pairs_hook=_names).raw_decode(block.decode().lstrip())
    later = chain.from_iterable(rows)
    return (*opening, *(key for key in dict.fromkeys(later) if key not in opening))


def _names(pairs: list[tuple[str, object]]) -> list[str]:
    """Return the keys of a JSON object, in which keys may repeat."""
    return [name for name, _ in pairs]


def _decode_objects(file: DataFile, decoder: Any, block: bytes, before: int) -> list[Any]:
    """Return the objects in ``block``; raise DataError for a line that is not an object."""
    try:
        return cast("list[Any]", decoder.decode_lines(block))
    except msgspec.DecodeError as error:
        found = error
    for row, line in enumerate(filter(bytes.strip, block.split(b"\n")), start=before + 1):
        try:
            decoder.decode(line)
        except msgspec.DecodeError as error:
            raise _not_an_object_error(file, row, error) from error
    raise _not_an_object_error(file, before + 1, found)


def _not_an_object_error(file: DataFile, row: int, error: Exception) -> DataError:
    return DataError(
        file.row(row),
        expected="a JSON object per line, with text, numbers, true, false, null or lists of these",
        got=describe_error(error).replace("`", "").rpartition("got ")[2],
        do="write each object on one line, null for what is missing",
    )
