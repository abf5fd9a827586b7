"""The rows of a partition as they reach its task: in the order of their keys, copies dropped."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mixtally.errors import DataError
from mixtally.server.engine.spark.tasks import (
    FAKE,
    HASH_BYTES,
    KEY_BYTES,
    MALFORMED,
    PADDING,
    UNOPENED,
)

if TYPE_CHECKING:
    from pyspark import TaskContext

Keys = NDArray[np.uint8]


class Partition:
    """Gives the messages of rows in order, and counts what they were."""

    def __init__(self, batches: Iterable[pa.RecordBatch]) -> None:
        self._batches = batches
        self._last = np.zeros((0, KEY_BYTES), dtype=np.uint8)
        self.kinds: Counter[int] = Counter()
        """Kind -> rows, without copies."""
        self.rows = 0
        """All of them."""
        self.bad = bytearray()
        """SHA-256 of envelopes that did not open to what is expected, without copies."""
        self.padding = bytearray()
        """SHA-256 of envelopes that were padding, without copies."""

    def messages(self) -> Iterator[bytes]:
        """What stands in the good rows and the fakes, many at a time, one after the other."""
        for batch in self._batches:
            if not len(batch):
                continue
            keys = keys_of(batch.column("key"))
            known = np.concatenate([self._last, keys])
            first = _first_of_their_kind(known)[len(self._last) :]
            self._last = keys[-1:].copy()
            self.rows += len(keys)
            self.kinds.update(keys[first, -1].tolist())
            bad = first & np.isin(keys[:, -1], (UNOPENED, MALFORMED))
            self.bad += keys[bad, HASH_BYTES : 2 * HASH_BYTES].tobytes()
            padding = first & (keys[:, -1] == PADDING)
            self.padding += keys[padding, HASH_BYTES : 2 * HASH_BYTES].tobytes()
            yield join_values(batch.column("message").filter(pa.array(first)))


def current_task() -> "TaskContext":
    """The task of Spark that runs here."""
    from pyspark import TaskContext

    found = TaskContext.get()
    if found is None:
        raise TypeError("no task of Spark")
    return found


def _first_of_their_kind(keys: Keys) -> NDArray[np.bool_]:
    """Which rows are no copy of the one before; fakes are none, whatever they hold.

    Raises DataError for keys that fall: the bytes that leave would depend on who sorted them.
    """
    step = keys[1:].astype(np.int16) - keys[:-1]
    place = (step != 0).argmax(axis=1)
    where = step[np.arange(len(step)), place]
    if (where < 0).any():
        raise DataError(
            "a partition", expected="ascending keys", got="one that falls", do="report this fault"
        )
    first = np.ones(len(keys), dtype=bool)
    first[1:] = (where != 0) | (keys[1:, -1] == FAKE)
    return first


def keys_of(column: pa.Array) -> Keys:
    """Keys of equal length as rows of bytes, shape (keys, bytes)."""
    return np.frombuffer(join_values(column), dtype=np.uint8).reshape(len(column), KEY_BYTES)


def join_values(column: pa.Array) -> bytes:
    """The values of a column of bytes, one after the other."""
    if not len(column):
        return b""
    _, offsets, data = column.buffers()
    ends = np.frombuffer(offsets, dtype=np.int32)[column.offset : column.offset + len(column) + 1]
    return b"" if data is None else data[int(ends[0]) : int(ends[-1])].to_pybytes()
