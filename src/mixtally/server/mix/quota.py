"""Quota of a round: the contract's limit of bundles, shared by all processes that receive them.

Each process leases a part of the quota, in blocks, from one file of the round. A lease is on disk
before the bundles that need it. The leases of all processes together are at most the quota, so the
quota is never exceeded. One process can lease the whole quota. When a process reports that the
round is full, each other process has little of its lease unused: at most one block, or the number
of bundles in one body that did not fit. A restarted process counts its stored bundles and keeps its
lease.
"""

import json
from pathlib import Path

from mixtally.errors import DataError
from mixtally.primitives.lock import exclusive_lock
from mixtally.server.node import disk

_BLOCKS = 1024
"""The number of blocks of a quota. With larger blocks more of the quota may stay unused; smaller
ones must be leased more often."""
_FILE = "quota"


class Quota:
    """The share of a round's quota that the process with a ``number`` has leased.

    ``folder`` belongs to the round, which may receive ``most`` bundles. The process has stored
    ``used`` of them; None means that they cannot be counted, and that its whole lease is used.
    """

    def __init__(self, folder: Path, number: int, most: int, used: int | None) -> None:
        self._folder, self._name, self._most = folder, str(number), most
        self._lease, self.is_full = 0, False
        self.used = _read_leases(folder / _FILE).get(self._name, 0) if used is None else used

    def reserve(self, bundles: int) -> int:
        """Lease up to ``bundles`` bundles, and return how many may be stored.

        The caller adds to ``used`` what it stores. Raises DataError if the disk fails.
        """
        if self.used + bundles > self._lease:
            self._extend(bundles)
        remaining = self._lease - self.used
        self.is_full = self.is_full or remaining <= 0
        return max(0, min(bundles, remaining))

    def _extend(self, bundles: int) -> None:
        """Extend the lease by a block, or by more if ``bundles`` needs more.

        If less of the quota remains, extend the lease by the rest.
        """
        path = self._folder / _FILE
        with exclusive_lock(self._folder, required=True):
            leases = _read_leases(path)
            own = max(leases.pop(self._name, 0), self.used)
            missing = max(self._most // _BLOCKS, self.used + bundles - own)
            own += max(0, min(missing, self._most - own - sum(leases.values())))
            data = json.dumps({**leases, self._name: own}).encode() + b"\n"
            disk.put(path, data, "the quota of a round")
            self._lease = own


def _read_leases(path: Path) -> dict[str, int]:
    if not path.exists():
        return {}
    try:
        found = json.loads(disk.read_file(path, "the quota of a round"))
        return {str(name): int(count) for name, count in found.items()}
    except (ValueError, AttributeError) as error:
        raise DataError(
            str(path), expected="bundles by process", got=error, do="check the disk"
        ) from error
