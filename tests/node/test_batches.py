"""Manifests, pieces and receipts between roles, without sockets."""

from hashlib import sha256

import pytest

from helpers.listed import listed
from helpers.roles_in_folders import Village, ask
from mixtally.device.contract.fields import fingerprint_of
from mixtally.device.wire.manifest import (
    Manifest,
    PartManifest,
    Piece,
    Receipt,
    write_manifest,
    write_receipt,
)
from mixtally.device.wire.note import Signer, sign_note
from mixtally.device.wire.problem import Problem
from mixtally.server.node.refusal import OldStateError, ProblemError


@pytest.fixture
def village(tmp_path):
    return Village(tmp_path, hops=2)


@pytest.fixture
def nodes(village):
    nodes = village.nodes()
    village.agreed(nodes)
    return nodes


def batch(village, node, *, messages=5, bundles=5, hop=1, **changes):
    """A manifest of one piece, and the piece."""
    row = node.rounds.all()[0]
    data = b"\x07" * (messages * village.jobs[0].sizes[0][hop])
    piece = Piece(sha256(data).hexdigest(), messages)
    part = PartManifest(messages, pieces=(piece,))
    fields = {
        "sheet": row.sheet,
        "hop": hop,
        "bundles": bundles,
        "left_out": 0,
        "destroyed": None,
        "before": None,
        "parts": (part,),
    }
    return listed(Manifest(**fields | changes)), data


def problem(node, note, now=0):
    with pytest.raises(ProblemError) as error:
        node.take_note(note, now)
    return error.value.problem


def test_a_batch_goes_on(village, nodes):
    first, second = nodes[:2]
    row = first.rounds.all()[0]
    manifest, data = batch(village, first)
    note = first.sign_manifest(row, manifest)
    assert first.sign_manifest(row, manifest) == note
    name = manifest.parts[0].pieces[0].sha256
    app = village.awake(second)
    path = f"/pieces/{name}"
    assert ask(app, "HEAD", path).status == 404
    assert ask(app, "PUT", path, data).status == 403
    assert ask(app, "POST", "/notes", note).status == 204
    assert ask(app, "POST", "/notes", note).status == 204
    assert second.count_missing(row) == 1
    assert ask(app, "PUT", path, data[:-1]).status == 400
    assert ask(app, "PUT", path, b"x" * len(data)).status == 400
    assert ask(app, "PUT", path, data + b"x").status == 413
    assert ask(app, "PUT", path, data).status == 201
    assert ask(app, "PUT", path, data).status == 204
    assert ask(app, "HEAD", path).status == 200
    assert second.count_missing(row) == 0
    found, read = second.preceding_manifest(row)
    assert read == manifest
    receipt = second.sign_receipt(row, found)
    assert not first.has_receipt(row, found)
    assert first.take_note(receipt, 0) is None
    assert first.has_receipt(row, found)
    assert not first.has_receipt(row, "0" * 64)


def test_what_is_expected_is_so_after_a_start(village, nodes):
    first, second = nodes[:2]
    manifest, data = batch(village, first)
    second.take_note(first.sign_manifest(first.rounds.all()[0], manifest), 0)
    second.close()
    again = village.node(2)
    name = manifest.parts[0].pieces[0].sha256
    again.pieces.put(name, data)
    assert village.node(2).pieces.has_piece(name)


def test_a_second_batch_is_refused_everywhere(village, nodes):
    row = nodes[0].rounds.all()[0]
    one, _ = batch(village, nodes[0])
    two, _ = batch(village, nodes[0], messages=6)
    nodes[1].take_note(nodes[0].sign_manifest(row, one), 0)
    with pytest.raises(ProblemError):
        nodes[0].sign_manifest(row, two)
    forged = sign_note(write_manifest(two), nodes[0].signer)
    assert problem(nodes[1], forged) is Problem.ANOTHER_NOTE
    assert nodes[1].preceding_manifest(row)[1] == one


def test_what_nobody_signed_occupies_nothing(village, nodes):
    manifest, _ = batch(village, nodes[0])
    text = write_manifest(manifest)
    for note in (
        text,
        sign_note(text, nodes[1].signer),
        sign_note(text, Signer("mix-1", b"s" * 32)),
        sign_note(text, nodes[-1].signer),
    ):
        assert problem(nodes[1], note) is Problem.NOT_SIGNED
    assert nodes[1].take_note(sign_note(text, nodes[0].signer), 0) is None


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"bundles": 1}, Problem.NOT_AGREED),
        ({"sheet": "0" * 64}, Problem.UNKNOWN),
        ({"parts": ()}, Problem.NOT_AGREED),
        ({"parts": (PartManifest(0), PartManifest(0))}, Problem.NOT_AGREED),
        (
            {"parts": (PartManifest(1 << 24, pieces=(Piece("0" * 64, 1 << 24),)),)},
            Problem.NOT_AGREED,
        ),
        ({"hop": 3, "before": "0" * 64}, Problem.NOT_AGREED),
    ],
)
def test_manifests_that_do_not_fit(village, nodes, changes, wanted):
    manifest, _ = batch(village, nodes[0])
    note = sign_note(write_manifest(listed(manifest._replace(**changes))), nodes[0].signer)
    assert problem(nodes[1], note) is wanted


@pytest.mark.parametrize("body", [b"", b"x", b"{}\n", b'{"kind": "letter"}\n', b'{"kind": 3}\n'])
def test_what_is_no_note(village, nodes, body):
    village.agreed(nodes[:], 1)
    assert ask(village.awake(nodes[0]), "POST", "/notes", body).status in (400, 403)


def test_long_texts_of_strangers_are_not_parsed(village, nodes):
    text = b'{"kind": "sheet", "x": "' + bytes(1 << 17).replace(b"\0", b"[") + b'"}\n'
    assert problem(nodes[0], text) is Problem.NOT_SIGNED
    assert problem(nodes[0], sign_note(text, Signer("mix-1", b"s" * 32))) is Problem.NOT_SIGNED
    assert problem(nodes[0], sign_note(text, nodes[1].signer)) is Problem.NO_NOTE


def test_a_receipt_needs_its_manifest_and_the_next_role(village, nodes):
    row = nodes[0].rounds.all()[0]
    manifest, _ = batch(village, nodes[0])
    found = fingerprint_of(write_manifest(manifest))
    text = write_receipt(Receipt(found, 2))
    assert problem(nodes[0], sign_note(text, nodes[1].signer)) is Problem.UNKNOWN
    nodes[0].sign_manifest(row, manifest)
    assert problem(nodes[0], sign_note(text, nodes[2].signer)) is Problem.NOT_SIGNED
    third = sign_note(write_receipt(Receipt(found, 3)), nodes[2].signer)
    assert problem(nodes[0], third) is Problem.NO_NOTE
    nodes[0].take_note(sign_note(text, nodes[1].signer), 0)
    assert nodes[0].has_receipt(row, found)


def test_a_manifest_of_ones_own_that_the_disk_lacks_stops_the_role(village, nodes):
    manifest, _ = batch(village, nodes[0])
    with pytest.raises(OldStateError):
        nodes[0].take_note(sign_note(write_manifest(manifest), nodes[0].signer), 0)
    assert nodes[0].fatal_error is not None


def test_shredding_leaves_what_was_signed(village, nodes):
    row = nodes[1].rounds.all()[0]
    manifest, data = batch(village, nodes[0])
    nodes[1].take_note(nodes[0].sign_manifest(row, manifest), 0)
    name = manifest.parts[0].pieces[0].sha256
    nodes[1].pieces.put(name, data)
    nodes[1].shred_round(row)
    place = nodes[1].folder.path
    assert not list((place / "rounds").iterdir())
    assert not list((place / "keys").iterdir())
    with pytest.raises(ProblemError) as error:
        nodes[1].pieces.put(name, data)
    assert error.value.problem is Problem.NOT_NAMED
    again = village.node(2)  # nor does it come back with a start
    assert again.pieces.max_bytes(name) is None
    assert again.preceding_manifest(row)[1] == manifest
