"""Mixing on Spark: tasks write the sorted messages of each partition, which are read in order."""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from mixtally.server.engine.copies import Mask, Positions, pack_positions
from mixtally.server.engine.envelope_worker import Kind
from mixtally.server.engine.mixing import Kinds, MixedPart, MixWork
from mixtally.server.engine.spark.partition import Partition, current_task
from mixtally.server.engine.spark.tasks import Job, position_cipher, read_secrets
from mixtally.server.engine.spark.work import Export, SparkWork, run_job
from mixtally.server.engine.store_folder import Slice, StoreFolder

_SCHEMA = "partition long, rows long, name string, lengths array<long>, hashes array<string>"
_SUFFIXES = "", "-sent", "-others"
"""The suffixes of a partition's files: messages, the positions of their envelopes, and the
positions of all other envelopes."""


class SparkMixer(SparkWork):
    """Mixer of the parts of a round on a cluster."""

    _folders: tuple[StoreFolder, ...] = ()

    def mix(self, work: MixWork) -> MixedPart:
        """Mix a part."""
        name = f"hop{self._place}-{self._name}-{work.part}"
        part = self._part(name, work.part, work.size, work.expected)
        self._folders += (part.store_folder(),)
        export = Export(part)
        received = export.write_envelopes(work.envelopes())
        export.write_fakes(work.fakes)
        found = run_job(self._spark, part, export, write_partition, _SCHEMA)
        output = _Output(
            part.store_folder(), position_cipher(part.secrets, name), work.expected, found
        )
        return MixedPart(
            output.kinds(received), output.pairs, len(work.fakes) // work.expected, output.messages
        )

    def clear(self) -> None:
        """Remove the files of all parts from the store."""
        for folder in self._folders:
            folder.clear()


class _Output(NamedTuple):
    """The files that the partitions of a part have written."""

    folder: StoreFolder
    cipher: AESSIV
    size: int
    """Length of a message in bytes."""
    found: Sequence[dict[str, Any]]
    """Rows that describe the files of each partition."""

    def kinds(self, received: int) -> Kinds:
        kinds = np.full(received, Kind.GOOD, dtype=np.uint8)
        for others in self._others():
            places, what = others.T
            kinds[places] = np.where(what < 0, -1 - what, Kind.COPY)
        return kinds

    def pairs(self) -> Iterator[tuple[Positions, Positions]]:
        for others in self._others():
            places, what = others[others[:, 1] >= 0].T
            yield places, what

    def messages(self, sent: Mask | None) -> Iterator[bytes]:
        # The last position is that of fakes.
        kept = None if sent is None else np.append(sent, True)
        for one in self.found:
            data = self._read(one, 0)
            if kept is not None:
                rows = np.frombuffer(data, dtype=np.uint8).reshape(-1, self.size)
                data = rows[kept[self._read_positions(one, 1)]].tobytes()
            yield data

    def _others(self) -> Iterator[Positions]:
        for one in self.found:
            if one["lengths"][2]:
                yield self._read_positions(one, 2).reshape(-1, 2)

    def _read_positions(self, one: dict[str, Any], number: int) -> Positions:
        sealed = self._read(one, number)
        plain = self.cipher.decrypt(sealed, [_SUFFIXES[number].encode()]) if sealed else b""
        return np.frombuffer(plain, dtype="<i8").astype(np.int64, copy=False)

    def _read(self, one: dict[str, Any], number: int) -> bytes:
        name, length = one["name"] + _SUFFIXES[number], one["lengths"][number]
        return self.folder.read_slice(Slice(name, 0, length, one["hashes"][number]))


def write_partition(job: Job, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Write the messages of a partition to files, and yield one row that describes the files."""
    # Spark may run a task twice. Each attempt writes files of its own, and the driver uses the row
    # of only one attempt.
    partition, name = Partition(batches), f"out-{current_task().taskAttemptId()}"
    digest, length = sha256(), 0
    with job.store_folder().writer(name) as file:
        for some in partition.messages():
            file.write(some)
            digest.update(some)
            length += len(some)
    cipher = position_cipher(read_secrets(job), job.folder)
    files = [Slice(name, 0, length, digest.hexdigest())]
    for suffix, positions in zip(_SUFFIXES[1:], (partition.sent, partition.others), strict=True):
        plain = b"".join(map(pack_positions, positions))
        sealed = cipher.encrypt(plain, [suffix.encode()]) if plain else b""
        files.append(job.store_folder().put(name + suffix, sealed))
    yield pa.RecordBatch.from_pylist(
        [
            {
                "partition": current_task().partitionId(),
                "rows": partition.rows,
                "name": name,
                "lengths": [one.length for one in files],
                "hashes": [one.sha256 for one in files],
            }
        ]
    )
