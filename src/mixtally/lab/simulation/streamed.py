"""Messages of a crowd, written to shard files and shuffled there, with bounded memory.

``mixtally batch`` calls these functions. A *shard* is a file with some of the messages. The shards
of people's messages are drawn independently, so that several processes share the work. After an
interruption, the next run keeps complete shards and draws the others. In contrast, the fakes of the
mixes and the order of all messages are drawn in a single run. If this run is interrupted, its files
are useless.
"""

import os
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from mixtally.errors import DataError
from mixtally.lab.simulation.seeded import build_chance
from mixtally.model.contract import Part
from mixtally.primitives.bits import Rows, spans
from mixtally.primitives.chance import Chance, SecureChance
from mixtally.primitives.files import read_whole, write_atomically
from mixtally.primitives.memo import Memo
from mixtally.primitives.progress import Progress, ignore_progress
from mixtally.protocol.mixing import draw_recipe_messages
from mixtally.protocol.randomize import draw_part_fakes, randomize_records
from mixtally.protocol.randomize.bins import Records
from mixtally.report.document import SIMULATION
from mixtally.server.engine import store_folder
from mixtally.server.engine.shards.shard import (
    MIXED_ORDER,
    PEOPLE_ORDER,
    ShardLabel,
    open_shard,
    write_shard,
)
from mixtally.server.engine.sorting import KEY_BYTES, Sorter
from mixtally.server.engine.workers import worker_pool

_INDEX = f"{SIMULATION}/batch.json"
"""Path of the index in the folder, among the files that must not be published.

The index has a digest of the records. Anyone who knows all records but one could find the missing
one by trying all values.
"""
_MEMO_BYTES = 1_000_000
"""Bytes of tables that the randomizer computes once and uses for all spans."""
_ROWS_AT_ONCE, _BYTES_AT_ONCE = 100_000, 1 << 22
"""Limits of the messages in memory at a time, which are a row group of the file.

The smaller of the two applies.
"""
_SHARDS_OF_A_SEED = 1 << 32
"""The seeds of two crowds are this distance from each other, so their shards never share a seed."""


class ShardIndex(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of a folder of shards.

    ``records`` is the SHA-256 of all records and of their division into shards. ``shards`` has the
    file of each complete shard, by its number.
    """

    plan: str
    batch: str
    records: str
    shards: dict[int, str]


class ShardedCrowd(NamedTuple):
    """The people whose messages are drawn, ``shard_size`` of them in each shard.

    ``plan`` is the fingerprint of the plan. ``records`` have the form that ``randomize_records``
    takes. ``seed`` is None for the operating system's randomness.
    """

    part: Part
    plan: str
    records: Records
    shard_size: int
    seed: int | None


def randomize_shards(
    crowd: ShardedCrowd, folder: Path, processes: int = 0, progress: Progress = ignore_progress
) -> list[Path]:
    """Write the messages of all people, including their fakes, to shards in ``folder``.

    The messages are not shuffled. Existing shards are not drawn again.

    Parameters
    ----------
    crowd : ShardedCrowd
        The people, and the number of people in a shard.
    folder : Path
        The folder of the shards. An interrupted run is continued there.
    processes : int
        The number of processes; 0 for the calling process only.
    progress : Progress
        Called after each shard.

    Returns
    -------
    list of Path
        The files of all shards, in the order of the people.

    Raises
    ------
    DataError
        If the folder has shards of other records or of another plan.
    """
    index = _open_index(crowd, folder)
    cut = list(spans(len(crowd.records), crowd.shard_size))
    work = [
        _ShardTask(crowd._replace(records=crowd.records[people]), index.batch, people, number)
        for number, people in enumerate(cut)
        if number not in index.shards
    ]
    users, done = len(crowd.records), sum(cut[n].stop - cut[n].start for n in index.shards)
    for one, name in zip(work, _draw_shards(work, folder, processes), strict=True):
        index.shards[one.number] = name
        # The index is written after each shard, so that an interrupted run loses only the shards
        # that were not yet complete.
        write_atomically(folder / _INDEX, msgspec.json.encode(index), what="what is whole")
        done += one.people.stop - one.people.start
        progress("randomize", done, users)
    return [folder / index.shards[number] for number in range(len(cut))]


def _open_index(crowd: ShardedCrowd, folder: Path) -> ShardIndex:
    # The seed and the shard size decide the content of the files, so they belong to the digest.
    digest = sha256(f"{crowd.shard_size} {crowd.seed} {crowd.records.shape}".encode())
    digest.update(np.ascontiguousarray(crowd.records).data)
    name = _new_name(build_chance(crowd.seed))
    fresh = ShardIndex(plan=crowd.plan, batch=name, records=digest.hexdigest(), shards={})
    path = folder / _INDEX
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        return fresh
    try:
        found = msgspec.json.decode(read_whole(path), type=ShardIndex)
    except (OSError, msgspec.MsgspecError) as error:
        raise DataError(
            str(path), expected="an index of shards", got=error, do="choose another folder"
        ) from error
    if (found.plan, found.records) != (fresh.plan, fresh.records):
        raise DataError(
            str(folder),
            expected="shards of the same records and size under the same plan",
            got="others: the data, the plan, the seed or the size of shards have changed",
            do="choose another folder, or remove this one",
        )
    # A shard that was removed meanwhile is drawn again.
    whole = {n: name for n, name in found.shards.items() if (folder / name).exists()}
    return msgspec.structs.replace(found, shards=whole)


def _new_name(chance: Chance) -> str:
    """Return a random name for a batch."""
    return chance.words(1).tobytes().hex()


class _ShardTask(NamedTuple):
    """The people of one shard, and the batch that they belong to."""

    crowd: ShardedCrowd
    batch: str
    people: slice
    number: int


def _draw_shards(work: Sequence[_ShardTask], folder: Path, processes: int) -> Iterator[str]:
    """Yield the names of the shards as they are written."""
    several = [(one, folder) for one in work]
    if processes < 2 or len(work) < 2:
        yield from (_draw_shard(*one) for one in several)
        return
    with worker_pool(min(processes, len(work))) as pool:
        yield from pool.map(_draw_shard, *zip(*several, strict=True))


def _draw_shard(shard: _ShardTask, folder: Path) -> str:
    crowd, number = shard.crowd, shard.number
    seed = None if crowd.seed is None else crowd.seed * _SHARDS_OF_A_SEED + number
    label = ShardLabel(crowd.plan, shard.batch, number, PEOPLE_ORDER)
    return _write_shard(folder, _draw_messages(crowd, build_chance(seed)), crowd.part, label)


def _draw_messages(crowd: ShardedCrowd, chance: Chance) -> Iterator[Rows]:
    """Yield the messages of a shard's people in pieces, each followed by the people's fakes."""
    part, memo = crowd.part, Memo(_MEMO_BYTES)
    most = _rows_at_once(part.layout.message_bytes)
    for span in spans(len(crowd.records), max(1, most // part.most)):
        yield randomize_records(part, crowd.records[span], chance, memo)
        yield draw_part_fakes(part, span.stop - span.start, chance, memo)[0]


def _rows_at_once(size: int) -> int:
    """Return how many messages of ``size`` bytes are held at a time."""
    return max(1, min(_ROWS_AT_ONCE, _BYTES_AT_ONCE // size))


def mix_shards(
    shards: Sequence[str],
    part: Part,
    hops: int,
    plan: str,
    folder: Path,
    chance: Chance,
    shard_size: int,
    progress: Progress = ignore_progress,
) -> list[Path]:
    """Write the messages of shards, with the fakes of all mixes, in a uniformly random order.

    One process does the work of all mixes.

    Parameters
    ----------
    shards : sequence of str
        The URLs of the shards.
    part : Part
        The part of the plan to which the messages belong.
    hops : int
        The number of mixes, each of which adds the fakes of its recipe.
    plan : str
        The fingerprint of the plan.
    folder : Path
        A new folder for the result.
    chance : Chance
        The source of the fakes and of the order.
    shard_size : int
        The number of messages in each written shard.
    progress : Progress
        Called after each shard.

    Returns
    -------
    list of Path
        The files of the written shards, in order.

    Raises
    ------
    DataError
        If a shard cannot be read, or the folder is not new.
    MessageError
        If messages do not have the length that the part states.
    """
    if folder.exists() and any(folder.iterdir()):
        raise DataError(
            str(folder), expected="a new folder", got="one with files", do="choose another"
        )
    folder.mkdir(parents=True, exist_ok=True)
    size = part.layout.message_bytes
    most = _rows_at_once(size)
    # The sorter's own randomness only encrypts its temporary files, so it takes no seed.
    sorter = Sorter(folder, size, SecureChance(), most * (KEY_BYTES + size))
    for number, url in enumerate(shards, 1):
        with store_folder.open_url(url) as file, open_shard(file, url, size) as shard:
            for rows in shard.rows:
                _add_with_keys(sorter, rows, chance)
        progress("mix", number, len(shards))
    for _ in range(hops if part.by_mixes else 0):
        _add_with_keys(sorter, draw_recipe_messages(part.recipe, part.layout, chance), chance)
    names, batch = list[str](), _new_name(chance)
    for some in _cut_into_shards(sorter.iterate_sorted(), size, shard_size, most):
        label = ShardLabel(plan, batch, len(names), MIXED_ORDER)
        names.append(_write_shard(folder, some, part, label))
    return [folder / name for name in names]


def _add_with_keys(sorter: Sorter, rows: Rows, chance: Chance) -> None:
    """Add messages with random keys of 256 bits; sorting by the keys shuffles the messages.

    Equal keys would bias the order, but their probability is negligible: below n^2 / 2^257 for n
    messages.
    """
    keys = chance.words(len(rows) * KEY_BYTES // 8)
    # A fixed byte order gives the same shuffle for a seed on every machine.
    sorter.add(keys.astype("<u8", copy=False).tobytes(), rows.tobytes())


def _cut_into_shards(
    ordered: Iterator[bytes], size: int, shard_size: int, most: int
) -> Iterator[Iterator[Rows]]:
    """Yield shards of ``shard_size`` messages of ``size`` bytes each.

    A shard is an iterator over arrays of at most ``most`` messages. The caller must exhaust it
    before requesting the next shard.
    """
    buffer = bytearray()

    def fill_buffer() -> bool:
        while not buffer and (some := next(ordered, None)) is not None:
            buffer.extend(some)
        return bool(buffer)

    def iterate_shard() -> Iterator[Rows]:
        remaining = shard_size
        while remaining and fill_buffer():
            many = min(remaining, len(buffer) // size, most)
            # ``bytes`` makes a copy, because a bytearray cannot shrink while an array refers to it.
            yield np.frombuffer(bytes(buffer[: many * size]), dtype=np.uint8).reshape(-1, size)
            del buffer[: many * size]
            remaining -= many

    while fill_buffer():
        yield iterate_shard()


def _write_shard(folder: Path, some: Any, part: Part, label: ShardLabel) -> str:
    """Write a shard to a temporary file, rename the file by its digest, and return the new name.

    A file with such a name is therefore always complete. ``some`` is an iterator over arrays of the
    messages.
    """
    # The process number keeps two processes from writing the same file.
    aside = folder / f".{label.number}-{os.getpid()}.part"
    try:
        with aside.open("wb") as file:
            done = write_shard(file, some, part.layout.message_bytes, label)
            file.flush()
            # The content must be on disk before the file gets the name of a complete shard.
            os.fsync(file.fileno())
        name = f"{label.number:06d}-{(done.sha256 or '')[:16]}.parquet"
        aside.replace(folder / name)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise DataError(
            str(folder),
            expected="space for the messages",
            got=error,
            do="free disk space and run the command again",
        ) from error
    return name
