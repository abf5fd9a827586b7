"""Handling of received notes: each is signed, stored or refused.

``Node`` calls it for every note that arrives over HTTP, and for the sheets that a collector
proposes itself.
"""

from mixtally.device.contract.fields import fingerprint_of, text_of
from mixtally.device.contract.roles import format_verifier_key
from mixtally.device.wire.consistency import check_receipt
from mixtally.device.wire.manifest import Manifest, read_manifest, read_receipt
from mixtally.device.wire.note import find_signers, merge_notes, verify_note
from mixtally.device.wire.problem import Problem
from mixtally.device.wire.rotation import verify_rotation
from mixtally.device.wire.sheet import Sheet, kind_of, read_sheet, read_withdrawal
from mixtally.errors import RefusedError
from mixtally.model.agreement import Agreement
from mixtally.server.node import disk
from mixtally.server.node.backoff import MAX_DELAY_SECONDS, Backoff
from mixtally.server.node.claims import MOST_UNCLAIMED_BYTES
from mixtally.server.node.key_rotation import check_rotation
from mixtally.server.node.refusal import OldStateError, ProblemError
from mixtally.server.node.rounds import INSERT, SIGNED, WITHDRAW, RoundRow, round_id
from mixtally.server.node.rules import check_manifest, check_sheet, check_withdrawal, frame_of
from mixtally.server.node.signing_slots import (
    Entry,
    manifest_entry,
    receipt_entry,
    rotation_entry,
    sheet_entry,
    withdrawal_entry,
)
from mixtally.server.node.state import RoleState

_MOST_MANIFEST_BYTES = 1 << 22
"""Maximum size of a manifest: about 30,000 pieces, which contain half a terabyte."""


class NoteReader:
    """Handler of the notes that a role receives; the caller must serialize all calls."""

    def __init__(self, node: RoleState) -> None:
        self._node, self._own = node, node.signer.name
        self._backoff = Backoff()

    def take_note(self, data: bytes, now: int) -> bytes | None:
        """Handle a note as ``Node.take_note`` does.

        Raises RefusedError for bytes that are not a note.
        """
        found = fingerprint_of(data)
        if found in self._node.agreements:
            return self._node.notes.merge(data, self._node.agreement(found).keys)
        if len(data) > MOST_UNCLAIMED_BYTES:
            return self._read_long_note(data, found, now)
        return self._read_note(data, found, now)

    def _read_long_note(self, data: bytes, digest: str, now: int) -> bytes | None:
        """Handle a long note, if a known role has signed it and none of its signers is delayed.

        A signer whose long notes are refused is delayed for a while, because parsing them costs
        time.
        """
        who = self._signers(data)
        if not who:
            raise ProblemError(Problem.NOT_SIGNED)
        known = self._node.notes.entry(digest)
        # A known manifest changes nothing, so it is not parsed again.
        if known is not None and known.kind == "manifest":
            return None
        if len(data) > _MOST_MANIFEST_BYTES and not self._are_collectors(who):
            raise ProblemError(Problem.TOO_LARGE, f"at most {_MOST_MANIFEST_BYTES} bytes")
        if any(self._backoff.is_waiting(name, now) for name in who):
            raise ProblemError(Problem.BUSY, retry_seconds=MAX_DELAY_SECONDS)
        try:
            return self._read_note(data, digest, now)
        except (RefusedError, ProblemError):
            for name in who:
                self._backoff.increase(name, now)
            raise

    def _read_note(self, data: bytes, digest: str, now: int) -> bytes | None:
        """Parse a note and handle it according to its kind."""
        kind = kind_of(data)
        if kind in ("sheet", "withdrawal", "contract"):
            # Manifests and receipts are compared with the signed ones when they are stored.
            self._check_not_forgotten(data, digest)
        if kind == "sheet":
            return self._sheet(data, digest, now)
        if kind == "withdrawal":
            return self._withdrawal(data, digest, now)
        if kind == "contract":
            raise ProblemError(Problem.NOT_AGREED, "this role has not signed that contract")
        if kind == "rotation":
            self._rotation(data, digest)
            return None
        if kind not in ("manifest", "receipt"):
            raise ProblemError(Problem.NO_NOTE)
        (self._manifest if kind == "manifest" else self._receipt)(data)
        return None

    def propose(self, text: bytes, now: int) -> bytes:
        """Sign a sheet as ``Node.propose`` does."""
        sheet = read_sheet(text)
        agreement = self._node.agreement(sheet.contract)
        if self._node.notes.of(fingerprint_of(text)) is None:
            self._sign(text_of(text), sheet, agreement, now)
        return self._node.notes.of(fingerprint_of(text)) or b""

    def _sheet(self, data: bytes, digest: str, now: int) -> bytes:
        sheet, node = read_sheet(data), self._node
        agreement = node.agreement(sheet.contract)
        if node.notes.of(digest) is None:
            # The collector must have signed first. Otherwise strangers could use up round numbers.
            name = agreement.collector.name
            text = verify_note(data, {name: agreement.keys[name]})
            self._sign(text, sheet, agreement, now)
        node.destroy_earlier_signers()
        return node.notes.merge(data, agreement.keys)

    def _sign(self, text: bytes, sheet: Sheet, agreement: Agreement, now: int) -> None:
        """Sign a sheet for an empty slot, and store its round in the same transaction."""
        node = self._node
        entry = sheet_entry(agreement, sheet.round)
        if node.notes.hash_in_slot(self._own, entry.slot) is not None:
            raise ProblemError(Problem.ANOTHER_NOTE)
        key = round_id(agreement.contract, sheet.round)

        def own_key() -> bytes | None:
            exists = node.keys.has_key(key)
            return node.keys.configuration(key, agreement.suite) if exists else None

        check_sheet(sheet, agreement, node.latest(agreement.name), node.rounds, now, own_key)
        row = RoundRow(
            agreement.name,
            sheet.round,
            agreement.contract,
            fingerprint_of(text),
            sheet.opens,
            sheet.closes,
            sheet.expires,
            SIGNED,
            "",
        )
        node.sign(agreement, entry, text, (INSERT, tuple(row)))
        node.tell_signed(row)
        node.destroy_unused_keys(agreement, sheet.round)

    def withdraw(self, text: bytes, now: int) -> bytes:
        """Sign a withdrawal as ``Node.withdraw`` does."""
        row, agreement = self._round(read_withdrawal(text))
        node, found = self._node, fingerprint_of(text)
        if node.notes.of(found) is None:
            check_withdrawal(row, now)
            entry = withdrawal_entry(row)
            return node.sign(agreement, entry, text_of(text), (WITHDRAW, (row.sheet,)))
        return node.notes.of(found) or b""

    def _withdrawal(self, data: bytes, digest: str, now: int) -> bytes:
        _, agreement = self._round(read_withdrawal(data))
        if self._node.notes.of(digest) is None:
            name = agreement.collector.name
            self.withdraw(verify_note(data, {name: agreement.keys[name]}), now)
        return self._node.notes.merge(data, agreement.keys)

    def _rotation(self, data: bytes, digest: str) -> None:
        rotation, note = verify_rotation(data)
        check_rotation(self._node, rotation, digest)
        self._check_not_forgotten(data, digest)
        if self._node.notes.remember(rotation_entry(rotation), note, rotation.role):
            key = format_verifier_key(rotation.role, rotation.new)
            self._node.log.tell("key rotated", role=rotation.role, key=key)

    def _manifest(self, data: bytes) -> None:
        manifest, node = read_manifest(data), self._node
        row, agreement = self._round(manifest.sheet)
        check_manifest(manifest, agreement)
        verify_note(data, agreement.key_of(manifest.hop))
        entry = manifest_entry(row, manifest.hop)
        if manifest.hop == agreement.place - 1:
            # Checked before the manifest is stored, so that the sender sends it again later.
            self._check_room(manifest, agreement, row)
        self._keep(data, entry, agreement)
        if manifest.hop == agreement.place - 1 and not row.ended:
            node.expect_pieces(row)

    def _check_room(self, manifest: Manifest, agreement: Agreement, row: RoundRow) -> None:
        """Raise ProblemError if the free space is too small for the pieces of a manifest.

        The space for pieces that other rounds still expect is reserved.
        """
        sizes = (part[agreement.place - 1] for part in agreement.sizes)
        parts = zip(manifest.parts, sizes, strict=True)
        free = disk.free_bytes(self._node.folder.path) - self._node.pieces.missing_bytes(row.folder)
        if sum(part.sent_count * size for part, size in parts) > free:
            detail = "less space is free than the pieces of this and other rounds need"
            raise ProblemError(Problem.NO_ROOM, detail, retry_seconds=60)

    def _receipt(self, data: bytes) -> None:
        receipt, node = read_receipt(data), self._node
        about = node.notes.entry(receipt.manifest)
        if about is None or about.kind != "manifest":
            raise ProblemError(Problem.UNKNOWN, "the manifest is not known here yet")
        row = node.rounds.of(about.contract, about.round)
        if row is None or receipt.hop != about.hop + 1:
            raise ProblemError(Problem.NO_NOTE)
        agreement = node.agreement(row.contract)
        # Verified first, because a stranger could make this role parse long manifests again.
        verify_note(data, agreement.key_of(receipt.hop))
        before = node.manifest_of(row, about.hop)
        if before is not None and before[0] == receipt.manifest:
            check_receipt(receipt, *before, frame_of(agreement))
        entry = receipt_entry(row, receipt.hop)
        self._keep(data, entry, agreement)

    def _keep(self, data: bytes, entry: Entry, agreement: Agreement) -> None:
        """Store a note that the role at ``entry.hop`` has signed."""
        key = agreement.key_of(entry.hop)
        (name,) = key
        if name == self._own:
            self._check_not_forgotten(data, fingerprint_of(data))
            return
        self._node.notes.remember(entry, merge_notes(text_of(data), [data], key), name)

    def _signers(self, data: bytes) -> set[str]:
        """Return the names of the known roles that have signed the bytes."""
        return {
            name for one in self._node.agreements.values() for name in find_signers(data, one.keys)
        }

    def _are_collectors(self, names: set[str]) -> bool:
        """Return whether all names are those of collectors, whose sheets may have many prefixes."""
        return names <= {one.collector.name for one in self._node.agreements.values()}

    def _round(self, sheet: str) -> tuple[RoundRow, Agreement]:
        row = self._node.rounds.of_sheet(sheet)
        if row is None:
            raise ProblemError(Problem.UNKNOWN, "the sheet is not known here yet")
        return row, self._node.agreement(row.contract)

    def _check_not_forgotten(self, data: bytes, digest: str) -> None:
        """Raise OldStateError if this role has signed the note but does not have it on disk.

        After a restore from a backup, the note is stored instead, until all peers have listed the
        notes of this role.
        """
        own = self._node.has_own_signature(data)
        if own and not self._node.notes.has_signed(self._own, digest):
            if not self._node.is_unsettled():
                raise OldStateError("somebody", f"the note {digest}")
            self._node.restored.take_up(data)
