"""Store of signed notes, and queue of the notes that are still to be sent to other roles.

A role signs at most one text for each *slot*, such as the sheet of one round. One transaction fills
the slot, stores the note and queues it for all other roles. The signature leaves the process only
after this transaction. So a restarted process never signs another text for the slot.
"""

from collections.abc import Iterable, Mapping
from sqlite3 import Connection
from typing import NamedTuple

from mixtally.device.contract.fields import fingerprint_of, make_refusal, text_of
from mixtally.device.wire.note import Signer, find_signers, merge_notes, sign_note
from mixtally.device.wire.problem import Problem
from mixtally.server.node.database import Database
from mixtally.server.node.refusal import ProblemError
from mixtally.server.node.signing_slots import Entry, Slot

MOST_LISTED = 60_000
"""Maximum number of hashes in a list of notes.

A list starts with the newest notes, which are the ones that a role restored from a backup lacks.
"""


Statement = tuple[str, tuple[object, ...]]
"""An SQL statement and its values."""


class UnsentNote(NamedTuple):
    """A note of this role that another role has not accepted yet."""

    number: int
    contract: str
    role: str
    note: bytes
    tries: int


class Notes:
    """The notes in the database of a role."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def sign(
        self,
        entry: Entry,
        text: bytes,
        signer: Signer,
        others: Iterable[str],
        extra_statement: Statement | None = None,
    ) -> bytes:
        """Sign a text, and return its note with all known signatures.

        If the text is new, the note is queued for the roles ``others``, and the SQL statement
        ``extra_statement`` is executed in the same transaction. Raises ProblemError if the slot of
        ``entry`` contains another text.
        """
        found = fingerprint_of(text)
        if self._is_slot_free(signer.name, entry.slot, found):
            note = sign_note(merge_notes(text, [self.of(found) or text]), signer)
            with self.database.transaction(f"sign {entry.kind}") as open_:
                if extra_statement is not None:
                    open_.execute(*extra_statement)
                _store(open_, entry, found, note, signer.name)
                for role in others:
                    open_.execute("INSERT INTO outbox (hash, role) VALUES (?, ?)", (found, role))
        return self.of(found) or b""

    def remember(self, entry: Entry, note: bytes, signer: str) -> bool:
        """Store the note of another role in the slot of ``entry``, and return whether it is new.

        Raises ProblemError if the slot of ``entry`` contains another text.
        """
        found = fingerprint_of(note)
        if not self._is_slot_free(signer, entry.slot, found):
            return False
        with self.database.transaction(f"remember {entry.kind}") as open_:
            _store(open_, entry, found, note, signer)
        return True

    def take_up(
        self, entry: Entry, note: bytes, signer: Mapping[str, bytes], statement: Statement
    ) -> None:
        """Store a note that the only key in ``signer`` has signed, and execute an SQL statement.

        Raises ProblemError if the slot of ``entry`` contains another text.
        """
        (name,) = signer
        found, text = fingerprint_of(note), text_of(note)
        own = merge_notes(text, [note], signer)
        if self._is_slot_free(name, entry.slot, found):
            kept = merge_notes(text, [self.of(found) or text, own])
            with self.database.transaction("take up") as open_:
                _store(open_, entry, found, kept, name)
                open_.execute(*statement)

    def merge(self, note: bytes, keys: Mapping[str, bytes]) -> bytes:
        """Return the note with the signatures of both ``note`` and the stored copy of its text.

        Only signatures of ``keys`` are kept, so that strangers cannot make the note longer. Raises
        RefusedError if there is no stored note with this text.
        """
        own = self.of(fingerprint_of(note))
        if own is None:
            raise make_refusal("another-text", "note", "a text that is known", fingerprint_of(note))
        merged = merge_notes(text_of(own), [own, note], keys)
        if merged != own:
            with self.database.transaction("merge") as open_:
                found = fingerprint_of(own)
                open_.execute("UPDATE notes SET note = ? WHERE hash = ?", (merged, found))
                _sign_off(open_, found, find_signers(merged, keys))
        return merged

    def of(self, digest: str) -> bytes | None:
        """Return the note whose text has this SHA-256, or None."""
        rows = self.database.rows("SELECT note FROM notes WHERE hash = ?", digest)
        return rows[0][0] if rows else None

    def hash_in_slot(self, signer: str, slot: Slot) -> str | None:
        """Return the SHA-256 of the text that ``signer`` has signed for a slot, or None."""
        rows = self.database.rows(
            "SELECT hash FROM slots WHERE signer = ? AND slot = ?", signer, slot
        )
        return rows[0][0] if rows else None

    def has_signed(self, signer: str, digest: str) -> bool:
        """Return whether ``signer`` has signed the text with this SHA-256, as far as is stored."""
        query = "SELECT 1 FROM slots WHERE signer = ? AND hash = ?"
        return bool(self.database.rows(query, signer, digest))

    def entry(self, digest: str) -> Entry | None:
        """Return the entry of the note with this digest, or None if the note is unknown.

        The slot name of the entry is left empty.
        """
        rows = self.database.rows(
            "SELECT kind, contract, round, hop FROM notes WHERE hash = ?", digest
        )
        return Entry("", *rows[0]) if rows else None

    def of_round(self, contract: str, number: int, *kinds: str) -> list[bytes]:
        """Return the notes of a round that have one of the given kinds, ordered by kind and hop."""
        marks = ", ".join("?" * len(kinds))
        rows = self.database.rows(
            "SELECT note FROM notes WHERE contract = ? AND round = ? AND kind IN "
            f"({marks}) ORDER BY kind, hop",
            contract,
            number,
            *kinds,
        )
        return [note for (note,) in rows]

    def list_signed_by(self, name: str) -> list[str]:
        """Return the SHA-256 of the notes that ``name`` has signed, newest first."""
        rows = self.database.rows(
            "SELECT hash FROM notes JOIN signers USING (hash) WHERE name = ? "
            "ORDER BY notes.rowid DESC LIMIT ?",
            name,
            MOST_LISTED,
        )
        return [found for (found,) in rows]

    def slots_of(self, signer: str) -> set[str]:
        """Return the SHA-256 of all stored texts that ``signer`` has signed."""
        rows = self.database.rows("SELECT hash FROM slots WHERE signer = ?", signer)
        return {found for (found,) in rows}

    def list_unsent(self) -> list[UnsentNote]:
        """Return the notes that are still to be sent, oldest first."""
        return [
            UnsentNote(*row)
            for row in self.database.rows(
                "SELECT number, contract, role, note, tries FROM outbox JOIN notes USING (hash) "
                "ORDER BY number"
            )
        ]

    def record_try(self, errand: UnsentNote, *, done: bool) -> None:
        """Record an attempt to send a note.

        A note that was sent is removed from the queue.
        """
        with self.database.transaction("errand") as open_:
            if done:
                open_.execute("DELETE FROM outbox WHERE number = ?", (errand.number,))
            else:
                open_.execute(
                    "UPDATE outbox SET tries = tries + 1 WHERE number = ?", (errand.number,)
                )

    def send_again(self, digest: str, roles: Iterable[str]) -> None:
        """Queue the note with this SHA-256 for ``roles`` again, unless it is still in the queue."""
        late = list(roles)
        if not late:
            return
        with self.database.transaction("errand") as open_:
            for role in late:
                open_.execute(
                    "INSERT OR IGNORE INTO outbox (hash, role) VALUES (?, ?)", (digest, role)
                )

    def list_untried(self, digest: str) -> list[str]:
        """Return the names of the roles to which no attempt to send a note was made."""
        rows = self.database.rows("SELECT role FROM outbox WHERE hash = ? AND tries = 0", digest)
        return [role for (role,) in rows]

    def _is_slot_free(self, signer: str, slot: Slot, digest: str) -> bool:
        """Return whether the slot is empty; raises ProblemError if it contains another text."""
        taken = self.hash_in_slot(signer, slot)
        if taken is not None and taken != digest:
            raise ProblemError(Problem.ANOTHER_NOTE)
        return taken is None


def _store(open_: Connection, entry: Entry, digest: str, note: bytes, signer: str) -> None:
    """Fill a slot, and store its note."""
    open_.execute("INSERT INTO slots VALUES (?, ?, ?)", (signer, entry.slot, digest))
    open_.execute(
        "INSERT INTO notes VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (hash) DO UPDATE SET note = excluded.note",
        (digest, entry.kind, entry.contract, entry.round, entry.hop, note),
    )
    _sign_off(open_, digest, [signer])


def _sign_off(open_: Connection, digest: str, names: Iterable[str]) -> None:
    for name in names:
        open_.execute("INSERT OR IGNORE INTO signers VALUES (?, ?)", (name, digest))
