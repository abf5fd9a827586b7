"""One part as a job on Spark: its envelopes go to the store in slices, their rows to partitions.

One pass: rows are cut into partitions by the first bytes of their keys and sorted within. A global
sort would run everything upstream a second time for its samples, and open every envelope twice.
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

_SLICES = "name string, start long, length long, sha256 string, fakes boolean"
_SLICE_BYTES = 1 << 22
_FILE_BYTES = 1 << 26
_SLICES_A_FILE = _FILE_BYTES // _SLICE_BYTES
_LEAST_SLICE_BYTES = 1 << 18
_PARTITION_BYTES = 1 << 27
_MOST_PARTITIONS = 1 << 14
Reduce = Callable[[Job, Iterable["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]


class ClusterPart(NamedTuple):
    """A part of a round on a cluster.

    where
      key      of the engine
      name     of the folder of its files
      size     bytes of an envelope
      expected   bytes of what is to be inside
    """

    cluster: Cluster
    secrets: Secrets
    key: bytes
    chance: Chance
    name: str
    part: int
    size: int
    expected: int

    def store_folder(self) -> StoreFolder:
        """Where its files are."""
        return StoreFolder(self.cluster.store, self.name)

    def job(self, partitions: int) -> Job:
        """What its tasks are given."""
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
    """Works on the parts of a round, on a cluster that was begun.

    Raises DataError where the key of the engine is not found.
    """

    def __init__(
        self, spark: Any, cluster: Cluster, secrets: Secrets, chance: Chance, name: str
    ) -> None:
        self._spark, self._place, self._name = spark, secrets.place, name
        key = read_master(cluster.key, os.environ)
        self._part = partial(ClusterPart, cluster, secrets, key, chance)


class Export:
    """What was received, in the store: envelopes as they are, fakes under the engine's key.

    What an earlier attempt has left there is removed first.
    """

    def __init__(self, part: ClusterPart) -> None:
        self._part, self._place = part, part.store_folder()
        self._place.clear()
        self._slices: list[tuple[Slice, bool]] = []
        self.rows = self.bytes = 0
        """Envelopes and fakes, and what they take."""

    def write_envelopes(self, some: Iterator[bytes]) -> int:
        """Write all; how many they are."""
        size, files = self._part.size, 0
        while held := b"".join(islice(some, max(1, _FILE_BYTES // size))):
            # A small batch is cut into as many as a large one: few would leave slots idle.
            expected = max(_LEAST_SLICE_BYTES, len(held) // _SLICES_A_FILE)
            self._write(f"in-{files}", held, -(-expected // size) * size)
            files += 1
        return self.rows

    def write_fakes(self, some: bytes) -> None:
        """Write messages of the length of what is inside."""
        size = self._part.expected
        step = max(1, _SLICE_BYTES // size) * size
        for number, start in enumerate(range(0, len(some), step)):
            name, plain = f"drawn-{number}", some[start : start + step]
            data = wrap_secret(self._part.key, KeyPurpose.ENGINE, name, plain, self._part.chance)
            self._slices.append((self._place.put(name, data), True))
            self.bytes += len(data)
            self.rows += len(plain) // size

    def table(self) -> list[tuple[Any, ...]]:
        """The slices, as tasks take them."""
        return [(*one, fakes) for one, fakes in self._slices]

    def _write(self, name: str, held: bytes, step: int) -> None:
        with self._place.writer(name) as file:
            for start in range(0, len(held), step):
                one = held[start : start + step]
                file.write(one)
                found = Slice(name, start, len(one), sha256(one).hexdigest())
                self._slices.append((found, False))
        self.bytes += len(held)
        self.rows += len(held) // self._part.size


def run_job(
    spark: "SparkSession", part: ClusterPart, export: Export, reduce: Reduce, schema: str
) -> list[dict[str, Any]]:
    """What ``reduce`` says of every partition, in their order.

    A partition's row has ``partition`` and ``rows``, how many it had. Raises DataError where a task
    fails for good, and where a row is missing or twice.
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


def _check(found: list[dict[str, Any]], rows: int) -> None:
    several = len({one["partition"] for one in found}) < len(found)
    received = sum(one["rows"] for one in found)
    if several or received != rows:
        raise DataError(
            "engine",
            expected=f"{rows:,} rows, every partition once",
            got=f"{received:,}" + ", a partition twice" * several,
            do="do the work again; nothing of it is used",
        )


_OURS = "mixtally.errors."
_RAISED = re.compile(r"(?!pyspark|py4j)[A-Za-z_][\w.]*(Error|Exception|Lost|Failure)\b.*: ")
_MOST = 300


@contextmanager
def errors_of_spark() -> Iterator[None]:
    """Whatever Spark raises is a DataError that says what a task said, where one did."""
    try:
        yield
    except MixtallyError:
        raise
    except Exception as error:  # Spark's and Java's errors have no one parent
        raise DataError(
            "engine",
            expected="a job whose tasks all end",
            got=_describe_error(error),
            do="mend that and begin again: the same bytes leave",
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
    """``some`` in their order, over ``most`` tasks or as many as there are of them.

    Spark itself cuts what Python gives it into batches of equal length, and those into tasks: of
    47 things for 16 tasks, half of these have 2 and the others 4.
    """
    many = len(some)
    tasks = min(many, most)
    each = [some[i * many // tasks : (i + 1) * many // tasks] for i in range(tasks)]
    return spark.sparkContext.parallelize(each, tasks).flatMap(list)
