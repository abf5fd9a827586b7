"""Sorting of messages by key, for more messages than fit into memory.

Messages that do not fit are written to files, one for each first byte of the keys. The files are
encrypted with a key that exists only in memory. Otherwise someone who also knows the order in which
envelopes arrived could link messages to senders, even after the round's key is destroyed.

Source: NIST SP 800-38A, counter mode.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
from cryptography.hazmat.primitives.ciphers import (
    AEADEncryptionContext,
    Cipher,
    CipherContext,
    algorithms,
    modes,
)

from mixtally.errors import DataError
from mixtally.primitives.bits import Rows
from mixtally.primitives.chance import Chance
from mixtally.server.node.wrapping import secret_bytes

KEY_BYTES = 32
"""Length of a sort key."""
MOST_HELD_BYTES = 1 << 26
"""Default size of the messages in memory."""
_FILES = 256
_YIELD_BYTES = 1 << 20
"""Approximate size of the pieces in which messages are returned."""

_Context = CipherContext | AEADEncryptionContext


class Sorter:
    """Collects messages of ``size`` bytes with their keys, and returns them in order.

    Messages above ``most`` bytes are written to ``folder``, encrypted with a key from ``chance``.
    """

    def __init__(
        self, folder: Path, size: int, chance: Chance, most: int = MOST_HELD_BYTES
    ) -> None:
        self._folder, self._size, self._most = folder, size, most
        self._secret = secret_bytes(chance, 32)
        self._held: list[Rows] = []
        self._bytes = 0
        self._files: dict[int, tuple[BinaryIO, _Context]] = {}

    def add(self, keys: bytes, messages: bytes) -> None:
        """Add concatenated messages and their concatenated keys."""
        rows = np.concatenate(
            [
                np.frombuffer(keys, dtype=np.uint8).reshape(-1, KEY_BYTES),
                np.frombuffer(messages, dtype=np.uint8).reshape(-1, self._size),
            ],
            axis=1,
        )
        self._held.append(rows)
        self._bytes += rows.nbytes
        if self._bytes > self._most:
            self._spill()

    def iterate_sorted(self) -> Iterator[bytes]:
        """Yield all messages in order, many at a time; afterwards the files are gone."""
        if not self._files:
            yield from self._sort_rows(self._take())
            return
        self._spill()
        for first in range(_FILES):
            if first in self._files:
                yield from self._sort_rows(self._read_spilled(first))
        self._files.clear()

    def _take(self) -> Rows:
        width = KEY_BYTES + self._size
        rows = np.concatenate([np.zeros((0, width), dtype=np.uint8), *self._held])
        self._held, self._bytes = [], 0
        return rows

    def _sort_rows(self, rows: Rows) -> Iterator[bytes]:
        words = np.ascontiguousarray(rows[:, :KEY_BYTES]).view(">u8")
        order = np.lexsort(words.T[::-1])
        step = max(1, _YIELD_BYTES // self._size)
        for start in range(0, len(order), step):
            yield rows[order[start : start + step], KEY_BYTES:].tobytes()

    def _spill(self) -> None:
        rows = self._take()
        if not len(rows):
            return
        order = np.argsort(rows[:, 0], kind="stable")
        ends = np.cumsum(np.bincount(rows[:, 0], minlength=_FILES))
        for first in range(_FILES):
            some = order[ends[first - 1] if first else 0 : ends[first]]
            if len(some):
                self._write(first, rows[some].tobytes())

    def _write(self, first: int, data: bytes) -> None:
        try:
            file, context = self._file(first)
            file.write(context.update(data))
            file.flush()
        except OSError as error:
            raise DataError(
                str(self._folder),
                expected="free space for messages that do not fit into memory",
                got=error,
                do="free some space, then begin again: nothing was sent",
            ) from error

    def _file(self, first: int) -> tuple[BinaryIO, _Context]:
        if first not in self._files:
            path = self._folder / f"spill-{first}"
            file = path.open("w+b")
            # An unlinked file is accessible only to this process, and vanishes with it.
            path.unlink()
            self._files[first] = file, self._cipher(first).encryptor()
        return self._files[first]

    def _read_spilled(self, first: int) -> Rows:
        file, _ = self._files[first]
        file.seek(0)
        plain = self._cipher(first).decryptor().update(file.read())
        file.close()
        return np.frombuffer(plain, dtype=np.uint8).reshape(-1, KEY_BYTES + self._size)

    def _cipher(self, first: int) -> Cipher[modes.CTR]:
        # The secret is new for each sorter, so a fixed nonce for each file is used only once.
        nonce = first.to_bytes(4) + bytes(12)
        return Cipher(algorithms.AES256(self._secret), modes.CTR(nonce))
