"""Shards counted on Spark, some to a task: a task costs as much as to count millions of messages.

They are counted in waves, two under way at a time: slots that are done with one begin the next, and
the driver holds few tallies, however many shards there are.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

from mixtally.engine.engine import Cluster
from mixtally.engine.shards.counted import Lost, ShardTally, count
from mixtally.engine.spark.session import session
from mixtally.engine.spark.spread import spread
from mixtally.engine.spark.tasks import check_runs, running
from mixtally.engine.spark.told import told
from mixtally.records.layout import Layout

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_WAVES = 2
_SHARDS_A_TASK = 16
_MOST_COUNTS = 1 << 22
"""Counts in the tallies of a wave: 160 MB where each is a number of its own."""
Done = ShardTally | Lost


def counting(cluster: Cluster, shards: Sequence[str], layout: Layout) -> Iterator[Done]:
    """The tally of each of ``shards``, in their order; every machine must reach their URLs."""
    if shards:
        with session(cluster) as spark:
            yield from on(spark, shards, layout)


def on(spark: "SparkSession", shards: Sequence[str], layout: Layout) -> Iterator[Done]:
    """The same where Spark was begun."""
    pool, waves = ThreadPoolExecutor(_WAVES), deque[Future[list[Done]]]()
    try:
        with told():
            for some in _cut(spark, shards, layout):
                waves.append(pool.submit(_wave, spark, some, layout))
                if len(waves) == _WAVES:
                    yield from waves.popleft().result()
            while waves:
                yield from waves.popleft().result()
    finally:  # whoever leaves early waits for nothing: what is under way ends with Spark
        pool.shutdown(wait=False, cancel_futures=True)


def _cut(spark: "SparkSession", shards: Sequence[str], layout: Layout) -> Iterator[Sequence[str]]:
    """The shards of every wave; a cluster may have grown meanwhile."""
    start = 0
    while start < len(shards):
        wanted = _SHARDS_A_TASK * spark.sparkContext.defaultParallelism
        end = start + max(1, min(wanted, _MOST_COUNTS // layout.bins))
        yield shards[start:end]
        start = end


def _wave(spark: "SparkSession", shards: Sequence[str], layout: Layout) -> list[Done]:
    """One job; Spark takes what each task gave once, and in their order."""
    urls = spread(spark, shards, spark.sparkContext.defaultParallelism)
    return urls.mapPartitions(partial(_counted, running(), layout)).collect()


def _counted(runs: str, layout: Layout, shards: Iterable[str]) -> Iterator[Done]:
    check_runs(runs)
    for shard in shards:
        yield count(shard, layout)
