"""Everything that a role stores: contracts, notes, rounds, keys, pieces and parsed manifests."""

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
"""Maximum number of pieces in the manifests that are kept parsed in memory."""


def _accept_any_batch(row: RoundRow, digest: str, manifest: Manifest) -> None:
    """Accept any batch, as a mix does."""


def _count_pieces(manifest: Manifest) -> int:
    """Return the number of pieces in a manifest plus one, as a measure of its size in memory."""
    return 1 + sum(len(part.pieces) for part in manifest.parts)


class RoleState:
    """State of a mix or a collector, read from its folder.

    ``agreements`` contains the contracts that the role serves, by fingerprint. The role acts only
    under those in ``cleared``, whose peers were asked for lost notes. ``accept`` is called with a
    round and its preceding manifest before any piece is accepted; an exception keeps the pieces
    out.
    """

    def __init__(
        self, folder: Folder, chance: Chance, step: Step = no_step, log: Log | None = None
    ) -> None:
        self.folder, self.signer, self.chance, self.step = folder, folder.signer, chance, step
        self.log = log or Log()
        # A killed process may have renamed files without syncing their folder.
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
        """Round -> SHA-256 of the manifest whose pieces are accepted."""

    def start_serving(self, agreement: Agreement) -> None:
        """Serve a signed contract, and accept the pieces that its open rounds still lack."""
        self.agreements[agreement.contract] = agreement
        for row in self.rounds.all():
            if row.contract == agreement.contract and not row.ended:
                self.expect_pieces(row)

    def latest(self, name: str) -> int:
        """Return the largest serial of a name that this role serves; 0 if there is none."""
        return max((one.serial for one in self.agreements.values() if one.name == name), default=0)

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

    def sign(
        self,
        agreement: Agreement,
        entry: Entry,
        text: bytes,
        extra_statement: Statement | None = None,
    ) -> bytes:
        """Sign a text and queue its note for all other roles; see ``Notes.sign``."""
        others = [role.name for role in agreement.other_roles]
        return self.notes.sign(entry, text, self.signer, others, extra_statement)

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
        found = self._parsed.pop(digest, None)
        if found is None:
            found = read_manifest(self.notes.of(digest) or b"")
        # Inserted again at the end, so that the first entry is the least recently used one.
        self._parsed[digest] = found
        while (
            sum(map(_count_pieces, self._parsed.values())) > _MOST_PARSED and len(self._parsed) > 1
        ):
            del self._parsed[next(iter(self._parsed))]
        return digest, found

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
        """Destroy the keys of rounds below a number that were never signed and no longer can be."""
        for number in range(1, limit):
            name = round_id(agreement.contract, number)
            if self.keys.has_key(name) and self.rounds.of(agreement.contract, number) is None:
                self.keys.destroy(name)

    def close(self) -> None:
        """Close the database."""
        self.database.close()
