"""Every envelope is opened once, and bundles that are left out leave nothing behind."""

import hmac
from random import Random

import pytest

from helpers import contracts
from helpers.mixes import sizes, town_of
from mixtally.device.wire.bundle import write_bundle
from mixtally.device.wire.envelope import KeyDomain, Opener
from mixtally.device.wire.manifest import TOO_FEW
from mixtally.device.wire.suite import SUITES
from mixtally.model.question import make_attributes_question
from mixtally.primitives.chance import SecureChance
from mixtally.server.engine.engine import Engine
from mixtally.server.mix.closing.close import close_round
from mixtally.server.node.wrapping import secret_bytes

BINS = [bytes([i]) for i in range(4)]
PARTS = [contracts.uniform(4, whole=1, coin=1 << 63), contracts.uniform(3, whole=1, coin=0)]
MOST_PADDING = (1, 0)


def two_parts(place, minimum=2):
    """Mixes of a round with three slots and two, of which one may be padding."""
    question = make_attributes_question("q", (4, 3))
    plan = contracts.plan_of(
        question, PARTS, hops=2, minimum_crowd=minimum, users=minimum, collections=3
    )
    return town_of(place, plan=plan)


def close_of(town, bundles):
    """The closing of a round to which these bundles came."""
    for body in bundles:
        assert town.send(body).status == 201
    mix = town.mixes[0]
    (row,) = mix.node.rounds.all()
    mix.intake.close(row.folder)
    return mix._make_closing(row)


@pytest.fixture
def opened(monkeypatch):
    """Every envelope that is opened, in order."""
    some, usual = [], Opener.open

    def open_one(self, envelope, part):
        some.append((part, envelope))
        return usual(self, envelope, part)

    monkeypatch.setattr(Opener, "open", open_one)
    return some


@pytest.mark.parametrize("garbage", [0, 1, 300])
def test_garbage_costs_an_opening_each(tmp_path, opened, garbage):
    """One garbage bundle made everything be opened twice, and ten times the crowd 22 crowds."""
    town = town_of(tmp_path, hops=1)
    size = sizes(town)[0]
    honest = [town.bundle([BINS[i % 4]]) for i in range(30)]
    junk = [secret_bytes(SecureChance(), size) for _ in range(garbage)]
    what = close_of(town, [*honest, *junk])
    manifest = close_round(what)
    assert (manifest.bundles, manifest.left_out) == (30, garbage)
    assert manifest.parts[0].received == 30
    assert len(opened) == len(set(opened)) == 30 + garbage
    town.end()


def drawn_bundles(town, random):
    """Bundles of all sorts, many of which share envelopes; and the content of each envelope."""
    seal, padding, size = town.sealer().seal, town.sealer().padding, sizes(town)[0]
    contents, known = {}, ([], [])

    def envelope(part):
        if known[part] and random.random() < 0.3:
            return random.choice(known[part])  # a copy
        kind = random.choices(["good", "padding", "junk", "other"], [20, 3, 1, 1])[0]
        inside = BINS[random.randrange(3)]
        made = {
            "good": lambda: seal(inside, part),
            "padding": lambda: padding(1, part),
            "junk": lambda: secret_bytes(SecureChance(), size),
            "other": lambda: seal(inside, 1 - part),
        }[kind]()
        contents[part, made] = inside if kind == "good" else kind
        if kind == "other":
            contents[1 - part, made] = inside
        known[part].append(made)
        return made

    slots = [stream.slots for stream in town.jobs[0].streams]
    bundles = [[[envelope(part) for _ in range(slots[part])] for part in (0, 1)] for _ in range(30)]
    honest = [
        [[seal(BINS[0], part) for _ in range(slots[part])] for part in (0, 1)] for _ in range(2)
    ]
    for bundle in honest:
        contents |= {(part, one): BINS[0] for part in (0, 1) for one in bundle[part]}
    return [*bundles, bundles[0], *honest], contents


def counts(bundle, contents):
    """Whether a bundle counts, as SPEC says."""
    inside = [[contents[part, one] for one in bundle[part]] for part in (0, 1)]
    paddings = [some.count("padding") for some in inside]
    bad = any(one in ("junk", "other") for some in inside for one in some)
    return not bad and all(a <= b for a, b in zip(paddings, MOST_PADDING, strict=True))


@pytest.mark.parametrize("seed", range(6))
def test_what_leaves_is_what_counted_bundles_contain(tmp_path, opened, seed):
    """Envelopes that stand in several bundles leave once, if one of the bundles counts."""
    town = two_parts(tmp_path)
    bundles, contents = drawn_bundles(town, Random(seed))
    what = close_of(town, [write_bundle(one) for one in bundles])
    manifest = close_round(what)
    assert len(opened) == len(set(opened))
    different = {write_bundle(one): one for one in bundles}.values()
    counted = [one for one in different if counts(one, contents)]
    assert (manifest.bundles, manifest.left_out) == (len(counted), len(different) - len(counted))
    assert 2 < len(counted) < len(different)
    opener = Opener(SUITES[1], what.key.private, bytes.fromhex(what.sheet_hash), 1)
    for part, said in enumerate(manifest.parts):
        every = [one for bundle in counted for one in bundle[part]
                 if contents[part, one] != "padding"]  # fmt: skip
        assert said[:5] == (len(every), len(every) - len(set(every)), 0, 0, 0)
        wanted = [opener.open(one, part) for one in set(every)]
        key = hmac.digest(what.key.sort_key, KeyDomain.ORDER.value + part.to_bytes(2), "sha256")
        ordered = sorted(wanted, key=lambda one, key=key: hmac.digest(key, one, "sha256"))
        data = b"".join((what.folder / f"out-{one.sha256}").read_bytes() for one in said.pieces)
        assert data == b"".join(ordered)
    assert close_round(what._replace(engine=Engine(most_held=0))) == manifest
    town.end()


def test_too_few_that_count_leave_nothing(tmp_path):
    town = two_parts(tmp_path, minimum=20)
    bundles, contents = drawn_bundles(town, Random(1))
    assert sum(counts(one, contents) for one in bundles) < 20 < len(bundles)
    what = close_of(town, [write_bundle(one) for one in bundles])
    assert close_round(what._replace(engine=Engine(most_held=0))).destroyed == TOO_FEW
    assert not [*what.folder.glob("out-*"), *what.folder.glob("spill-*")]
    town.end()
