"""Whoever mixes, made: the processes of this machine, or a cluster."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mixtally.primitives.chance import Chance
from mixtally.server.engine.engine import Engine
from mixtally.server.engine.hands import Secrets
from mixtally.server.engine.mixing import LocalMixer, Mixer
from mixtally.server.engine.pool import Pool
from mixtally.server.node.disk import Step, no_step


@contextmanager
def mixer(
    engine: Engine, secrets: Secrets, pool: Pool, folder: Path, chance: Chance, step: Step = no_step
) -> Iterator[Mixer]:
    """Whoever mixes, as long as the context lasts; ``folder`` is for what memory does not hold."""
    if engine.cluster is None:
        yield LocalMixer(pool, folder, chance, step, engine.most_held)
        return
    from mixtally.server.engine.spark.mixing import SparkMixer
    from mixtally.server.engine.spark.session import session

    with session(engine.cluster) as spark:
        yield SparkMixer(spark, engine.cluster, secrets, chance, folder.name)
