"""Whatever bytes come, a parser reads them or refuses them by name: nothing else comes out."""

import copy
import json
import random
import time

import pytest

from mixtally.errors import PlanError, RefusedError
from mixtally.wire.bundle import PartShape, envelopes, split
from mixtally.wire.envelope import Opener
from mixtally.wire.manifest import (
    Receipt,
    read_manifest,
    read_receipt,
    write_manifest,
    write_receipt,
)
from mixtally.wire.note import Signer, joined, signed, signed_by, signer_of
from mixtally.wire.reading import fingerprint_of, text_of
from mixtally.wire.sheet import kind_of, read_sheet, write_sheet
from mixtally.wire.suite import SUITES
from wire.builders import HASH, manifest, private, sheet

SIGNER = Signer("mix-1", bytes(32))
KNOWN = {"mix-1": SIGNER.public}
SHAPES = (PartShape(1, 2, 3), PartShape(0, 1, 2))
SEEDS = [
    signed(write_sheet(sheet()), SIGNER),
    signed(write_sheet(sheet(prefixes=((1, 2), (3, 4)))), SIGNER),
    signed(write_manifest(manifest()), SIGNER),
    write_manifest(manifest(hop=2, destroyed="expired", before=None, parts=())),
    signed(write_receipt(Receipt(HASH, 2)), SIGNER),
    SIGNER.written.encode(),
    bytes([0, 1, 0, 1]) + b"abcde",
    *(SUITES[suite].configuration(private(0, suite)) for suite in SUITES),
]
SPLICES = [
    *(b"\n\n\xe2\x80\x94 ", b"\xe2\x80\x94", b"\n", b'"', b"{", b"}", b"[", b"]", b"null", b"-1"),
    *(b"1e999", b"NaN", b"9007199254740993", b'"9007199254740993"', b"\\ud800", b"\x00", b"\xff"),
    *(b"true", b'""', b"{}", b"[]", b'"kind": "sheet",', b"==", b"+", b"0.5", b"1" * 5000),
]
ODD = [None, True, -1, 0.5, 1 << 60, str(1 << 60), "", "x", [], {}, [[]], {"a": 1}, "a" * 64]


def parsers():
    """Everything that reads what strangers send."""
    for read in (read_sheet, read_manifest, read_receipt, kind_of, text_of, fingerprint_of):
        yield read.__name__, read
    yield "signed_by", lambda data: signed_by(data, KNOWN)
    yield "joined", lambda data: joined(text_of(data), [data], KNOWN)
    yield "signed", lambda data: signed_by(signed(data, SIGNER), KNOWN)
    yield "split", lambda data: [list(envelopes(b, SHAPES)) for b in split(data, SHAPES).bundles]
    yield "signer_of", lambda data: signer_of(data.decode("latin-1"))
    for number, suite in SUITES.items():
        opener = Opener(suite, private(0, number), bytes(32), 1)
        yield f"key {number}", suite.key
        yield f"open {number}", lambda data, opener=opener: opener.open(data, 0)


PARSERS = dict(parsers())


def bent(chance):
    """Bytes of a good note or key, changed in a few places; some of no note at all."""
    if chance.random() < 0.1:
        return chance.randbytes(chance.randrange(200))
    if chance.random() < 0.3:
        return restated(chance)
    data = bytearray(chance.choice(SEEDS))
    for _ in range(chance.randint(1, 4)):
        place, kind = chance.randrange(len(data) + 1), chance.randrange(5)
        if kind == 0:
            data[place:place] = chance.choice(SPLICES)
        elif kind == 1:
            del data[place : place + chance.randint(1, 30)]
        elif kind == 2:
            data[place : place + 1] = chance.randbytes(1)
        elif kind == 3:
            data[place:place] = data[place : place + chance.randint(1, 200)]
        else:
            data[place : place + chance.randint(1, 9)] = chance.choice(SPLICES)
    return bytes(data)


def restated(chance):
    """A good note with other values in some fields."""
    plain = json.loads(text_of(chance.choice(SEEDS[:5])))
    for _ in range(chance.randint(1, 3)):
        holder = plain
        while True:
            names = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
            if not names:
                break
            name = chance.choice(names)
            if isinstance(holder[name], dict | list) and chance.random() < 0.7:
                holder = holder[name]
                continue
            holder[name] = copy.deepcopy(chance.choice(ODD))
            break
    return json.dumps(plain).encode() + b"\n"


def outcome(read, data):
    """Whether it was read; whatever is no refusal comes out."""
    try:
        read(data)
    except RefusedError as error:
        no = error
    except PlanError as error:
        assert read is PARSERS["signer_of"]
        no = error
    else:
        return True
    assert str(no).isprintable()
    assert len(str(no)) < 2000
    return False


@pytest.mark.parametrize("name", PARSERS)
def test_a_parser_reads_or_refuses(name):
    chance, read = random.Random(name), PARSERS[name]
    for _ in range(300):
        outcome(read, bent(chance))
    assert any(outcome(read, data) for data in SEEDS)


@pytest.mark.slow
def test_parsers_read_or_refuse_for_a_minute():
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")  # shown where it fails
    chance, taken, end = random.Random(seed), dict.fromkeys(PARSERS, 0), time.monotonic() + 60
    while time.monotonic() < end:
        data = bent(chance)
        for name, read in PARSERS.items():
            taken[name] += outcome(read, data)
    assert all(taken.values())


def test_a_parser_with_a_planted_bug_is_noticed():
    def careless(data):
        return json.loads(text_of(data))["round"]

    chance = random.Random(1)
    with pytest.raises((KeyError, TypeError, ValueError)):
        [outcome(careless, bent(chance)) for _ in range(300)]
