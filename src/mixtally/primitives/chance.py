"""The source of randomness: an AES-256 keystream keyed by the operating system.

Everything random in the package is computed from the 64-bit words of a ``Chance`` that the caller
passes in. ``SecureChance`` is the only source that needs no key from its caller.
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
        """Return the next ``count`` words, shape (count,)."""
        ...


class Keystream:
    """The AES-256-CTR keystream of one key, read as little-endian 64-bit words.

    Several threads may share a keystream: no word is given to two of them. A signal handler that
    interrupts a draw of its own thread receives words of a fresh key. The counter has 128 bits and
    starts at 0.
    """

    def __init__(self, key: bytes) -> None:
        # Reentrant: a signal handler may draw in the thread that has the lock, and would wait
        # forever for an ordinary one.
        self._turn = threading.RLock()
        self._drawing = False
        cipher = Cipher(algorithms.AES256(key), modes.CTR(bytes(_BLOCK_BYTES)))
        self._encryptor = cipher.encryptor()

    def words(self, count: int) -> Words:
        """Return the next ``count`` words of the keystream, shape (count,)."""
        out = np.empty(8 * count + _BLOCK_BYTES, dtype=np.uint8)
        with self._turn:
            if self._drawing:
                return Keystream(os.urandom(_KEY_BYTES)).words(count)  # noqa: TID251  (see the class)
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
    """Return an identifier of this process: its process id, and the number of forks before it.

    The process id is not enough, because the system may assign the id of an ended process again.
    """
    return os.getpid(), len(_forks)


class SecureChance:
    """A source of unpredictable words: a keystream under a fresh key from the operating system.

    Several threads may share a source. A forked child draws a key of its own, so that two processes
    never share a keystream. Copying and pickling a source raises TypeError for the same reason.
    """

    def __init__(self) -> None:
        self._rekey()

    def _rekey(self) -> None:
        owner = _process()
        self._stream = Keystream(os.urandom(_KEY_BYTES))  # noqa: TID251  (the only place)
        self._owner = owner  # last, because other threads use the stream as soon as this matches

    def words(self, count: int) -> Words:
        """Return the next ``count`` words, shape (count,)."""
        if self._owner != _process():
            self._rekey()
        return self._stream.words(count)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a source of randomness cannot be copied: make a new SecureChance instead")
