"""Folder of a role: its identity, its address, its signing key and all that it stores.

role.toml          identity
signing.key        signing key, encrypted under the master key
signing-HASH.key   a key from before a rotation, encrypted, while an earlier contract needs it
node.db            notes and rounds
jobs/ contracts/ keys/ rounds/
"""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from mixtally.device.contract.roles import format_verifier_key, key_hash
from mixtally.device.wire.note import SEED_BYTES, Signer, parse_signer
from mixtally.errors import DataError, PlanError
from mixtally.model.roles import Role
from mixtally.primitives.chance import Chance
from mixtally.server.node import disk
from mixtally.server.node.database import Database
from mixtally.server.node.disk import Step
from mixtally.server.node.wrapping import (
    KeyPurpose,
    make_master,
    read_master,
    secret_bytes,
    unwrap_secret,
    wrap_secret,
)

FOLDERS = ("jobs", "contracts", "keys", "rounds")
ROLE, KEY, DATABASE = "role.toml", "signing.key", "node.db"
_NEXT_KEY = "next-signing.key"
_ROLE_FILE = "the role.toml that init wrote"


class RoleFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Content of ``role.toml``, which ``init`` writes and the operator may change."""

    name: str
    address: str
    operator: str
    """Name, address and operator, as contracts describe the role."""
    host: str
    port: int
    """Host and port on which the role listens; a proxy may forward requests to it."""
    master: str
    """Where the master key is: ``env:NAME``, or the path of a file."""


class Folder(NamedTuple):
    """An opened role. Printing it shows only its name, because it contains secrets."""

    path: Path
    role: RoleFile
    master: bytes
    signer: Signer
    earlier: tuple[Signer, ...] = ()
    """Signing keys from before a rotation, with which earlier contracts are served until they end.
    """

    def __repr__(self) -> str:
        return f"Folder({self.role.name})"

    @property
    def signers(self) -> tuple[Signer, ...]:
        """All keys that this role can sign with, the current one first."""
        return self.signer, *self.earlier

    def signer_of(self, public: bytes) -> Signer:
        """Return the signer with a public key; raises DataError if it is not in the folder."""
        for signer in self.signers:
            if signer.public == public:
                return signer
        raise DataError(
            str(self.path),
            expected=f"the signing key {format_verifier_key(self.role.name, public)}",
            got="other keys",
            do="restore the newest folder: a key is kept until its rounds are over",
        )

    def earlier_key(self, signer: Signer) -> Path:
        """Return the path of a signing key that was replaced."""
        return self.path / f"signing-{key_hash(signer.name, signer.public).hex()}.key"

    @property
    def has_next_signer(self) -> bool:
        """Whether a rotation was begun and not finished."""
        return (self.path / _NEXT_KEY).exists()

    def next_signer(self, chance: Chance) -> Signer:
        """Return the signer that will replace the current one, and create its key durably."""
        if not self.has_next_signer:
            _put_signer(self, self.path / _NEXT_KEY, _make_signer(self.role.name, chance), chance)
        return _read_signer(self.path / _NEXT_KEY, self.role.name, self.master)

    def replace_signer(self, chance: Chance, step: Step) -> None:
        """Keep the current signing key as an earlier one, and put the next one in its place."""
        _put_signer(self, self.earlier_key(self.signer), self.signer, chance)
        step("after earlier key")
        (self.path / _NEXT_KEY).replace(self.path / KEY)
        disk.sync_folder(self.path)
        step("after new key")

    @property
    def database(self) -> Path:
        """Path of the database of notes and rounds, which ``init`` creates.

        Raises DataError if it is missing. With a new, empty database the role could sign a second
        text where it has already signed one.
        """
        path = self.path / DATABASE
        if not path.exists():
            raise DataError(
                str(path),
                expected="the database that init made",
                got="none",
                do="find the newest folder; if it is lost, restore a backup into a new folder",
            )
        return path

    def subfolder(self, name: str) -> Path:
        """Return the path of a subfolder."""
        return self.path / name


def create_folder(
    path: Path, role: RoleFile, environment: Mapping[str, str], chance: Chance
) -> Folder:
    """Create the folder of a new role, with its keys and its database.

    The file of the master key is created if it does not exist. The key may instead be in one of the
    variables in ``environment``.

    Raises
    ------
    DataError
        If the folder already contains a role, or the master key cannot be read.
    PlanError
        If no contract could contain the name, address or operator.
    """
    if (path / ROLE).exists():
        raise DataError(
            str(path), expected="a new folder", got="a role's", do="choose another: keys are kept"
        )
    signer = _make_signer(role.name, chance)
    to_role(role, signer)
    if not role.master.startswith("env:"):
        make_master(Path(role.master), chance)
    master = read_master(role.master, environment)
    make_folders(path)
    Database(path / DATABASE).close()
    made = Folder(path, role, master, signer)
    _put_signer(made, path / KEY, signer, chance)
    # Written last: a folder that contains this file is complete.
    disk.put(path / ROLE, write_role_file(role), "who the role is")
    return made


def make_folders(path: Path) -> None:
    """Create the folder of a role with its subfolders, for its owner only."""
    disk.make_folder(path)
    path.chmod(disk.PRIVATE_FOLDER)
    for name in FOLDERS:
        disk.make_folder(path / name)


def open_folder(path: Path, environment: Mapping[str, str]) -> Folder:
    """Open the folder of a role, and decrypt its signing keys.

    The master key is in a file, or in one of the variables in ``environment``.

    Raises
    ------
    DataError
        If the folder contains no role, the master key is missing or wrong, or other users may read
        the signing key.
    PlanError
        If ``role.toml`` is invalid.
    """
    role = read_role(path)
    master = read_master(role.master, environment)
    signer = _read_signer(path / KEY, role.name, master)
    earlier = sorted(path.glob("signing-*.key"))
    return Folder(
        path, role, master, signer, tuple(_read_signer(one, role.name, master) for one in earlier)
    )


def unwrap_signer(name: str, master: bytes, data: bytes) -> Signer:
    """Decrypt a signing key; raises DataError for another master key."""
    return parse_signer(unwrap_secret(master, KeyPurpose.SIGNING, name, data).decode())


def to_role(role: RoleFile, signer: Signer) -> Role:
    """Return the role as contracts describe it.

    Raises PlanError if no contract could contain it.
    """
    return Role(name=role.name, address=role.address, key=signer.verifier, operator=role.operator)


def _make_signer(name: str, chance: Chance) -> Signer:
    return Signer(name, secret_bytes(chance, SEED_BYTES))


def _put_signer(folder: Folder, path: Path, signer: Signer, chance: Chance) -> None:
    secret = signer.private_key_text.encode()
    data = wrap_secret(folder.master, KeyPurpose.SIGNING, signer.name, secret, chance)
    disk.put(path, data, "the signing key")


def _read_signer(path: Path, name: str, master: bytes) -> Signer:
    data = disk.read_file(path, "the signing key")
    if not disk.is_private(path):
        raise DataError(
            str(path),
            expected="a signing key that only its owner can read",
            got="one that others may read",
            do="chmod 600, and find out who could copy it",
        )
    return unwrap_signer(name, master, data)


def write_role_file(role: RoleFile) -> bytes:
    """Return the content of ``role.toml``."""
    fields = msgspec.to_builtins(role)
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in fields.items()).encode()


def read_role(folder: Path) -> RoleFile:
    """Return the identity of a role from its folder.

    Raises DataError if ``role.toml`` cannot be read, and PlanError if it is invalid.
    """
    return read_role_file(disk.read_file(folder / ROLE, _ROLE_FILE), folder / ROLE)


def read_role_file(data: bytes, path: Path) -> RoleFile:
    """Return the content of ``role.toml``; raises PlanError that names ``path``."""
    try:
        return msgspec.convert(tomllib.loads(data.decode()), RoleFile)
    except ValueError as error:
        raise PlanError(
            str(path), expected="the fields that init wrote", got=error, do="correct the file"
        ) from error
