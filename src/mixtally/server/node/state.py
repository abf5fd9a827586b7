"""What a role remembers: contracts, notes, rounds, keys, pieces, and what was parsed of them."""

from collections.abc import Callable
from pathlib import Path

from mixtally.device.wire.manifest import Manifest, read_manifest
from mixtally.device.wire.note import find_signers
from mixtally.device.wire.problem import Problem
from mixtally.model.agreement import Agreement
from mixtally.primitives.chance import Chance
from mixtally.server.node import disk
from mixtally.server.node.database import Database
from mixtally.server.node.disk import Step, no_step
from mixtally.server.node.events import FieldValue, Log, format_time
from mixtally.server.node.folder import Folder
from mixtally.server.node.keys import Keys
from mixtally.server.node.notes import Notes, Statement
from mixtally.server.node.pieces import Pieces
from mixtally.server.node.refusal import ProblemError
from mixtally.server.node.rounds import RoundRow, Rounds, round_id
from mixtally.server.node.signing_slots import Entry, manifest_entry

_MOST_PARSED = 1 << 17
"""Pieces of manifests that are kept parsed."""


def _accept_any_batch(row: RoundRow, digest: str, manifest: Manifest) -> None:
    """A mix takes a batch as it is."""


def _count_pieces(manifest: Manifest) -> int:
    """How many it names, and one for itself."""
    return 1 + sum(len(part.pieces) for part in manifest.parts)


class RoleState:
    """What a mix or a collector knows, all of it from its folder.

    where
      step     told the name of every durable step
      log      tells the operator what happens
      accept   called with a round and its preceding manifest before any piece of that may come;
               what it raises keeps them out

    ``agreements`` are those it has taken up (fingerprint -> Agreement). Of these, a role signs and
    takes nothing under those that are not ``cleared``: other roles are asked first what they know.
    """

    def __init__(
        self, folder: Folder, chance: Chance, step: Step = no_step, log: Log | None = None
    ) -> None:
        self.folder, self.signer, self.chance, self.step = folder, folder.signer, chance, step
        self.log = log or Log()
        disk.sync_tree(folder.path)
        self.database = Database(folder.database, step)
        self.notes, self.rounds = Notes(self.database), Rounds(self.database)
        self.keys = Keys(folder.subfolder("keys"), folder.master, chance, step)
        self.pieces = Pieces(folder.subfolder("rounds"), step)
        self.agreements: dict[str, Agreement] = {}
        self.cleared: set[str] = set()
        self.accept: Callable[[RoundRow, str, Manifest], None] = _accept_any_batch
        self._parsed: dict[str, Manifest] = {}
        self._expected: dict[str, str] = {}
        """Round -> the manifest whose pieces may come."""

    def start_serving(self, agreement: Agreement) -> None:
        """Serve a contract that this role has signed, and expect what its rounds still lack."""
        self.agreements[agreement.contract] = agreement
        for row in self.rounds.all():
            if row.contract == agreement.contract and not row.ended:
                self.expect_pieces(row)

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

    def sign(
        self,
        agreement: Agreement,
        entry: Entry,
        text: bytes,
        extra_statement: Statement | None = None,
    ) -> bytes:
        """A note with this role's signature, which goes to all others; as ``Notes.sign``."""
        others = [role.name for role in agreement.other_roles]
        return self.notes.sign(entry, text, self.signer, others, extra_statement)

    def tell(self, row: RoundRow, event: str, **said: FieldValue) -> None:
        """Tell the operator something of a round."""
        self.log.tell(event, contract=row.name, round=row.round, **said)

    def tell_signed(self, row: RoundRow, by: str = "") -> None:
        """Tell whose signatures a round has, and its window, which may open later."""
        times = {"opens": format_time(row.opens), "closes": format_time(row.closes)}
        self.tell(row, f"round signed{by}", **times)

    def sheet_note(self, row: RoundRow) -> bytes:
        """The sheet of a round, with all signatures known."""
        return self.notes.of(row.sheet) or b""

    def is_complete(self, row: RoundRow) -> bool:
        """Whether all roles have signed the sheet."""
        keys = self.agreements[row.contract].keys
        return find_signers(self.sheet_note(row), keys) == set(keys)

    def manifest_hash(self, row: RoundRow, hop: int) -> str | None:
        """SHA-256 of the manifest that ``hop`` signed for a round."""
        roles = self.agreements[row.contract].roles
        slot = manifest_entry(row, hop).slot
        return self.notes.hash_in_slot(roles[hop - 1].name, slot) if hop <= len(roles) else None

    def manifest_of(self, row: RoundRow, hop: int) -> tuple[str, Manifest] | None:
        """The manifest that ``hop`` signed for a round, and its SHA-256; it is parsed once."""
        digest = self.manifest_hash(row, hop)
        if digest is None:
            return None
        found = self._parsed.pop(digest, None)
        if found is None:
            found = read_manifest(self.notes.of(digest) or b"")
        self._parsed[digest] = found  # the last one was asked for last
        while (
            sum(map(_count_pieces, self._parsed.values())) > _MOST_PARSED and len(self._parsed) > 1
        ):
            del self._parsed[next(iter(self._parsed))]
        return digest, found

    def preceding_manifest(self, row: RoundRow) -> tuple[str, Manifest] | None:
        """The manifest of the hop before this role, and its SHA-256; None at the first."""
        place = self.agreements[row.contract].place
        return None if place == 1 else self.manifest_of(row, place - 1)

    def expect_pieces(self, row: RoundRow) -> None:
        """Let the pieces come that the preceding manifest names, if it is here."""
        before, agreement = self.preceding_manifest(row), self.agreements[row.contract]
        if before is None or self._expected.get(row.folder) == before[0]:
            return
        if self.keys.has_key(row.folder):
            if before[1].destroyed is None:
                self.accept(row, *before)
            self.pieces.expect(
                row.folder, before[1], [part[agreement.place - 1] for part in agreement.sizes]
            )
            self._expected[row.folder] = before[0]

    def count_missing(self, row: RoundRow) -> int:
        """How many pieces have yet to come of what the preceding manifest names."""
        before = self.preceding_manifest(row)
        return 0 if before is None else self.pieces.count_missing(row.folder, before[1])

    def round_folder(self, row: RoundRow) -> Path:
        """Where all files of a round lie, but its key."""
        return self.folder.subfolder("rounds") / row.folder

    def destroy_unused_keys(self, agreement: Agreement, below: int) -> None:
        """Destroy keys of rounds that were never signed and no longer can be."""
        for number in range(1, below):
            name = round_id(agreement.contract, number)
            if self.keys.has_key(name) and self.rounds.of(agreement.contract, number) is None:
                self.keys.destroy(name)

    def close(self) -> None:
        """Give the database back."""
        self.database.close()
