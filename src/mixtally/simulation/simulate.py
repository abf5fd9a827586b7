"""Play a whole collection in one process: every person, every fake, every bit."""

from collections.abc import Callable

import numpy as np

from mixtally.data.progress import Progress, quiet
from mixtally.errors import MessageError
from mixtally.ground.bits import Rows, spans
from mixtally.ground.chance import Chance
from mixtally.ground.memo import Memo
from mixtally.mixing import shaped_fakes, shuffle
from mixtally.mixing.shuffle import room_for
from mixtally.randomize import fakes, reports
from mixtally.randomize.messages import Records, share_of_fakes
from mixtally.records.mechanism import Shuffled
from mixtally.records.results import Tally
from mixtally.tally.fold import Fold

MOST_BATCH_BYTES = 8_000_000_000
_SPAN_BYTES = 1 << 22
_MEMO_BYTES = 1_000_000


def play(
    mechanism: Shuffled,
    records: Records,
    chance: Chance,
    progress: Progress = quiet,
    watch: Callable[[Rows], None] = quiet,
    *,
    pairs: bool = False,
) -> Tally:
    """The tally of everybody's real messages, shuffled.

    where
      records   everybody's bin or everybody's bits, as ``randomize.reports`` takes them
      watch     called with every span of shuffled messages, for what else is counted in them
      pairs     whether pairs of bits are counted as well

    Raises ParameterError when the batch does not fit the mix's memory, MessageError when people
    sent fewer or more messages than they should.
    """
    batch = shuffle(_batch(mechanism, records, chance, progress), chance)
    fold = Fold(mechanism.layout, batch.size, pairs=pairs)
    for span in spans(len(batch), _people(mechanism)):
        fold.add(batch[span])
        watch(batch[span])
        progress("tally", span.stop, len(batch))
    return fold.tally()


def _batch(mechanism: Shuffled, records: Records, chance: Chance, progress: Progress) -> Rows:
    """All messages in the order in which they reach the mix."""
    users, size = len(records), mechanism.layout.message_bytes
    own = users * mechanism.repeats
    room_for(own + mechanism.fakes_promised, size, MOST_BATCH_BYTES)
    mixed = [mechanism.layout.blank(0)]
    if (shaped := mechanism.shaped) is not None:
        every = range(shaped.mixes)
        mixed = [shaped_fakes(shaped.weights, mechanism.layout, chance) for _ in every]
    sent = mechanism.fakes_sent
    batch = np.empty((own + sent + sum(map(len, mixed)), size), dtype=np.uint8)
    batch[own + sent :] = np.concatenate(mixed)
    filled, memo = 0, Memo(_MEMO_BYTES)
    for span in spans(users, _people(mechanism)):
        share = share_of_fakes(sent, users, span.start, span.stop)
        for rows in (
            reports(mechanism, records[span], chance, memo),
            fakes(mechanism, share, chance, memo),
        ):
            first, filled = filled, filled + len(rows)
            if filled <= own + sent:
                batch[first:filled] = rows
        progress("randomize", span.stop, users)
    if filled != own + sent:  # what nobody wrote would be taken for messages
        raise MessageError(
            "batch",
            wanted=f"{own:,} messages of people and {sent:,} fakes",
            got=f"{filled:,}",
            do="mend what draws them: the collection is thrown away",
        )
    return batch


def _people(mechanism: Shuffled) -> int:
    """People handled at once."""
    return max(1, _SPAN_BYTES // mechanism.layout.message_bytes // mechanism.repeats)
