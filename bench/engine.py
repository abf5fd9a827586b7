"""Opening and sealing of envelopes, compared with bare HPKE, and Spark with worker processes.

The reference is the single-shot HPKE (RFC 9180) of `cryptography` in a loop, with X25519,
HKDF-SHA256 and AES-128-GCM, bound to the same info string. Our side also includes the work of a
mix: envelopes go to worker processes, duplicates are searched for, and messages return in their
order.
"""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

from bench.clock import QUICK, choose_size, family_seconds
from bench.row import BenchmarkRow, build_row
from mixtally.device.wire.envelope import info
from mixtally.device.wire.suite import SUITES
from mixtally.primitives.chance import SecureChance
from mixtally.server.engine.engine import Cluster, Engine
from mixtally.server.engine.envelope_worker import Secrets
from mixtally.server.engine.mixing import MixWork
from mixtally.server.engine.pool import CHUNK, Pool
from mixtally.server.engine.rates import measure_rates
from mixtally.server.mix.closing.close import open_mixer
from mixtally.server.node.wrapping import make_master, secret_bytes

WORKERS = (0.75, 0.85)
"""Target ratios, at least and hoped: workers to bare HPKE, Spark to workers, forecast to
measurement.
"""
SPARK = (0.5, 0.7)
FORETOLD = (0.8, 0.9)
_SHEET = bytes(32)
_ENVELOPES, _WANTED = choose_size(100_000, 500), 157
_SUITE = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM)


class ElapsedSeconds(NamedTuple):
    """Seconds by the clock, and CPU seconds of all processes."""

    wall: float
    cpu: float


def rows() -> list[BenchmarkRow]:
    """Return the rows of the benchmark table; without Java, Spark is reported as not measured."""
    key = X25519PrivateKey.generate()
    with tempfile.TemporaryDirectory() as place, Pool(_secrets(key), 2) as pool:
        return [*_sealing(pool, key), *_opening(pool, key, Path(place))]


def _secrets(key: X25519PrivateKey) -> Secrets:
    """Return the secrets of a mix that seals its output for its own key, not a collector's."""
    private = key.private_bytes_raw()
    following = (SUITES[1].configuration(private),)
    return Secrets(1, private, _SHEET, 1, secret_bytes(SecureChance(), 32), following)


def _sealing(pool: Pool, key: X25519PrivateKey) -> Iterator[BenchmarkRow]:
    """Yield the row for fakes that a mix seals for the collector."""
    inside = _messages()
    chunks = [b"".join(inside[at : at + CHUNK]) for at in range(0, len(inside), CHUNK)]
    list(pool.seal_chunks(0, chunks[:2], _WANTED))  # The workers must have started.
    bound, public = info(_SHEET, 2, 0), key.public_key()
    bare = _took(lambda: [_SUITE.encrypt(one, public, bound) for one in inside])
    workers = _took(lambda: list(pool.seal_chunks(0, chunks, _WANTED)))
    yield _beside(f"sealing {_ENVELOPES:,}, two workers", workers, bare)


def _opening(pool: Pool, key: X25519PrivateKey, place: Path) -> Iterator[BenchmarkRow]:
    bound, public = info(_SHEET, 1, 0), key.public_key()
    envelopes = [_SUITE.encrypt(one, public, bound) for one in _messages()]
    bare = _took(lambda: [_SUITE.decrypt(one, key, bound) for one in envelopes])
    work = MixWork(0, len(envelopes[0]), _WANTED, partial(iter, envelopes), False, b"")
    secrets = _secrets(key)
    workers = _took(partial(_mix, Engine(2), secrets, pool, place, work))
    yield _beside(f"opening and ordering {_ENVELOPES:,}, two workers", workers, bare)
    rates = measure_rates(SecureChance(), _WANTED, 2, place)
    said = _ENVELOPES * (rates.open + rates.order) / 2
    yield build_row(
        "the same, as `batch doctor` predicts it",
        f"{said:.2f} s by the formula, {workers.wall:.2f} s measured",
        "of the measured",
        said / workers.wall,
        *FORETOLD,
    )
    if QUICK or shutil.which("java") is None:
        yield BenchmarkRow(
            "the same on Spark", "not measured: " + ("--quick" if QUICK else "no Java")
        )
        return
    make_master(place / "key", SecureChance())
    (place / "store").mkdir()
    cluster = Cluster("local[2]", (place / "store").as_uri(), str(place / "key"))
    spark = _on_spark(cluster, secrets, place, work)
    yield build_row(
        f"the same on Spark {cluster.master}, after its start",
        _rate(spark),
        "of two workers, by wall",
        workers.wall / spark.wall,
        *SPARK,
    )


def _beside(what: str, workers: ElapsedSeconds, bare: ElapsedSeconds) -> BenchmarkRow:
    of = "of the library's HPKE alone"
    return build_row(what, _rate(workers), of, bare.cpu / workers.cpu, *WORKERS)


def _rate(took: ElapsedSeconds) -> str:
    cpu, wall = (_ENVELOPES / seconds / 1e3 for seconds in (took.cpu, took.wall))
    return f"{cpu:.1f} k a CPU second, {wall:.1f} k/s by wall"


def _messages() -> list[bytes]:
    drawn = secret_bytes(SecureChance(), _WANTED * _ENVELOPES)
    return [drawn[at : at + _WANTED] for at in range(0, len(drawn), _WANTED)]


def _mix(engine: Engine, secrets: Secrets, pool: Pool, place: Path, work: MixWork) -> None:
    with open_mixer(engine, secrets, pool, place, SecureChance()) as by:
        for _ in by.mix(work).messages(None):
            pass


def _on_spark(cluster: Cluster, secrets: Secrets, place: Path, work: MixWork) -> ElapsedSeconds:
    with (
        Pool(secrets, 0) as pool,
        open_mixer(Engine(0, cluster), secrets, pool, place, SecureChance()) as by,
    ):
        few = work._replace(envelopes=lambda: iter(list(work.envelopes())[:200]))

        def mix(some: MixWork) -> None:
            for _ in by.mix(some).messages(None):
                pass

        mix(few)  # The workers must have started.
        return _took(partial(mix, work))


def _took(work: Callable[[], object]) -> ElapsedSeconds:
    wall, cpu = time.perf_counter(), family_seconds()
    work()
    return ElapsedSeconds(time.perf_counter() - wall, max(family_seconds() - cpu, 1e-2))
