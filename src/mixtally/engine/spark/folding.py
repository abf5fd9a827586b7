"""A collector's part on Spark: every partition has a tally of its own, and they add up."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from mixtally.engine.engine import Cluster
from mixtally.engine.folding import COPY, UNOPENED, Folded, FoldWork, Sifting
from mixtally.engine.hands import Secrets
from mixtally.engine.spark.partition import Partition
from mixtally.engine.spark.tasks import GOOD, MALFORMED, Job
from mixtally.engine.spark.tasks import UNOPENED as NOT_OPENED
from mixtally.engine.spark.work import Export, Part, run
from mixtally.ground.chance import Chance
from mixtally.node.wrapping import read_master
from mixtally.records.layout import Layout
from mixtally.records.results import Tally
from mixtally.tally.fold import add, empty

_SCHEMA = (
    "partition long, rows long, good long, unopened long, messages long, counts binary, "
    "pairs binary, dropped map<string, long>"
)


class SparkFolder:
    """Folds the parts of a round on a cluster that was begun."""

    def __init__(
        self, spark: Any, cluster: Cluster, secrets: Secrets, chance: Chance, name: str
    ) -> None:
        self._spark, self._cluster, self._secrets = spark, cluster, secrets
        self._chance, self._name = chance, name
        self._key = read_master(cluster.key, os.environ)

    def fold(self, work: FoldWork) -> Folded:
        """Count one part."""
        part = Part(
            self._cluster,
            self._secrets,
            self._key,
            self._chance,
            f"tally-{self._name}-{work.part}",
            work.part,
            work.size,
            work.layout.message_bytes,
        )
        part.place().clear()
        export = Export(part)
        came = export.envelopes(work.envelopes())
        found = run(self._spark, part, export, partial(tallied, work.layout, work.pairs), _SCHEMA)
        part.place().clear()
        dropped = Counter[str]()
        dropped[UNOPENED] = sum(one["unopened"] for one in found)
        dropped[COPY] = came - dropped[UNOPENED] - sum(one["good"] for one in found)
        total = empty(work.layout, pairs=work.pairs)
        for one in found:
            dropped.update(one["dropped"])
            total = add(total, _tally(one, len(total.counts)))
        return Folded(came, total, dict(+dropped))


def _tally(row: dict[str, Any], bins: int) -> Tally:
    pairs = row["pairs"]
    return Tally(
        np.frombuffer(row["counts"], dtype="<i8").astype(np.int64),
        row["messages"],
        None if pairs is None else np.frombuffer(pairs, dtype="<i8").reshape(bins, bins).copy(),
    )


def tallied(
    layout: Layout, pairs: bool, _: Job, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The tally of a partition."""
    from pyspark import TaskContext

    task = TaskContext.get()
    if task is None:
        raise TypeError("no task of Spark")
    partition, held = Partition(batches), Sifting(layout, 0, pairs=pairs)
    for some in partition.messages():
        held.add(some)
    total = held.tally()
    made = {
        "partition": task.partitionId(),
        "rows": partition.rows,
        "good": partition.kinds[GOOD],
        "unopened": partition.kinds[NOT_OPENED] + partition.kinds[MALFORMED],
        "messages": total.messages,
        "counts": total.counts.astype("<i8").tobytes(),
        "pairs": None if total.pairs is None else total.pairs.astype("<i8").tobytes(),
        "dropped": list(held.dropped.items()),
    }
    yield pa.RecordBatch.from_pylist([made], _arrow())


def _arrow() -> pa.Schema:
    whole, some = pa.int64(), pa.binary()
    return pa.schema(
        [
            ("partition", whole),
            ("rows", whole),
            ("good", whole),
            ("unopened", whole),
            ("messages", whole),
            ("counts", some),
            ("pairs", some),
            ("dropped", pa.map_(pa.string(), whole)),
        ]
    )
