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
_STRIDE_BYTES = 1 << 16
_ZEROS = memoryview(bytes(_STRIDE_BYTES))  # stays in the cache


class Chance(Protocol):
    """A source of independent, uniform 64-bit words."""

    def words(self, count: int) -> Words:
        """The next ``count`` words, shape (count,)."""
        ...


class Keystream:
    """The AES-256-CTR keystream of one key, read as little-endian 64-bit words.

    Threads may share one: no word is given to two of them.
    """

    def __init__(self, key: bytes) -> None:
        self._turn = threading.RLock()  # a signal handler may draw in the midst of a draw
        self._encryptor = Cipher(algorithms.AES256(key), modes.CTR(bytes(_BLOCK_BYTES))).encryptor()

    def words(self, count: int) -> Words:
        """The next ``count`` words of the keystream, shape (count,)."""
        size = 8 * count
        out = np.empty(size + _BLOCK_BYTES, dtype=np.uint8)
        with self._turn:
            for start in range(0, size, _STRIDE_BYTES):
                plain = _ZEROS[: min(_STRIDE_BYTES, size - start)]
                self._encryptor.update_into(plain, out[start:].data)
        return out[:size].view("<u8").astype(np.uint64, copy=False)


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
