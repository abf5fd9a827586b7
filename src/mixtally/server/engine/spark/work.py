"""Processing of one part as a Spark job: slices of envelopes in a store become sorted partitions.

The job reads the data once. Rows are assigned to partitions by the first bytes of their keys, and
sorted within partitions. Spark's own global sort would first run all tasks to draw samples, and so
open every envelope twice.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec

from mixtally.errors import DataError, MixtallyError
from mixtally.primitives.chance import Chance
from mixtally.server.engine.engine import Cluster
from mixtally.server.engine.envelope_worker import Secrets
from mixtally.server.engine.spark.tasks import ROWS, Job, open_slices, runtime_versions
from mixtally.server.engine.store_folder import Slice, StoreFolder
from mixtally.server.node.wrapping import KeyPurpose, read_master, wrap_secret

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark import RDD
    from pyspark.sql import SparkSession

_SLICES = "name string, start long, length long, sha256 string, fakes boolean, position long"
_SLICE_BYTES = 1 << 22
"""Size of a slice in bytes."""
_FILE_BYTES = 1 << 26
"""Maximum size of a file in the store, in bytes."""
_SLICES_A_FILE = _FILE_BYTES // _SLICE_BYTES
_LEAST_SLICE_BYTES = 1 << 18
"""Smallest size of a slice in bytes."""
_PARTITION_BYTES = 1 << 27
"""The maximum size of the input for each partition, in bytes."""
_MOST_PARTITIONS = 1 << 14
Reduce = Callable[[Job, Iterable["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]
"""Function that turns the sorted rows of a partition into rows of the result."""


class ClusterPart(NamedTuple):
    """A part of a round to be processed on a cluster."""

    cluster: Cluster
    secrets: Secrets
    key: bytes
    """The engine key."""
    chance: Chance
    name: str
    """Name of the folder of its files."""
    part: int
    size: int
    """Length of an envelope in bytes."""
    expected: int
    """Length of the message inside in bytes."""

    def store_folder(self) -> StoreFolder:
        """Return the folder of the part's files."""
        return StoreFolder(self.cluster.store, self.name)

    def job(self, partitions: int) -> Job:
        """Return the data that every task receives, for a job of ``partitions`` partitions."""
        text = msgspec.json.encode(self.secrets)
        return Job(
            self.cluster.store,
            self.name,
            self.cluster.key,
            wrap_secret(self.key, KeyPurpose.ENGINE, self.name, text, self.chance),
            runtime_versions(),
            self.part,
            self.size,
            self.expected,
            partitions,
        )


class SparkWork:
    """Base of the classes that process the parts of a round on a cluster.

    Raises DataError if the engine key is missing.
    """

    def __init__(
        self, spark: Any, cluster: Cluster, secrets: Secrets, chance: Chance, name: str
    ) -> None:
        self._spark, self._place, self._name = spark, secrets.position, name
        key = read_master(cluster.key, os.environ)
        self._part = partial(ClusterPart, cluster, secrets, key, chance)


class Export:
    """The input of a job in the store: envelopes as received, and encrypted fakes.

    Files of an earlier attempt are removed first.
    """

    def __init__(self, part: ClusterPart) -> None:
        self._part, self._place = part, part.store_folder()
        self._place.clear()
        self._slices: list[tuple[Slice, bool, int]] = []
        self.rows = self.bytes = 0
        """The number of envelopes and fakes together, and their total size in bytes."""

    def write_envelopes(self, some: Iterator[bytes]) -> int:
        """Write all envelopes, and return their number."""
        size, files = self._part.size, 0
        while block := b"".join(islice(some, max(1, _FILE_BYTES // size))):
            # A small batch is cut into the same number of slices, so that no machine is idle.
            expected = max(_LEAST_SLICE_BYTES, len(block) // _SLICES_A_FILE)
            self._write(f"in-{files}", block, -(-expected // size) * size)
            files += 1
        return self.rows

    def write_fakes(self, some: bytes) -> None:
        """Encrypt and write concatenated fakes."""
        size, position = self._part.expected, self.rows
        step = max(1, _SLICE_BYTES // size) * size
        for number, start in enumerate(range(0, len(some), step)):
            name, plain = f"drawn-{number}", some[start : start + step]
            data = wrap_secret(self._part.key, KeyPurpose.ENGINE, name, plain, self._part.chance)
            self._slices.append((self._place.put(name, data), True, position))
            self.bytes += len(data)
            self.rows += len(plain) // size

    def table(self) -> list[tuple[Any, ...]]:
        """Return the descriptions of the slices, which are the input of the tasks."""
        return [(*one, *more) for one, *more in self._slices]

    def _write(self, name: str, block: bytes, step: int) -> None:
        with self._place.writer(name) as file:
            for start in range(0, len(block), step):
                one = block[start : start + step]
                file.write(one)
                found = Slice(name, start, len(one), sha256(one).hexdigest())
                self._slices.append((found, False, self.rows + start // self._part.size))
        self.bytes += len(block)
        self.rows += len(block) // self._part.size


def run_job(
    spark: "SparkSession", part: ClusterPart, export: Export, reduce: Reduce, schema: str
) -> list[dict[str, Any]]:
    """Run a job, and return the rows that ``reduce`` yields, in the order of partitions.

    Each row has the number of its ``partition``, and in ``rows`` the number of rows that the task
    has read. Raises DataError if a task fails after all retries, or if a row is missing or
    duplicated.
    """
    cores = spark.sparkContext.defaultParallelism
    partitions = min(_MOST_PARTITIONS, max(2 * cores, export.bytes // _PARTITION_BYTES + 1))
    job, table = part.job(partitions), export.table()
    if not table:
        return []
    slices = parallelize_evenly(spark, table, 4 * cores)
    with errors_of_spark():
        rows = (
            spark.createDataFrame(slices, _SLICES)
            .mapInArrow(partial(open_slices, job), ROWS)
            .repartitionById(partitions, "partition")
            .sortWithinPartitions("key")
            .mapInArrow(partial(reduce, job), schema)
            .collect()
        )
    found = sorted((row.asDict() for row in rows), key=lambda one: int(one["partition"]))
    _check(found, export.rows)
    return found


def _check(results: list[dict[str, Any]], rows: int) -> None:
    several = len({one["partition"] for one in results}) < len(results)
    received = sum(one["rows"] for one in results)
    if several or received != rows:
        raise DataError(
            "engine",
            expected=f"{rows:,} rows, every partition once",
            got=f"{received:,}" + ", a partition twice" * several,
            do="repeat the work; none of its results are used",
        )


_OURS = "mixtally.errors."
_RAISED = re.compile(r"(?!pyspark|py4j)[A-Za-z_][\w.]*(Error|Exception|Lost|Failure)\b.*: ")
_MOST = 300


@contextmanager
def errors_of_spark() -> Iterator[None]:
    """Convert errors of Spark into DataError with the message of the failed task."""
    try:
        yield
    except MixtallyError:
        raise
    # Deliberately every exception: errors of Spark and Java have no common type.
    except Exception as error:
        raise DataError(
            "engine",
            expected="a job whose tasks all end",
            got=_describe_error(error),
            do="correct that, and begin again: the result will be the same",
        ) from error


def _describe_error(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    raised = [line for line in lines if _RAISED.match(line)]
    if not raised:
        return lines[0][:_MOST] if lines else type(error).__name__
    last = raised[-1]
    return last.removeprefix(_OURS).partition(": ")[2] if last.startswith(_OURS) else last[:_MOST]


T = TypeVar("T")


def parallelize_evenly(spark: "SparkSession", some: Sequence[T], most: int) -> "RDD[T]":
    """Distribute items in order over at most ``most`` tasks, as evenly as possible.

    Spark itself would first form batches of equal length, and then tasks. With 47 items for 16
    tasks, half of the tasks would get 2 items and the other tasks 4.
    """
    many = len(some)
    tasks = min(many, most)
    each = [some[i * many // tasks : (i + 1) * many // tasks] for i in range(tasks)]
    return spark.sparkContext.parallelize(each, tasks).flatMap(list)
