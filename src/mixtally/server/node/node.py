"""A role that serves, without its sockets: what it signs, and what it makes of what it is sent."""

import threading
from collections.abc import Callable

from mixtally.device.contract.fields import fingerprint_of, text_of
from mixtally.device.wire.manifest import Manifest, Receipt, write_manifest, write_receipt
from mixtally.device.wire.problem import Problem
from mixtally.device.wire.sheet import write_withdrawal
from mixtally.errors import RefusedError
from mixtally.model.agreement import Agreement
from mixtally.primitives.chance import Chance
from mixtally.server.node import disk
from mixtally.server.node.disk import Step, no_step
from mixtally.server.node.events import Log
from mixtally.server.node.folder import Folder
from mixtally.server.node.note_reader import NoteReader
from mixtally.server.node.refusal import OldStateError, ProblemError, problem_of
from mixtally.server.node.rounds import RoundRow, round_id
from mixtally.server.node.rules import check_number
from mixtally.server.node.signing_slots import Entry, contract_entry, manifest_entry, receipt_entry
from mixtally.server.node.state import RoleState


class Node(RoleState):
    """What a mix and a collector have in common; ``RoleState`` says what is given.

    ``wake`` is called when something came that the role's loop may act upon. Threads may share one.
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
        """Its note with this role's signature; raises ProblemError where another was signed."""
        self.sign(agreement, contract_entry(agreement), text_of(data))
        return self.notes.merge(data, agreement.keys)

    def check_contract(self, agreement: Agreement) -> None:
        """Raises ProblemError where another one of its name and serial was signed."""
        if self._signed_hash(contract_entry(agreement)) not in (None, agreement.contract):
            raise ProblemError(Problem.ANOTHER_NOTE)

    def has_signed_contract(self, agreement: Agreement) -> bool:
        """Whether this role has signed it."""
        return self._signed_hash(contract_entry(agreement)) == agreement.contract

    def key(self, contract: str, number: int) -> bytes:
        """The key configuration of this role for a round that it may still sign, or has signed.

        It is on the disk when this returns, and the same for every call.
        """
        agreement, name = self.agreement(contract), round_id(contract, number)
        with self._turn:
            if self.rounds.of(contract, number) is None:
                last = self.rounds.last(agreement.name)
                check_number(agreement, self.latest(agreement.name), last, number)
                self.keys.ensure_key(name, agreement.suite)
            elif not self.keys.has_key(name):
                raise ProblemError(Problem.ROUND_CLOSED)
            return self.keys.configuration(name, agreement.suite)

    def take_note(self, data: bytes, now: int) -> bytes | None:
        """A note that came: a contract or sheet is given back with all signatures known.

        Of manifests and receipts nothing is given back. Raises ProblemError, and OldStateError
        where the note shows that this role has forgotten something.
        """
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

    def propose(self, text: bytes, now: int) -> bytes:
        """Sign a sheet as the collector, before anybody else does; its note.

        Raises ProblemError for one that this role would not sign either.
        """
        with self._turn:
            return self._reader.propose(text, now)

    def withdraw(self, row: RoundRow, now: int) -> bytes:
        """Sign that a round is withdrawn, before anybody else does; the note.

        Raises ProblemError for one that has opened.
        """
        with self._turn:
            return self._reader.withdraw(write_withdrawal(row.sheet), now)

    def mark_awake(self, name: str) -> None:
        """A role asked for the notes that it signed: it does so when it starts, so it is awake."""
        if any(name in agreement.keys for agreement in self.agreements.values()):
            self._awake.add(name)

    def pop_awake(self) -> set[str]:
        """In whose names notes were asked for since the last time."""
        heard, self._awake = self._awake, set()
        return heard

    def sign_manifest(self, row: RoundRow, manifest: Manifest) -> bytes:
        """Its note; it goes to all others. Raises ProblemError where another one was signed."""
        agreement = self.agreements[row.contract]
        entry = manifest_entry(row, agreement.place)
        with self._turn:
            return self.sign(agreement, entry, write_manifest(manifest))

    def sign_receipt(self, row: RoundRow, manifest: str) -> bytes:
        """The note that says that all pieces of the preceding manifest are on this disk."""
        disk.sync_folder(self.round_folder(row))  # one of them may just have got its name
        agreement = self.agreements[row.contract]
        entry = receipt_entry(row, agreement.place)
        with self._turn:
            return self.sign(agreement, entry, write_receipt(Receipt(manifest, agreement.place)))

    def has_signed_receipt(self, row: RoundRow) -> bool:
        """Whether this role has said that it holds the preceding batch."""
        place = self.agreements[row.contract].place
        return self._signed_hash(receipt_entry(row, place)) is not None

    def has_receipt(self, row: RoundRow, manifest: str) -> bool:
        """Whether the next role has said that it holds all that ``manifest`` names."""
        agreement = self.agreements[row.contract]
        role, place = agreement.next_role, agreement.place + 1
        if role is None:
            return False
        taken = self.notes.hash_in_slot(role.name, receipt_entry(row, place).slot)
        return taken == fingerprint_of(write_receipt(Receipt(manifest, place)))

    def shred_round(self, row: RoundRow) -> None:
        """Leave of a round only what was signed: no row, no file, no key."""
        with self._turn:  # nobody expects or asks for anything of it meanwhile
            self.pieces.forget(row.folder)
            self._expected.pop(row.folder, None)
            self.keys.destroy(row.folder)
            disk.remove_folder(self.round_folder(row))
        self.step("after shred")

    def _signed_hash(self, entry: Entry) -> str | None:
        """SHA-256 of the text that this role has signed in the slot of ``entry``."""
        return self.notes.hash_in_slot(self.signer.name, entry.slot)
