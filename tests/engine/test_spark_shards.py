"""Shards counted on Spark: in their order, in waves, each once, whatever is killed."""

import shutil
from threading import Event

import pytest

from engine import faults
from engine.shards import LAYOUT, put, rows_of
from mixtally.engine.engine import Cluster
from mixtally.engine.shards.counted import Lost, count
from mixtally.engine.spark import shards as counted_there
from mixtally.engine.spark.shards import counting, on
from mixtally.errors import DataError, MessageError
from mixtally.records.layout import Form, Layout

ON_SPARK = [
    pytest.mark.seconds,
    # Spark's own sockets to Java are left to the collector of garbage.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.skipif(shutil.which("java") is None, reason="no Java: Spark cannot be begun"),
]


def spark(function):
    """What begins Spark."""
    for mark in ON_SPARK:
        function = mark(function)
    return function


class Slots:
    """What is asked of Spark before a wave: how many tasks run at once, of a cluster that grows."""

    def __init__(self, *slots):
        self.sparkContext, self._slots = self, list(slots)

    def __getattr__(self, name):
        assert name == "defaultParallelism"
        return self._slots.pop(0) if len(self._slots) > 1 else self._slots[0]


def numbered(many):
    return [f"file:///{number}" for number in range(many)]


@pytest.fixture
def begun(monkeypatch):
    """The waves that were begun, in place of what they count."""
    waves = []

    def wave(_, shards, layout):
        waves.append(len(shards))
        return [Lost(shard=one, reason="") for one in shards]

    monkeypatch.setattr(counted_there, "_wave", wave)
    return waves


@pytest.mark.parametrize("many", [0, 1, 31, 32, 33, 1000])
def test_waves_are_all_shards_in_their_order(begun, many):
    made = list(on(Slots(2), numbered(many), LAYOUT))
    assert [one.shard for one in made] == numbered(many)
    assert sum(begun) == many
    assert max(begun, default=0) <= 32


def test_a_wave_grows_with_its_cluster(begun):
    assert len(list(on(Slots(1, 4), numbered(100), LAYOUT))) == 100
    assert sorted(begun) == [16, 20, 64]


@pytest.mark.parametrize(("bins", "most"), [(1 << 18, 16), (1 << 22, 1), (1 << 24, 1)])
def test_few_tallies_of_many_bins_are_held_at_a_time(begun, bins, most):
    layout = Layout(Form.INDEX, bins)
    assert len(list(on(Slots(400), numbered(40), layout))) == 40
    assert max(begun) == most


def test_two_waves_are_under_way_however_many_there_are(begun):
    asked = on(Slots(2), numbered(1000), LAYOUT)
    assert next(asked).shard == numbered(1)[0]
    asked.close()
    assert sum(begun) <= 2 * 32


def test_whoever_leaves_early_waits_for_nothing(monkeypatch):
    left, ended = Event(), []

    def wave(_, shards, layout):
        if shards[0] != numbered(1)[0]:
            left.wait(60)
            ended.append(shards)
        return shards

    monkeypatch.setattr(counted_there, "_wave", wave)
    asked = on(Slots(1), numbered(1000), LAYOUT)
    next(asked)
    asked.close()
    assert ended == []
    left.set()


def test_a_wave_that_fails_is_told_in_one_sentence(monkeypatch):
    def fails(*_):
        raise RuntimeError("Job aborted\njava.io.IOException: a disk is full: none\nat a.b.c")

    monkeypatch.setattr(counted_there, "_wave", fails)
    with pytest.raises(DataError, match=r"got java\.io\.IOException: a disk is full"):
        list(on(Slots(2), numbered(3), LAYOUT))


def shards_of(place, many=11):
    """Their URLs: one cannot be read, and one is named twice."""
    urls = [put(place / f"{i}.parquet", rows_of(50 + i, i), number=i) for i in range(many)]
    torn = place / "5.parquet"
    torn.write_bytes(torn.read_bytes()[:-20])
    return [*urls, urls[0]]


@spark
@pytest.mark.parametrize("a_task", [1, 2, 16])
def test_spark_gives_what_this_process_gives(tmp_path, monkeypatch, a_task):
    monkeypatch.setattr(counted_there, "_SHARDS_A_TASK", a_task)
    urls = shards_of(tmp_path)
    wanted = [count(url, LAYOUT) for url in urls]
    assert [type(one) is Lost for one in wanted] == [i == 5 for i in range(12)]
    assert list(counting(Cluster("local[2,4]", "", ""), urls, LAYOUT)) == wanted


@spark
@pytest.mark.parametrize("whole", [False, True])
def test_what_was_killed_while_it_counts_counts_once(tmp_path, planted, whole):
    """It has counted one of its shards when it is killed."""
    urls = shards_of(tmp_path)
    mark = tmp_path / "killed"
    planted(counted_there, "_counted", faults.killing, mark=str(mark), whole=whole)
    master = "local-cluster[2,1,1024]" if whole else "local[2,4]"
    made = list(counting(Cluster(master, "", ""), urls, LAYOUT))
    assert made == [count(url, LAYOUT) for url in urls]
    assert mark.exists()


@spark
def test_what_is_no_shard_of_this_plan_is_told(tmp_path):
    urls = shards_of(tmp_path, 7)
    other = Layout(Form.BITS, 30)
    with pytest.raises(MessageError):
        count(urls[0], other)
    with pytest.raises(DataError, match=r"messages of 4 bytes, got 3 bytes") as raised:
        list(counting(Cluster("local[2]", "", ""), urls, other))
    assert "\n" not in str(raised.value)
