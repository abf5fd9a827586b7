"""Choice of the machines that process batches: this one or a Spark cluster."""

from typing import NamedTuple

from mixtally.server.engine.sorting import MOST_HELD_BYTES


class Cluster(NamedTuple):
    """A Spark cluster."""

    master: str
    """URL of the master: ``spark://HOST:PORT``, ``yarn``, ``k8s://...``, or ``local[2]`` for this
    machine."""
    store: str
    """URL of a folder that all machines can access, such as ``file:///...`` or ``s3://...``."""
    key: str
    """Where each machine finds the engine key, which encrypts all secrets of a job: ``env:NAME``,
    or the path of a file."""


class Engine(NamedTuple):
    """The options for processing batches."""

    processes: int = 0
    """Number of local processes that open and seal envelopes; 0 for the calling process only."""
    cluster: Cluster | None = None
    """Cluster that opens, sorts and counts; None for this machine."""
    most_held: int = MOST_HELD_BYTES
    """Maximum size of the messages in memory while they are sorted, in bytes."""
