"""Messages that no honest device wrote: dropped before they are counted, and counted by reason.

One bad message is no ground to lose a batch. What is dropped says nothing about anybody: a mix drew
the order, and honest messages are never dropped.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from mixtally.model.layout import Layout
from mixtally.primitives.bits import Rows, spans

_SPAN_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Sifted:
    """What is left of a batch.

    where
      rows      the messages that can be counted, in their order, shape (messages, bytes)
      dropped   reason -> how many messages were dropped for it; no entry where none was
    """

    rows: Rows
    dropped: dict[str, int]


def sift(layout: Layout, rows: Rows) -> Sifted:
    """``rows`` without those that are impossible in ``layout``.

    A copy only where something is dropped. Raises MessageError for rows of another width.
    """
    layout.check_rows(rows[:0])
    dropped: Counter[str] = Counter()
    bad = np.zeros(len(rows), dtype=bool)
    for span in spans(len(rows), max(1, _SPAN_BYTES // layout.message_bytes)):
        for reason, wrong in layout.faults(rows[span]).items():
            bad[span] |= wrong
            dropped[reason] += int(wrong.sum())
    return Sifted(rows[~bad] if bad.any() else rows, dict(+dropped))
