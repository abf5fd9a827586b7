"""The one door to randomness: an AES-256 keystream keyed by the operating system.

Everything random in this package is computed from the 64-bit words of a ``Chance`` that is passed
in as an argument. ``SecureChance`` is the only source made here.
"""

import os
import threading
from typing import NoReturn, Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

Words = NDArray[np.uint64]

_KEY_BYTES = 32
_BLOCK_BYTES = 16
_STRIDE_BYTES = 1 << 17
_ZEROS = memoryview(bytes(_STRIDE_BYTES))  # stays in the cache
_LITTLE = np.dtype("<u8")


class Chance(Protocol):
    """A source of independent, uniform 64-bit words."""

    def words(self, count: int) -> Words:
        """The next ``count`` words, shape (count,)."""
        ...


class Keystream:
    """The AES-256-CTR keystream of one key, read as little-endian 64-bit words.

    Threads may share one: no word is given to two of them. A draw in the midst of a draw, which is
    that of a signal handler, has words of a fresh key.

    The counter is of 128 bits and starts at 0.
    """

    def __init__(self, key: bytes) -> None:
        self._turn = threading.RLock()
        self._drawing = False
        cipher = Cipher(algorithms.AES256(key), modes.CTR(bytes(_BLOCK_BYTES)))
        self._encryptor = cipher.encryptor()

    def words(self, count: int) -> Words:
        """The next ``count`` words of the keystream, shape (count,)."""
        out = np.empty(8 * count + _BLOCK_BYTES, dtype=np.uint8)
        with self._turn:
            if self._drawing:
                return Keystream(os.urandom(_KEY_BYTES)).words(count)  # noqa: TID251  (the door)
            try:
                self._drawing = True
                self._fill(out.data, 8 * count)
            finally:
                self._drawing = False
        return np.frombuffer(out, _LITTLE, count).astype(np.uint64, copy=False)

    def _fill(self, room: memoryview, size: int) -> None:
        for done in range(0, size, _STRIDE_BYTES):
            self._encryptor.update_into(_ZEROS[: min(size - done, _STRIDE_BYTES)], room[done:])


_forks: list[None] = []
"""One entry for every fork between the first process and this one."""

if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=lambda: _forks.append(None))


def _process() -> tuple[int, int]:
    """Another pair in every process; its number alone comes back after another has ended."""
    return os.getpid(), len(_forks)


class SecureChance:
    """Words nobody can predict: a keystream under a fresh key from the operating system.

    Threads may share one. A forked child draws a key of its own, so that two processes never share
    a keystream; copying or pickling a source is refused for the same reason.
    """

    def __init__(self) -> None:
        self._rekey()

    def _rekey(self) -> None:
        owner = _process()
        self._stream = Keystream(os.urandom(_KEY_BYTES))  # noqa: TID251  (this is the door)
        self._owner = owner  # last: until then no thread may take the old stream for the new

    def words(self, count: int) -> Words:
        """The next ``count`` words, shape (count,)."""
        if self._owner != _process():
            self._rekey()
        return self._stream.words(count)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a source of randomness cannot be copied: make a new SecureChance instead")
