"""A round by its notes, signatures included: what devices check before, and anybody after it.

Signatures are checked before a text is read; what a text says, before it is compared with others.
"""

from collections.abc import Mapping, Sequence

from mixtally.device.contract.fields import fingerprint_of, make_refusal
from mixtally.device.wire.consistency import Frame, check_manifests, check_receipt, check_sheet
from mixtally.device.wire.manifest import Manifest, read_manifest, read_receipt
from mixtally.device.wire.note import verify_note
from mixtally.device.wire.sheet import Sheet, read_sheet


def verify_sheet(data: bytes, roles: Mapping[str, bytes], frame: Frame) -> Sheet:
    """The sheet in ``data``, which all roles have signed and the contract allows.

    where
      roles   name -> public key of the hops in order and of the collector

    Raises RefusedError for anything else.
    """
    sheet = read_sheet(verify_note(data, roles))
    check_sheet(sheet, frame)
    return sheet


def verify_round(
    sheet: bytes,
    manifests: Sequence[bytes],
    receipts: Sequence[bytes],
    roles: Mapping[str, bytes],
    frame: Frame,
) -> tuple[Manifest, ...]:
    """What the first hops say of a round, each signed by its hop, receipts by the next role.

    where
      sheet       the note of the sheet
      manifests   notes of the first hops in order
      receipts    notes, the first of the first manifest; at most as many

    Raises RefusedError for anything else.
    """
    verify_sheet(sheet, roles, frame)
    if len(manifests) > frame.hops or len(receipts) > len(manifests):
        expected = f"at most {frame.hops} manifests, and a receipt of each"
        raise make_refusal("other-hop", "round", expected, f"{len(manifests)} and {len(receipts)}")
    signers = [{name: key} for name, key in roles.items()]
    read = [
        (fingerprint_of(data), read_manifest(verify_note(data, signer)))
        for data, signer in zip(manifests, signers, strict=False)
    ]
    check_manifests(read, fingerprint_of(sheet), frame)
    for data, (digest, manifest), signer in zip(receipts, read, signers[1:], strict=False):
        check_receipt(read_receipt(verify_note(data, signer)), digest, manifest)
    return tuple(manifest for _, manifest in read)
