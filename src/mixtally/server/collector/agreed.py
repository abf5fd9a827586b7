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


class Agreed(NamedTuple):
    """A contract as its collector keeps it."""

    contract: Contract
    fingerprint: str

    @property
    def agreement(self) -> Agreement:
        """What every role must know of it; the collector stands behind the last hop."""
        return agreement_of(self.contract, self.fingerprint, len(self.contract.hops) + 1)


def agreed_of(data: bytes, subject: str) -> Agreed:
    """The contract in a note; raises PlanError for anything else."""
    return Agreed(read_contract(data, subject), fingerprint_of(data))


def note_path(folder: Folder, contract: Contract) -> Path:
    """Where the note of a contract lies."""
    return folder.inner("contracts") / f"{contract.name}-{contract.serial}.note"


class Contracts:
    """Contracts by their fingerprints."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._of: dict[str, Agreed] = {}
        self._seen: set[Path] = set()

    def look(self) -> None:
        """Take up what was signed since."""
        for path in sorted(self._node.folder.inner("contracts").glob("*.note")):
            if path in self._seen:
                continue
            agreed = agreed_of(disk.read(path, "a contract"), str(path))
            if self._node.signed_contract(agreed.agreement):  # else ``sign`` is at it
                self._of[agreed.fingerprint] = agreed
                self._node.take_up(agreed.agreement)
                self._seen.add(path)

    def of(self, fingerprint: str) -> Agreed:
        """A contract that was taken up."""
        return self._of[fingerprint]

    def all(self) -> list[Agreed]:
        """All of them, the newest serial of a name first."""
        return sorted(self._of.values(), key=lambda one: (one.contract.name, -one.contract.serial))


def read_agreed(folder: Folder, name: str | None) -> Agreed:
    """The contract of that name with the largest serial, or the only one there is.

    Raises PlanError where there is none, or several and no name.
    """
    paths = sorted(folder.inner("contracts").glob("*.note"))
    every = [agreed_of(disk.read(path, "a contract"), str(path)) for path in paths]
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
