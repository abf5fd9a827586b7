"""Folder of a role: its identity, its address, its signing key and all that it stores.

role.toml     identity        signing.key   wrapped     node.db   notes and rounds
jobs/ contracts/ keys/ rounds/
"""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from mixtally.device.wire.note import SEED_BYTES, Signer, parse_signer
from mixtally.errors import DataError, PlanError
from mixtally.model.roles import Role
from mixtally.primitives.chance import Chance
from mixtally.server.node import disk
from mixtally.server.node.database import Database
from mixtally.server.node.wrapping import (
    KeyPurpose,
    make_master,
    read_master,
    secret_bytes,
    unwrap_secret,
    wrap_secret,
)

FOLDERS = ("jobs", "contracts", "keys", "rounds")
_FILE, _KEY, _DATABASE = "role.toml", "signing.key", "node.db"


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

    def __repr__(self) -> str:
        return f"Folder({self.role.name})"

    @property
    def database(self) -> Path:
        """Path of the database of notes and rounds, which ``init`` creates.

        Raises DataError if it is missing. With an empty database the role would sign a second time.
        """
        path = self.path / _DATABASE
        if not path.exists():
            raise DataError(
                str(path),
                expected="the database that init made",
                got="none",
                do="find the newest folder; if it is lost, end the contract and init another role",
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
    if (path / _FILE).exists():
        raise DataError(
            str(path), expected="a new folder", got="a role's", do="choose another: keys are kept"
        )
    signer = Signer(role.name, secret_bytes(chance, SEED_BYTES))
    to_role(role, signer)
    if not role.master.startswith("env:"):
        make_master(Path(role.master), chance)
    master = read_master(role.master, environment)
    disk.make_folder(path)
    path.chmod(disk.PRIVATE_FOLDER)
    for name in FOLDERS:
        disk.make_folder(path / name)
    Database(path / _DATABASE).close()
    data = wrap_secret(
        master, KeyPurpose.SIGNING, role.name, signer.private_key_text.encode(), chance
    )
    disk.put(path / _KEY, data, "the signing key")
    # Written last: a folder that contains this file is complete.
    disk.put(path / _FILE, _toml(role), "who the role is")
    return Folder(path, role, master, signer)


def open_folder(path: Path, environment: Mapping[str, str]) -> Folder:
    """Open the folder of a role, and decrypt its signing key.

    The master key is in a file, or in one of the variables in ``environment``.

    Raises
    ------
    DataError
        If the folder contains no role, the master key is missing or wrong, or other users may read
        the signing key.
    PlanError
        If ``role.toml`` is invalid.
    """
    role = _read_role_file(path / _FILE)
    master = read_master(role.master, environment)
    data = disk.read_file(path / _KEY, "the signing key")
    if not disk.is_private(path / _KEY):
        raise DataError(
            str(path / _KEY),
            expected="a signing key that only its owner can read",
            got="one that others may read",
            do="chmod 600, and find out who could copy it",
        )
    signer = parse_signer(unwrap_secret(master, KeyPurpose.SIGNING, role.name, data).decode())
    return Folder(path, role, master, signer)


def to_role(role: RoleFile, signer: Signer) -> Role:
    """Return the role as contracts describe it.

    Raises PlanError if no contract could contain it.
    """
    return Role(name=role.name, address=role.address, key=signer.verifier, operator=role.operator)


def _toml(role: RoleFile) -> bytes:
    fields = msgspec.to_builtins(role)
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in fields.items()).encode()


def _read_role_file(path: Path) -> RoleFile:
    data = disk.read_file(path, "the role.toml that init wrote")
    try:
        return msgspec.convert(tomllib.loads(data.decode()), RoleFile)
    except ValueError as error:
        raise PlanError(
            str(path), expected="the fields that init wrote", got=error, do="correct the file"
        ) from error
