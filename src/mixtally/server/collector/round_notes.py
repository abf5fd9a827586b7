"""Check of the notes of an exported round: contract, index, sheet, manifests and receipts.

``round_check`` continues with the counts. A *finding* is something false in a file. It accuses a
role only if the role's own signature proves it. The collector is responsible for all files that
match its signed index, and a mix for its manifest. A file that does not match the index may have
been altered by anyone, so it accuses nobody. A *claim* is a statement that the check proves.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256

import msgspec

from mixtally.device.contract.fields import fingerprint_of
from mixtally.device.wire.consistency import check_manifests, check_receipt
from mixtally.device.wire.manifest import Manifest, Receipt, read_manifest, read_receipt
from mixtally.device.wire.note import find_signers, verify_note
from mixtally.device.wire.rotation import KeyChanges, follow_key, verify_rotations
from mixtally.device.wire.round import verify_sheet
from mixtally.device.wire.sheet import Sheet
from mixtally.errors import MixtallyError, RefusedError
from mixtally.protocol.estimate.received_fakes import declared_limits
from mixtally.server.collector.contracts import SignedContract, parse_signed_contract
from mixtally.server.collector.export_index import CONTRACT, INDEX, ExportIndex, read_index
from mixtally.server.collector.round_files import RoundFiles
from mixtally.server.collector.round_report import Claim, Finding
from mixtally.server.node.refusal import ProblemError
from mixtally.server.node.rules import check_manifest, frame_of

_MISPLACED = ("other-sheet", "other-hop", "another-kind", "unknown-version")
"""The refusals of a note that may be correct in another round. They do not accuse its signer."""


class NotesCheck:
    """The findings about a round while its notes are checked, one kind after the other."""

    def __init__(self, files: RoundFiles) -> None:
        self._files = files
        self.claims, self.findings = list[Claim](), list[Finding]()
        self.index: ExportIndex | None = None
        self.publisher: str | None = None
        """The name of the collector, if it has signed the index; otherwise None."""
        self.agreed: SignedContract
        self.sheet: Sheet
        self.digest = ""
        """SHA-256 of the sheet."""
        self.manifests: list[tuple[str, Manifest]] = []
        self.receipts: dict[int, Receipt] = {}
        self.drawn = 0
        """How many of the numbers of fakes that hops declared are random."""
        self._read = set[str]()

    def check_notes(self) -> tuple[SignedContract | None, Sheet | None]:
        """Check all notes, and return the contract and the sheet.

        If either is None, the other files cannot be checked.
        """
        agreed = self._check_contract()
        if agreed is None:
            return None, None
        self.agreed, self._roles = agreed, agreed.agreement.roles
        self._frame, self._keys = frame_of(agreed.agreement), agreed.agreement.keys
        self._check_index()
        # Without the contract of this round, correct files would seem false.
        if self.index is not None and self.read(CONTRACT) is None:
            return agreed, None
        sheet = self._check_sheet()
        if sheet is not None:
            self.sheet = sheet
            self._check_manifests()
            self._check_receipts()
            self._check_fakes()
        return agreed, sheet

    @property
    def has_all_manifests(self) -> bool:
        """Whether the manifests of all hops exist and are correct."""
        return len(self.manifests) == len(self.agreed.contract.hops)

    @property
    def names(self) -> list[str]:
        """The names of the files that exist or should exist."""
        return self._files.names if self.index is None else sorted(self.index.files)

    def blame(self, file: str, role: str | None, expected: str, got: object) -> None:
        """Add a finding; ``role`` is the role whose signature proves the finding."""
        self.findings.append(Finding(file, role, expected, str(got)))

    @contextmanager
    def claim(self, text: str, *signers: str) -> Iterator[None]:
        """Add a claim, which counts as proved if the block adds no finding.

        ``signers`` are the roles whose signatures support the claim.
        """
        before = len(self.findings)
        yield
        shown = len(self.findings) == before
        self.claims.append(Claim(text, ", ".join(signers), shown))

    def read(self, name: str, *, hashed: bool = True) -> bytes | None:
        """Return the content of a file, or None if it is missing or does not match the index.

        Without ``hashed``, the hash is not compared.
        """
        data = self._files.read(name)
        self._read.add(name)
        if self.index is None:
            if data is None:
                self.blame(name, None, "a file", "none")
            return data
        entry = self.index.files.get(name)
        if entry is None:
            self.blame(name, self.publisher, "a file that the collector exported", "none")
        elif data is None:
            self.blame(name, None, f"{entry.length:,} bytes", "no file")
        elif hashed and not entry.matches(data):
            self.blame(name, None, f"the SHA-256 {entry.sha256}", sha256(data).hexdigest())
        else:
            return data
        return None

    def read_others(self) -> None:
        """Compare the index with the exported files that no other check has read."""
        for name in self.names:
            if name not in self._read and name != INDEX:
                self.read(name)

    def _check_contract(self) -> SignedContract | None:
        with self.claim("the contract is signed by all roles", "all roles"):
            if (data := self.read(CONTRACT)) is None:
                return None
            try:
                agreed = parse_signed_contract(data, CONTRACT)
                missing = agreed.agreement.keys.keys() - find_signers(data, agreed.agreement.keys)
            except MixtallyError as error:
                self.blame(CONTRACT, None, "a contract signed by its roles", error)
                return None
            if missing:
                got = f"none of {', '.join(sorted(missing))}"
                self.blame(CONTRACT, None, "the signatures of all roles", got)
                return None
            return agreed

    def _check_index(self) -> None:
        """Read the index, whose signature makes the collector responsible for the other files."""
        collector = self._roles[-1]
        with self.claim("the list of files is signed", collector.name):
            data, changes = self.read(INDEX), self._read_rotations()
            if data is None:
                return
            try:
                index = read_index(data)
                keys = follow_key(changes, collector.name, collector.public)
                signed = [key for key in keys if find_signers(data, {collector.name: key})]
            except (RefusedError, msgspec.MsgspecError, RecursionError) as error:
                self.blame(INDEX, None, f"an index that {collector.name} signed", error)
                return
            notes = [name for name in self._files.names if name.startswith(("sheet", "manifest"))]
            fits = [
                name
                for name in notes
                if (file := index.files.get(name)) and file.matches(self._files.read(name) or b"")
            ]
            if not signed:
                self.blame(INDEX, None, f"the signature of {collector.name}", "none")
            elif notes and not fits:
                self.blame(INDEX, None, "the index of these files", "that of another round")
            else:
                self.index, self.publisher = index, collector.name

    def _read_rotations(self) -> KeyChanges:
        data = self._files.read("rotations.json")
        try:
            return {} if data is None else verify_rotations(data)
        except RefusedError as error:
            self.blame("rotations.json", None, "rotations signed by both keys", error)
            return {}

    def _check_sheet(self) -> Sheet | None:
        with self.claim("the sheet is signed by all roles, and fits the contract", "all roles"):
            self.read("rotations.json")
            if (data := self.read("sheet.note")) is None:
                return None
            try:
                sheet = verify_sheet(data, self._keys, self._frame)
            except RefusedError as error:
                self.blame("sheet.note", self.publisher, "the sheet of a round", error)
                return None
            self.digest = fingerprint_of(data)
            index = self.index
            named = (self.agreed.fingerprint, self.digest)
            if index is not None and (index.contract, index.sheet) != named:
                self.blame(INDEX, self.publisher, "this contract and sheet", "others")
            return sheet

    def _check_manifests(self) -> None:
        """Check the manifests of all hops in order, up to the first missing or false one."""
        names = [role.name for role in self._roles[:-1]]
        with self.claim("manifests follow from each other, and their sums are right", *names):
            for place, name in enumerate(names, 1):
                file = f"manifest-{place}.note"
                if (data := self.read(file)) is None:
                    return
                if not self._check_manifest(file, place, name, data):
                    return

    def _check_manifest(self, file: str, place: int, name: str, data: bytes) -> bool:
        try:
            verify_note(data, {name: self._keys[name]})
        except RefusedError as error:
            self.blame(file, self._find_forger(place, data), f"the signature of {name}", error)
            return False
        try:
            manifest = read_manifest(data)
            self.manifests.append((fingerprint_of(data), manifest))
            check_manifests(self.manifests, self.digest, self._frame)
            check_manifest(manifest, self.agreed.agreement)
        except RefusedError as error:
            role: str | None = name
            if error.reason in _MISPLACED:
                role = self.publisher
            elif error.reason == "before-unfit" and len(self.manifests) == place:
                role = name if self._has_confirmed(place) else None
            self.blame(file, role, f"what follows from earlier notes ({error.reason})", error)
            del self.manifests[place - 1 :]
            return False
        except ProblemError as error:
            self.blame(file, name, "a manifest that the contract permits", error)
        return True

    def _find_forger(self, place: int, data: bytes) -> str | None:
        """Return the role that a manifest without its hop's signature accuses, or None.

        A role that signs the manifest of another hop has violated the protocol. Otherwise the
        collector is responsible, if it has signed the index.
        """
        try:
            manifest = read_manifest(data)
            signers = find_signers(data, self._keys)
        except RefusedError:
            return self.publisher
        own = [role.name for role in self._roles[:-1]]
        forgers = [name for name in sorted(signers) if own[manifest.hop - 1 :][:1] != [name]]
        fits = (manifest.sheet, manifest.hop) == (self.digest, place)
        return forgers[0] if forgers and fits else self.publisher

    def _has_confirmed(self, place: int) -> bool:
        """Return whether the role at ``place`` has signed a receipt of the preceding manifest.

        If so, a manifest of this role that names another preceding manifest contradicts its own
        receipt.
        """
        data = self._files.read(f"receipt-{place}.note")
        name = self._roles[place - 1].name
        try:
            verify_note(data or b"", {name: self._keys[name]})
            return read_receipt(data or b"").manifest == self.manifests[place - 2][0]
        except RefusedError:
            return False

    def _check_receipts(self) -> None:
        every = enumerate([role.name for role in self._roles[1:]], 2)
        there = [(place, who) for place, who in every if f"receipt-{place}.note" in self.names]
        if not there:
            return
        with self.claim("receipts confirm batches of this round", *(who for _, who in there)):
            for place, name in there:
                file = f"receipt-{place}.note"
                if (data := self.read(file)) is None:
                    continue
                try:
                    verify_note(data, {name: self._keys[name]})
                    receipt = read_receipt(data)
                    if place - 2 < len(self.manifests):
                        check_receipt(receipt, *self.manifests[place - 2], self._frame)
                    self.receipts[place] = receipt
                except RefusedError as error:
                    # The hop before may have signed two manifests. So neither role is accused.
                    role = None if error.reason == "other-manifest" else self.publisher
                    self.blame(file, role, f"the receipt of {name} in this round", error)

    def _check_fakes(self) -> None:
        names = [role.name for role in self._roles[:-1]]
        parts = self.agreed.contract.plan.parts
        limits = [declared_limits(part) for part in parts]
        with self.claim("mixes declare as many fakes as their recipes can draw", *names):
            for place, (_, manifest) in enumerate(self.manifests, 1):
                if manifest.destroyed is not None:
                    continue
                for (least, most), part in zip(limits, manifest.parts, strict=True):
                    self.drawn += least < most
                    if not least <= part.added <= most:
                        expected = f"{least:,} to {most:,} fakes"
                        file = f"manifest-{place}.note"
                        self.blame(file, names[place - 1], expected, f"{part.added:,}")
