"""Shards as a collector is given them, and what may be wrong with one."""

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from mixtally.model.layout import Form, Layout
from mixtally.server.engine.shards.shard import ShardLabel, write_shard

PLAN = "a1" * 32
LAYOUT = Layout(Form.BITS, 20)


def rows_of(count, seed=0):
    """Rows of twenty bits that follow from ``seed``."""
    numbers = (np.arange(count, dtype=np.uint64) * 2654435761 + seed * 97) >> 7
    return LAYOUT.rows((numbers % 20).astype(np.int64))


def put(path, rows, **label):
    """A shard as this package writes it; its URL."""
    with path.open("wb") as file:
        write_shard(
            file,
            [rows[:40], rows[40:]],
            LAYOUT.message_bytes,
            ShardLabel(**({"plan": PLAN} | label)),
        )
    return path.as_uri()


def foreign(path, column, name="message"):
    """A shard as somebody else writes it."""
    parquet.write_table(pa.table({name: column}), path)
    return path.as_uri()
