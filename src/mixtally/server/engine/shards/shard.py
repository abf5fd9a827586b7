"""Shard: a Parquet file of messages of one length that were made under one plan.

The column ``message`` contains the messages. The footer describes the shard:

    mixtally.plan      fingerprint of the plan
    mixtally.batch     name of the batch; mixtally.number is the number of the shard in it, from 0
    mixtally.order     "people" if messages are in the order of people, "mixed" after mixes
    mixtally.sha256    SHA-256 of the concatenated messages

Files of other programs need only the column, in a Parquet or Arrow file.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any, NamedTuple, cast

import numpy as np

from mixtally.errors import DataError, MessageError
from mixtally.primitives.bits import Rows

COLUMN = "message"
ENDINGS = (".parquet", ".arrow")
"""Endings of the names of shard files."""
_ROWS_AT_ONCE = 1 << 16
"""Number of messages that are read at a time."""
_NAMES = ("plan", "batch", "number", "order", "sha256")
PEOPLE_ORDER, MIXED_ORDER = "people", "mixed"
"""Values of ``mixtally.order``."""
_PREFIX = "mixtally."


class ShardLabel(NamedTuple):
    """Description of a shard in its footer; None for entries that are missing."""

    plan: str | None = None
    """Fingerprint of the plan."""
    batch: str | None = None
    number: int | None = None
    """Name of the batch, and number of the shard in it."""
    order: str | None = None
    """Order of the messages: ``PEOPLE_ORDER`` or ``MIXED_ORDER``."""
    sha256: str | None = None
    """SHA-256 of the messages."""


def write_shard(file: Any, chunks: Iterable[Rows], size: int, label: ShardLabel) -> ShardLabel:
    """Write messages to an open file, and return the label with their SHA-256.

    Parameters
    ----------
    file : file object
        Binary file.
    chunks : iterable of array
        Messages in arrays of shape (messages, size).
    size : int
        Length of a message in bytes.
    label : ShardLabel
        Description of the shard.
    """
    import pyarrow as pa
    from pyarrow import parquet

    kind, digest = pa.binary(size), sha256()
    schema = pa.schema([pa.field(COLUMN, kind, nullable=False)])
    with parquet.ParquetWriter(file, schema, compression="none", use_dictionary=False) as out:
        for rows in chunks:
            data = np.ascontiguousarray(rows)
            digest.update(data.data)
            column = pa.Array.from_buffers(kind, len(rows), [None, pa.py_buffer(data)])
            out.write_batch(pa.record_batch([column], schema=schema))
        done = label._replace(sha256=digest.hexdigest())
        said = {name: value for name, value in done._asdict().items() if value is not None}
        out.add_key_value_metadata({_PREFIX + name: str(value) for name, value in said.items()})
    return done


class OpenedShard(NamedTuple):
    """A shard whose footer was read."""

    label: ShardLabel
    messages: int
    """Number of messages according to the footer."""
    rows: Iterator[Rows]
    """Messages in arrays of shape (messages, bytes)."""


@contextmanager
def open_shard(file: Any, name: str, size: int) -> Iterator[OpenedShard]:
    """Read the footer of a shard, and yield the shard for a block.

    Parameters
    ----------
    file : file object
        Open file of Arrow.
    name : str
        Name of the file.
    size : int
        Expected length of a message in bytes.

    Raises
    ------
    MessageError
        If the file has no column of messages, or messages of another length.
    DataError
        If the messages differ from the footer. It is raised while messages are read.
    """
    reader = _arrow if name.endswith(".arrow") else _parquet
    with reader(file) as (schema, metadata, messages, batches):
        _check_column(schema, name, size)
        label = _parse_label(metadata or {}, name)
        yield OpenedShard(label, messages, _rows(batches(), name, size, label, messages))


@contextmanager
def _parquet(file: Any) -> Iterator[Any]:
    from pyarrow import parquet

    with parquet.ParquetFile(file) as parquet_file:
        metadata = parquet_file.metadata
        yield (
            parquet_file.schema_arrow,
            metadata.metadata,
            metadata.num_rows,
            lambda: parquet_file.iter_batches(_ROWS_AT_ONCE, columns=[COLUMN], use_threads=False),
        )


@contextmanager
def _arrow(file: Any) -> Iterator[Any]:
    import pyarrow as pa

    with pa.ipc.open_file(file) as arrow_file:
        numbers = range(arrow_file.num_record_batches)
        yield (
            arrow_file.schema,
            arrow_file.schema.metadata,
            sum(arrow_file.get_batch(number).num_rows for number in numbers),
            lambda: (arrow_file.get_batch(number) for number in numbers),
        )


def _check_column(schema: Any, name: str, size: int) -> None:
    import pyarrow as pa

    if schema.names.count(COLUMN) != 1:
        raise _wrong(name, f"one column {COLUMN!r}", ", ".join(schema.names) or "no column")
    kind = schema.field(COLUMN).type
    binary = pa.types.is_binary(kind) or pa.types.is_large_binary(kind)
    if not binary and not pa.types.is_fixed_size_binary(kind):
        raise _wrong(name, f"a column {COLUMN!r} of bytes", str(kind))
    if not binary and kind.byte_width != size:
        raise _wrong(name, f"messages of {size:,} bytes", f"{kind.byte_width:,} bytes")


def _parse_label(metadata: dict[bytes, bytes], name: str) -> ShardLabel:
    said = {one: metadata.get((_PREFIX + one).encode()) for one in _NAMES}
    texts = {one: None if value is None else value.decode() for one, value in said.items()}
    number = texts.pop("number")
    if number is not None and not (number.isascii() and number.isdecimal()):
        raise _corrupt(name, "the number of the shard", repr(number))
    return ShardLabel(**texts, number=None if number is None else int(number))


def _rows(
    batches: Iterable[Any], name: str, size: int, label: ShardLabel, messages: int
) -> Iterator[Rows]:
    digest, done = sha256(), 0
    for batch in batches:
        rows = _join_column(batch.column(COLUMN), name, size)
        digest.update(rows.data)
        done += len(rows)
        yield rows
    if done != messages:
        raise _corrupt(name, f"the {messages:,} messages of its footer", f"{done:,}")
    if label.sha256 not in (None, digest.hexdigest()):
        raise _corrupt(name, f"messages of SHA-256 {label.sha256}", digest.hexdigest())


def _join_column(column: Any, name: str, size: int) -> Rows:
    import pyarrow as pa

    if column.null_count:
        raise _corrupt(name, "a message in every row", f"{column.null_count:,} rows without")
    fixed = pa.types.is_fixed_size_binary(column.type)
    if not fixed:
        lengths = np.unique(pa.compute.binary_length(column).to_numpy(zero_copy_only=False))
        if [*lengths] not in ([], [size]):
            found = ", ".join(f"{one:,}" for one in lengths[:5].tolist())
            raise _wrong(name, f"messages of {size:,} bytes", f"lengths of {found}")
        column = column.cast(pa.binary(size))
    data = column.buffers()[1]
    if data is None:
        return np.zeros((0, size), dtype=np.uint8)
    flat = np.frombuffer(data, dtype=np.uint8)
    first = column.offset * size
    return cast("Rows", flat[first : first + len(column) * size].reshape(-1, size))


def _wrong(name: str, expected: str, got: str) -> MessageError:
    return MessageError(name, expected=expected, got=got, do="give only shards of this plan")


def _corrupt(name: str, expected: str, got: str) -> DataError:
    return DataError(name, expected=expected, got=got, do="ask its writer for the shard again")
