"""Shards counted on Spark: a task each; nothing is shuffled."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from mixtally.engine.engine import Cluster
from mixtally.engine.shards.counted import Lost, ShardTally, count
from mixtally.engine.spark.session import session
from mixtally.engine.spark.tasks import check_runs, running
from mixtally.engine.spark.told import told
from mixtally.records.layout import Layout

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def counting(
    cluster: Cluster, shards: Sequence[str], layout: Layout
) -> Iterator[ShardTally | Lost]:
    """The tally of each of ``shards``, in their order; every machine must reach their URLs."""
    if shards:
        with session(cluster) as spark:
            yield from on(spark, shards, layout)


def on(spark: "SparkSession", shards: Sequence[str], layout: Layout) -> Iterator[ShardTally | Lost]:
    """The same where Spark was begun."""
    with told():
        urls = spark.sparkContext.parallelize(list(shards), len(shards))
        counted = urls.map(partial(_counted, running(), layout))
        yield from counted.toLocalIterator(prefetchPartitions=True)


def _counted(runs: str, layout: Layout, shard: str) -> ShardTally | Lost:
    check_runs(runs)
    return count(shard, layout)
