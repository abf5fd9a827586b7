"""Messages drawn and mixed in files: the same as in memory, whoever draws them, however often."""

import itertools

import numpy as np
import pytest
from pyarrow.parquet import ParquetFile
from scipy.stats import chisquare

from helpers.contracts import shaped, uniform
from mixtally.errors import DataError
from mixtally.lab.simulation import streamed
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.lab.simulation.streamed import ShardedCrowd, mix_shards, randomize_shards
from mixtally.primitives.chance import SecureChance
from mixtally.primitives.fixed_point import SCALE
from mixtally.server.engine.shards.fold import fold
from mixtally.server.engine.shards.shard import open_shard

PLAN = "c3" * 32
CODES = (np.arange(1000) ** 2 % 5).astype(np.int64)
UNIFORM = uniform(5, whole=0, coin=int(0.137 * SCALE))
FEWEST, MOST = 1060, 1225
"""Messages of a thousand people: seven deviations of their coins, false alarm 10^-13."""


def crowd_of(part=UNIFORM, codes=CODES, **more):
    return ShardedCrowd(part, PLAN, codes, **({"shard_size": 300, "seed": None} | more))


def rows_in(paths, size=1):
    found = []
    for path in paths:
        with path.open("rb") as file, open_shard(file, path.name, size) as held:
            found += [bytes(row) for rows in held.rows for row in rows]
    return found


def counted(paths, layout):
    return fold([path.as_uri() for path in paths], layout, PLAN, unmixed=True).tally


def test_everybody_and_every_fake_once(tmp_path):
    paths = randomize_shards(crowd_of(), tmp_path / "raw")
    assert len(paths) == 4
    tally = counted(paths, UNIFORM.layout)
    truth = np.bincount(CODES, minlength=5)
    assert FEWEST <= tally.messages <= MOST
    assert (tally.counts >= truth).all()
    assert 300 < len(rows_in(paths[:1])) < 400


@pytest.mark.seconds
def test_processes_draw_what_one_draws_of_a_seed(tmp_path):
    alone = randomize_shards(crowd_of(seed=4), tmp_path / "one")
    several = randomize_shards(crowd_of(seed=4), tmp_path / "two", 2)
    assert [path.name for path in alone] == [path.name for path in several]
    other = randomize_shards(crowd_of(seed=5), tmp_path / "three")
    assert not {path.name for path in alone} & {path.name for path in other}


def test_no_more_than_so_many_messages_are_held_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(streamed, "_ROWS_AT_ONCE", 60)
    many = uniform(5, whole=7, coin=0)
    raw = randomize_shards(crowd_of(many), tmp_path / "raw")
    made = mix_shards(
        [path.as_uri() for path in raw], many, 1, PLAN, tmp_path / "mixed", SecureChance(), 5000
    )
    for path in (*raw, *made):
        held = ParquetFile(path).metadata
        assert max(held.row_group(n).num_rows for n in range(held.num_row_groups)) <= 60
    assert counted(raw, many.layout).messages == counted(made, many.layout).messages == 8_000


def test_two_calls_draw_anew(tmp_path):
    names = [
        {path.name for path in randomize_shards(crowd_of(), tmp_path / place)}
        for place in ("a", "b")
    ]
    assert not names[0] & names[1]


def test_who_was_stopped_goes_on(tmp_path, monkeypatch, plant):
    told = []

    def stopping(honest, shard, folder):
        if shard.number == 2:
            raise KeyboardInterrupt
        return honest(shard, folder)

    plant(streamed, "_draw_shard", stopping)
    with pytest.raises(KeyboardInterrupt):
        randomize_shards(crowd_of(), tmp_path)
    first = sorted(tmp_path.glob("*.parquet"))
    assert len(first) == 2
    monkeypatch.undo()
    paths = randomize_shards(crowd_of(), tmp_path, progress=lambda *step: told.append(step))
    assert sorted(paths)[:2] == first
    assert told == [("randomize", 900, 1000), ("randomize", 1000, 1000)]
    assert FEWEST <= counted(paths, UNIFORM.layout).messages <= MOST


@pytest.mark.parametrize(
    "changed",
    [
        {"codes": np.roll(CODES, 1)},
        {"shard_size": 250},
        {"seed": 7},
        {"codes": CODES[:-1]},
    ],
    ids=["records", "size", "seed", "fewer"],
)
def test_going_on_with_something_else_is_refused(tmp_path, changed):
    randomize_shards(crowd_of(), tmp_path)
    with pytest.raises(DataError, match="have changed"):
        randomize_shards(crowd_of(**changed), tmp_path)


def test_a_torn_list_of_what_is_whole(tmp_path):
    randomize_shards(crowd_of(), tmp_path)
    (tmp_path / "simulation" / "batch.json").write_bytes(b"{")
    with pytest.raises(DataError, match="an index of shards"):
        randomize_shards(crowd_of(), tmp_path)


def test_what_follows_from_records_lies_in_a_simulation(tmp_path):
    """A hash of all records would tell the one that somebody does not know."""
    randomize_shards(crowd_of(), tmp_path)
    assert {path.name for path in tmp_path.iterdir() if path.suffix != ".parquet"} == {"simulation"}


def test_a_full_disk_leaves_nothing_half_written(tmp_path, monkeypatch):
    import os

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataError, match="no space left"):
        randomize_shards(crowd_of(), tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    monkeypatch.undo()
    assert len(randomize_shards(crowd_of(), tmp_path)) == 4


def test_a_mix_keeps_every_message_and_no_order(tmp_path):
    raw = randomize_shards(crowd_of(), tmp_path / "raw")
    urls = [path.as_uri() for path in raw]
    made = mix_shards(urls, UNIFORM, 1, PLAN, tmp_path / "mixed", SecureChance(), 450)
    before, after = rows_in(raw), rows_in(made)
    assert sorted(before) == sorted(after)
    assert before != after
    assert len(made) == 3
    with pytest.raises(DataError, match="a new folder"):
        mix_shards(urls, UNIFORM, 1, PLAN, tmp_path / "mixed", SecureChance(), 450)


def orders(folder, runs=480):
    """How often each order of four messages comes about."""
    bare = shaped(5)
    raw = randomize_shards(crowd_of(bare, np.arange(4)), folder / "raw")
    seen = dict.fromkeys(itertools.permutations(range(4)), 0)
    for run in range(runs):
        made = mix_shards(
            [raw[0].as_uri()], bare, 0, PLAN, folder / str(run), SeededChance(run), 10
        )
        seen[tuple(row[0] for row in rows_in(made))] += 1
    return chisquare(list(seen.values())).pvalue


@pytest.mark.seconds
def test_every_order_is_as_likely(tmp_path):
    """False alarm: one in 10^4; the seeds are fixed."""
    assert orders(tmp_path) > 1e-4


@pytest.mark.seconds
def test_an_order_that_leans_is_seen(tmp_path, monkeypatch):
    def leaning(sorter, rows, chance):
        keys = np.sort(chance.words(4 * len(rows)).reshape(-1, 4), axis=0)
        sorter.add(keys.astype(">u8").tobytes(), rows.tobytes())

    monkeypatch.setattr(streamed, "_add_with_keys", leaning)
    assert orders(tmp_path) < 1e-4


def test_mixes_add_their_fakes(tmp_path):
    """A mix adds m with chance near 2^-|m - 3| / 3: two add over 70 once in 10^18."""
    part = shaped(5, ratio=1 << 63, shift=3)
    raw = randomize_shards(crowd_of(part), tmp_path / "raw")
    urls = [path.as_uri() for path in raw]
    made = mix_shards(urls, part, 2, PLAN, tmp_path / "mixed", SecureChance(), 10_000)
    more = counted(made, part.layout).counts - np.bincount(CODES, minlength=5)
    assert ((more >= 0) & (more <= 70)).all()
    assert more.sum() > 0
    assert counted(raw, part.layout).messages == 1000
