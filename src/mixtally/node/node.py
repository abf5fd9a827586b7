"""A role that serves, without its sockets: what it holds, and what it makes of what it is sent."""

import threading
from collections.abc import Callable
from pathlib import Path

from mixtally.errors import RefusedError
from mixtally.ground.chance import Chance
from mixtally.node import disk
from mixtally.node.database import Database
from mixtally.node.disk import Step, no_step
from mixtally.node.events import Log, Said, written
from mixtally.node.folder import Folder
from mixtally.node.keys import Keys
from mixtally.node.notes import Notes
from mixtally.node.pieces import Pieces
from mixtally.node.reading import Reader
from mixtally.node.refusal import OldStateError, ProblemError, problem_of
from mixtally.node.rounds import RoundRow, Rounds, round_id
from mixtally.node.rules import check_number
from mixtally.node.slots import Entry, contract_entry, manifest_entry, receipt_entry
from mixtally.records.agreement import Agreement
from mixtally.wire.manifest import Manifest, Receipt, read_manifest, write_manifest, write_receipt
from mixtally.wire.note import signed_by
from mixtally.wire.problem import Problem
from mixtally.wire.reading import fingerprint_of, text_of
from mixtally.wire.sheet import write_withdrawal

_MOST_PARSED = 1 << 17
"""Pieces of manifests that are kept parsed."""


def _taken(row: RoundRow, digest: str, manifest: Manifest) -> None:
    """A mix takes a batch as it is."""


def _pieces(manifest: Manifest) -> int:
    """How many it names, and one for itself."""
    return 1 + sum(len(part.pieces) for part in manifest.parts)


class Node:
    """What a mix and a collector have in common.

    where
      step     told the name of every durable step
      log      tells the operator what happens
      wake     called when something came that the role's loop may act upon
      accept   called with a round and its preceding manifest before any piece of that may come;
               what it raises keeps them out

    ``agreements`` are those it has taken up (fingerprint -> Agreement). Of these, a role signs and
    takes nothing under those that are not ``cleared``: other roles are asked first what they know.
    Threads may share one.
    """

    def __init__(
        self, folder: Folder, chance: Chance, step: Step = no_step, log: Log | None = None
    ) -> None:
        self.folder, self.signer, self.chance, self.step = folder, folder.signer, chance, step
        self.log = log or Log()
        disk.settle(folder.path)
        self.database = Database(folder.database, step)
        self.notes, self.rounds = Notes(self.database), Rounds(self.database)
        self.keys = Keys(folder.inner("keys"), folder.master, chance, step)
        self.pieces = Pieces(folder.inner("rounds"), step)
        self.agreements: dict[str, Agreement] = {}
        self.cleared: set[str] = set()
        self.stopped: BaseException | None = None
        self.wake: Callable[[], None] = lambda: None
        self.accept: Callable[[RoundRow, str, Manifest], None] = _taken
        self._heard: set[str] = set()
        self._parsed: dict[str, Manifest] = {}
        self._expected: dict[str, str] = {}
        """Round -> the manifest whose pieces may come."""
        self._turn = threading.RLock()
        self._reader = Reader(self)

    # -- contracts ------------------------------------------------------------------------------

    def take_up(self, agreement: Agreement) -> None:
        """Serve a contract that this role has signed, and expect what its rounds still lack."""
        self.agreements[agreement.contract] = agreement
        for row in self.rounds.all():
            if row.contract == agreement.contract and not row.ended:
                self.expect(row)

    def sign_contract(self, agreement: Agreement, data: bytes) -> bytes:
        """Its note with this role's signature; raises ProblemError where another was signed."""
        entry = contract_entry(agreement.contract, agreement.name, agreement.serial)
        others = [role.name for role in agreement.others]
        self.notes.sign(entry, text_of(data), self.signer, others)
        return self.notes.merge(data, agreement.keys)

    def check_contract(self, agreement: Agreement) -> None:
        """Raises ProblemError where another one of its name and serial was signed."""
        entry = contract_entry(agreement.contract, agreement.name, agreement.serial)
        taken = self.notes.taken(self.signer.name, entry.slot)
        if taken not in (None, agreement.contract):
            raise ProblemError(Problem.ANOTHER_NOTE)

    def signed_contract(self, agreement: Agreement) -> bool:
        """Whether this role has signed it."""
        entry = contract_entry(agreement.contract, agreement.name, agreement.serial)
        return self.notes.taken(self.signer.name, entry.slot) == agreement.contract

    def latest(self, name: str) -> int:
        """The largest serial of a name that this role has taken up."""
        return max((one.serial for one in self.agreements.values() if one.name == name), default=0)

    def agreement(self, contract: str) -> Agreement:
        """The agreement; raises ProblemError for one that this role does not serve, or not yet."""
        found = self.agreements.get(contract)
        if found is None:
            raise ProblemError(Problem.UNKNOWN)
        if contract not in self.cleared:
            raise ProblemError(Problem.NOT_READY, after=5)
        return found

    # -- rounds ---------------------------------------------------------------------------------

    def tell(self, row: RoundRow, event: str, **said: Said) -> None:
        """Tell the operator something of a round."""
        self.log.tell(event, contract=row.name, round=row.round, **said)

    def tell_signed(self, row: RoundRow, by: str = "") -> None:
        """Tell whose signatures a round has, and its window, which may open later."""
        times = {"opens": written(row.opens), "closes": written(row.closes)}
        self.tell(row, f"round signed{by}", **times)

    def key(self, contract: str, number: int) -> bytes:
        """The key configuration of this role for a round that it may still sign, or has signed.

        It is on the disk when this returns, and the same for every call.
        """
        agreement, name = self.agreement(contract), round_id(contract, number)
        with self._turn:
            if self.rounds.of(contract, number) is None:
                last = self.rounds.last(agreement.name)
                check_number(agreement, self.latest(agreement.name), last, number)
                self.keys.made(name, agreement.suite)
            elif not self.keys.there(name):
                raise ProblemError(Problem.ROUND_CLOSED)
            return self.keys.configuration(name, agreement.suite)

    def take(self, data: bytes, now: int) -> bytes | None:
        """A note that came: a contract or sheet is given back with all signatures known.

        Of manifests and receipts nothing is given back. Raises ProblemError, and OldStateError
        where the note shows that this role has forgotten something.
        """
        with self._turn:
            try:
                answer = self._reader.take(data, now)
            except RefusedError as error:
                raise problem_of(error) from error
            except OldStateError as error:
                self.stopped = error
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

    def hear(self, name: str) -> None:
        """A role asked for the notes that it signed: it does so when it starts, so it is awake."""
        if any(name in agreement.keys for agreement in self.agreements.values()):
            self._heard.add(name)

    def take_heard(self) -> set[str]:
        """In whose names notes were asked for since the last time."""
        heard, self._heard = self._heard, set()
        return heard

    def sheet_note(self, row: RoundRow) -> bytes:
        """The sheet of a round, with all signatures known."""
        return self.notes.of(row.sheet) or b""

    def complete(self, row: RoundRow) -> bool:
        """Whether all roles have signed the sheet."""
        keys = self.agreements[row.contract].keys
        return signed_by(self.sheet_note(row), keys) == set(keys)

    def manifest_hash(self, row: RoundRow, hop: int) -> str | None:
        """SHA-256 of the manifest that ``hop`` signed for a round."""
        roles = self.agreements[row.contract].roles
        slot = manifest_entry(row.contract, row.round, row.sheet, hop).slot
        return self.notes.taken(roles[hop - 1].name, slot) if hop <= len(roles) else None

    def manifest_of(self, row: RoundRow, hop: int) -> tuple[str, Manifest] | None:
        """The manifest that ``hop`` signed for a round, and its SHA-256; it is parsed once."""
        digest = self.manifest_hash(row, hop)
        if digest is None:
            return None
        found = self._parsed.pop(digest, None)
        if found is None:
            found = read_manifest(self.notes.of(digest) or b"")
        self._parsed[digest] = found  # the last one was asked for last
        while sum(map(_pieces, self._parsed.values())) > _MOST_PARSED and len(self._parsed) > 1:
            del self._parsed[next(iter(self._parsed))]
        return digest, found

    def before(self, row: RoundRow) -> tuple[str, Manifest] | None:
        """The manifest of the hop before this role, and its SHA-256; None at the first."""
        place = self.agreements[row.contract].place
        return None if place == 1 else self.manifest_of(row, place - 1)

    def expect(self, row: RoundRow) -> None:
        """Let the pieces come that the preceding manifest names, if it is here."""
        before, agreement = self.before(row), self.agreements[row.contract]
        if before is None or self._expected.get(row.folder) == before[0]:
            return
        if self.keys.there(row.folder):
            if before[1].destroyed is None:
                self.accept(row, *before)
            self.pieces.expect(
                row.folder, before[1], [part[agreement.place - 1] for part in agreement.sizes]
            )
            self._expected[row.folder] = before[0]

    def missing(self, row: RoundRow) -> int:
        """How many pieces have yet to come of what the preceding manifest names."""
        before = self.before(row)
        return 0 if before is None else self.pieces.missing(row.folder, before[1])

    def sign_manifest(self, row: RoundRow, manifest: Manifest) -> bytes:
        """Its note; it goes to all others. Raises ProblemError where another one was signed."""
        agreement = self.agreements[row.contract]
        entry = manifest_entry(row.contract, row.round, row.sheet, agreement.place)
        return self._sign(agreement, entry, write_manifest(manifest))

    def sign_receipt(self, row: RoundRow, manifest: str) -> bytes:
        """The note that says that all pieces of the preceding manifest are on this disk."""
        disk.sync_folder(self.round_folder(row))  # one of them may just have got its name
        agreement = self.agreements[row.contract]
        entry = receipt_entry(row.contract, row.round, row.sheet, agreement.place)
        return self._sign(agreement, entry, write_receipt(Receipt(manifest, agreement.place)))

    def receipt_signed(self, row: RoundRow) -> bool:
        """Whether this role has said that it holds the preceding batch."""
        place = self.agreements[row.contract].place
        entry = receipt_entry(row.contract, row.round, row.sheet, place)
        return self.notes.taken(self.signer.name, entry.slot) is not None

    def receipt_came(self, row: RoundRow, manifest: str) -> bool:
        """Whether the next role has said that it holds all that ``manifest`` names."""
        agreement = self.agreements[row.contract]
        role = agreement.following
        entry = receipt_entry(row.contract, row.round, row.sheet, agreement.place + 1)
        if role is None:
            return False
        text = write_receipt(Receipt(manifest, agreement.place + 1))
        return self.notes.taken(role.name, entry.slot) == fingerprint_of(text)

    def round_folder(self, row: RoundRow) -> Path:
        """Where all files of a round lie, but its key."""
        return self.folder.inner("rounds") / row.folder

    def shred(self, row: RoundRow) -> None:
        """Leave of a round only what was signed: no row, no file, no key."""
        with self._turn:  # nobody expects or asks for anything of it meanwhile
            self.pieces.forget(row.folder)
            self._expected.pop(row.folder, None)
            self.keys.destroy(row.folder)
            disk.remove_folder(self.round_folder(row))
        self.step("after shred")

    def drop_pending(self, agreement: Agreement, below: int) -> None:
        """Destroy keys of rounds that were never signed and no longer can be."""
        for number in range(1, below):
            name = round_id(agreement.contract, number)
            if self.keys.there(name) and self.rounds.of(agreement.contract, number) is None:
                self.keys.destroy(name)

    def close(self) -> None:
        """Give the database back."""
        self.database.close()

    def _sign(self, agreement: Agreement, entry: Entry, text: bytes) -> bytes:
        with self._turn:
            return self.notes.sign(
                entry, text, self.signer, [role.name for role in agreement.others]
            )
