"""The contracts that a collector signed: their notes in its folder, read when they are served."""

from pathlib import Path
from typing import NamedTuple

from mixtally.errors import PlanError
from mixtally.model.agreement import Agreement
from mixtally.model.contract import Contract, fingerprint_of, read_contract
from mixtally.model.contract.job import agreement_of
from mixtally.server.node import disk
from mixtally.server.node.folder import Folder
from mixtally.server.node.node import Node


class SignedContract(NamedTuple):
    """A contract as its collector keeps it."""

    contract: Contract
    fingerprint: str

    @property
    def agreement(self) -> Agreement:
        """What every role must know of it; the collector stands behind the last hop."""
        return agreement_of(self.contract, self.fingerprint, len(self.contract.hops) + 1)


def parse_signed_contract(data: bytes, subject: str) -> SignedContract:
    """The contract in a note; raises PlanError for anything else."""
    return SignedContract(read_contract(data, subject), fingerprint_of(data))


def note_path(folder: Folder, contract: Contract) -> Path:
    """Where the note of a contract lies."""
    return folder.subfolder("contracts") / f"{contract.name}-{contract.serial}.note"


class Contracts:
    """Contracts by their fingerprints."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._of: dict[str, SignedContract] = {}
        self._seen: set[Path] = set()

    def load_new(self) -> None:
        """Take up what was signed since."""
        for path in sorted(self._node.folder.subfolder("contracts").glob("*.note")):
            if path in self._seen:
                continue
            agreed = parse_signed_contract(disk.read_file(path, "a contract"), str(path))
            if self._node.has_signed_contract(agreed.agreement):  # else ``sign`` is at it
                self._of[agreed.fingerprint] = agreed
                self._node.start_serving(agreed.agreement)
                self._seen.add(path)

    def of(self, fingerprint: str) -> SignedContract:
        """A contract that was taken up."""
        return self._of[fingerprint]

    def all(self) -> list[SignedContract]:
        """All of them, the newest serial of a name first."""
        return sorted(self._of.values(), key=lambda one: (one.contract.name, -one.contract.serial))


def load_signed_contract(folder: Folder, name: str | None) -> SignedContract:
    """The contract of that name with the largest serial, or the only one there is.

    Raises PlanError where there is none, or several and no name.
    """
    paths = sorted(folder.subfolder("contracts").glob("*.note"))
    every = [parse_signed_contract(disk.read_file(path, "a contract"), str(path)) for path in paths]
    names = sorted({one.contract.name for one in every})
    found = [one for one in every if name in (None, one.contract.name)]
    if not found or (name is None and len(names) > 1):
        raise PlanError(
            "contract",
            expected="the name of one that was signed",
            got=f"{name or 'none'} among {', '.join(names) or 'none'}",
            do="give --contract NAME, or sign one with `mixtally collector sign`",
        )
    return max(found, key=lambda one: one.contract.serial)
