"""Options of commands that process large batches: local processes or a Spark cluster."""

import os
from dataclasses import dataclass
from typing import Annotated

from mixtally.app.options import list_used_flags
from mixtally.cli import options as o
from mixtally.cli.output import show_elapsed_time
from mixtally.errors import ParameterError, join_words
from mixtally.server.engine.engine import Cluster, Engine
from mixtally.server.node.wrapping import read_master

HERE, SPARK = "here", "spark"


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """Options that select local processes or a cluster."""

    processes: Annotated[
        int | None,
        o.whole_option("--processes", "Processes for encryption (default: all cores)."),
    ] = None
    engine: Annotated[
        str, o.option("--engine", "Engine for envelopes: here, or spark (extra engine).", "WHO")
    ] = HERE
    master: Annotated[
        str | None,
        o.option("--master", "Spark master: spark://HOST:PORT, yarn, k8s://..., local[2].", "URL"),
    ] = None
    store: Annotated[
        str | None,
        o.option("--store", "Folder that all machines can access: s3://..., file:///...", "URL"),
    ] = None
    engine_key: Annotated[
        str | None,
        o.option(
            "--engine-key",
            "Key of the engine on every machine: a file, or env:NAME.",
            "PLACE",
        ),
    ] = None

    def build_engine(self) -> Engine:
        """Return the engine that the options describe; it processes the batches of a role.

        Raises
        ------
        ParameterError
            If options for the cluster are missing, or if the cluster does not start or does not
            encrypt its traffic.
        DataError
            If the key of the engine is missing.
        """
        processes, here = o.cores(self.processes), self.engine == HERE
        o.check_one_of("--engine", self.engine, [HERE, SPARK])
        flags = list_used_flags(self, "master", "store", "engine_key")
        if here and flags:
            rest = join_words(flags)
            raise ParameterError(
                "--engine",
                expected=f"spark with {rest}",
                got="here",
                do=f"add --engine spark, or leave {rest} out",
            )
        if here:
            return Engine(processes)
        if self.master is None or self.store is None or self.engine_key is None:
            raise ParameterError(
                "--engine spark",
                expected="--master, --store and --engine-key",
                got=", ".join(flags) or "none",
                do="name the cluster, a folder that all machines can access, and the engine's key",
            )
        cluster = Cluster(self.master, self.store, self.engine_key)
        # The key is read now, so that a missing one is reported before Spark starts.
        read_master(cluster.key, os.environ)
        from mixtally.server.engine.spark.session import open_session

        # A session is opened once as a test, so that an unusable cluster is reported before a round
        # needs it.
        with show_elapsed_time("connecting to the cluster"), open_session(cluster):
            return Engine(processes, cluster)
