"""Contracts that a collector has signed, stored as notes in its folder.

The server loads a contract when it is signed. The commands of a collector load one by its name.
"""

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
    """A contract and its fingerprint."""

    contract: Contract
    fingerprint: str

    @property
    def agreement(self) -> Agreement:
        """The contract without its question, as the collector sees it."""
        return agreement_of(self.contract, self.fingerprint, len(self.contract.hops) + 1)


def parse_signed_contract(data: bytes, subject: str) -> SignedContract:
    """Parse the contract in a note, which error messages call ``subject``.

    Raises
    ------
    PlanError
        If the note does not contain a valid contract.
    """
    return SignedContract(read_contract(data, subject), fingerprint_of(data))


def note_path(folder: Folder, contract: Contract) -> Path:
    """Return the path of the note of a contract in a role's folder."""
    return folder.subfolder("contracts") / f"{contract.name}-{contract.serial}.note"


class Contracts:
    """The contracts that a collector serves, by fingerprint."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._of: dict[str, SignedContract] = {}
        self._seen: set[Path] = set()

    def load_new(self) -> None:
        """Serve contracts that were signed since the last call."""
        for path in sorted(self._node.folder.subfolder("contracts").glob("*.note")):
            if path in self._seen:
                continue
            agreed = parse_signed_contract(disk.read_file(path, "a contract"), str(path))
            # If it is not signed, ``sign`` has stored the note and has not finished yet.
            if self._node.has_signed_contract(agreed.agreement):
                self._of[agreed.fingerprint] = agreed
                self._node.start_serving(agreed.agreement)
                self._seen.add(path)

    def of(self, fingerprint: str) -> SignedContract:
        """Return the served contract with this fingerprint."""
        return self._of[fingerprint]

    def all(self) -> list[SignedContract]:
        """Return all contracts that are served, newest serial of each name first."""
        return sorted(self._of.values(), key=lambda one: (one.contract.name, -one.contract.serial))


def load_signed_contract(folder: Folder, name: str | None) -> SignedContract:
    """Return the contract of a name with the largest serial.

    ``name`` may be None if all contracts in the folder have one name.

    Raises
    ------
    PlanError
        If there is no such contract, or there are several names and ``name`` is None.
    """
    paths = sorted(folder.subfolder("contracts").glob("*.note"))
    every = [parse_signed_contract(disk.read_file(path, "a contract"), str(path)) for path in paths]
    names = sorted({one.contract.name for one in every})
    found = [one for one in every if name in (None, one.contract.name)]
    if not found or (name is None and len(names) > 1):
        raise PlanError(
            "contract",
            expected="the name of a signed contract",
            got=f"{name or 'none'} among {', '.join(names) or 'none'}",
            do="give --contract NAME, or sign one with `mixtally collector sign`",
        )
    return max(found, key=lambda one: one.contract.serial)
