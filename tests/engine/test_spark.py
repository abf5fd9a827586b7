"""One batch mixed here, by worker processes and on Spark: the same bytes, whatever is killed."""

import shutil
from contextlib import nullcontext

import msgspec
import numpy as np
import pytest

from engine import faults
from engine.sealed import BITS, INDEX, at_the_collector, cluster_of, folded, mixed
from helpers import contracts
from helpers.mixes import town_of
from mixtally.device.wire.bundle import write_bundle
from mixtally.server.engine.engine import Engine
from mixtally.server.engine.spark import mixing, session, work
from mixtally.server.mix.closing.close import close_round

pytestmark = [
    pytest.mark.seconds,
    # Spark's own sockets to Java are left to the collector of garbage.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning"),
    pytest.mark.skipif(shutil.which("java") is None, reason="no Java: Spark cannot be begun"),
]


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A Spark for all jobs here: to begin one takes longer than any of them."""
    with session.open_session(cluster_of(tmp_path_factory.mktemp("begun"))) as spark:
        yield spark


@pytest.fixture(autouse=True)
def shared(begun, monkeypatch):
    monkeypatch.setattr(session, "open_session", lambda _: nullcontext(begun))


def test_workers_and_spark_give_the_same_bytes(sealed, wanted, tmp_path):
    assert mixed(sealed, Engine(2), tmp_path) == wanted
    cluster = cluster_of(tmp_path)
    assert mixed(sealed, Engine(0, cluster), tmp_path) == wanted
    assert list((tmp_path / "store").iterdir()) == []


@pytest.mark.parametrize("stage", ["open_slices", "write_partition"])
def test_a_worker_killed_in_a_stage(sealed, wanted, tmp_path, planted, stage):
    where = work if stage == "open_slices" else mixing
    planted(where, stage, faults.killing, mark=str(tmp_path / "killed"), whole=False)
    assert mixed(sealed, Engine(0, cluster_of(tmp_path)), tmp_path) == wanted
    assert (tmp_path / "killed").exists()


def test_a_draw_in_a_task_is_seen(sealed, wanted, tmp_path, planted):
    planted(work, "open_slices", faults.drawing)
    counts, made = mixed(sealed, Engine(0, cluster_of(tmp_path)), tmp_path)
    size = sealed.expected
    assert made != wanted[1]
    assert _set(made, size) == _set(wanted[1], size)
    assert counts[2] == wanted[0][2] + 3  # copies of junk lie apart now


def _set(joined, size):
    return {joined[i : i + size] for i in range(0, len(joined), size)}


def test_tallies_add_up_to_the_same(tmp_path):
    cluster = cluster_of(tmp_path)
    index = at_the_collector([bytes([i % 7]) for i in range(200)])
    alone = folded(index, Engine(), INDEX, tmp_path)
    assert alone[4] == {"a copy of another": 6, "not sealed for this round": 4} | {
        "a bin past the last": 56
    }
    assert folded(index, Engine(0, cluster), INDEX, tmp_path) == alone
    rows = np.array([[i * 7 % 256, i % 16] for i in range(90)], dtype=np.uint8)
    several = at_the_collector([row.tobytes() for row in rows])
    alone = folded(several, Engine(), BITS, tmp_path, pairs=True)
    assert alone[3] is not None
    assert folded(several, Engine(0, cluster), BITS, tmp_path, pairs=True) == alone


def test_a_worker_killed_while_it_counts(tmp_path, planted):
    index = at_the_collector([bytes([i % 7]) for i in range(200)])
    alone = folded(index, Engine(), INDEX, tmp_path)
    planted(work, "open_slices", faults.killing, mark=str(tmp_path / "killed"), whole=False)
    assert folded(index, Engine(0, cluster_of(tmp_path)), INDEX, tmp_path) == alone
    assert (tmp_path / "killed").exists()


def test_a_cluster_closes_a_round_to_the_same_bytes(tmp_path):
    """Fakes drawn and stored before, copies of bundles, two parts of one round."""
    part = contracts.uniform(4, whole=1, coin=0)  # two messages a bundle
    town = town_of(tmp_path, hops=2, part=part)
    bundles = [town.bundle([bytes([i % 4]), bytes([i % 3])]) for i in range(60)]
    town.send(b"".join(bundles))
    town.send(bundles[0])
    mix = town.mixes[0]
    row = mix.node.rounds.all()[0]
    mix.intake.close(row.folder)
    alone = close_round(mix._make_closing(row))
    engine = Engine(0, cluster_of(tmp_path))
    assert close_round(mix._make_closing(row)._replace(engine=engine)) == alone
    assert alone.bundles == 60
    assert list((tmp_path / "store").iterdir()) == []
    town.end()


def test_a_cluster_drops_the_same_padding(tmp_path):
    """A third of the bundles is padded, some twice, which counts not."""
    town = town_of(tmp_path, hops=1, part=contracts.uniform(4, whole=0, coin=1 << 63))
    seal, padding = town.sealer().seal, town.sealer().padding
    for i in range(60):
        first = seal(bytes([i % 4]), 0) if i % 10 else padding(1, 0)
        town.send(write_bundle([[first, padding(1, 0) if i % 3 == 0 else seal(b"\1", 0)]]))
    mix = town.mixes[0]
    row = mix.node.rounds.all()[0]
    mix.intake.close(row.folder)
    alone = close_round(mix._make_closing(row))
    assert (alone.bundles, alone.left_out) == (58, 2)
    assert alone.parts[0][:4] == (58 + 40 - 4, 0, 0, 0)
    assert (
        close_round(mix._make_closing(row)._replace(engine=Engine(0, cluster_of(tmp_path))))
        == alone
    )
    town.end()


def test_a_cluster_opens_once_and_leaves_out_the_same_bundles(tmp_path, monkeypatch):
    """Copies in bundles that count and in others; where which message came from is no secret of
    the store's.
    """
    town = town_of(tmp_path, hops=1, part=contracts.uniform(4, whole=1, coin=0), crowd=2)
    seal = town.sealer().seal
    own = [seal(bytes([i % 4]), 0) for i in range(60)]
    junk = [bytes([i]) * len(own[0]) for i in range(5)]
    pairs = [
        *zip(own[:5], junk, strict=True),  # left out before the bundle that counts
        *zip(own[::2], own[1::2], strict=True),
        *zip(junk, own[20:25], strict=True),
        *zip(own[30:40], own[:10], strict=True),
        (seal(b"\3", 0), junk[0]),  # in no bundle that counts
    ]
    town.send(b"".join(write_bundle([pair]) for pair in pairs))
    mix = town.mixes[0]
    (row,) = mix.node.rounds.all()
    mix.intake.close(row.folder)
    what = mix._make_closing(row)
    alone = close_round(what)
    assert (alone.bundles, alone.left_out) == (40, 11)
    assert alone.parts[0][:4] == (80, 20, 0, 0)
    jobs, stored, usual = [], [], mixing.SparkMixer.clear

    def clear(self):
        paths = (tmp_path / "store").rglob("out-*")
        stored.extend((path.name, path.read_bytes()) for path in paths)
        usual(self)

    monkeypatch.setattr(mixing.SparkMixer, "clear", clear)
    monkeypatch.setattr(mixing, "run_job", lambda *args: jobs.append(1) or work.run_job(*args))
    assert close_round(what._replace(engine=Engine(0, cluster_of(tmp_path)))) == alone
    assert len(jobs) == 1
    assert len([name for name, _ in stored if name.endswith(("-sent", "-others"))]) > 2
    for _, data in stored:
        assert bytes(6) not in data  # no position in clear
    too_few = what._replace(
        job=msgspec.structs.replace(what.job, minimum_crowd=45),
        engine=Engine(0, cluster_of(tmp_path)),
    )
    assert close_round(too_few).destroyed == "too-few"
    assert list((tmp_path / "store").iterdir()) == []
    town.end()
