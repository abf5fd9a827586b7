"""A crowd's messages written to shards and shuffled there: memory holds a span of them at a time.

Each shard of devices is drawn by itself, so that processes share the work and whoever was stopped
goes on: shards that are whole stay. A mix draws its fakes and its order at once, and what it had
written when it was stopped is thrown away.
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
"""It follows from the records: whoever knows all but one could find out that one."""
_MEMO_BYTES = 1_000_000
_ROWS_AT_ONCE, _BYTES_AT_ONCE = 100_000, 1 << 22
"""The most messages that are held at once, whichever is less; they are a row group of the file."""
_SHARDS_OF_A_SEED = 1 << 32


class ShardIndex(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a folder of shards is of.

    where
      records   SHA-256 of everybody's records and of how they are cut
      shards    number -> file, of those that are whole
    """

    plan: str
    batch: str
    records: str
    shards: dict[int, str]


class ShardedCrowd(NamedTuple):
    """Who is to be drawn.

    where
      plan         fingerprint, under which messages are made
      records      as ``randomize.reports`` takes them
      each         people of a shard
      seed         None for the operating system's randomness
    """

    part: Part
    plan: str
    records: Records
    each: int
    seed: int | None


def randomize_shards(
    crowd: ShardedCrowd, folder: Path, processes: int = 0, progress: Progress = ignore_progress
) -> list[Path]:
    """The messages of everybody in shards of ``folder``, fakes among them, not shuffled.

    Shards that are there already are not drawn again. Raises DataError for a folder that holds
    those of other records or of another plan.
    """
    index = _open_index(crowd, folder)
    cut = list(spans(len(crowd.records), crowd.each))
    work = [
        _ShardTask(crowd._replace(records=crowd.records[people]), index.batch, people, number)
        for number, people in enumerate(cut)
        if number not in index.shards
    ]
    users, done = len(crowd.records), sum(cut[n].stop - cut[n].start for n in index.shards)
    for one, name in zip(work, _draw_shards(work, folder, processes), strict=True):
        index.shards[one.number] = name
        write_atomically(folder / _INDEX, msgspec.json.encode(index), what="what is whole")
        done += one.people.stop - one.people.start
        progress("randomize", done, users)
    return [folder / index.shards[number] for number in range(len(cut))]


def _open_index(crowd: ShardedCrowd, folder: Path) -> ShardIndex:
    digest = sha256(f"{crowd.each} {crowd.seed} {crowd.records.shape}".encode())
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
            str(path), expected="what a call wrote here", got=str(error), do="choose another folder"
        ) from error
    if (found.plan, found.records) != (fresh.plan, fresh.records):
        raise DataError(
            str(folder),
            expected="shards of these records, cut alike, under this plan",
            got="others: the data, the plan, the seed or the size of shards have changed",
            do="choose another folder, or remove this one",
        )
    whole = {n: name for n, name in found.shards.items() if (folder / name).exists()}
    return msgspec.structs.replace(found, shards=whole)


def _new_name(chance: Chance) -> str:
    """Of a batch, that no other has."""
    return chance.words(1).tobytes().hex()


class _ShardTask(NamedTuple):
    """Some people, and the batch that they belong to."""

    crowd: ShardedCrowd
    batch: str
    people: slice
    number: int


def _draw_shards(work: Sequence[_ShardTask], folder: Path, processes: int) -> Iterator[str]:
    """The names of the shards as they are written."""
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
    """What the people of a shard send, some at a time; each tosses a coin for fakes."""
    part, memo = crowd.part, Memo(_MEMO_BYTES)
    most = _rows_at_once(part.layout.message_bytes)
    for span in spans(len(crowd.records), max(1, most // part.most)):
        yield randomize_records(part, crowd.records[span], chance, memo)
        yield draw_part_fakes(part, span.stop - span.start, chance, memo)[0]


def _rows_at_once(size: int) -> int:
    """How many messages of ``size`` bytes are held at once."""
    return max(1, min(_ROWS_AT_ONCE, _BYTES_AT_ONCE // size))


def mix_shards(
    shards: Sequence[str],
    part: Part,
    hops: int,
    plan: str,
    folder: Path,
    chance: Chance,
    each: int,
    progress: Progress = ignore_progress,
) -> list[Path]:
    """The messages of shards at these URLs with the fakes of mixes, in a uniformly random order.

    where
      each   messages of a shard that is written

    One process plays all mixes. Raises DataError for a shard that cannot be read, and for a folder
    that is not new; MessageError for messages of another length.
    """
    if folder.exists() and any(folder.iterdir()):
        raise DataError(
            str(folder), expected="a new folder", got="one with files", do="choose another"
        )
    folder.mkdir(parents=True, exist_ok=True)
    size = part.layout.message_bytes
    most = _rows_at_once(size)
    sorter = Sorter(folder, size, SecureChance(), most * (KEY_BYTES + size))
    for number, url in enumerate(shards, 1):
        with store_folder.open_url(url) as file, open_shard(file, url, size) as held:
            for rows in held.rows:
                _add_with_keys(sorter, rows, chance)
        progress("mix", number, len(shards))
    for _ in range(hops if part.by_mixes else 0):
        _add_with_keys(sorter, draw_recipe_messages(part.recipe, part.layout, chance), chance)
    names, batch = list[str](), _new_name(chance)
    for some in _cut_into_shards(sorter.iterate_sorted(), size, each, most):
        label = ShardLabel(plan, batch, len(names), MIXED_ORDER)
        names.append(_write_shard(folder, some, part, label))
    return [folder / name for name in names]


def _add_with_keys(sorter: Sorter, rows: Rows, chance: Chance) -> None:
    """Keys of 256 bits: that two are equal is rarer than any shuffle that was ever dealt."""
    keys = chance.words(len(rows) * KEY_BYTES // 8)
    sorter.add(keys.astype("<u8", copy=False).tobytes(), rows.tobytes())


def _cut_into_shards(
    ordered: Iterator[bytes], size: int, each: int, most: int
) -> Iterator[Iterator[Rows]]:
    """Shards of ``each`` messages, ``most`` at a time: one is taken to its end before the next."""
    held = bytearray()

    def fill_buffer() -> bool:
        while not held and (some := next(ordered, None)) is not None:
            held.extend(some)
        return bool(held)

    def iterate_shard() -> Iterator[Rows]:
        left = each
        while left and fill_buffer():
            many = min(left, len(held) // size, most)
            yield np.frombuffer(bytes(held[: many * size]), dtype=np.uint8).reshape(-1, size)
            del held[: many * size]
            left -= many

    while fill_buffer():
        yield iterate_shard()


def _write_shard(folder: Path, some: Any, part: Part, label: ShardLabel) -> str:
    """Write a shard aside and name it by what it holds: whole or not at all."""
    aside = folder / f".{label.number}-{os.getpid()}.part"
    try:
        with aside.open("wb") as file:
            done = write_shard(file, some, part.layout.message_bytes, label)
            file.flush()
            os.fsync(file.fileno())
        name = f"{label.number:06d}-{(done.sha256 or '')[:16]}.parquet"
        aside.replace(folder / name)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise DataError(
            str(folder), expected="room for the messages", got=str(error), do="make room, go on"
        ) from error
    return name
