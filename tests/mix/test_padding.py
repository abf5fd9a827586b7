"""Padding: dropped by the first hop, counted as nothing, and allowed once in a part with a coin."""

from collections import Counter

import pytest

from helpers import contracts
from helpers.mixes import manifests, run, sizes, town_of
from mixtally.device.wire.bundle import write_bundle
from mixtally.device.wire.envelope import Sealer
from mixtally.device.wire.sheet import read_sheet
from mixtally.device.wire.suite import SUITES
from mixtally.model.question import make_attributes_question
from mixtally.server.engine.engine import Engine
from mixtally.server.mix.closing import source
from mixtally.server.mix.closing.close import close_round

BINS = [bytes([i]) for i in range(4)]
COIN = contracts.uniform(4, whole=0, coin=1 << 63)


def coin_town(place, hops=2):
    """Mixes of a contract whose first part has a coin, and whose second has none."""
    parts = [COIN, contracts.uniform(3, whole=1, coin=0)]
    question = make_attributes_question("q", (4, 3))
    plan = contracts.plan_of(question, parts, hops=hops, minimum_crowd=2, users=1000, collections=3)
    return town_of(place, plan=plan)


def sealed(town, *first, second=None):
    """A bundle with these envelopes in its first part."""
    usual = [town.sealer().seal(BINS[i], 1) for i in range(2)]
    return write_bundle([[*first], usual if second is None else second])


def outer(town):
    """A sealer for the first hop alone."""
    sheet = bytes.fromhex(town.mixes[0].node.rounds.all()[0].sheet)
    return Sealer(SUITES[1], read_sheet(town.note).keys[:1], sheet)


def test_padding_is_counted_as_nothing(tmp_path):
    town = coin_town(tmp_path)
    seal, padding = town.sealer().seal, town.sealer().padding
    for i in range(12):
        last = seal(BINS[3], 0) if i < 5 else padding(1, 0)
        assert town.send(sealed(town, seal(BINS[i % 3], 0), last)).status == 201
    run(town)
    first, second = manifests(town)
    assert (first.bundles, first.left_out) == (12, 0)
    assert [part[:4] for part in first.parts] == [(17, 0, 0, 0), (24, 0, 0, 0)]
    assert [part[:4] for part in second.parts] == [(17, 0, 0, 0), (24, 0, 0, 0)]
    assert Counter(town.opened()[0]) == Counter({BINS[3]: 5} | dict.fromkeys(BINS[:3], 4))
    town.end()


def forbidden(town):
    """First and second part of bundles that do not count, by what is wrong."""
    seal, padding = town.sealer().seal, town.sealer().padding
    size, inside = sizes(town)[:2]
    good = seal(BINS[0], 0)
    yield "two of padding", [padding(1, 0), padding(1, 0)], None
    yield "padding without a coin", [good, seal(BINS[1], 0)], [seal(BINS[0], 1), padding(1, 1)]
    yield "padding alone", [good, padding(1, 0)], [padding(1, 1), padding(1, 1)]
    yield "zeros that are not sealed", [good, bytes(size)], None
    yield "padding of the other part", [good, padding(1, 1)], None
    keys, sheet = read_sheet(town.note).keys, bytes(32)
    yield "padding of another round", [good, Sealer(SUITES[1], keys, sheet).padding(1, 0)], None
    yield "padding for the second hop", [good, Sealer(SUITES[1], keys[1:], sheet).padding(1, 0)
                                         .ljust(size, b"\0")], None  # fmt: skip
    assert len(good) == len(padding(1, 0)) == len(outer(town).seal(bytes(inside), 0)) == size


def test_a_bundle_with_more_padding_or_with_false_padding_is_left_out(tmp_path):
    town = coin_town(tmp_path)
    seal = town.sealer().seal
    honest = [sealed(town, seal(BINS[i], 0), town.sealer().padding(1, 0)) for i in (1, 2)]
    bad = [sealed(town, *first, second=second) for _, first, second in forbidden(town)]
    for body in [*bad, *honest]:
        assert town.send(body).status == 201
    run(town)
    first, _ = manifests(town)
    assert (first.bundles, first.left_out) == (2, len(bad))
    assert [part[:4] for part in first.parts] == [(2, 0, 0, 0), (4, 0, 0, 0)]
    assert sorted(town.opened()[0]) == BINS[1:3]
    town.end()


@pytest.mark.parametrize("what", [
    "two of padding", "padding without a coin", "padding alone", "zeros that are not sealed",
    "padding of the other part", "padding of another round", "padding for the second hop",
])  # fmt: skip
def test_each_of_them_by_itself(tmp_path, what):
    town = coin_town(tmp_path, hops=2)
    (body,) = (sealed(town, *one, second=two) for name, one, two in forbidden(town) if name == what)
    town.send(body + sealed(town, *(town.sealer().seal(BINS[0], 0) for _ in range(2))))
    run(town)
    assert [(one.bundles, one.left_out, one.destroyed) for one in manifests(town)] == [
        (1, 1, "too-few")
    ] * 2
    town.end()


def test_copies_of_padding_are_padding(tmp_path):
    """A stranger's copy takes nobody's place, and is neither received nor a copy."""
    town = coin_town(tmp_path)
    seal, pad = town.sealer().seal, town.sealer().padding(1, 0)
    own = seal(BINS[0], 0)
    honest = sealed(town, own, pad)
    for body in (
        sealed(town, seal(BINS[1], 0), pad),
        honest,
        honest,
        sealed(town, pad, pad),  # two of padding, be they copies
        sealed(town, pad, own),
    ):
        assert town.send(body).status == 201
    run(town)
    first = manifests(town)[0]
    assert (first.bundles, first.left_out) == (3, 1)
    assert first.parts[0][:4] == (3, 1, 0, 0)
    assert sorted(town.opened()[0]) == BINS[:2]
    town.end()


def test_what_looks_like_padding_further_in_is_a_message(tmp_path):
    """The second hop passes zeros on, as it does all that opens: the collector drops them."""
    town = town_of(tmp_path, hops=2, part=COIN)
    sheet, keys = (
        bytes.fromhex(town.mixes[0].node.rounds.all()[0].sheet),
        read_sheet(town.note).keys,
    )
    zeros = Sealer(SUITES[1], keys[:2], sheet).seal(bytes(sizes(town)[2]), 0)
    for one in (zeros, town.sealer().seal(BINS[1], 0)):
        town.send(write_bundle([[one, town.sealer().seal(BINS[0], 0)]]))
    run(town)
    first, second = (one.parts[0] for one in manifests(town))
    assert first[:4] == second[:4] == (4, 0, 0, 0)
    assert sorted(one or b"" for one in town.opened()[0]) == [b"", *BINS[:1] * 2, BINS[1]]
    town.end()


def what_of(town, several):
    """The closing of a round to which bundles with and without padding came, some of them bad."""
    seal, padding = town.sealer().seal, town.sealer().padding
    for i in range(several):
        last = padding(1, 0) if i % 3 else seal(BINS[i % 4], 0)
        town.send(sealed(town, seal(BINS[i % 4], 0), last))
    town.send(sealed(town, padding(1, 0), padding(1, 0)))
    mix = town.mixes[0]
    row = mix.node.rounds.all()[0]
    mix.intake.close(row.folder)
    return mix._make_closing(row)


def test_the_same_bytes_however_bundles_are_looked_at_and_after_a_restart(tmp_path, monkeypatch):
    town = coin_town(tmp_path)
    what = what_of(town, 20)
    manifest = close_round(what)
    assert (manifest.bundles, manifest.left_out) == (20, 1)
    assert manifest.parts[0].received == 27
    monkeypatch.setattr(source, "_BUNDLES_AT_ONCE", 3)
    assert close_round(what._replace(engine=Engine(most_held=0))) == manifest
    for place in range(6):  # whatever step it is broken off at
        steps = list(range(place))

        def step(_, steps=steps):
            steps.pop()

        with pytest.raises(IndexError):
            close_round(what._replace(step=step))
        assert close_round(what) == manifest
    town.end()


@pytest.mark.seconds
def test_worker_processes_drop_the_same_padding(tmp_path):
    town = coin_town(tmp_path)
    what = what_of(town, 3000)
    alone = close_round(what)
    assert close_round(what._replace(engine=Engine(2))) == alone
    assert alone.parts[0].received == 4000
    town.end()
