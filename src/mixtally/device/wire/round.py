"""Verification of the notes of a round: by devices before they answer, and by anyone afterwards.

Signatures are verified before a text is parsed. The content of a text is checked before it is
compared with other notes.
"""

from collections.abc import Mapping, Sequence

from mixtally.device.contract.fields import fingerprint_of, make_refusal
from mixtally.device.wire.consistency import Frame, check_manifests, check_receipt, check_sheet
from mixtally.device.wire.manifest import Manifest, read_manifest, read_receipt
from mixtally.device.wire.note import verify_note
from mixtally.device.wire.sheet import Sheet, read_sheet


def verify_sheet(data: bytes, roles: Mapping[str, bytes], frame: Frame) -> Sheet:
    """Return the sheet in ``data``, after verifying that all roles signed it.

    ``roles`` maps the name of each role to its public key: the hops in order, then the collector.
    Raise RefusedError if a signature is missing, or the contract does not permit the sheet.
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
    """Verify all notes of a round, and return its manifests, from hop 1 on.

    Parameters
    ----------
    sheet : bytes
        The note of the sheet.
    manifests : sequence of bytes
        The notes of the manifests of hop 1, hop 2 and so on, each signed by its hop. Those of the
        last hops may be missing.
    receipts : sequence of bytes
        The notes of the receipts in the order of the manifests, each signed by the role after the
        hop of the manifest. Receipts for the last manifests may be missing.
    roles : mapping
        The public key of each role by its name: the hops in order, then the collector.
    frame : Frame
        The numbers of the contract with which the notes must agree.

    Raises
    ------
    RefusedError
        If a signature is missing, or if notes contradict the contract or each other.
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
        check_receipt(read_receipt(verify_note(data, signer)), digest, manifest, frame)
    return tuple(manifest for _, manifest in read)
