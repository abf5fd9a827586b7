"""Tally of a single shard, which is stored so that the shard is counted only once."""

import msgspec
import numpy as np

from mixtally.errors import DataError
from mixtally.model.estimates import Tally
from mixtally.model.layout import Layout
from mixtally.primitives.wide import from_plain, to_plain
from mixtally.server.engine import store_folder
from mixtally.server.engine.folding import SiftedTally
from mixtally.server.engine.shards.shard import OpenedShard, open_shard


class ShardTally(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The tally of a shard."""

    shard: str
    """URL of the file."""
    plan: str | None
    batch: str | None
    number: int | None
    """Fingerprint of the plan, name of the batch and number of the shard, if the footer has
    them."""
    sha256: str | None
    """SHA-256 of the messages."""
    came: int
    """Number of messages in the shard, of which ``messages`` were counted."""
    messages: int
    counts: tuple[int, ...]
    codes: tuple[int | str, ...] | None
    """Bins to which ``counts`` belong, ascending; None if every bin has a count."""
    dropped: dict[str, int]
    """Number of messages that were not counted, by reason."""

    @property
    def tally(self) -> Tally:
        """The tally in the form that estimators use."""
        codes = None if self.codes is None else from_plain(self.codes)
        return Tally(np.array(self.counts, dtype=np.int64), self.messages, None, codes)


class LostShard(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A shard that cannot be counted, with the reason."""

    shard: str
    reason: str


def count_shard(shard: str, layout: Layout) -> ShardTally | LostShard:
    """Count the messages of the shard at a URL, or return why it cannot be read.

    Raises MessageError if the file has no messages, or messages of another length.
    """
    try:
        with (
            store_folder.open_url(shard) as file,
            open_shard(file, shard, layout.message_bytes) as opened,
        ):
            return _count(shard, opened, layout)
    except DataError as error:
        return LostShard(shard=shard, reason=str(error))


def _count(shard: str, opened: OpenedShard, layout: Layout) -> ShardTally:
    sifting = SiftedTally(layout, opened.messages * layout.message_bytes)
    for rows in opened.rows:
        sifting.add_rows(rows)
    total = sifting.tally()
    return ShardTally(
        shard=shard,
        plan=opened.label.plan,
        batch=opened.label.batch,
        number=opened.label.number,
        sha256=opened.label.sha256,
        came=opened.messages,
        messages=total.messages,
        counts=tuple(total.counts.tolist()),
        codes=None if total.codes is None else tuple(to_plain(total.codes)),
        dropped=dict(sifting.dropped),
    )
