"""Recovery of the notes that a role signed after the backup from which its folder was restored.

If a role drew fakes (dummy messages) or sent a batch for a round a second time, both could be
compared. So a restored role acts only when its peers have shown it the notes that it signed. It
stores these notes and marks their rounds as lost. If a peer shows a sheet of another round that the
collector has signed, the role marks that round as lost, too. So the role uses no round number again
that another role knows.

A peer is *settled* when it has shown the role all notes that the role has signed. If an unknown
note with the role's own signature appears later, the folder is an old copy, as for a role that was
never restored.
"""

from collections.abc import Iterable

from mixtally.device.contract.fields import (
    Fields,
    fingerprint_of,
    make_refusal,
    parse_json,
    text_of,
)
from mixtally.device.wire.manifest import LOST, read_manifest, read_receipt
from mixtally.device.wire.note import find_signers, verify_note
from mixtally.device.wire.rotation import read_rotation
from mixtally.device.wire.sheet import Sheet, kind_of, read_sheet, read_withdrawal
from mixtally.errors import RefusedError
from mixtally.model.agreement import Agreement
from mixtally.server.node.database import Database
from mixtally.server.node.notes import Notes, Statement
from mixtally.server.node.refusal import OldStateError, ProblemError
from mixtally.server.node.rounds import COUNTED, SIGNED, WITHDRAW, RoundRow, Rounds
from mixtally.server.node.signing_slots import (
    Entry,
    NamedContract,
    contract_entry,
    manifest_entry,
    receipt_entry,
    rotation_entry,
    sheet_entry,
    withdrawal_entry,
)

_NO_STATEMENT: Statement = ("SELECT 1", ())
_OWN_ROUND = "INSERT OR REPLACE INTO rounds VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_KNOWN_ROUND = "INSERT OR IGNORE INTO rounds VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"


def mark_restored(database: Database) -> list[RoundRow]:
    """Record that a folder was restored, mark its open rounds as lost, and return these rounds.

    A round that a collector has counted needs no key any more, so it continues.
    """
    lost = [row for row in Rounds(database).all() if not row.ended and row.state != COUNTED]
    with database.transaction("restore") as open_:
        open_.execute("INSERT INTO restores DEFAULT VALUES")
        open_.execute("DELETE FROM settled")
        open_.execute(
            "UPDATE rounds SET ended = ? WHERE ended = '' AND state != ?", (LOST, COUNTED)
        )
    return lost


class Restored:
    """The notes that a restored role stores again.

    ``signers`` has the role's name with each of its public keys, the current one first.
    """

    def __init__(
        self, database: Database, notes: Notes, rounds: Rounds, signers: list[dict[str, bytes]]
    ) -> None:
        self._database, self._notes, self._rounds = database, notes, rounds
        self._signers = signers
        self.is_restored = bool(database.rows("SELECT 1 FROM restores LIMIT 1"))

    def is_unsettled(self, contract: str, names: Iterable[str]) -> bool:
        """Return whether a peer in ``names`` is not settled yet.

        Always False if this role was never restored.
        """
        if not self.is_restored:
            return False
        rows = self._database.rows("SELECT name FROM settled WHERE contract = ?", contract)
        return not set(names) <= {name for (name,) in rows}

    def settle(self, contract: str, name: str) -> None:
        """Record that a peer is settled: it has shown all notes that this role has signed."""
        with self._database.transaction("settled") as open_:
            open_.execute("INSERT OR IGNORE INTO settled VALUES (?, ?)", (contract, name))

    def find_missing(self, note: bytes) -> str | None:
        """Return the SHA-256 of an unknown contract or manifest to which a note refers, or None."""
        try:
            kind = kind_of(note)
            if kind not in ("sheet", "receipt"):
                return None
            about = read_sheet(note).contract if kind == "sheet" else read_receipt(note).manifest
        except RefusedError:
            return None
        return about if self._notes.of(about) is None else None

    def take_up(self, note: bytes, about: bytes | None = None) -> str:
        """Store a note that this role signed before the restore, and return the kind of the note.

        ``about`` is the note whose SHA-256 ``find_missing`` has returned, if any. Raises
        OldStateError if this role has signed another text in the slot of the note since the
        restore.
        """
        digest = fingerprint_of(note)
        try:
            entry, statement = self._describe(note, digest, about)
        except RefusedError:
            # A note about an unknown round or contract gets a slot of its own, so it cannot
            # conflict with another note.
            entry, statement = Entry(f"unread {digest}", "unread", ""), _NO_STATEMENT
        signed = [one for one in self._signers if find_signers(note, one)]
        signer = [*signed, self._signers[0]][0]
        try:
            self._notes.take_up(entry, note, signer, statement)
        except ProblemError:
            (name,) = signer
            kept = self._notes.of(self._notes.hash_in_slot(name, entry.slot) or "") or b""
            # The operator may have decided not to wait for a peer. The role may then have declared
            # a round lost before it learned of its earlier manifest of the round.
            if entry.kind != "manifest" or read_manifest(kept).destroyed != LOST:
                raise OldStateError("somebody", f"the note {digest}") from None
            entry = entry._replace(slot=f"{entry.slot} before the restore")
            self._notes.take_up(entry, note, signer, _NO_STATEMENT)
        return entry.kind

    def take_up_round(self, note: bytes, agreement: Agreement, number: int) -> None:
        """Mark a round as lost; ``note`` is its sheet, signed by the collector.

        Raises RefusedError if ``note`` is not such a sheet.
        """
        collector = agreement.key_of(len(agreement.roles))
        sheet = read_sheet(verify_note(note, collector))
        if (sheet.contract, sheet.round) != (agreement.contract, number):
            raise make_refusal("other-contract", "sheet", f"round {number}", sheet.round)
        entry = sheet_entry(agreement, number)
        row = _lost_row(agreement.name, sheet, fingerprint_of(note))
        self._notes.take_up(entry, note, collector, (_KNOWN_ROUND, tuple(row)))

    def _describe(self, note: bytes, digest: str, about: bytes | None) -> tuple[Entry, Statement]:
        """Return the entry of a note, and the SQL statement that changes its round."""
        kind = kind_of(note)
        if kind == "contract":
            return contract_entry(_read_name(note)), _NO_STATEMENT
        if kind == "sheet":
            sheet = read_sheet(note)
            named = _read_name(self._find(sheet.contract, about))
            row = _lost_row(named.name, sheet, digest)
            return sheet_entry(named, sheet.round), (_OWN_ROUND, tuple(row))
        if kind == "withdrawal":
            row = self._row(read_withdrawal(note))
            return withdrawal_entry(row), (WITHDRAW, (row.sheet,))
        if kind == "manifest":
            manifest = read_manifest(note)
            return manifest_entry(self._row(manifest.sheet), manifest.hop), _NO_STATEMENT
        if kind == "rotation":
            return rotation_entry(read_rotation(note)), _NO_STATEMENT
        receipt = read_receipt(note)
        before = read_manifest(self._find(receipt.manifest, about))
        return receipt_entry(self._row(before.sheet), receipt.hop), _NO_STATEMENT

    def _find(self, digest: str, about: bytes | None) -> bytes:
        note = self._notes.of(digest) or about
        if note is None or fingerprint_of(note) != digest:
            raise make_refusal("unknown-note", "note", digest, "none")
        return note

    def _row(self, sheet: str) -> RoundRow:
        row = self._rounds.of_sheet(sheet)
        if row is None:
            raise make_refusal("other-sheet", "note", "the sheet of a round", sheet)
        return row


def _lost_row(name: str, sheet: Sheet, digest: str) -> RoundRow:
    times = sheet.opens, sheet.closes, sheet.expires
    return RoundRow(name, sheet.round, sheet.contract, digest, *times, SIGNED, LOST)


def _read_name(note: bytes) -> NamedContract:
    """Return the name and serial of a contract; a mix must not read more of it."""
    plain = parse_json(text_of(note))
    if not isinstance(plain, dict) or not {"name", "serial"} <= set(plain):
        raise make_refusal("not-json", "contract", "a contract", "something else")
    fields = Fields({name: plain[name] for name in ("name", "serial")}, "contract", "name serial")
    serial = fields.whole("serial", 1, 1 << 53, "serial-out-of-range")
    return NamedContract(fingerprint_of(note), fields.text("name"), serial)
