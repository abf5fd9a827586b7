"""Parquet: columns of any simple type, read batch by batch out of the row groups."""

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow
from pyarrow import parquet

from mixtally.data.formats.source import Source
from mixtally.data.formats.table import Part, Table

_ROWS = 1 << 16


def parquet_table(source: Source, coded: Sequence[str]) -> Table:
    """The table in ``source``; texts in the columns ``coded`` come as codes of distinct ones."""
    file = str(source.file.path) if source.direct else pyarrow.BufferReader(source.whole())
    with parquet.ParquetFile(file) as opened:
        schema, rows = opened.schema_arrow, opened.metadata.num_rows
    names = tuple(schema.names)
    texts = [name for name in coded if names.count(name) == 1 and _is_text(schema.field(name).type)]

    def read(places: Sequence[int]) -> Iterator[Part]:
        done, wanted = 0, [names[place] for place in places]
        with parquet.ParquetFile(file, read_dictionary=texts) as opened:
            for batch in opened.iter_batches(columns=wanted, batch_size=_ROWS):
                done += batch.num_rows
                yield Part([batch.column(name) for name in wanted], done, rows)

    return Table(names, read)


def _is_text(kind: Any) -> bool:
    types = pyarrow.types
    if types.is_dictionary(kind):
        return _is_text(kind.value_type)
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_binary(kind))
