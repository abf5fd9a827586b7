"""What runs on the machines of a cluster: a layer is taken off, rows go where their key says.

No task draws anything: one that runs twice, or again elsewhere, gives the same rows. A row has the
partition it goes to, a key, and the message that was inside. The key sorts a partition:

    what the order follows (32 bytes), SHA-256 of the envelope (32 bytes; zero for a fake), its kind

so that copies of an envelope stand side by side, wherever they came from.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import NamedTuple

import msgspec
import pyarrow as pa

from mixtally.errors import DataError
from mixtally.server.engine.envelope_worker import EnvelopeWorker, Secrets
from mixtally.server.engine.store_folder import Slice, StoreFolder
from mixtally.server.node.wrapping import KeyPurpose, read_master, unwrap_secret
from mixtally.version import VERSION

GOOD, UNOPENED, MALFORMED, FAKE, PADDING = 0, 1, 2, 3, 4
HASH_BYTES = 32
KEY_BYTES = 2 * HASH_BYTES + 1
ROWS = "partition int, key binary, message binary"
_ROWS_AT_ONCE = 1024
_PREFIXES = 1 << 16


class Job(NamedTuple):
    """What every task of a part is given.

    where
      store        URL under which its files are
      folder       where they lie there
      key          where the key of the engine is found on this machine
      secrets      of the round, wrapped under that key
      runs         Python and mixtally, as they run at the driver
      size         bytes of an envelope
      expected       bytes of what is to be inside
      partitions   how many there are, at most 2^16
    """

    store: str
    folder: str
    key: str
    secrets: bytes
    runs: str
    part: int
    size: int
    expected: int
    partitions: int

    def store_folder(self) -> StoreFolder:
        """Where its files are."""
        return StoreFolder(self.store, self.folder)


def runtime_versions() -> str:
    """Python and mixtally, as they run here."""
    return f"Python {sys.version_info[0]}.{sys.version_info[1]}, mixtally {VERSION}"


def read_secrets(job: Job) -> Secrets:
    """The secrets again; raises DataError where the key of the engine is not found, or another."""
    data = unwrap_secret(
        read_master(job.key, os.environ), KeyPurpose.ENGINE, job.folder, job.secrets
    )
    return msgspec.json.decode(data, type=Secrets)


def check_versions(expected: str) -> None:
    """Raises DataError where another Python or mixtally runs than at the driver."""
    if runtime_versions() != expected:
        raise DataError(
            "executor",
            expected=expected,
            got=runtime_versions(),
            do="give all machines of the cluster the same",
        )


def open_slices(job: Job, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of the slices that ``batches`` name, ``name, start, length, sha256, fakes`` each."""
    check_versions(job.runs)
    worker, place = EnvelopeWorker(read_secrets(job)), job.store_folder()
    for batch in batches:
        for row in batch.to_pylist():
            data = place.read_slice(Slice(row["name"], row["start"], row["length"], row["sha256"]))
            if row["fakes"]:
                yield from _fakes(job, worker, row["name"], data)
            else:
                yield from _envelopes(job, worker, data)


def _fakes(job: Job, worker: EnvelopeWorker, name: str, data: bytes) -> Iterator[pa.RecordBatch]:
    """Fakes lie in the store under the key of the engine: nobody may tell them from the others."""
    plain = unwrap_secret(read_master(job.key, os.environ), KeyPurpose.ENGINE, name, data)
    for some in _split_rows(plain, job.expected):
        order = worker.ordering_keys(job.part, some)
        yield _rows(job, [one + bytes(HASH_BYTES) + bytes([FAKE]) for one in order], some)


def _envelopes(job: Job, worker: EnvelopeWorker, data: bytes) -> Iterator[pa.RecordBatch]:
    for some in _split_rows(data, job.size):
        digests = [sha256(one).digest() for one in some]
        inside = worker.open_each(job.part, some)
        order = worker.ordering_keys(job.part, [one or b"" for one in inside])
        keys, messages = [], []
        for digest, one, by in zip(digests, inside, order or digests, strict=True):
            kind = _kind(worker, one, job.expected)
            first = by if kind == GOOD else digest
            keys.append(first + digest + bytes([kind]))
            messages.append(one if one is not None and kind == GOOD else b"")
        yield _rows(job, keys, messages)


def _kind(worker: EnvelopeWorker, inside: bytes | None, expected: int) -> int:
    if inside is None:
        return UNOPENED
    if worker.is_padding(inside, expected):
        return PADDING
    return GOOD if len(inside) == expected else MALFORMED


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
