"""Everything that a role stores: contracts, notes, rounds, keys, pieces and parsed manifests."""

import threading
from collections.abc import Callable
from pathlib import Path

from mixtally.device.wire.manifest import Manifest, is_broken_off, read_manifest
from mixtally.device.wire.note import find_signers
from mixtally.device.wire.problem import Problem
from mixtally.model.agreement import Agreement
from mixtally.primitives.chance import Chance
from mixtally.server.node import disk
from mixtally.server.node.database import Database
from mixtally.server.node.disk import Step, no_step
from mixtally.server.node.events import Condition, FieldValue, Log, format_time
from mixtally.server.node.folder import Folder
from mixtally.server.node.keys import Keys
from mixtally.server.node.lists import Lists
from mixtally.server.node.notes import Notes, Statement
from mixtally.server.node.pieces import Pieces
from mixtally.server.node.refusal import ProblemError
from mixtally.server.node.restored import Restored
from mixtally.server.node.rounds import RoundRow, Rounds, round_id
from mixtally.server.node.signing_slots import Entry, manifest_entry

_MOST_PARSED = 1 << 17
"""The size limit of the cache of parsed manifests, as a number of pieces."""
_PIECES_PER_MANIFEST = 1 << 10
"""The number of pieces that need as much memory as the rest of a manifest.

It is added to the size of each manifest, so that the cache has at most 128 short manifests.
"""


def _accept_any_batch(row: RoundRow, digest: str, manifest: Manifest) -> None:
    """Accept any batch, as a mix does."""


def _count_pieces(manifest: Manifest) -> int:
    """Return the size of a manifest in memory, as a number of pieces."""
    named = [*(part.pieces for part in manifest.parts), *manifest.arrivals]
    return _PIECES_PER_MANIFEST + sum(map(len, named))


class RoleState:
    """State of a mix or a collector, read from its folder.

    ``agreements`` has the contracts that the role serves, by fingerprint. The role acts only under
    the contracts in ``cleared``, whose peers have listed the notes of the role. ``accept`` is
    called with a round and the manifest of its batch before any piece of the batch is accepted. If
    it raises an exception, the pieces are not accepted.
    """

    def __init__(
        self, folder: Folder, chance: Chance, step: Step = no_step, log: Log | None = None
    ) -> None:
        self.folder, self.signer, self.chance, self.step = folder, folder.signer, chance, step
        self.log = log or Log()
        # A killed process may have renamed files without syncing their folder.
        disk.sync_tree(folder.path)
        self.database = Database(folder.database, step, self.log)
        self.notes, self.rounds = Notes(self.database), Rounds(self.database)
        own = [{one.name: one.public} for one in folder.signers]
        self.restored = Restored(self.database, self.notes, self.rounds, own)
        self.keys = Keys(folder.subfolder("keys"), folder.master, chance, step)
        self.pieces = Pieces(folder.subfolder("rounds"), step)
        self.lists = Lists(folder.subfolder("lists"))
        self.agreements: dict[str, Agreement] = {}
        self.cleared: set[str] = set()
        self.accept: Callable[[RoundRow, str, Manifest], None] = _accept_any_batch
        self._parsed: dict[str, tuple[Manifest, int]] = {}
        """Parsed manifests by SHA-256, each with its size; the least recently used is first."""
        self._parsed_pieces = 0
        self._parsing = threading.Lock()
        self._expected: dict[str, str] = {}
        """For each round, the SHA-256 of the manifest whose pieces are accepted."""

    def load_contract(self, agreement: Agreement) -> None:
        """Act under a contract without accepting pieces, as the commands of a served role do."""
        # A new dictionary, because other threads may iterate over the earlier one.
        self.agreements = {**self.agreements, agreement.contract: agreement}

    def start_serving(self, agreement: Agreement) -> None:
        """Serve a signed contract, and accept the pieces that its open rounds still lack."""
        self.load_contract(agreement)
        self.log.set_condition(Condition.UNSIGNED, False, fingerprint=agreement.contract)
        for row in self.rounds.all():
            if row.contract == agreement.contract and not row.ended:
                self.expect_pieces(row)

    def latest(self, name: str) -> int:
        """Return the largest serial of a name that this role serves; 0 if there is none."""
        return max((one.serial for one in self.agreements.values() if one.name == name), default=0)

    def list_peers_at(self, address: str) -> list[str]:
        """Return the names of the other roles with this address, over all served contracts."""
        others = [role for one in list(self.agreements.values()) for role in one.other_roles]
        return sorted({role.name for role in others if role.address == address})

    @property
    def serves_all(self) -> bool:
        """Whether the role serves all contracts that it has signed.

        This is false in a process that has just started, and in a command for one contract.
        """
        ((signed,),) = self.database.rows("SELECT count(*) FROM notes WHERE kind = 'contract'")
        return bool(signed <= len(self.agreements))

    def agreement(self, contract: str) -> Agreement:
        """Return a contract that the role serves.

        Raises ProblemError if the role does not serve the contract, or has not asked its peers yet.
        """
        found = self.agreements.get(contract)
        if found is None:
            raise ProblemError(Problem.UNKNOWN)
        if contract not in self.cleared:
            raise ProblemError(Problem.NOT_READY, retry_seconds=5)
        return found

    def is_unsettled(self) -> bool:
        """Return whether the folder was restored and a peer is not settled (see ``restored``)."""
        if not self.restored.is_restored:
            return False
        served = list(self.agreements.values())
        # Before the first contract is loaded nothing is settled.
        return not served or any(
            self.restored.is_unsettled(one.contract, [role.name for role in one.other_roles])
            for one in served
        )

    def sign(
        self,
        agreement: Agreement,
        entry: Entry,
        text: bytes,
        extra_statement: Statement | None = None,
    ) -> bytes:
        """Sign a text and queue its note for all other roles; see ``Notes.sign``."""
        others = [role.name for role in agreement.other_roles]
        # A contract from before a rotation is served with the key that it names.
        signer = self.folder.signer_of(agreement.keys[self.signer.name])
        return self.notes.sign(entry, text, signer, others, extra_statement)

    def has_own_signature(self, note: bytes) -> bool:
        """Return whether a note has a signature of this role, with its key or an earlier one.

        Raises RefusedError for a false signature, and for bytes that are not a note.
        """
        name = self.signer.name
        keys = {one.keys[name] for one in self.agreements.values() if name in one.keys}
        return any(find_signers(note, {name: key}) for key in {self.signer.public, *keys})

    def tell(self, row: RoundRow, event: str, **said: FieldValue) -> None:
        """Log an event of a round."""
        self.log.tell(event, contract=row.name, round=row.round, **said)

    def tell_signed(self, row: RoundRow, by: str = "") -> None:
        """Log that a round is signed, with the start and end of its window."""
        times = {"opens": format_time(row.opens), "closes": format_time(row.closes)}
        self.tell(row, f"round signed{by}", **times)

    def sheet_note(self, row: RoundRow) -> bytes:
        """Return the sheet of a round with all known signatures."""
        return self.notes.of(row.sheet) or b""

    def is_complete(self, row: RoundRow) -> bool:
        """Return whether all roles have signed the sheet."""
        keys = self.agreements[row.contract].keys
        return find_signers(self.sheet_note(row), keys) == set(keys)

    def manifest_hash(self, row: RoundRow, hop: int) -> str | None:
        """Return the SHA-256 of the manifest that ``hop`` has signed for a round, or None."""
        roles = self.agreements[row.contract].roles
        slot = manifest_entry(row, hop).slot
        return self.notes.hash_in_slot(roles[hop - 1].name, slot) if hop <= len(roles) else None

    def manifest_of(self, row: RoundRow, hop: int) -> tuple[str, Manifest] | None:
        """Return the manifest that ``hop`` has signed for a round, with its SHA-256, or None.

        Recently used manifests are kept parsed.
        """
        digest = self.manifest_hash(row, hop)
        if digest is None:
            return None
        # The loop, routes and threads that call peers share the parsed manifests.
        with self._parsing:
            found = self._parsed.pop(digest, None)
            if found is None:
                manifest = read_manifest(self.notes.of(digest) or b"")
                found = manifest, _count_pieces(manifest)
                self._parsed_pieces += found[1]
            self._parsed[digest] = found
            while self._parsed_pieces > _MOST_PARSED and len(self._parsed) > 1:
                self._parsed_pieces -= self._parsed.pop(next(iter(self._parsed)))[1]
        return digest, found[0]

    def break_off(self, row: RoundRow) -> RoundRow:
        """End a running round if the manifest of another hop states that the hop has broken it off.

        Such a hop never sends a batch.
        """
        agreement = self.agreements[row.contract]
        for hop in range(1, len(agreement.roles)):
            said = None if row.ended or hop == agreement.place else self.manifest_of(row, hop)
            if said is not None and is_broken_off(end := said[1].destroyed):
                row = self.rounds.end(row, end or "")
        return row

    def preceding_manifest(self, row: RoundRow) -> tuple[str, Manifest] | None:
        """Return the manifest of the preceding hop with its SHA-256; None at the first hop."""
        place = self.agreements[row.contract].place
        return None if place == 1 else self.manifest_of(row, place - 1)

    def expect_pieces(self, row: RoundRow) -> None:
        """Accept the pieces of the preceding manifest, if that manifest is known."""
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
        """Return how many pieces of the preceding manifest have not been received."""
        before = self.preceding_manifest(row)
        return 0 if before is None else self.pieces.count_missing(row.folder, before[1])

    def round_folder(self, row: RoundRow) -> Path:
        """Return the folder with all files of a round except its key."""
        return self.folder.subfolder("rounds") / row.folder

    def destroy_unused_keys(self, agreement: Agreement, limit: int) -> None:
        """Destroy the keys of rounds below ``limit`` that were not signed and no longer can be."""
        for number in range(1, limit):
            name = round_id(agreement.contract, number)
            if self.keys.has_key(name) and self.rounds.of(agreement.contract, number) is None:
                self.keys.destroy(name)

    def destroy_earlier_signers(self) -> None:
        """Destroy the signing keys from before a rotation that no contract needs any more.

        A contract needs the signing key that it names until a later serial is served and the keys
        of all its rounds are destroyed. By then everything is signed.
        """
        if not self.folder.earlier or not self.serves_all:
            return
        name, rows = self.signer.name, self.rounds.all()
        running = {row.contract for row in rows if self.keys.has_key(row.folder)}
        needed = {
            one.keys[name]
            for one in self.agreements.values()
            if one.contract in running or one.serial == self.latest(one.name)
        }
        for signer in self.folder.earlier:
            if signer.public not in needed:
                disk.destroy(self.folder.earlier_key(signer))
                self.step("after earlier key destroyed")
        kept = tuple(one for one in self.folder.earlier if one.public in needed)
        self.folder = self.folder._replace(earlier=kept)

    def close(self) -> None:
        """Close the database."""
        self.database.close()
