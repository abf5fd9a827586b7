"""A serving role without its sockets: it signs notes, and handles received notes."""

import threading
from collections.abc import Callable
from contextlib import suppress

from mixtally.device.contract.fields import fingerprint_of, text_of
from mixtally.device.wire.arrivals import ArrivalLists
from mixtally.device.wire.manifest import (
    Manifest,
    Receipt,
    read_receipt,
    write_manifest,
    write_receipt,
)
from mixtally.device.wire.problem import Problem
from mixtally.device.wire.sheet import write_withdrawal
from mixtally.errors import RefusedError
from mixtally.model.agreement import Agreement
from mixtally.primitives.chance import Chance
from mixtally.server.node import disk
from mixtally.server.node.disk import Step, no_step
from mixtally.server.node.events import Condition, Log
from mixtally.server.node.folder import Folder
from mixtally.server.node.key_rotation import check_role_keys
from mixtally.server.node.note_reader import NoteReader
from mixtally.server.node.refusal import OldStateError, ProblemError, problem_of
from mixtally.server.node.rounds import RoundRow, round_id
from mixtally.server.node.rules import check_number
from mixtally.server.node.signing_slots import Entry, contract_entry, manifest_entry, receipt_entry
from mixtally.server.node.state import RoleState


class Node(RoleState):
    """The common part of a mix and a collector; ``RoleState`` describes the parameters.

    The attribute ``wake`` is called when a note or a piece arrives, so that the role's loop runs.
    Threads may share a node.
    """

    def __init__(
        self, folder: Folder, chance: Chance, step: Step = no_step, log: Log | None = None
    ) -> None:
        super().__init__(folder, chance, step, log)
        self.fatal_error: BaseException | None = None
        self.wake: Callable[[], None] = lambda: None
        self._awake: set[str] = set()
        self._turn = threading.RLock()
        self._reader = NoteReader(self)

    def sign_contract(self, agreement: Agreement, data: bytes) -> bytes:
        """Sign a contract, and return its note with all known signatures.

        Raises ProblemError if this role has signed another contract of the same name and serial,
        and PlanError if the key of a role was replaced without a rotation.
        """
        self.check_contract(agreement)
        self.sign(agreement, contract_entry(agreement), text_of(data))
        return self.notes.merge(data, agreement.keys)

    def check_contract(self, agreement: Agreement) -> None:
        """Check that this role may sign a contract, or has signed it.

        Raises ProblemError if this role has signed another contract of the same name and serial,
        and PlanError if the key of a role was replaced without a rotation.
        """
        signed = self._signed_hash(contract_entry(agreement))
        if signed not in (None, agreement.contract):
            raise ProblemError(Problem.ANOTHER_NOTE)
        if signed is None:
            check_role_keys(self.notes, agreement)

    def has_signed_contract(self, agreement: Agreement) -> bool:
        """Return whether this role has signed the contract."""
        return self._signed_hash(contract_entry(agreement)) == agreement.contract

    def key(self, contract: str, number: int) -> bytes:
        """Return the key configuration of this role for a round.

        The round must be signed, or still be signable. The key is on disk when the method returns.
        Every call returns the same key. Raises ProblemError if the round is over or cannot be
        signed.
        """
        agreement, name = self.agreement(contract), round_id(contract, number)
        # Two simultaneous requests must not create two keys for one round.
        with self._turn:
            if self.rounds.of(contract, number) is None:
                last = self.rounds.last(agreement.name)
                check_number(agreement, self.latest(agreement.name), last, number)
                self.keys.ensure_key(name, agreement.suite)
            elif not self.keys.has_key(name):
                raise ProblemError(Problem.ROUND_CLOSED)
            return self.keys.configuration(name, agreement.suite)

    def take_note(self, data: bytes, now: int) -> bytes | None:
        """Handle a note that another party sent.

        Returns the contract or sheet with all known signatures, and None for a manifest or receipt.
        Raises ProblemError for a refused note, and OldStateError for proof that this role has lost
        data.
        """
        # Notes are handled one at a time: two sheets must not pass the checks for the same slot.
        with self._turn:
            try:
                answer = self._reader.take_note(data, now)
            except RefusedError as error:
                raise problem_of(error) from error
            except OldStateError as error:
                self.fatal_error = error
                raise
        self.wake()
        return answer

    def take_up(self, note: bytes, about: bytes | None) -> None:
        """Store a note that this role signed and lost, as ``Restored.take_up`` does."""
        with self._turn:
            kind = self.restored.take_up(note, about)
        if kind == "contract" and fingerprint_of(note) not in self.agreements:
            self.log.set_condition(Condition.UNSIGNED, True, fingerprint=fingerprint_of(note))

    def take_up_round(self, note: bytes, agreement: Agreement, number: int) -> None:
        """Store a round that a peer knows as lost, as ``Restored.take_up_round`` does."""
        with self._turn, suppress(ProblemError):
            self.restored.take_up_round(note, agreement, number)

    def propose(self, text: bytes, now: int) -> bytes:
        """Sign a sheet as the collector, before any other role signs, and return its note.

        Raises ProblemError for a sheet that the rules for signing do not permit.
        """
        with self._turn:
            return self._reader.propose(text, now)

    def withdraw(self, row: RoundRow, now: int) -> bytes:
        """Sign the withdrawal of a round before any other role does, and return its note.

        Raises ProblemError if the round has opened or is about to open.
        """
        with self._turn:
            return self._reader.withdraw(write_withdrawal(row.sheet), now)

    def mark_awake(self, name: str) -> None:
        """Record that the role ``name`` has started.

        This is called when that role requests the notes with its own signature, as every role does
        at its start.
        """
        if any(name in agreement.keys for agreement in self.agreements.values()):
            self._awake.add(name)

    def pop_awake(self) -> set[str]:
        """Return the names of roles that have started since the last call."""
        heard, self._awake = self._awake, set()
        return heard

    def sign_manifest(self, row: RoundRow, manifest: Manifest) -> bytes:
        """Sign a manifest, queue it for all other roles, and return its note.

        Raises ProblemError if another manifest was signed for this round.
        """
        agreement = self.agreements[row.contract]
        entry = manifest_entry(row, agreement.place)
        with self._turn:
            return self.sign(agreement, entry, write_manifest(manifest))

    def sign_receipt(
        self, row: RoundRow, manifest: str, arrivals: ArrivalLists | None = None
    ) -> bytes:
        """Sign that all pieces of the preceding manifest are on disk, and return the note.

        ``arrivals`` are the lists of what a collector received.
        """
        # The name of a piece that has just arrived may not be synced yet.
        disk.sync_folder(self.round_folder(row))
        agreement = self.agreements[row.contract]
        entry = receipt_entry(row, agreement.place)
        with self._turn:
            text = write_receipt(Receipt(manifest, agreement.place, arrivals))
            return self.sign(agreement, entry, text)

    def has_signed_receipt(self, row: RoundRow) -> bool:
        """Return whether this role has signed the receipt of the preceding batch."""
        place = self.agreements[row.contract].place
        return self._signed_hash(receipt_entry(row, place)) is not None

    def has_receipt(self, row: RoundRow, manifest: str) -> bool:
        """Return whether the next role has signed a receipt of the manifest ``manifest``."""
        agreement = self.agreements[row.contract]
        role, place = agreement.next_role, agreement.place + 1
        if role is None:
            return False
        taken = self.notes.hash_in_slot(role.name, receipt_entry(row, place).slot)
        note = None if taken is None else self.notes.of(taken)
        return note is not None and read_receipt(note).manifest == manifest

    def shred_round(self, row: RoundRow) -> None:
        """Delete the files and the key of a round; only signed notes and its row remain."""
        # No request may use the round while it is being deleted.
        with self._turn:
            self.pieces.forget(row.folder)
            self._expected.pop(row.folder, None)
            # The key is destroyed first. If the process crashes here, the remaining envelopes are
            # unreadable.
            self.keys.destroy(row.folder)
            disk.remove_folder(self.round_folder(row))
        self.step("after shred")

    def _signed_hash(self, entry: Entry) -> str | None:
        """Return the SHA-256 of the text that this role has signed in the slot of ``entry``."""
        return self.notes.hash_in_slot(self.signer.name, entry.slot)
