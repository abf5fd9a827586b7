"""The key of a round: made before its sheet is signed, gone when the round is over.

One file a round, wrapped by the master key: the secret bytes of the HPKE key, and 32 more from
which the order of what leaves follows. It is pending until a sheet names it.
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
    """The secrets of a round.

    where
      private   of which the HPKE key is made
      order     under which what leaves is ordered
    """

    private: bytes
    order: bytes


class Keys:
    """The key files of a role, by the name of the round's folder."""

    def __init__(self, folder: Path, master: bytes, chance: Chance, step: Step = no_step) -> None:
        self._folder, self._master, self._chance, self._step = folder, master, chance, step

    def ensure_key(self, round_id: str, suite: int) -> RoundKey:
        """The key of a round, made and on the disk; one that is there is kept."""
        if not self.has_key(round_id):
            size = SUITES[suite].private_bytes + ORDER_BYTES
            secret = secret_bytes(self._chance, size)
            data = wrap_secret(self._master, KeyPurpose.ROUND, round_id, secret, self._chance)
            disk.put(self._path(round_id), data, "the key of a round")
            self._step("after key")
        return self.read_key(round_id)

    def has_key(self, round_id: str) -> bool:
        """Whether the round has a key."""
        return self._path(round_id).exists()

    def read_key(self, round_id: str) -> RoundKey:
        """The key; raises DataError where there is none."""
        data = disk.read_file(self._path(round_id), "the key of a round")
        secret = unwrap_secret(self._master, KeyPurpose.ROUND, round_id, data)
        return RoundKey(secret[:-ORDER_BYTES], secret[-ORDER_BYTES:])

    def configuration(self, round_id: str, suite: int) -> bytes:
        """The public key as sheets have it."""
        return SUITES[suite].configuration(self.read_key(round_id).private)

    def destroy(self, round_id: str) -> None:
        """What was sealed for the round opens no more."""
        disk.destroy(self._path(round_id))
        self._step("after key destroyed")

    def all(self) -> list[str]:
        """The rounds that have a key."""
        return sorted(path.stem for path in self._folder.glob("*.key"))

    def _path(self, round_id: str) -> Path:
        return self._folder / f"{round_id}.key"
