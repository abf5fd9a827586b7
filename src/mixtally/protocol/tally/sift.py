"""Removal of invalid messages before they are counted.

The collector and the shards of ``server.engine`` call ``sift``. One invalid message must not make a
batch unusable, so invalid messages are dropped and counted by reason. Honest devices never write
such messages. Dropping one reveals nothing about a person, because a mix has shuffled the batch.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from mixtally.model.layout import Layout
from mixtally.primitives.bits import Rows, spans

# Bytes of messages that are validated at a time.
_SPAN_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Sifted:
    """A batch without its invalid messages: the remaining ``rows`` in their order.

    ``dropped`` is the number of dropped messages for each reason that occurred.
    """

    rows: Rows
    dropped: dict[str, int]


def sift(layout: Layout, rows: Rows) -> Sifted:
    """Return the valid messages, and the number of dropped messages for each reason.

    The rows are copied only if a message is dropped. Raises MessageError for rows of another width.

    Parameters
    ----------
    layout : Layout
        The format of the messages.
    rows : Rows
        The messages, shape (messages, bytes).
    """
    # An empty slice has the width of all rows, so checking it costs nothing.
    layout.check_rows(rows[:0])
    dropped: Counter[str] = Counter()
    bad = np.zeros(len(rows), dtype=bool)
    for span in spans(len(rows), max(1, _SPAN_BYTES // layout.message_bytes)):
        for reason, wrong in layout.faults(rows[span]).items():
            bad[span] |= wrong
            dropped[reason] += int(wrong.sum())
    return Sifted(rows[~bad] if bad.any() else rows, dict(+dropped))
