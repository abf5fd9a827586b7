"""What tasks are given, spread evenly over them.

Spark itself cuts what Python gives it into batches of equal length, and those into tasks: of 47
things for 16 tasks, half of these have 2 and the others 4.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import SparkSession

T = TypeVar("T")


def spread(spark: "SparkSession", some: Sequence[T], most: int) -> "RDD[T]":
    """``some`` in their order, over ``most`` tasks or as many as there are of them."""
    many = len(some)
    tasks = min(many, most)
    each = [some[i * many // tasks : (i + 1) * many // tasks] for i in range(tasks)]
    return spark.sparkContext.parallelize(each, tasks).flatMap(list)
