"""Rows of a partition in the task that reads them: sorted by key, without copies."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from mixtally.errors import DataError
from mixtally.server.engine.copies import Mask, Positions
from mixtally.server.engine.envelope_worker import Kind
from mixtally.server.engine.spark.tasks import KEY_BYTES, KIND_PLACE

if TYPE_CHECKING:
    from pyspark import TaskContext

Keys = NDArray[np.uint8]


class Partition:
    """Yields the messages of a partition in order, and counts the kinds of its rows."""

    def __init__(self, batches: Iterable[pa.RecordBatch]) -> None:
        self._batches = batches
        self._last = np.zeros((0, KEY_BYTES), dtype=np.uint8)
        self.kinds: Counter[int] = Counter()
        """Number of rows of each kind, without copies."""
        self.rows = 0
        """Number of all rows."""
        self.sent: list[Positions] = []
        """Positions of the envelopes of the messages, in the order of the output."""
        self.others: list[Positions] = []
        """A pair of numbers for every envelope whose message is not in the output.

        The first number is the position of the envelope. The second is the position of the original
        if the envelope is a copy, and otherwise -1 - kind.
        """
        self._original = -1

    def messages(self) -> Iterator[bytes]:
        """Yield the concatenated messages of valid envelopes and fakes, many at a time."""
        for batch in self._batches:
            if not len(batch):
                continue
            keys = keys_of(batch.column("key"))
            known = np.concatenate([self._last, keys])
            first = _first_of_their_kind(known)[len(self._last) :]
            self._last = keys[-1:].copy()
            self.rows += len(keys)
            self.kinds.update(keys[first, KIND_PLACE].tolist())
            self._add_positions(keys, first)
            yield join_values(batch.column("message").filter(pa.array(first)))

    def _add_positions(self, keys: Keys, first: Mask) -> None:
        kinds = keys[:, KIND_PLACE].astype(np.int64)
        places = np.ascontiguousarray(keys[:, KIND_PLACE + 1 :]).view(">i8")[:, 0].astype(np.int64)
        last = np.maximum.accumulate(np.where(first, np.arange(len(keys)), -1))
        originals = np.where(last < 0, self._original, places[last])
        self._original = int(originals[-1])
        sent = first & np.isin(kinds, (Kind.GOOD, Kind.FAKE))
        self.sent.append(places[sent])
        self.others.append(
            np.stack([places, np.where(first, -1 - kinds, originals)], axis=1)[~sent]
        )


def current_task() -> "TaskContext":
    """Return the Spark task that runs in this process."""
    from pyspark import TaskContext

    found = TaskContext.get()
    if found is None:
        raise TypeError("no task of Spark")
    return found


def _first_of_their_kind(keys: Keys) -> Mask:
    """Return a mask of the rows that are not copies of the row before; fakes are never copies.

    Raises DataError for keys that are not in ascending order, because the order of the output must
    not depend on the machine that sorts.
    """
    # Differences of bytes need a signed type that is wider than a byte.
    step = keys[1:].astype(np.int16) - keys[:-1]
    place = (step != 0).argmax(axis=1)
    where = step[np.arange(len(step)), place]
    if (where < 0).any():
        raise DataError(
            "a partition", expected="ascending keys", got="a smaller key", do="report this error"
        )
    first = np.ones(len(keys), dtype=bool)
    first[1:] = (place < KIND_PLACE) & (where != 0) | (keys[1:, KIND_PLACE] == Kind.FAKE)
    return first


def keys_of(column: pa.Array) -> Keys:
    """Return the keys of a column as an array of shape (keys, bytes)."""
    return np.frombuffer(join_values(column), dtype=np.uint8).reshape(len(column), KEY_BYTES)


def join_values(column: pa.Array) -> bytes:
    """Return the concatenated values of a binary column."""
    if not len(column):
        return b""
    _, offsets, data = column.buffers()
    ends = np.frombuffer(offsets, dtype=np.int32)[column.offset : column.offset + len(column) + 1]
    return b"" if data is None else data[int(ends[0]) : int(ends[-1])].to_pybytes()
