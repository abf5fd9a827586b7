"""Tasks on the machines of a cluster: they open envelopes and assign rows to partitions by key.

A task draws no random numbers, so a repeated task gives the same rows. A row contains the number of
its partition, a key, and the message inside. A partition is sorted by the key, which consists of

    sort key (32 bytes), SHA-256 of the envelope (32 bytes; zero for a fake), kind (1 byte),
    position of the envelope (8 bytes, big-endian; for a fake, the number of envelopes).

Copies of an envelope are therefore adjacent, independently of their positions.
"""

import hmac
import os
import sys
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import NamedTuple

import msgspec
import pyarrow as pa
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from mixtally.errors import DataError
from mixtally.server.engine.envelope_worker import EnvelopeWorker, Kind, Secrets
from mixtally.server.engine.store_folder import Slice, StoreFolder
from mixtally.server.node.wrapping import KeyPurpose, read_master, unwrap_secret
from mixtally.version import VERSION

HASH_BYTES = 32
KIND_PLACE = 2 * HASH_BYTES
"""Position of the kind in a key."""
KEY_BYTES = KIND_PLACE + 1 + 8
ROWS = "partition int, key binary, message binary"
_ROWS_AT_ONCE = 1024
_PREFIXES = 1 << 16
"""Number of values of a key's first two bytes, which determine the partition."""


class Job(NamedTuple):
    """Data that every task of a part receives."""

    store: str
    """URL of the store."""
    folder: str
    """Folder of the part's files in the store."""
    key: str
    """Where each machine finds the engine key."""
    secrets: bytes
    """Secrets of the round, encrypted under the engine key."""
    runs: str
    """Versions of Python and mixtally at the driver."""
    part: int
    size: int
    """Length of an envelope in bytes."""
    expected: int
    """Length of the message inside in bytes."""
    partitions: int
    """Number of partitions, at most 2^16."""

    def store_folder(self) -> StoreFolder:
        """Return the folder of the part's files."""
        return StoreFolder(self.store, self.folder)


def runtime_versions() -> str:
    """Return the versions of Python and mixtally in this process."""
    return f"Python {sys.version_info[0]}.{sys.version_info[1]}, mixtally {VERSION}"


def read_secrets(job: Job) -> Secrets:
    """Decrypt the secrets of a job; raises DataError if the engine key is missing or wrong."""
    data = unwrap_secret(
        read_master(job.key, os.environ), KeyPurpose.ENGINE, job.folder, job.secrets
    )
    return msgspec.json.decode(data, type=Secrets)


def position_cipher(secrets: Secrets, folder: str) -> AESSIV:
    """Return the cipher for the positions of a part, which link messages to senders.

    Tasks draw nothing, so the cipher is a deterministic one.
    """
    return AESSIV(
        hmac.digest(secrets.sort_key, KeyPurpose.ENGINE.value + folder.encode(), "sha512")
    )


def check_versions(expected: str) -> None:
    """Raise DataError if the versions of Python and mixtally differ from those of the driver."""
    if runtime_versions() != expected:
        raise DataError(
            "executor",
            expected=expected,
            got=runtime_versions(),
            do="install the same versions on all machines of the cluster",
        )


def open_slices(job: Job, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of the slices that ``batches`` describe.

    Each description has the columns name, start, length, sha256, fakes, and ``position`` for the
    position of the first envelope.
    """
    check_versions(job.runs)
    worker, place = EnvelopeWorker(read_secrets(job)), job.store_folder()
    for batch in batches:
        for row in batch.to_pylist():
            data = place.read_slice(Slice(row["name"], row["start"], row["length"], row["sha256"]))
            if row["fakes"]:
                yield from _fakes(job, worker, row["name"], data, row["position"])
            else:
                yield from _envelopes(job, worker, data, row["position"])


def _fakes(
    job: Job, worker: EnvelopeWorker, name: str, data: bytes, position: int
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of fakes, which the store contains only in encrypted form.

    So a reader of the store cannot distinguish fakes from other messages.
    """
    plain = unwrap_secret(read_master(job.key, os.environ), KeyPurpose.ENGINE, name, data)
    for some in _split_rows(plain, job.expected):
        order = worker.ordering_keys(job.part, some)
        end = bytes(HASH_BYTES) + bytes([Kind.FAKE]) + position.to_bytes(8)
        yield _rows(job, [one + end for one in order], some)


def _envelopes(
    job: Job, worker: EnvelopeWorker, data: bytes, position: int
) -> Iterator[pa.RecordBatch]:
    for some in _split_rows(data, job.size):
        digests = [sha256(one).digest() for one in some]
        inside = worker.open_each(job.part, some)
        order = worker.ordering_keys(job.part, [one or b"" for one in inside])
        keys, messages = [], []
        for digest, one, by in zip(digests, inside, order or digests, strict=True):
            kind = worker.kind_of(one, job.expected)
            # A row without a message has no sort key. Its digest takes this place, because copies
            # must have equal keys.
            first = by if kind == Kind.GOOD else digest
            keys.append(first + digest + bytes([kind]) + position.to_bytes(8))
            messages.append(one if one is not None and kind == Kind.GOOD else b"")
            position += 1
        yield _rows(job, keys, messages)


def _split_rows(data: bytes, size: int) -> Iterator[list[bytes]]:
    step = size * _ROWS_AT_ONCE
    for start in range(0, len(data), step):
        some = data[start : start + step]
        yield [some[i : i + size] for i in range(0, len(some), size)]


def _rows(job: Job, keys: list[bytes], messages: list[bytes]) -> pa.RecordBatch:
    to = [int.from_bytes(key[:2]) * job.partitions // _PREFIXES for key in keys]
    return pa.record_batch(
        [pa.array(to, pa.int32()), pa.array(keys, pa.binary()), pa.array(messages, pa.binary())],
        ["partition", "key", "message"],
    )
