"""A batch as it reaches a hop or the collector: good envelopes, copies, junk, other lengths."""

from functools import partial
from pathlib import Path
from typing import NamedTuple

from mixtally.device.wire.envelope import Sealer
from mixtally.device.wire.suite import SUITES
from mixtally.model.layout import Form, Layout
from mixtally.primitives.chance import SecureChance
from mixtally.server.collector.counting import open_part_counter
from mixtally.server.engine.engine import Cluster, Engine
from mixtally.server.engine.envelope_worker import Kind, Secrets
from mixtally.server.engine.folding import CountWork
from mixtally.server.engine.mixing import MixWork
from mixtally.server.engine.pool import Pool
from mixtally.server.mix.closing.close import open_mixer
from mixtally.server.node.wrapping import make_master, secret_bytes

SHEET = bytes(range(32))
SUITE = SUITES[1]


class Sealed(NamedTuple):
    """What a role is given of a round: its secrets, envelopes of one length, fakes."""

    secrets: Secrets
    envelopes: list[bytes]
    expected: int
    fakes: bytes = b""

    @property
    def size(self):
        return len(self.envelopes[0]) if self.envelopes else self.expected + SUITE.layer_bytes


def private():
    return secret_bytes(SecureChance(), SUITE.private_bytes)


def at_a_mix(count=300, *, copies=20, junk=15, fakes=40, part=0):
    """Of the first of two hops; a good one is copied, so is junk."""
    keys = [private() for _ in range(3)]
    following = tuple(SUITE.configuration(key) for key in keys[1:])
    outer = Sealer(SUITE, [SUITE.configuration(keys[0])], SHEET)
    inner = Sealer(SUITE, following, SHEET, first=2)
    good = [outer.seal(inner.seal(bytes([i % 7]), part), part) for i in range(count)]
    expected = len(inner.seal(b"0", part))
    junks = [secret_bytes(SecureChance(), expected + SUITE.layer_bytes) for _ in range(junk)]
    return Sealed(
        Secrets(1, keys[0], SHEET, 1, private(), following),
        [*good, *junks, *good[:copies], *junks[:3]] if count else [],
        expected,
        b"".join(inner.seal(b"f", part) for _ in range(fakes)),
    )


def at_the_collector(rows, *, copies=5, junk=4, part=0):
    """Envelopes of ``rows``, messages; some of them twice, some sealed for nobody."""
    key = private()
    seal = Sealer(SUITE, [SUITE.configuration(key)], SHEET, first=3).seal
    good = [seal(one, part) for one in rows]
    junks = [secret_bytes(SecureChance(), len(good[0])) for _ in range(junk)]
    return Sealed(
        Secrets(1, key, SHEET, 3), [*good[:copies], *good, *junks, junks[0]], len(rows[0])
    )


def cluster_of(place: Path, master="local[2,4]"):
    """A cluster on this machine, its store and its key under ``place``."""
    make_master(place / "engine.key", SecureChance())
    (place / "store").mkdir(exist_ok=True)
    return Cluster(master, (place / "store").as_uri(), str(place / "engine.key"))


def mixed(sealed, engine: Engine, place: Path, *, distinct=False, part=0):
    """What came of a mix's part: its counts, and the bytes that leave."""
    work = MixWork(
        part,
        sealed.size,
        sealed.expected,
        partial(iter, sealed.envelopes),
        distinct,
        sealed.fakes,
    )
    chance = SecureChance()
    with (
        Pool(sealed.secrets, engine.processes) as pool,
        open_mixer(engine, sealed.secrets, pool, place, chance) as by,
    ):
        found = by.mix(work)
        bad = [Kind.COPY, Kind.UNOPENED, Kind.MALFORMED]
        counts = (len(sealed.envelopes), *map(found.count_kind, bad))
        first = {int(one): int(of) for some in found.pairs() for one, of in zip(*some, strict=True)}
        assert len(first) == found.count_kind(Kind.COPY)
        assert all(sealed.envelopes[i] == sealed.envelopes[of] for i, of in first.items())
        return counts, b"".join(found.messages(None))


def folded(sealed, engine: Engine, layout: Layout, place: Path, *, pairs=False, part=0):
    """What came of a collector's part."""
    work = CountWork(part, sealed.size, layout, partial(iter, sealed.envelopes), pairs)
    with (
        Pool(sealed.secrets, engine.processes) as pool,
        open_part_counter(engine, sealed.secrets, pool, place, SecureChance()) as by,
    ):
        found = by.count_part(work)
        table = None if found.tally.pairs is None else found.tally.pairs.tolist()
        return (
            found.received,
            found.tally.counts.tolist(),
            found.tally.messages,
            table,
            found.dropped,
        )


INDEX = Layout(Form.INDEX, 5)
BITS = Layout(Form.BITS, 12)
