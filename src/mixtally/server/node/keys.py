"""Keys of rounds, created before a sheet is signed and destroyed when the round ends.

Each round has one file, encrypted under the master key. The file contains the private bytes of the
HPKE key and 32 bytes that determine the order of outgoing messages. A key is pending until a signed
sheet names it.
"""

from pathlib import Path
from typing import NamedTuple

from mixtally.device.wire.suite import SUITES
from mixtally.primitives.chance import Chance
from mixtally.server.node import disk
from mixtally.server.node.disk import Step, no_step
from mixtally.server.node.wrapping import KeyPurpose, secret_bytes, unwrap_secret, wrap_secret

ORDER_BYTES = 32


class RoundKey(NamedTuple):
    """Secrets of a round."""

    private: bytes
    """Private bytes from which the HPKE key is made."""
    sort_key: bytes
    """Key that determines the order in which messages are sent on."""


class Keys:
    """The key files of a role, found by the identifier of the round."""

    def __init__(self, folder: Path, master: bytes, chance: Chance, step: Step = no_step) -> None:
        self._folder, self._master, self._chance, self._step = folder, master, chance, step

    def ensure_key(self, round_id: str, suite: int) -> RoundKey:
        """Return the key of a round, after creating it durably if there is none.

        An existing key is kept: the public key may already be on a sheet.
        """
        if not self.has_key(round_id):
            size = SUITES[suite].private_bytes + ORDER_BYTES
            secret = secret_bytes(self._chance, size)
            data = wrap_secret(self._master, KeyPurpose.ROUND, round_id, secret, self._chance)
            disk.put(self._path(round_id), data, "the key of a round")
            self._step("after key")
        return self.read_key(round_id)

    def has_key(self, round_id: str) -> bool:
        """Return whether the round has a key."""
        return self._path(round_id).exists()

    def read_key(self, round_id: str) -> RoundKey:
        """Return the key of a round; raises DataError if there is none."""
        data = disk.read_file(self._path(round_id), "the key of a round")
        secret = unwrap_secret(self._master, KeyPurpose.ROUND, round_id, data)
        return RoundKey(secret[:-ORDER_BYTES], secret[-ORDER_BYTES:])

    def configuration(self, round_id: str, suite: int) -> bytes:
        """Return the public key configuration, in the form used on sheets."""
        return SUITES[suite].configuration(self.read_key(round_id).private)

    def destroy(self, round_id: str) -> None:
        """Destroy the key, so that nothing encrypted for the round can be opened any more."""
        disk.destroy(self._path(round_id))
        self._step("after key destroyed")

    def all(self) -> list[str]:
        """Return the identifiers of all rounds that have a key."""
        return sorted(path.stem for path in self._folder.glob("*.key"))

    def _path(self, round_id: str) -> Path:
        return self._folder / f"{round_id}.key"
