"""Whoever folds, made: the processes of this machine, or a cluster."""

from collections.abc import Iterator
from contextlib import contextmanager

from mixtally.engine.engine import Engine
from mixtally.engine.folding import Folder, LocalFolder
from mixtally.engine.hands import Secrets
from mixtally.engine.pool import Pool
from mixtally.ground.chance import Chance


@contextmanager
def folder(
    engine: Engine, secrets: Secrets, pool: Pool, name: str, chance: Chance
) -> Iterator[Folder]:
    """Whoever folds the parts of the round of this name, as long as the context lasts."""
    if engine.cluster is None:
        yield LocalFolder(pool)
        return
    from mixtally.engine.spark.folding import SparkFolder
    from mixtally.engine.spark.session import session

    with session(engine.cluster) as spark:
        yield SparkFolder(spark, engine.cluster, secrets, chance, name)
