"""Mixing on Spark: each partition is written in order, and partitions are read in order."""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any

import pyarrow as pa

from mixtally.server.engine.mixing import MixedPart, MixWork
from mixtally.server.engine.spark.partition import Partition, current_task
from mixtally.server.engine.spark.tasks import GOOD, HASH_BYTES, MALFORMED, UNOPENED, Job
from mixtally.server.engine.spark.work import ClusterPart, Export, SparkWork, run_job
from mixtally.server.engine.store_folder import Slice

_SCHEMA = (
    "partition long, rows long, good long, unopened long, malformed long, bad binary, "
    "name string, length long, sha256 string, padding_length long, padding_sha256 string"
)


class SparkMixer(SparkWork):
    """Mixer of the parts of a round on a cluster."""

    def mix(self, work: MixWork) -> MixedPart:
        """Mix a part."""
        name = f"hop{self._place}-{self._name}-{work.part}"
        part = self._part(name, work.part, work.size, work.expected)
        export = Export(part)
        received = export.write_envelopes(work.envelopes())
        export.write_fakes(work.fakes)
        found = run_job(self._spark, part, export, write_partition, _SCHEMA)
        good, unopened, malformed = (
            sum(one[kind] for one in found) for kind in ("good", "unopened", "malformed")
        )
        padding = _read_padding(part, found)
        copies = received - good - unopened - malformed - len(padding) // HASH_BYTES
        bad = b"".join(one["bad"] for one in found)
        return MixedPart(
            received, copies, unopened, malformed, bad, padding, _read_output(part, found)
        )


def _read_output(part: ClusterPart, found: list[dict[str, Any]]) -> Iterator[bytes]:
    """Yield the messages of each partition, then remove the files from the store."""
    place = part.store_folder()
    for one in found:
        yield place.read_slice(Slice(one["name"], 0, one["length"], one["sha256"]))
    place.clear()


def _read_padding(part: ClusterPart, found: list[dict[str, Any]]) -> bytes:
    """Return the digests of padding, which are too large for rows of a Spark result."""
    slices = (
        Slice(f"{one['name']}-padding", 0, one["padding_length"], one["padding_sha256"])
        for one in found
        if one["padding_length"]
    )
    return b"".join(map(part.store_folder().read_slice, slices))


def write_partition(job: Job, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Write the messages of a partition to a file, and yield one row that describes the file."""
    # Spark may run a task twice: each attempt writes its own file, and only one row is used.
    partition, name = Partition(batches), f"out-{current_task().taskAttemptId()}"
    digest, length = sha256(), 0
    with job.store_folder().writer(name) as file:
        for some in partition.messages():
            file.write(some)
            digest.update(some)
            length += len(some)
    padding = bytes(partition.padding)
    if padding:
        job.store_folder().put(f"{name}-padding", padding)
    yield pa.RecordBatch.from_pylist(
        [
            {
                "partition": current_task().partitionId(),
                "rows": partition.rows,
                "good": partition.kinds[GOOD],
                "unopened": partition.kinds[UNOPENED],
                "malformed": partition.kinds[MALFORMED],
                "bad": bytes(partition.bad),
                "name": name,
                "length": length,
                "sha256": digest.hexdigest(),
                "padding_length": len(padding),
                "padding_sha256": sha256(padding).hexdigest(),
            }
        ]
    )
