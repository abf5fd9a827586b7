"""Sorting of messages by key, for more messages than fit into memory.

Messages that do not fit are written to files, grouped by the first byte of their keys. The files
are encrypted with a key that exists only in memory. Otherwise someone who reads the files and knows
the order in which envelopes arrived could link messages to senders, even after the round's key is
destroyed.

Source: NIST SP 800-38A, counter mode.
"""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from mixtally.errors import DataError
from mixtally.primitives.bits import Rows
from mixtally.primitives.chance import Chance
from mixtally.server.node.wrapping import secret_bytes

KEY_BYTES = 32
"""Length of a sort key."""
MOST_HELD_BYTES = 1 << 26
"""Default size of the messages in memory."""
_BUCKETS = 256
"""Number of values of a key's first byte."""
_FILES = 8
"""The number of files of a sorter. With several files, space is freed while messages are read.
The number is small, because a round has a sorter for each part."""
_YIELD_BYTES = 1 << 20
"""Approximate size of the pieces in which messages are returned."""


class _Extent(NamedTuple):
    """A range of a file whose rows all begin with the same byte."""

    start: int
    length: int


class Sorter:
    """Collects messages of ``size`` bytes with their keys, and returns them in order.

    Messages with equal keys keep their order. If messages need more than ``most`` bytes, they are
    written to ``folder``, encrypted with a key from ``chance``.
    """

    def __init__(
        self,
        folder: Path,
        size: int,
        chance: Chance,
        most: int = MOST_HELD_BYTES,
        key_bytes: int = KEY_BYTES,
    ) -> None:
        self._folder, self._size, self._most = folder, size, most
        self._key_bytes = key_bytes
        self._secret = secret_bytes(chance, 32)
        self._batches: list[Rows] = []
        self._bytes = 0
        self._files: dict[int, BinaryIO] = {}
        self._extents: defaultdict[int, list[_Extent]] = defaultdict(list)

    def add(self, keys: bytes, *columns: bytes) -> None:
        """Add messages with their concatenated keys.

        Each column contains the same number of bytes of every message, concatenated.
        """
        count = len(keys) // self._key_bytes
        if not count:
            return
        rows = np.concatenate(
            [np.frombuffer(one, dtype=np.uint8).reshape(count, -1) for one in (keys, *columns)],
            axis=1,
        )
        self._batches.append(rows)
        self._bytes += rows.nbytes
        if self._bytes > self._most:
            self._spill()

    def iterate_sorted(self) -> Iterator[bytes]:
        """Yield all messages in order, many at a time, and then delete the files."""
        return (rows.tobytes() for rows in self.iterate_rows())

    def iterate_rows(self) -> Iterator[Rows]:
        """Yield what ``iterate_sorted`` yields as arrays of shape (messages, bytes)."""
        step = max(1, _YIELD_BYTES // self._size)
        for rows, order in self.ordered_buckets():
            for start in range(0, len(order), step):
                yield rows[order[start : start + step], self._key_bytes :]

    def ordered_buckets(self, *, keep: bool = False) -> Iterator[tuple[Rows, NDArray[np.intp]]]:
        """Yield batches of rows, each with the permutation that sorts it.

        A row is a key followed by a message. Batches are in the order of keys, and rows with equal
        keys are in one batch. Only with ``keep`` can the iteration be repeated: the files are then
        kept until this object is deleted.
        """
        if not self._files:
            rows = self._take()
            self._batches = [rows] if keep else []
            yield rows, self._order(rows)
            return
        self._spill()
        for first in range(_BUCKETS):
            rows = self._read_spilled(first)
            if not keep and (first + 1) * _FILES % _BUCKETS == 0:
                self._close_file(first * _FILES // _BUCKETS)
            yield rows, self._order(rows)

    def __del__(self) -> None:
        """Close the files, whose content is then deleted."""
        for number in list(self._files):
            self._close_file(number)

    def _close_file(self, number: int) -> None:
        if number in self._files:
            self._files.pop(number).close()

    def _take(self) -> Rows:
        width = self._key_bytes + self._size
        rows = np.concatenate([np.zeros((0, width), dtype=np.uint8), *self._batches])
        self._batches, self._bytes = [], 0
        return rows

    def _order(self, rows: Rows) -> NDArray[np.intp]:
        words = np.ascontiguousarray(rows[:, : self._key_bytes]).view(">u8")
        return np.lexsort(words.T[::-1])

    def _spill(self) -> None:
        rows = self._take()
        order = np.argsort(rows[:, 0], kind="stable")
        ends = np.cumsum(np.bincount(rows[:, 0], minlength=_BUCKETS))
        for first in range(_BUCKETS):
            some = order[ends[first - 1] if first else 0 : ends[first]]
            if len(some):
                self._write(first, rows[some].tobytes())

    def _write(self, first: int, data: bytes) -> None:
        try:
            file, extents = self._file(first * _FILES // _BUCKETS), self._extents[first]
            sealed = self._cipher(first, len(extents)).encryptor().update(data)
            extents.append(_Extent(file.seek(0, 2), len(sealed)))
            file.write(sealed)
            file.flush()
        except OSError as error:
            raise DataError(
                str(self._folder),
                expected="free space for messages that do not fit into memory",
                got=error,
                do="free some space, then begin again: nothing was sent",
            ) from error

    def _file(self, number: int) -> BinaryIO:
        if number not in self._files:
            path = self._folder / f"spill-{number}"
            self._files[number] = path.open("w+b")
            # An unlinked file is accessible only to this process, and is deleted when it ends.
            path.unlink()
        return self._files[number]

    def _read_spilled(self, first: int) -> Rows:
        plain = list[bytes]()
        for number, (start, length) in enumerate(self._extents[first]):
            file = self._files[first * _FILES // _BUCKETS]
            file.seek(start)
            plain.append(self._cipher(first, number).decryptor().update(file.read(length)))
        width = self._key_bytes + self._size
        return np.frombuffer(b"".join(plain), dtype=np.uint8).reshape(-1, width)

    def _cipher(self, first: int, number: int) -> Cipher[modes.CTR]:
        # The secret is new for each sorter, so a nonce for each extent is used only once.
        nonce = first.to_bytes(4) + number.to_bytes(4) + bytes(8)
        return Cipher(algorithms.AES256(self._secret), modes.CTR(nonce))
