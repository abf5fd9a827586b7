"""A round by its notes: who must have signed which, and what stands in them."""

from types import SimpleNamespace

import pytest

from helpers.listed import invented
from mixtally.device.contract.fields import fingerprint_of
from mixtally.device.wire.manifest import PartManifest, Receipt, write_manifest, write_receipt
from mixtally.device.wire.note import Signer, sign_note
from mixtally.device.wire.round import verify_round, verify_sheet
from mixtally.device.wire.sheet import write_sheet
from wire.builders import OTHER, frame, manifest, reason, sheet

SIGNERS = [Signer(name, name.encode() * 8) for name in ("mix1", "mix2", "coll")]
ROLES = {one.name: one.public for one in SIGNERS}
NOTE = sign_note(write_sheet(sheet()), *SIGNERS)


def told(**changes):
    """Manifests of both hops and receipts of them, each as (text, place of who signs)."""
    first = write_manifest(manifest(sheet=fingerprint_of(NOTE)))
    sent = manifest().parts[0].pieces
    part = PartManifest(received=11, pieces=sent)
    before = {"sheet": fingerprint_of(NOTE), "before": fingerprint_of(first), "parts": (part,)}
    second = write_manifest(manifest(2, **{**before, **changes}))
    receipts = [
        write_receipt(Receipt(fingerprint_of(first), 2)),
        write_receipt(Receipt(fingerprint_of(second), 3, invented([11]))),
    ]
    return [(first, 0), (second, 1)], [(text, place) for place, text in enumerate(receipts, 1)]


def checked(manifests, receipts):
    notes = [
        [sign_note(text, SIGNERS[who]) for text, who in rows] for rows in (manifests, receipts)
    ]
    return verify_round(NOTE, *notes, ROLES, frame())


def test_a_round_is_checked_from_end_to_end():
    manifests, receipts = told()
    assert [one.hop for one in checked(manifests, receipts)] == [1, 2]
    assert len(checked(manifests[:1], receipts[:1])) == 1
    assert checked(manifests[:1], []) == checked(manifests[:1], receipts[:1])
    assert checked([], []) == ()


def test_a_sheet_needs_every_signature():
    assert verify_sheet(NOTE, ROLES, frame()) == sheet()
    for left in range(3):
        some = sign_note(write_sheet(sheet()), *SIGNERS[:left], *SIGNERS[left + 1 :])
        assert reason(verify_sheet, some, ROLES, frame()) == "signature-missing"
    assert reason(verify_sheet, NOTE, ROLES, frame(contract=OTHER)) == "other-contract"
    some = sign_note(write_sheet(sheet()), *SIGNERS[:2])
    assert reason(verify_round, some, [], [], ROLES, frame()) == "signature-missing"


@pytest.mark.parametrize(
    ("why", "change"),
    [
        ("signature-missing", lambda one: ([(one.m[0][0], 1)], one.r[:1])),
        ("signature-missing", lambda one: (one.m, [(one.r[0][0], 0)])),
        ("signature-missing", lambda one: (one.m[::-1], one.r)),
        ("another-kind", lambda one: ([(one.r[0][0], 0)], [])),
        ("another-kind", lambda one: (one.m[:1], [(one.m[0][0], 1)])),
        ("other-manifest", lambda one: (one.m, [one.r[0], (one.r[0][0], 2)])),
        ("other-hop", lambda one: ([*one.m, one.m[0]], one.r)),
        ("other-hop", lambda one: (one.m[:1], one.r)),
        ("other-sheet", lambda _: ([(write_manifest(manifest()), 0)], [])),
        ("before-unfit", lambda one: (told(before=OTHER)[0], one.r)),
        ("bundles-differ", lambda one: (told(bundles=8 + 2)[0], one.r)),
    ],
)
def test_what_is_not_signed_or_does_not_fit_is_refused(why, change):
    rows = SimpleNamespace(m=told()[0], r=told()[1])
    assert reason(lambda: checked(*change(rows))) == why


def test_a_forged_manifest_occupies_nothing():
    text = told()[0][0][0]
    forged = sign_note(text, Signer("mix1", b"other" * 6 + b"xx"))
    assert reason(verify_round, NOTE, [forged], [], ROLES, frame()) == "signature-missing"
