"""Tally of many shards, each of which is counted once, in any order and by several processes.

Tallies of single shards are stored under the SHA-256 of their messages. A repeated call counts only
shards that are new or have changed.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import msgspec

from mixtally.errors import DataError, MessageError
from mixtally.model.estimates import Tally
from mixtally.model.layout import Layout
from mixtally.primitives.codec import canonical_bytes
from mixtally.primitives.files import read_whole, write_atomically
from mixtally.primitives.progress import Progress, ignore_progress
from mixtally.protocol.tally.fold import add_tallies, empty_tally
from mixtally.server.engine import store_folder
from mixtally.server.engine.shards.shard import PEOPLE_ORDER, ShardLabel, open_shard
from mixtally.server.engine.shards.shard_tally import LostShard, ShardTally, count_shard
from mixtally.server.engine.workers import worker_pool

ShardOutcome = ShardTally | LostShard


class Fold(NamedTuple):
    """Tally of many shards."""

    tally: Tally
    counted: int
    """Number of shards in the tally."""
    dropped: dict[str, int]
    """Number of messages in these shards that were not counted, by reason."""
    repeated: tuple[str, ...]
    """Files with the same messages as another file."""
    lost: tuple[LostShard, ...]
    """Shards that could not be read."""


def fold(
    shards: Sequence[str],
    layout: Layout,
    plan: str,
    *,
    processes: int = 0,
    keep: Path | None = None,
    unmixed: bool = False,
    progress: Progress = ignore_progress,
) -> Fold:
    """Count the shards at some URLs, and return their total.

    Parameters
    ----------
    shards : sequence of str
        URLs of the shards.
    layout : Layout
        Layout of their messages.
    plan : str
        Fingerprint of the plan under which the messages were made.
    processes : int
        Number of local processes that count.
    keep : Path, optional
        Folder for the tallies of single shards, so that a later call does not count them again.
    unmixed : bool
        Whether to accept messages in the order of people, which reveals who sent each.
    progress : Progress
        Called after each shard.

    Raises
    ------
    MessageError
        If a shard has another plan, or messages of another length; if its messages are in the order
        of people without ``unmixed``; or if two different shards have the same number.
    DataError
        If the folder cannot be read or written.
    """
    labels = {url: _read_footer(url, layout) for url in shards}
    _check(labels, plan)
    if not unmixed:
        _check_order(labels)
    asked, repeated = _split_repeated(labels)
    sizes = {url: labels[url].messages for url in asked}
    total, new, ready, whole = _Total(layout), list[str](), 0, sum(sizes.values())
    for url in asked:
        before = _load_kept(keep, layout, labels[url])
        if before is None:
            new.append(url)
        else:
            total.add(before)
            ready += sizes[url]
    for url, done in zip(new, _count_shards(processes, new, layout), strict=True):
        total.add(done)
        if keep is not None and isinstance(done, ShardTally):
            _keep(keep, layout, done)
        ready += sizes[url]
        progress("tally", ready, whole)
    return Fold(total.tally, total.counted, dict(total.dropped), repeated, tuple(total.lost))


class _ShardFooter(NamedTuple):
    """The label and the number of messages in a shard's footer; empty if it cannot be read."""

    label: ShardLabel
    messages: int


def _read_footer(url: str, layout: Layout) -> _ShardFooter:
    try:
        with (
            store_folder.open_url(url) as file,
            open_shard(file, url, layout.message_bytes) as shard,
        ):
            return _ShardFooter(shard.label, shard.messages)
    except DataError:
        return _ShardFooter(ShardLabel(), 0)  # the shard will be reported as lost


def _check(labels: dict[str, _ShardFooter], plan: str) -> None:
    seen: dict[tuple[str, int], tuple[str, str | None]] = {}
    for url, (label, _) in labels.items():
        if label.plan not in (None, plan):
            raise MessageError(
                url,
                expected=f"messages made under {plan[:16]}",
                got=f"some made under {label.plan[:16]}" if label.plan else "others",
                do="tally the shards of each plan separately",
            )
        if label.batch is None or label.number is None:
            continue
        before, digest = seen.setdefault((label.batch, label.number), (url, label.sha256))
        if digest != label.sha256:
            raise MessageError(
                url,
                expected=f"the messages of shard {label.number} of batch {label.batch!r}",
                got=f"other messages than in {before}",
                do="find out which of the two files is correct, and leave the other out",
            )


def _check_order(labels: dict[str, _ShardFooter]) -> None:
    """Raise MessageError for a shard whose footer says that no mix has sorted its messages."""
    for url, (label, _) in labels.items():
        if label.order == PEOPLE_ORDER:
            raise MessageError(
                url,
                expected="messages in an order that mixes drew",
                got="messages in the order of the people who sent them",
                do="shuffle them first, as `mixtally batch mix` does",
            )


def _split_repeated(labels: dict[str, _ShardFooter]) -> tuple[list[str], tuple[str, ...]]:
    """Return the distinct shards, and those with the same content as one of these."""
    asked, repeated = list[str](), list[str]()
    seen = set[tuple[str | None, int | None, str]]()
    for url, (label, _) in labels.items():
        # Without a digest in the footer, a shard is always counted.
        own = None if label.sha256 is None else (label.batch, label.number, label.sha256)
        (repeated if own in seen else asked).append(url)
        if own is not None:
            seen.add(own)
    return asked, tuple(repeated)


def _count_shards(processes: int, shards: Sequence[str], layout: Layout) -> Iterator[ShardOutcome]:
    work = partial(count_shard, layout=layout)
    if processes < 2 or len(shards) < 2:
        yield from map(work, shards)
        return
    with worker_pool(min(processes, len(shards))) as pool:
        yield from pool.map(work, shards)


class _Total:
    """The running total of shards. Only the total is in memory, not the added shards."""

    def __init__(self, layout: Layout) -> None:
        self.tally, self.counted = empty_tally(layout), 0
        self.dropped = Counter[str]()
        self.lost = list[LostShard]()

    def add(self, done: ShardOutcome) -> None:
        if isinstance(done, LostShard):
            self.lost.append(done)
            return
        self.tally = add_tallies(self.tally, done.tally)
        self.counted += 1
        self.dropped.update(done.dropped)


class _Name(msgspec.Struct, frozen=True):
    """Data that identifies the stored tally of a shard."""

    plan: str | None
    batch: str | None
    number: int | None
    sha256: str
    layout: Layout


def _path(keep: Path, layout: Layout, label: ShardLabel | ShardTally) -> Path | None:
    """Return the path of a shard's stored tally, or None if the shard has no digest."""
    if label.sha256 is None:
        return None
    name = _Name(label.plan, label.batch, label.number, label.sha256, layout)
    return keep / f"{sha256(canonical_bytes(name)).hexdigest()}.json"


def _load_kept(keep: Path | None, layout: Layout, footer: _ShardFooter) -> ShardOutcome | None:
    path = None if keep is None else _path(keep, layout, footer.label)
    if path is None or not path.exists():
        return None
    try:
        return msgspec.json.decode(read_whole(path), type=ShardTally)
    except (OSError, msgspec.MsgspecError) as error:
        raise DataError(
            str(path), expected="a tally stored by mixtally", got=error, do="remove the file"
        ) from error


def _keep(keep: Path, layout: Layout, done: ShardTally) -> None:
    path = _path(keep, layout, done)
    if path is not None:
        keep.mkdir(parents=True, exist_ok=True)
        write_atomically(path, msgspec.json.encode(done), what="the tally of a shard")
