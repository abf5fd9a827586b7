"""Who opens, orders and folds: this machine or a cluster."""

from typing import NamedTuple

from mixtally.server.engine.sorting import MOST_HELD_BYTES


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
