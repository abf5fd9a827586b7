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
from mixtally.model.layout import Layout
from mixtally.model.results import Tally
from mixtally.primitives.codec import canonical
from mixtally.primitives.files import read_whole, write_whole
from mixtally.primitives.progress import Progress, quiet
from mixtally.protocol.tally.fold import add, empty
from mixtally.server.engine import places
from mixtally.server.engine.shards.counted import Lost, ShardTally, count
from mixtally.server.engine.shards.shard import PEOPLE, Label, opened
from mixtally.server.engine.workers import workers

Done = ShardTally | Lost


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
    lost: tuple[Lost, ...]


def fold(
    shards: Sequence[str],
    layout: Layout,
    plan: str,
    *,
    processes: int = 0,
    keep: Path | None = None,
    unmixed: bool = False,
    progress: Progress = quiet,
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
    labels = {url: _label(url, layout) for url in shards}
    _check(labels, plan)
    if not unmixed:
        _check_order(labels)
    asked, repeated = _once(labels)
    sizes = {url: labels[url].messages for url in asked}
    total, new, ready, whole = _Total(layout), list[str](), 0, sum(sizes.values())
    for url in asked:
        before = _kept(keep, layout, labels[url])
        if before is None:
            new.append(url)
        else:
            total.add(before)
            ready += sizes[url]
    for url, done in zip(new, _counted(processes, new, layout), strict=True):
        total.add(done)
        if keep is not None and isinstance(done, ShardTally):
            _keep(keep, layout, done)
        ready += sizes[url]
        progress("tally", ready, whole)
    return Fold(total.tally, total.counted, dict(total.dropped), repeated, tuple(total.lost))


class _Seen(NamedTuple):
    """What a footer says; nothing where it cannot be read."""

    label: Label
    messages: int


def _label(url: str, layout: Layout) -> _Seen:
    try:
        with places.opened(url) as file, opened(file, url, layout.message_bytes) as held:
            return _Seen(held.label, held.messages)
    except DataError:
        return _Seen(Label(), 0)  # it will be lost, and said to be


def _check(labels: dict[str, _Seen], plan: str) -> None:
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


def _check_order(labels: dict[str, _Seen]) -> None:
    """Raises MessageError for shards that no mix has ordered, where they say so."""
    for url, (label, _) in labels.items():
        if label.order == PEOPLE:
            raise MessageError(
                url,
                expected="messages in an order that mixes drew",
                got="messages in the order of the people who sent them",
                do="shuffle them first, as `mixtally batch mix` does",
            )


def _once(labels: dict[str, _Seen]) -> tuple[list[str], tuple[str, ...]]:
    """Shards that differ, and those that stand for one of them."""
    asked, repeated = list[str](), list[str]()
    seen = set[tuple[str | None, int | None, str]]()
    for url, (label, _) in labels.items():
        own = None if label.sha256 is None else (label.batch, label.number, label.sha256)
        (repeated if own in seen else asked).append(url)
        if own is not None:
            seen.add(own)
    return asked, tuple(repeated)


def _counted(processes: int, shards: Sequence[str], layout: Layout) -> Iterator[Done]:
    work = partial(count, layout=layout)
    if processes < 2 or len(shards) < 2:
        yield from map(work, shards)
        return
    with workers(min(processes, len(shards))) as pool:
        yield from pool.map(work, shards)


class _Total:
    """What was counted so far: of a shard nothing is held once it is added."""

    def __init__(self, layout: Layout) -> None:
        self.tally, self.counted = empty(layout), 0
        self.dropped = Counter[str]()
        self.lost = list[Lost]()

    def add(self, done: Done) -> None:
        if isinstance(done, Lost):
            self.lost.append(done)
            return
        self.tally = add(self.tally, done.tally)
        self.counted += 1
        self.dropped.update(done.dropped)


class _Name(msgspec.Struct, frozen=True):
    """What names the tally of a shard."""

    plan: str | None
    batch: str | None
    number: int | None
    sha256: str
    layout: Layout


def _path(keep: Path, layout: Layout, label: Label | ShardTally) -> Path | None:
    """Where the tally of a shard is kept; None for one that does not say what it holds."""
    if label.sha256 is None:
        return None
    name = _Name(label.plan, label.batch, label.number, label.sha256, layout)
    return keep / f"{sha256(canonical(name)).hexdigest()}.json"


def _kept(keep: Path | None, layout: Layout, seen: _Seen) -> Done | None:
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
        write_whole(path, msgspec.json.encode(done), what="the tally of a shard")
