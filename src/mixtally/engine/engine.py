"""Who opens, orders and folds: this machine or a cluster; and whoever that is, made."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from mixtally.engine.hands import Secrets
from mixtally.engine.mixing import Mixer, NearMixer
from mixtally.engine.pool import Pool
from mixtally.engine.sorting import MOST_HELD_BYTES
from mixtally.ground.chance import Chance
from mixtally.node.disk import Step, no_step


class Cluster(NamedTuple):
    """Many machines that work together.

    where
      master   of Spark: ``spark://HOST:PORT``, ``yarn``, ``k8s://...``; ``local[2]`` is this one
      store    URL of a folder that all of them reach, ``file:///...``, ``s3://...``
      key      where each of them finds the key of the engine: ``env:NAME``, or the path of a file
    """

    master: str
    store: str
    key: str


class Engine(NamedTuple):
    """How the work on batches is done.

    where
      processes   of this machine, that open and seal; 0 for none beside this one
      cluster     that opens and orders, or folds; None for this machine alone
      most_held   bytes of messages that this machine's memory holds while it orders them
    """

    processes: int = 0
    cluster: Cluster | None = None
    most_held: int = MOST_HELD_BYTES


@contextmanager
def mixer(
    engine: Engine, secrets: Secrets, pool: Pool, folder: Path, chance: Chance, step: Step = no_step
) -> Iterator[Mixer]:
    """Whoever mixes, as long as the context lasts; ``folder`` is for what memory does not hold."""
    if engine.cluster is None:
        yield NearMixer(pool, folder, chance, step, engine.most_held)
        return
    from mixtally.engine.spark.mixing import SparkMixer
    from mixtally.engine.spark.session import session

    with session(engine.cluster) as spark:
        yield SparkMixer(spark, engine.cluster, secrets, chance, folder.name)
