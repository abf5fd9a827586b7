"""Bytes and formats: what is no note, no bundle, no piece and no path is refused by name."""

import json
from base64 import b64encode
from hashlib import sha256
from unittest import mock

from mixtally.device.wire import manifest
from mixtally.device.wire.manifest import PartManifest, Piece, write_manifest
from network.stage import BINS, of_one


def note(data):
    """Bytes sent to the second mix as a note."""
    return lambda stage: stage.post(2, data)


def sheet(old, new):
    """A sheet that the collector signed, with other bytes in one place."""

    def act(stage):
        text = stage.text_of_sheet(2).replace(old, new)
        assert new in text
        return stage.post(2, stage.by(4, text))

    return act


def bundles(bent):
    """A bundle of one answer, changed."""
    return lambda stage: stage.send(bent(stage.bundle([BINS[0]])))


def beside(good):
    """A good bundle with others."""
    return lambda stage: stage.send(good(stage))


def digest(*stated):
    """A good bundle with these Content-Digest headers; {} is the right one."""

    def act(stage):
        body = stage.bundle([BINS[1]])
        right = b64encode(sha256(body).digest()).decode()
        return stage.send(body, headers=[("Content-Digest", one.format(right)) for one in stated])

    return act


def asked(method, path):
    """A request to the first mix; {} is the contract."""
    return lambda stage: stage.ask(1, method, path.format(stage.fingerprint))


def piece(bent):
    """A piece that mix 1 has named, changed on its way to mix 2."""

    def act(stage):
        sent, data = stage.batch(1, [stage.sealed(BINS[0], first=2) for _ in range(3)])
        assert stage.post(2, stage.by(1, write_manifest(sent))).status == 204
        name = sent.parts[0].pieces[0].sha256
        return stage.ask(2, "PUT", f"/pieces/{name}", bent(data))

    return act


def said(change):
    """A manifest of mix 1 with other fields, signed by it."""

    def act(stage):
        sent, _ = stage.batch(1, [stage.sealed(BINS[0], first=2) for _ in range(3)])
        plain = json.loads(write_manifest(sent))
        change(plain, plain["parts"][0])
        return stage.post(2, stage.by(1, json.dumps(plain).encode() + b"\n"))

    return act


def pieces(count):
    """So many pieces of one message."""
    named = tuple(Piece(f"{number:064x}", 1) for number in range(count))
    return {"parts": (PartManifest(count, pieces=named),)}


def too_many_pieces(stage):
    """Three, where two are the most."""
    with mock.patch.object(manifest, "MOST_PIECES", 2):
        return stage.told(1, BINS, **pieces(3))


TWO = pieces(2)["parts"]
LONG = PartManifest(1 << 24, pieces=(Piece("0" * 64, 1 << 24),))


SHARED = {
    "a note that is empty": (note(b""), "400 no-note"),
    "a note of any bytes": (note(b"\x00\x01\xfe"), "400 no-note"),
    "a note with half a character": (note(b'{"kind": "\xc3"}\n'), "400 no-note"),
    "a note without its last newline": (note(b'{"kind": "sheet"}'), "400 no-note"),
    "a note nested deeper than readers go": (note(b"[" * 60_000 + b"\n"), "400 no-note"),
    "a note of an unknown kind": (note(b'{"kind": "letter"}\n'), "400 no-note"),
    "a note whose kind is a number": (note(b'{"kind": 3}\n'), "400 no-note"),
    "a sheet with a field twice": (sheet(b'"round": 2', b'"round": 2, "round": 3'), "400 no-note"),
    "a sheet with a field more": (sheet(b'"round": 2', b'"round": 2, "more": 3'), "400 no-note"),
    "a sheet of another version": (sheet(b'"version": 1', b'"version": 2'), "400 no-note"),
    "a sheet that says to be a manifest": (sheet(b'"sheet"', b'"manifest"'), "400 no-note"),
    "a sheet with a round of 2^53 + 1": (
        sheet(b'"round": 2', b'"round": 9007199254740993'),
        "400 no-note",
    ),
    "a sheet with a round that is a fraction": (
        sheet(b'"round": 2', b'"round": 2.0'),
        "400 no-note",
    ),
    "a sheet with no number at all": (sheet(b'"round": 2', b'"round": NaN'), "400 no-note"),
    "a bundle that lacks a byte": (bundles(lambda body: body[:-1]), "400 body-length"),
    "a bundle with a byte more": (bundles(lambda body: body + b"\0"), "400 body-length"),
    "no bundle": (bundles(lambda _: b""), "400 body-length"),
    "a bundle of two bytes": (bundles(lambda _: b"\xff\xff"), "400 body-length"),
    "a good bundle beside one of another length": (
        beside(lambda stage: stage.bundle([BINS[0]]) + stage.bundle([BINS[0]])[:-1]),
        "400 body-length",
    ),
    "an envelope of one byte less": (
        beside(lambda stage: of_one(stage.sealed(b""))),
        "400 body-length",
    ),
    "an envelope of one byte more": (
        beside(lambda stage: of_one(stage.sealed(b"ab"))),
        "400 body-length",
    ),
    "an envelope as the second mix would get it": (
        beside(lambda stage: of_one(stage.sealed(BINS[0], first=2))),
        "400 body-length",
    ),
    "a body of another digest": (digest("sha-256=:AAAA:"), "400 wrong-digest"),
    "a digest that is no base64": (digest("sha-256=:?:"), "400 wrong-digest"),
    "a false digest in a second header": (
        digest("sha-256=:{}:", "sha-256=:AAAA:"),
        "400 wrong-digest",
    ),
    "a round of thirty digits": (asked("GET", "/contracts/{}/rounds/" + "9" * 30), "404 unknown"),
    "a round of five thousand digits": (
        asked("GET", "/contracts/{}/rounds/" + "9" * 5000),
        "404 unknown",
    ),
    "a key for a round of thirty digits": (
        asked("POST", "/contracts/{}/rounds/" + "9" * 30 + "/key"),
        "404 unknown",
    ),
    "a key for round zero": (asked("POST", "/contracts/{}/rounds/0/key"), "404 unknown"),
    "a round in digits of another script": (
        asked("GET", "/contracts/{}/rounds/\u0661"),
        "404 unknown",
    ),
    "bundles for a round of five digits": (
        asked("POST", "/contracts/{}/rounds/00001/bundles"),
        "404 unknown",
    ),
    "bundles for a contract that is not there": (
        asked("POST", "/contracts/0/rounds/1/bundles"),
        "404 unknown",
    ),
    "a path out of the folder": (asked("GET", "/../role.toml"), "404 unknown"),
    "a path with a zero byte": (asked("GET", "/contracts/\0"), "404 unknown"),
    "a method that is not there": (asked("DELETE", "/notes"), "405 method"),
    "a reading of bundles": (asked("GET", "/contracts/{}/rounds/1/bundles"), "405 method"),
    "a piece whose name is a path": (asked("PUT", "/pieces/..%2Fnode.db"), "403 not-named"),
    "a manifest whose numbers do not add up": (
        said(lambda _, part: part.update(received=4)),
        "400 no-note",
    ),
    "a manifest that drops more than came": (
        said(lambda _, part: part.update(copies=4, added=4)),
        "400 no-note",
    ),
    "a manifest that names a piece twice": (
        lambda stage: stage.told(1, BINS, parts=(TWO[0]._replace(pieces=TWO[0].pieces[:1] * 2),)),
        "400 no-note",
    ),
    "a manifest that names a piece in two parts": (
        lambda stage: stage.told(1, BINS, parts=TWO * 2),
        "400 no-note",
    ),
    "a manifest of no parts": (lambda stage: stage.told(1, BINS, parts=()), "403 not-agreed"),
    "a manifest of two parts where there is one": (
        lambda stage: stage.told(1, BINS, parts=(PartManifest(0),) * 2),
        "403 not-agreed",
    ),
    "a manifest of too many pieces": (
        too_many_pieces,
        "400 no-note",
    ),
    "a manifest of a piece longer than any": (
        lambda stage: stage.told(1, BINS, parts=(LONG,)),
        "403 not-agreed",
    ),
    "a manifest that is destroyed and has pieces": (
        said(lambda plain, _: plain.update(destroyed="too-few")),
        "400 no-note",
    ),
}
ALONE = {
    "a piece with a byte changed": (
        piece(lambda data: bytes([data[0] ^ 1]) + data[1:]),
        "400 wrong-digest",
    ),
    "a piece that lacks a byte": (piece(lambda data: data[:-1]), "400 wrong-digest"),
    "a piece with a byte more": (piece(lambda data: data + b"?"), "413 too-large"),
}
