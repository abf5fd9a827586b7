"""JSON lines: an object a line, its keys the columns; a key that is not there has no value."""

import json
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any, cast

import msgspec
import pyarrow

from mixtally.errors import DataError
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
"""Bytes of one array of objects, which is decoded whole."""


def json_table(source: Source, parts: Iterator[bytes]) -> Table:
    """The table in the UTF-8 ``parts``; its columns are the keys in the first of them."""
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
    """Texts, or lists of them."""
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
    """Texts of single values; null for lists and objects."""
    texts = [value_text(one) if isinstance(one, _One) else None for one in values]
    return pyarrow.array(texts, pyarrow.string())


def _subject(file: DataFile, name: str, before: int, place: int) -> str:
    """The subject of a refusal of a value of a block, counted from 0, ``before`` which rows are."""
    return f"{file.row(before + place + 1)}, column {name!r}"


def _check_repeated_keys(file: DataFile, block: bytes, before: int, names: Sequence[str]) -> None:
    """Raises DataError for an object that has one of the keys ``names`` twice."""
    if all(block.count(json.dumps(n, ensure_ascii=False).encode()) <= 1 for n in names):
        return
    keys = [re.escape(json.dumps(name, ensure_ascii=False).encode()) for name in names]
    patterns = [re.compile(key + rb"\s*:[^\n]*" + key + rb"\s*:") for key in keys]
    if not any(pattern.search(block) for pattern in patterns):
        return
    for row, line in enumerate(filter(bytes.strip, block.split(b"\n")), start=before + 1):
        if not any(pattern.search(line) for pattern in patterns):
            continue
        found = json.loads(line, object_pairs_hook=_Pairs)
        for name in names:
            if [key for key, _ in found].count(name) > 1:
                raise DataError(
                    file.row(row), expected="every key once", got=f"{name!r} twice",
                    do="keep one of them",
                )  # fmt: skip


class _Pairs(list[Any]):
    """An object as pairs, doubled keys included."""


def objects_of(file: DataFile, parts: Iterator[bytes]) -> Iterator[bytes]:
    """The objects of one JSON array, each on a line of its own; DataError for anything else."""
    held = bytearray()
    for part in parts:
        held += part
        if len(held) > _MOST_ARRAY_BYTES:
            raise file.unreadable(
                f"an array of at most {_MOST_ARRAY_BYTES:,} bytes",
                "a longer one",
                "write JSON lines",
            )
    try:
        rows = msgspec.json.decode(bytes(held), type=list[msgspec.Raw])
    except msgspec.DecodeError as error:
        raise file.unreadable(
            "an array of JSON objects", error, "repair or re-export it"
        ) from error
    for row in rows:  # a line end inside an object is only space
        yield bytes(row).replace(b"\n", b" ").replace(b"\r", b" ") + b"\n"


def _whole_lines(file: DataFile, parts: Iterator[bytes]) -> Iterator[bytes]:
    """The same text, cut at ends of lines; blank lines are dropped."""
    held = b""
    for part in parts:
        lines, end, rest = part.rpartition(b"\n")
        if end:
            yield held + lines
            held = b""
        held += rest
        if len(held) > file.block:
            raise long_row_error(file)


def _keys(file: DataFile, block: bytes) -> tuple[str, ...]:
    """The keys of the objects in ``block`` in the order in which they come.

    One that the first object has twice comes twice.
    """
    rows = _decode_objects(file, msgspec.json.Decoder(dict[str, msgspec.Raw]), block, 0)
    if not rows:
        raise file.unreadable("an object a line", "an empty file", "check the file")
    opening, _ = json.JSONDecoder(object_pairs_hook=_names).raw_decode(block.decode().lstrip())
    later = chain.from_iterable(rows)
    return (*opening, *(key for key in dict.fromkeys(later) if key not in opening))


def _names(pairs: list[tuple[str, object]]) -> list[str]:
    return [name for name, _ in pairs]


def _decode_objects(file: DataFile, decoder: Any, block: bytes, before: int) -> list[Any]:
    """The objects in ``block``; raises DataError for a line that is none, by its row."""
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
        expected="a JSON object a line, with text, numbers, true, false, null or lists of these",
        got=str(error).replace("`", ""),
        do="write each object on one line, null for what is missing",
    )
