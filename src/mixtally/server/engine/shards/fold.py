"""Many shards folded into one tally: each counted once, by whoever is there, in any order.

What was counted is kept under SHA-256 of the shard's messages, so whoever begins again counts only
what is new, or has changed.
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
    """What shards come to.

    where
      counted    how many are in the tally
      dropped    reason -> how many of their messages are not in it
      repeated   files whose messages stand in another of them
      lost       those that could not be read
    """

    tally: Tally
    counted: int
    dropped: dict[str, int]
    repeated: tuple[str, ...]
    lost: tuple[LostShard, ...]


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
    """The tally of the shards at these URLs.

    where
      plan        the fingerprint under which their messages were made
      processes   of this machine, that count
      keep        a folder for the tallies of single shards
      unmixed     whether messages may lie in the order of people: nothing hides whose they are

    Raises MessageError for shards of another plan, order or length, and for two that claim to be
    the same of their batch and are not; DataError for a folder that cannot be written.
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
    """What a footer says; nothing where it cannot be read."""

    label: ShardLabel
    messages: int


def _read_footer(url: str, layout: Layout) -> _ShardFooter:
    try:
        with (
            store_folder.open_url(url) as file,
            open_shard(file, url, layout.message_bytes) as held,
        ):
            return _ShardFooter(held.label, held.messages)
    except DataError:
        return _ShardFooter(ShardLabel(), 0)  # it will be lost, and said to be


def _check(labels: dict[str, _ShardFooter], plan: str) -> None:
    seen: dict[tuple[str, int], tuple[str, str | None]] = {}
    for url, (label, _) in labels.items():
        if label.plan not in (None, plan):
            raise MessageError(
                url,
                expected=f"messages made under {plan[:16]}",
                got=f"some made under {label.plan[:16]}" if label.plan else "others",
                do="tally the shards of each plan by themselves",
            )
        if label.batch is None or label.number is None:
            continue
        before, digest = seen.setdefault((label.batch, label.number), (url, label.sha256))
        if digest != label.sha256:
            raise MessageError(
                url,
                expected=f"the messages of shard {label.number} of batch {label.batch!r}",
                got=f"others than {before} holds",
                do="find out which of the two is the shard, and leave the other out",
            )


def _check_order(labels: dict[str, _ShardFooter]) -> None:
    """Raises MessageError for shards that no mix has ordered, where they say so."""
    for url, (label, _) in labels.items():
        if label.order == PEOPLE_ORDER:
            raise MessageError(
                url,
                expected="messages in an order that mixes drew",
                got="messages in the order of the people who sent them",
                do="shuffle them first, as `mixtally batch mix` does",
            )


def _split_repeated(labels: dict[str, _ShardFooter]) -> tuple[list[str], tuple[str, ...]]:
    """Shards that differ, and those that stand for one of them."""
    asked, repeated = list[str](), list[str]()
    seen = set[tuple[str | None, int | None, str]]()
    for url, (label, _) in labels.items():
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
    """What was counted so far: of a shard nothing is held once it is added."""

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
    """What names the tally of a shard."""

    plan: str | None
    batch: str | None
    number: int | None
    sha256: str
    layout: Layout


def _path(keep: Path, layout: Layout, label: ShardLabel | ShardTally) -> Path | None:
    """Where the tally of a shard is kept; None for one that does not say what it holds."""
    if label.sha256 is None:
        return None
    name = _Name(label.plan, label.batch, label.number, label.sha256, layout)
    return keep / f"{sha256(canonical_bytes(name)).hexdigest()}.json"


def _load_kept(keep: Path | None, layout: Layout, seen: _ShardFooter) -> ShardOutcome | None:
    path = None if keep is None else _path(keep, layout, seen.label)
    if path is None or not path.exists():
        return None
    try:
        return msgspec.json.decode(read_whole(path), type=ShardTally)
    except (OSError, msgspec.MsgspecError) as error:
        raise DataError(
            str(path), expected="a tally that was kept here", got=str(error), do="remove it"
        ) from error


def _keep(keep: Path, layout: Layout, done: ShardTally) -> None:
    path = _path(keep, layout, done)
    if path is not None:
        keep.mkdir(parents=True, exist_ok=True)
        write_atomically(path, msgspec.json.encode(done), what="the tally of a shard")
