"""Play a whole collection in one process: every person, every fake, every bit."""

from collections.abc import Callable

import numpy as np

from mixtally.ground.bits import Rows, spans
from mixtally.ground.chance import Chance
from mixtally.lab.cells import Progress, quiet
from mixtally.mix import shaped_fakes, shuffle
from mixtally.mix.shuffle import room_for
from mixtally.protocols.base import Protocol
from mixtally.protocols.clear_shaped import ClearShaped
from mixtally.randomize import fakes, reports
from mixtally.randomize.messages import Records, share_of_fakes
from mixtally.records.results import Tally
from mixtally.tally.fold import add, empty, tally_messages

MOST_BATCH_BYTES = 8_000_000_000
_SPAN_BYTES = 1 << 22


def play(
    protocol: Protocol,
    records: Records,
    chance: Chance,
    progress: Progress = quiet,
    watch: Callable[[Rows], None] = quiet,
) -> Tally:
    """The tally of everybody's real messages, shuffled.

    where
      records   everybody's bin or everybody's bits, as ``randomize.reports`` takes them
      watch     called with every span of shuffled messages, for what else is counted in them

    Raises ParameterError when the batch does not fit the mix's memory.
    """
    batch = shuffle(_batch(protocol, records, chance, progress), chance)
    total, layout = empty(protocol.layout), protocol.layout
    for span in spans(len(batch), _people(protocol)):
        total = add(total, tally_messages(layout, batch[span]))
        watch(batch[span])
        progress("tally", span.stop, len(batch))
    return total


def _batch(protocol: Protocol, records: Records, chance: Chance, progress: Progress) -> Rows:
    """All messages in the order in which they reach the mix."""
    users, size = len(records), protocol.layout.message_bytes
    own = users * protocol.messages_per_record
    room_for(own + protocol.fakes, size, MOST_BATCH_BYTES)
    mixed = [protocol.layout.blank(0)]
    if isinstance(protocol, ClearShaped):
        every = range(protocol.mixes)
        mixed = [shaped_fakes(protocol.weights, protocol.layout, chance) for _ in every]
    sent = protocol.fakes_sent
    batch = np.empty((own + sent + sum(map(len, mixed)), size), dtype=np.uint8)
    batch[own + sent :] = np.concatenate(mixed)
    filled = 0
    for span in spans(users, _people(protocol)):
        share = share_of_fakes(sent, users, span.start, span.stop)
        for rows in (reports(protocol, records[span], chance), fakes(protocol, share, chance)):
            batch[filled : filled + len(rows)] = rows
            filled += len(rows)
        progress("randomize", span.stop, users)
    return batch


def _people(protocol: Protocol) -> int:
    """People handled at once."""
    return max(1, _SPAN_BYTES // protocol.layout.message_bytes // protocol.messages_per_record)
