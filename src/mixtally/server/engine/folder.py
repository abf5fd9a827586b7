"""Whoever folds, made: the processes of this machine, or a cluster."""

from collections.abc import Iterator
from contextlib import contextmanager

from mixtally.primitives.chance import Chance
from mixtally.server.engine.engine import Engine
from mixtally.server.engine.folding import Folder, LocalFolder
from mixtally.server.engine.hands import Secrets
from mixtally.server.engine.pool import Pool


@contextmanager
def folder(
    engine: Engine, secrets: Secrets, pool: Pool, name: str, chance: Chance
) -> Iterator[Folder]:
    """Whoever folds the parts of the round of this name, as long as the context lasts."""
    if engine.cluster is None:
        yield LocalFolder(pool)
        return
    from mixtally.server.engine.spark.folding import SparkFolder
    from mixtally.server.engine.spark.session import session

    with session(engine.cluster) as spark:
        yield SparkFolder(spark, engine.cluster, secrets, chance, name)
