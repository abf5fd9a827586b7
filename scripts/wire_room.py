"""The package's results for the vectors of part two of SPEC.md, in the terms of the vectors.

``wire_vectors.py``, ``bad_wire_vectors.py`` and the tests call ``open_vector``.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mixtally.device import client
from mixtally.device.client.net.trust import frame_of, role_keys
from mixtally.device.contract.fields import fingerprint_of
from mixtally.device.contract.roles import format_verifier_key, parse_verifier_key
from mixtally.device.wire.arrivals import (
    ListFile,
    check_arrivals,
    find_tags,
    make_list,
    make_tagger,
)
from mixtally.device.wire.bundle import PartShape, check_body, part_envelopes, split_bundles
from mixtally.device.wire.codes import check_code, hash_code, read_codes
from mixtally.device.wire.consistency import check_piece
from mixtally.device.wire.envelope import Opener
from mixtally.device.wire.manifest import Manifest, read_manifest, read_receipt
from mixtally.device.wire.note import (
    find_signers,
    merge_notes,
    parse_signer,
    sign_note,
    verify_note,
)
from mixtally.device.wire.rotation import follow_key, verify_rotation, verify_rotations
from mixtally.device.wire.round import verify_round, verify_sheet
from mixtally.device.wire.sheet import read_sheet, read_withdrawal, sheet_hash
from mixtally.device.wire.suite import SUITES
from mixtally.errors import RefusedError
from mixtally.model.contract import read_contract
from mixtally.model.contract.job import job_of
from mixtally.primitives.chance import SecureChance
from mixtally.server.mix.closing.close import ClosingRound, bundle_shapes, close_round
from mixtally.server.node.keys import RoundKey

Found = dict[str, Any]


def open_vector(vector: Found) -> Found:
    """Return the result for a vector, or the reason of its refusal."""
    what = vector["what"].removeprefix("refused ")
    try:
        return FINDERS[what](vector)
    except RefusedError as error:
        return {"reason": error.reason}


def bytes_of(vector: Found, name: str) -> bytes:
    """Return a field that is text, or hexadecimal digits if it is not valid text."""
    written = vector.get(name)
    return bytes.fromhex(vector[f"{name}_hex"]) if written is None else written.encode()


def _keys(vector: Found) -> dict[str, bytes]:
    names = [(written.split("+")[0], written) for written in vector["keys"]]
    return {name: parse_verifier_key(name, written, "key") for name, written in names}


def _note(vector: Found) -> Found:
    data, keys = bytes_of(vector, "note"), _keys(vector)
    if vector["what"].startswith("refused"):
        verify_note(data, keys)
        return {}
    return {"signers": sorted(find_signers(data, keys))}


def _check_signed(vector: Found) -> Found:
    signer = parse_signer(vector["key"])
    note = sign_note(vector["text"].encode(), signer)
    return {"verifier": signer.verifier, "note": note.decode()}


def _check_joined(vector: Found) -> Found:
    notes = [note.encode() for note in vector["notes"]]
    return {"note": merge_notes(vector["text"].encode(), notes, _keys(vector)).decode()}


def _configuration(vector: Found) -> Found:
    secret = bytes.fromhex(vector["secret"])
    return {"configuration": SUITES[vector["suite"]].configuration(secret).hex()}


def _sheet(vector: Found) -> Found:
    contract, data = client.parse_contract(vector["contract"].encode()), bytes_of(vector, "sheet")
    verify_sheet(data, role_keys(contract), frame_of(contract))
    return {"hash": sheet_hash(data).hex()}


def _shapes(vector: Found) -> Found:
    contract = client.parse_contract(vector["contract"].encode())
    shapes = []
    for part in contract.plan.parts:
        size = part.layout.message_bytes
        size += SUITES[contract.suite].layer_bytes * (len(contract.hops) + 1)
        shapes.append([part.most, part.most - part.least, size])
    return {"shapes": shapes}


def _bundles(vector: Found) -> Found:
    shapes = [PartShape(*shape) for shape in vector["shapes"]]
    body = bytes.fromhex(vector["body"])
    check_body(body, shapes)
    people = [
        [[one.hex() for one in part_envelopes(bundle, shapes, part)] for part in range(len(shapes))]
        for bundle in split_bundles(body, shapes)
    ]
    return {"envelopes": people}


def _store(folder: Path, body: bytes) -> None:
    """Write the bundles that a mix accepted to the file from which it closes a round."""
    with closing(sqlite3.connect(folder / "intake-0.db")) as held, held:
        held.execute("CREATE TABLE bodies (number INTEGER PRIMARY KEY, body BLOB)")
        held.execute("INSERT INTO bodies (body) VALUES (?)", (body,))


def _first_hop(vector: Found) -> Found:
    """Close a round in which a first mix accepted these bundles; its contract has no recipe."""
    contract = read_contract(vector["contract"].encode(), "contract")
    job, sheet = job_of(contract, fingerprint_of(vector["contract"].encode()), 1), vector["sheet"]
    key, body = RoundKey(bytes.fromhex(vector["secret"]), bytes(32)), bytes.fromhex(vector["body"])
    check_body(body, bundle_shapes(job))
    with TemporaryDirectory() as place:
        _store(Path(place), body)
        said = close_round(
            ClosingRound(
                job, Path(place), read_sheet(sheet.encode()), sheet_hash(sheet.encode()).hex(),
                key, None, (), SecureChance(), lambda *_: None,
            )
        )  # fmt: skip
        passed = []
        for part, sizes in zip(said.parts, job.sizes, strict=True):
            data = b"".join((Path(place) / f"out-{one.sha256}").read_bytes() for one in part.pieces)
            every = (data[i : i + sizes[1]].hex() for i in range(0, len(data), sizes[1]))
            passed.append(sorted(every))
    return {
        "bundles": said.bundles,
        "left_out": said.left_out,
        "received": [part.received for part in said.parts],
        "copies": [part.copies for part in said.parts],
        "passed": passed,
    }


def _envelope(vector: Found) -> Found:
    sheet, suite = sheet_hash(vector["sheet"].encode()), SUITES[vector["suite"]]
    held: bytes | None = bytes.fromhex(vector["envelope"])
    opened: list[str | None] = []
    for hop, secret in enumerate(vector["secrets"], start=vector["first"]):
        opener = Opener(suite, bytes.fromhex(secret), sheet, hop)
        held = opener.open(held or b"", vector["part"])
        opened.append(None if held is None else held.hex())
        if held is None:
            break
    return {"opened": opened}


def _manifest(vector: Found) -> Found:
    data = bytes_of(vector, "manifest")
    return {
        "sent": [part.sent_count for part in read_manifest(data).parts],
        "hash": fingerprint_of(data),
    }


def _withdrawal(vector: Found) -> Found:
    data = bytes_of(vector, "withdrawal")
    return {"of": read_withdrawal(data), "hash": fingerprint_of(data)}


def _rotation(vector: Found) -> Found:
    rotation, note = verify_rotation(bytes_of(vector, "rotation"))
    old, new = (format_verifier_key(rotation.role, key) for key in rotation[1:])
    return {"role": rotation.role, "old": old, "new": new, "hash": fingerprint_of(note)}


def _rotations(vector: Found) -> Found:
    changes, role = verify_rotations(bytes_of(vector, "rotations")), vector["role"]
    keys = follow_key(changes, role, parse_verifier_key(role, vector["key"], "key"))
    return {"keys": [format_verifier_key(role, key) for key in keys]}


def _receipt(vector: Found) -> Found:
    data = bytes_of(vector, "receipt")
    return {"of": read_receipt(data).manifest, "hash": fingerprint_of(data)}


def _code(vector: Found) -> Found:
    code = check_code(vector["admission"], vector["typed"]) or ""
    return {"code": code, "hash": hash_code(code.encode()).hex()}


def _codes(vector: Found) -> Found:
    contract, data = (
        read_contract(vector["contract"].encode(), "contract"),
        vector["codes"].encode(),
    )
    fingerprint = fingerprint_of(vector["contract"].encode())
    verify_note(data, {contract.collector.name: contract.collector.public})
    hashes = read_codes(data, fingerprint, contract.most_bundles)
    return {"hashes": sorted(one.hex() for one in hashes)}


def _round(vector: Found) -> Found:
    contract = client.parse_contract(vector["contract"].encode())
    notes = ([note.encode() for note in vector[name]] for name in ("manifests", "receipts"))
    sheet = vector["sheet"].encode()
    told = verify_round(sheet, *notes, role_keys(contract), frame_of(contract))
    sizes = [size for *_, size in _shapes(vector)["shapes"]]
    layer = SUITES[contract.suite].layer_bytes
    for manifest in told:
        for part, size in zip(manifest.parts, sizes, strict=True):
            for piece in part.pieces:
                held = bytes.fromhex(vector["pieces"].get(piece.sha256, ""))
                check_piece(held, piece, size - layer * manifest.hop)
    _check_lists(vector, told, sheet_hash(sheet))
    return {
        "sent": [
            [0 if manifest.destroyed else part.sent_count for part in manifest.parts]
            for manifest in told
        ]
    }


def _check_lists(vector: Found, told: tuple[Manifest, ...], sheet: bytes) -> None:
    """Check the lists that later roles have signed against the pieces that they were sent."""
    receipts = [read_receipt(note.encode()).arrivals for note in vector["receipts"]]
    later = [one.arrivals if not one.destroyed else None for one in told[1:]]
    for sender, lists in zip(told, [*later, *receipts[len(told) - 1 :]], strict=False):
        if sender.destroyed is None and lists is not None:
            sent = envelopes_of(sender, vector["pieces"])
            check_arrivals(lists, sent, sheet, sender.hop + 1)


def envelopes_of(manifest: Manifest, pieces: dict[str, str]) -> list[list[bytes]]:
    """Return the envelopes of each part that a hop has sent."""
    sent = []
    for part in manifest.parts:
        rows = [(bytes.fromhex(pieces[piece.sha256]), piece.messages) for piece in part.pieces]
        sent.append([
            data[at : at + len(data) // count]
            for data, count in rows
            for at in range(0, len(data), len(data) // count)
        ])  # fmt: skip
    return sent


def _arrivals(vector: Found) -> Found:
    tag = make_tagger(sheet_hash(vector["sheet"].encode()), vector["hop"], vector["part"])
    return {"list": b"".join(make_list(map(bytes.fromhex, vector["received"]), tag)).hex()}


def _listed(vector: Found) -> Found:
    files = [ListFile(**file) for file in vector["files"]]
    tags = [bytes.fromhex(tag) for tag in vector["tags"]]
    found = find_tags(tags, files, lambda name: bytes.fromhex(vector["pieces"].get(name, "")))
    return {"found": sorted(tag.hex() for tag in found)}


FINDERS = {
    "arrivals": _arrivals,
    "listed": _listed,
    "note": _note,
    "signed note": _check_signed,
    "joined notes": _check_joined,
    "key configuration": _configuration,
    "sheet": _sheet,
    "shapes": _shapes,
    "bundles": _bundles,
    "first hop": _first_hop,
    "envelope": _envelope,
    "manifest": _manifest,
    "receipt": _receipt,
    "withdrawal": _withdrawal,
    "rotation": _rotation,
    "rotations": _rotations,
    "code": _code,
    "codes": _codes,
    "round": _round,
}
