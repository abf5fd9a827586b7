"""Tables in Parquet, read batch by batch from the row groups.

`parquet_table` is called by ``tables``.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow
from pyarrow import parquet

from mixtally.lab.data.formats.source import Source
from mixtally.lab.data.formats.table import Table, TableBatch

_ROW = 64
"""Assumed bytes of a row, from which the number of rows in a batch follows."""
_WHOLE = ("parquet-cpp-arrow", "Polars")
"""Writers that store every dictionary completely: Arrow in C++, as in pandas and R, and Polars."""


def parquet_table(source: Source, encoded_columns: Sequence[str]) -> Table:
    """Return the table in ``source``; texts in ``encoded_columns`` become dictionaries."""
    file = str(source.file.path) if source.is_direct else pyarrow.BufferReader(source.read_all())
    with parquet.ParquetFile(file) as opened:
        schema, metadata = opened.schema_arrow, opened.metadata
    rows, size = metadata.num_rows, max(1, source.file.block // _ROW)
    names = tuple(schema.names)
    texts = [
        name
        for name in encoded_columns
        if names.count(name) == 1 and _is_text(schema.field(name).type)
    ]

    def read_parts(asked: Sequence[int], watched: Sequence[int] = ()) -> Iterator[TableBatch]:
        done, expected = 0, [names[place] for place in [*asked, *watched]]
        with parquet.ParquetFile(file, read_dictionary=texts) as opened:
            for batch in opened.iter_batches(columns=expected, batch_size=size):
                done += batch.num_rows
                yield TableBatch([batch.column(name) for name in expected], done, rows)

    # A dictionary lists all possible values only if the type says so and the writer stores the
    # complete dictionary.
    declared = (
        name for name in texts if _is_declared(schema.field(name)) and _is_whole(metadata, name)
    )
    ordered = (name for name in texts if getattr(schema.field(name).type, "ordered", False))
    return Table(names, read_parts, frozenset(declared), frozenset(ordered))


def _is_declared(field: Any) -> bool:
    """Return whether the type of a column lists all values that it may have.

    The type of a text column is text, even if it is stored as a dictionary. A Polars Categorical
    lists only the values that occurred, so it does not declare the possible values.
    """
    met = any(key.startswith(b"_PL_CATEGORICAL") for key in field.metadata or {})
    return bool(pyarrow.types.is_dictionary(field.type)) and not met


def _is_whole(metadata: Any, name: str) -> bool:
    """Return whether every row group of the file stores the whole dictionary of a column.

    Some writers store only the values that occur in the group, or no dictionary. In this case the
    dictionary that the reader returns need not have all declared values.
    """
    if not str(metadata.created_by).startswith(_WHOLE):
        return False
    groups = (metadata.row_group(number) for number in range(metadata.num_row_groups))
    chunks = (group.column(place) for group in groups for place in range(group.num_columns))
    return all(one.has_dictionary_page for one in chunks if one.path_in_schema == name)


def _is_text(kind: Any) -> bool:
    types = pyarrow.types
    if types.is_dictionary(kind):
        return _is_text(kind.value_type)
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_binary(kind))
