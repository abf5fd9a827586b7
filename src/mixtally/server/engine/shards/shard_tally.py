"""The tally of one shard, as it is kept: counted once, whoever asks again."""

import msgspec
import numpy as np

from mixtally.errors import DataError
from mixtally.model.estimates import Tally
from mixtally.model.layout import Layout
from mixtally.server.engine import store_folder
from mixtally.server.engine.folding import SiftedTally
from mixtally.server.engine.shards.shard import OpenedShard, open_shard


class ShardTally(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a shard has become.

    where
      shard    its file
      plan     fingerprint of the plan, batch and number: as its footer says; None where it does not
      sha256   of its messages, as they were read
      came     messages in it; ``messages`` of them were counted
      codes    the bins that ``counts`` are of, ascending; None where each has one
      dropped  reason -> how many were not
    """

    shard: str
    plan: str | None
    batch: str | None
    number: int | None
    sha256: str | None
    came: int
    messages: int
    counts: tuple[int, ...]
    codes: tuple[int, ...] | None
    dropped: dict[str, int]

    @property
    def tally(self) -> Tally:
        """The tally."""
        codes = None if self.codes is None else np.array(self.codes, dtype=np.int64)
        return Tally(np.array(self.counts, dtype=np.int64), self.messages, None, codes)


class LostShard(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A shard that cannot be counted, and why."""

    shard: str
    reason: str


def count_shard(shard: str, layout: Layout) -> ShardTally | LostShard:
    """Count the messages of the shard at a URL.

    Raises MessageError for a file that holds messages of another length, or none.
    """
    try:
        with (
            store_folder.open_url(shard) as file,
            open_shard(file, shard, layout.message_bytes) as held,
        ):
            return _count(shard, held, layout)
    except DataError as error:
        return LostShard(shard=shard, reason=str(error))


def _count(shard: str, held: OpenedShard, layout: Layout) -> ShardTally:
    sifting = SiftedTally(layout, held.messages * layout.message_bytes)
    for rows in held.rows:
        sifting.add_rows(rows)
    total = sifting.tally()
    return ShardTally(
        shard=shard,
        plan=held.label.plan,
        batch=held.label.batch,
        number=held.label.number,
        sha256=held.label.sha256,
        came=held.messages,
        messages=total.messages,
        counts=tuple(total.counts.tolist()),
        codes=None if total.codes is None else tuple(total.codes.tolist()),
        dropped=dict(sifting.dropped),
    )
