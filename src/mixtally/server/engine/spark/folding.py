"""Counting on Spark: each partition has its own tally, and the driver adds the tallies."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from mixtally.model.estimates import Tally
from mixtally.model.layout import Layout
from mixtally.protocol.tally.fold import add_tallies, empty_tally
from mixtally.server.engine.envelope_worker import Kind
from mixtally.server.engine.folding import COPY, UNOPENED, CountedPart, CountWork, SiftedTally
from mixtally.server.engine.spark.partition import Partition, current_task
from mixtally.server.engine.spark.tasks import Job
from mixtally.server.engine.spark.work import Export, SparkWork, run_job

_SCHEMA = (
    "partition long, rows long, good long, unopened long, messages long, counts binary, "
    "pairs binary, codes binary, dropped string"
)

_NUMBERS = ("counts", "pairs")


class SparkPartCounter(SparkWork):
    """Counter of the parts of a round on a cluster."""

    def count_part(self, work: CountWork) -> CountedPart:
        """Count a part."""
        name = f"tally-{self._name}-{work.part}"
        part = self._part(name, work.part, work.size, work.layout.message_bytes)
        export = Export(part)
        received = export.write_envelopes(work.envelopes())
        found = run_job(
            self._spark, part, export, partial(tally_partition, work.layout, work.pairs), _SCHEMA
        )
        part.store_folder().clear()
        dropped = Counter[str]()
        dropped[UNOPENED] = sum(one["unopened"] for one in found)
        # Tasks drop copies without counting them. So the driver computes their number here.
        dropped[COPY] = received - dropped[UNOPENED] - sum(one["good"] for one in found)
        total = empty_tally(work.layout, pairs=work.pairs)
        for one in found:
            dropped.update(json.loads(one["dropped"]))
            total = add_tallies(total, _tally(one, work.layout, listed=total.codes is not None))
        return CountedPart(received, total, dict(+dropped))


def _tally(row: dict[str, Any], layout: Layout, *, listed: bool) -> Tally:
    counts, pairs = (np.frombuffer(row[name], "<i8").astype(np.int64) for name in _NUMBERS)
    codes = np.frombuffer(row["codes"], layout.code_type)
    both = pairs.reshape(layout.bins, layout.bins) if pairs.size else None
    return Tally(counts, row["messages"], both, codes if listed else None)


def tally_partition(
    layout: Layout, pairs: bool, _: Job, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield one row with the tally of a partition."""
    partition, sifted = Partition(batches), SiftedTally(layout, 0, pairs=pairs)
    for some in partition.messages():
        sifted.add(some)
    total = sifted.tally()
    made = {
        "partition": current_task().partitionId(),
        "rows": partition.rows,
        "good": partition.kinds[Kind.GOOD],
        "unopened": partition.kinds[Kind.UNOPENED] + partition.kinds[Kind.MALFORMED],
        "messages": total.messages,
        "counts": total.counts.astype("<i8").tobytes(),
        "pairs": b"" if total.pairs is None else total.pairs.astype("<i8").tobytes(),
        "codes": b"" if total.codes is None else total.codes.tobytes(),
        "dropped": json.dumps(sifted.dropped),
    }
    yield pa.RecordBatch.from_pylist([made])
