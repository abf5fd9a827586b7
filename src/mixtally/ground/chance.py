"""The one door to randomness: an AES-256 keystream keyed by the operating system.

Everything random in this package is computed from the 64-bit words of a ``Chance`` that is passed
in as an argument. ``SecureChance`` is the only source made here.
"""

import os
import threading
from functools import cache
from time import perf_counter
from typing import NoReturn, Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from numpy.typing import NDArray

Words = NDArray[np.uint64]

_KEY_BYTES = 32
_BLOCK_BYTES = 16
_NONCE_BYTES = 12
_STRIDE_BYTES = 1 << 17
_ZEROS = memoryview(bytes(_STRIDE_BYTES))  # stays in the cache
_LITTLE = np.dtype("<u8")

_PAGE_BYTES = _BLOCK_BYTES << 32
"""What one nonce has: all counters of 32 bits."""
_FIRST_BYTES = 1 << 18
"""What CTR gives of a page before GCM: who draws no more never waits for the choice."""
_SKIPPED_BYTES = 2 * _BLOCK_BYTES
"""GCM encrypts from counter 2 of a nonce on."""
_ENDLESS = _BLOCK_BYTES << 128


class Chance(Protocol):
    """A source of independent, uniform 64-bit words."""

    def words(self, count: int) -> Words:
        """The next ``count`` words, shape (count,)."""
        ...


class Keystream:
    """The AES-256-CTR keystream of one key, read as little-endian 64-bit words.

    Threads may share one: no word is given to two of them. A draw in the midst of a draw, which is
    that of a signal handler, has words of a fresh key.

    The counter starts at 0, and its blocks are the same by two ciphers. GCM encrypts under a nonce
    N of 96 bits what CTR encrypts at the counters N || 2 to N || 2^32 - 1, and is faster where the
    CPU multiplies many bytes at once. A page, the blocks of one nonce, begins by CTR; where GCM is
    faster it passes over these blocks and gives the rest. What it passes over is dropped, so each
    pair of key and counter is given once. Its tag is never made: it would show whoever shares the
    key that nobody changed some zeros, and nothing is sent here. Nor may it be made: what hides it,
    the blocks at N || 1 and at 0, are words as well.
    """

    def __init__(self, key: bytes) -> None:
        self._turn = threading.RLock()
        self._drawing = False
        self._key = algorithms.AES256(key)
        self._encryptor = _encryptor(self._key, modes.CTR(bytes(_BLOCK_BYTES)))
        self._part, self._left = 0, _FIRST_BYTES

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
        """Counts before it encrypts: after an interrupt bytes may be missing, none come again."""
        done = 0
        while done < size:
            if not self._left:
                self._go_on()
            many = min(size - done, self._left, _STRIDE_BYTES)
            self._left -= many
            self._encryptor.update_into(_ZEROS[:many], room[done:])
            done += many

    def _go_on(self) -> None:
        """The next part of the keystream: of every page one by CTR, then one by GCM."""
        self._part += 1
        if self._part == 1 and not _gcm_is_faster():
            self._left = _ENDLESS  # CTR carries by itself
            return
        page, by_gcm = divmod(self._part, 2)
        nonce = page.to_bytes(_NONCE_BYTES, "big")
        if by_gcm:
            self._encryptor = _encryptor(self._key, modes.GCM(nonce))
            self._encryptor.update(bytes(_FIRST_BYTES - _SKIPPED_BYTES))
            self._left = _PAGE_BYTES - _FIRST_BYTES
        else:
            self._encryptor = _encryptor(self._key, modes.CTR(nonce + bytes(4)))
            self._left = _FIRST_BYTES


def _encryptor(key: algorithms.AES256, mode: modes.CTR | modes.GCM) -> CipherContext:
    return Cipher(key, mode).encryptor()


@cache
def _gcm_is_faster() -> bool:
    """Measured once in a process, in less than a millisecond; no word hangs on it."""
    room, key = bytearray(_STRIDE_BYTES + _BLOCK_BYTES), algorithms.AES256(bytes(_KEY_BYTES))
    ways = modes.CTR(bytes(_BLOCK_BYTES)), modes.GCM(bytes(_NONCE_BYTES))
    ctr, gcm = (_encryptor(key, way) for way in ways)
    took = [(_seconds(ctr, room), _seconds(gcm, room)) for _ in range(4)]
    return min(gcm for _, gcm in took) < min(ctr for ctr, _ in took)


def _seconds(encryptor: CipherContext, room: bytearray) -> float:
    begun = perf_counter()
    encryptor.update_into(_ZEROS, room)
    return perf_counter() - begun


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
