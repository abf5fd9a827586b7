"""Who works on large batches: options that several commands have."""

import os
from dataclasses import dataclass
from typing import Annotated

from mixtally.app.options import list_used_flags
from mixtally.cli import options as o
from mixtally.cli.output import show_elapsed_time
from mixtally.errors import ParameterError
from mixtally.server.engine.engine import Cluster, Engine
from mixtally.server.node.wrapping import read_master

HERE, SPARK = "here", "spark"


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """Processes of this machine, or a cluster."""

    processes: Annotated[
        int | None,
        o.whole_option("--processes", "That open envelopes and seal (default: all cores)."),
    ] = None
    engine: Annotated[
        str, o.option("--engine", "Who opens and orders: here, spark (extra engine).", "WHO")
    ] = HERE
    master: Annotated[
        str | None,
        o.option("--master", "Of Spark: spark://HOST:PORT, yarn, k8s://..., local[2].", "URL"),
    ] = None
    store: Annotated[
        str | None,
        o.option("--store", "A folder that every machine reaches: s3://..., file:///...", "URL"),
    ] = None
    engine_key: Annotated[
        str | None,
        o.option(
            "--engine-key",
            "Where every machine finds the key of the engine: a file, or env:NAME.",
            "PLACE",
        ),
    ] = None

    def build_engine(self) -> Engine:
        """What they come to.

        Raises ParameterError for a cluster that is half described, does not start or does not
        encrypt, DataError for a key that is not there.
        """
        processes = o.cores(self.processes)
        if o.check_one_of("--engine", self.engine, [HERE, SPARK]) == HERE:
            self._refuse_cluster()
            return Engine(processes)
        cluster = self._cluster()
        read_master(cluster.key, os.environ)
        from mixtally.server.engine.spark.session import open_session

        with show_elapsed_time("looking at the cluster"), open_session(cluster):
            return Engine(processes, cluster)

    def _cluster(self) -> Cluster:
        if self.master is None or self.store is None or self.engine_key is None:
            raise ParameterError(
                "--engine spark",
                expected="--master, --store and --engine-key",
                got=", ".join(list_used_flags(self, "master", "store", "engine_key"))
                or "none of them",
                do="name the cluster, a folder that all of it reaches, and the key of the engine",
            )
        return Cluster(self.master, self.store, self.engine_key)

    def _refuse_cluster(self) -> None:
        beside = list_used_flags(self, "master", "store", "engine_key")
        if beside:
            raise ParameterError(
                "--engine",
                expected="spark",
                got="here, beside " + ", ".join(beside),
                do="add --engine spark, or leave these out",
            )
