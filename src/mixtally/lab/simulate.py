"""Play a whole collection in one process: every person, every fake, every bit."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mixtally.ground.bits import Rows, spans
from mixtally.ground.chance import Chance
from mixtally.mix import shaped_fakes, shuffle
from mixtally.mix.shuffle import room_for
from mixtally.protocols.base import Protocol
from mixtally.protocols.clear_shaped import ClearShaped
from mixtally.randomize import fakes, reports
from mixtally.randomize.messages import share_of_fakes
from mixtally.records.results import Tally
from mixtally.tally.fold import add, empty, tally_messages

Progress = Callable[[str, int, int], None]
"""Called with the name of the step, how much of it is done, and how much there is."""

MOST_BATCH_BYTES = 8_000_000_000
_SPAN_BYTES = 1 << 22


def play(
    protocol: Protocol,
    codes: NDArray[np.int64],
    chance: Chance,
    progress: Progress = lambda *_: None,
) -> Tally:
    """The tally of everybody's real messages, shuffled.

    where
      codes   shape (users,), the bin of each person

    Raises ParameterError when the batch does not fit the mix's memory.
    """
    batch = shuffle(_batch(protocol, codes, chance, progress), chance)
    total, layout = empty(protocol.layout), protocol.layout
    for span in spans(len(batch), _people(protocol)):
        total = add(total, tally_messages(layout, batch[span]))
        progress("tally", span.stop, len(batch))
    return total


def _batch(
    protocol: Protocol, codes: NDArray[np.int64], chance: Chance, progress: Progress
) -> Rows:
    """All messages in the order in which they reach the mix."""
    users, size = len(codes), protocol.layout.message_bytes
    room_for(users + protocol.fakes, size, MOST_BATCH_BYTES)
    mixed = [protocol.layout.blank(0)]
    if isinstance(protocol, ClearShaped):
        every = range(protocol.mixes)
        mixed = [shaped_fakes(protocol.weights, protocol.layout, chance) for _ in every]
    sent = 0 if isinstance(protocol, ClearShaped) else protocol.fakes
    batch = np.empty((users + sent + sum(map(len, mixed)), size), dtype=np.uint8)
    batch[users + sent :] = np.concatenate(mixed)
    filled = 0
    for span in spans(users, _people(protocol)):
        share = share_of_fakes(sent, users, span.start, span.stop)
        for rows in (reports(protocol, codes[span], chance), fakes(protocol, share, chance)):
            batch[filled : filled + len(rows)] = rows
            filled += len(rows)
        progress("randomize", span.stop, users)
    return batch


def _people(protocol: Protocol) -> int:
    """People handled at once."""
    return max(1, _SPAN_BYTES // protocol.layout.message_bytes)
