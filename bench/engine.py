"""Opening and ordering: worker processes beside bare opens, Spark beside worker processes."""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from bench.clock import family_seconds, sized
from bench.row import Row, rated
from mixtally.engine.engine import Cluster, Engine
from mixtally.engine.hands import Hands, Secrets
from mixtally.engine.mixer import mixer
from mixtally.engine.mixing import MixWork
from mixtally.engine.pool import Pool
from mixtally.engine.rates import measured
from mixtally.ground.chance import SecureChance
from mixtally.node.wrapping import make_master, secret_bytes
from mixtally.wire.envelope import Sealer
from mixtally.wire.suite import SUITES

WORKERS = (0.75, 0.85)
SPARK = (0.5, 0.7)
FORETOLD = (0.8, 0.9)
_SHEET = bytes(32)
_ENVELOPES = sized(100_000, 500)


class Took(NamedTuple):
    """Seconds by the clock, and of all processors."""

    wall: float
    cpu: float


def rows() -> list[Row]:
    """Benchmark lines; Spark's are left out without Java, and said to be."""
    with tempfile.TemporaryDirectory() as place:
        return [*_opening(Path(place))]


def _opening(place: Path) -> Iterator[Row]:
    secrets, envelopes, wanted = _sealed()
    hands = Hands(secrets)
    bare = _took(lambda: [hands.inside(0, [one]) for one in envelopes])
    work = MixWork(0, len(envelopes[0]), wanted, partial(iter, envelopes), False, b"")
    with Pool(secrets, 2) as pool:
        list(pool.opened(0, [b"".join(envelopes[:2])], work.size, wanted))  # they have begun
        workers = _took(partial(_mix, Engine(2), secrets, pool, place, work))
    yield rated(
        f"opening and ordering {_ENVELOPES:,}, two workers",
        f"{_ENVELOPES / workers.cpu / 1e3:.1f} k a CPU second, "
        f"{_ENVELOPES / workers.wall / 1e3:.1f} k/s by wall",
        "of bare opens",
        bare.cpu / workers.cpu,
        *WORKERS,
    )
    rates = measured(SecureChance(), wanted, 2, place)
    said = _ENVELOPES * (rates.open + rates.order) / 2
    yield rated(
        "the same as `batch doctor` foretells it",
        f"{said:.2f} s by the formula, {workers.wall:.2f} s measured",
        "of the measured",
        said / workers.wall,
        *FORETOLD,
    )
    if shutil.which("java") is None:
        yield Row("the same on Spark", "no Java: not measured")
        return
    make_master(place / "key", SecureChance())
    (place / "store").mkdir()
    cluster = Cluster("local[2]", (place / "store").as_uri(), str(place / "key"))
    spark = _on_spark(cluster, secrets, place, work)
    yield rated(
        f"the same on Spark {cluster.master}, after its start",
        f"{_ENVELOPES / spark.cpu / 1e3:.1f} k a CPU second, "
        f"{_ENVELOPES / spark.wall / 1e3:.1f} k/s by wall",
        "of two workers, by wall",
        workers.wall / spark.wall,
        *SPARK,
    )


def _sealed() -> tuple[Secrets, list[bytes], int]:
    """Envelopes for a mix: what is inside need not open at the next."""
    suite, chance = SUITES[1], SecureChance()
    private, order = secret_bytes(chance, suite.private_bytes), secret_bytes(chance, 32)
    seal, wanted = Sealer(suite, [suite.configuration(private)], _SHEET).seal, 157
    inside = secret_bytes(chance, wanted * _ENVELOPES)
    cut = (inside[i : i + wanted] for i in range(0, len(inside), wanted))
    return Secrets(1, private, _SHEET, 1, order), [seal(one, 0) for one in cut], wanted


def _mix(engine: Engine, secrets: Secrets, pool: Pool, place: Path, work: MixWork) -> None:
    with mixer(engine, secrets, pool, place, SecureChance()) as by:
        for _ in by.mix(work).messages:
            pass


def _on_spark(cluster: Cluster, secrets: Secrets, place: Path, work: MixWork) -> Took:
    with (
        Pool(secrets, 0) as pool,
        mixer(Engine(0, cluster), secrets, pool, place, SecureChance()) as by,
    ):
        few = work._replace(envelopes=lambda: iter(list(work.envelopes())[:200]))

        def mix(some: MixWork) -> None:
            for _ in by.mix(some).messages:
                pass

        mix(few)  # its workers have begun
        return _took(partial(mix, work))


def _took(work: Callable[[], object]) -> Took:
    wall, cpu = time.perf_counter(), family_seconds()
    work()
    return Took(time.perf_counter() - wall, max(family_seconds() - cpu, 1e-2))
