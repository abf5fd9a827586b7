"""The folder of a role: who it is, where it listens, its signing key, and all that it remembers.

role.toml     who it is       signing.key   wrapped     node.db   notes and rounds
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
    """What ``init`` writes and an operator may change.

    where
      name, address, operator   as contracts name the role
      host, port                where it listens; a proxy may stand before it
      master                    the master key: ``env:NAME``, or the path of a file
    """

    name: str
    address: str
    operator: str
    host: str
    port: int
    master: str


class Folder(NamedTuple):
    """A role that was opened: nothing of it is shown when it is printed."""

    path: Path
    role: RoleFile
    master: bytes
    signer: Signer

    def __repr__(self) -> str:
        return f"Folder({self.role.name})"

    @property
    def database(self) -> Path:
        """That of notes and rounds, made by ``init``.

        Raises DataError where it is gone: a role that began anew would sign what it has signed.
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
        """One of its folders."""
        return self.path / name


def create_folder(
    path: Path, role: RoleFile, environment: Mapping[str, str], chance: Chance
) -> Folder:
    """A new role; its master key is made where the file that is named is not there.

    Raises DataError for a folder that is a role already, PlanError for what no contract can name.
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
    disk.put(path / _FILE, _toml(role), "who the role is")  # last: a folder with it is whole
    return Folder(path, role, master, signer)


def open_folder(path: Path, environment: Mapping[str, str]) -> Folder:
    """The role in a folder; raises DataError or PlanError for none, and for another master key."""
    role = _read_role_file(path / _FILE)
    master = read_master(role.master, environment)
    data = disk.read_file(path / _KEY, "the signing key")
    signer = parse_signer(unwrap_secret(master, KeyPurpose.SIGNING, role.name, data).decode())
    return Folder(path, role, master, signer)


def to_role(role: RoleFile, signer: Signer) -> Role:
    """The role as a contract names it; raises PlanError for what none can."""
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
            str(path), expected="what init wrote", got=str(error), do="mend it, or init anew"
        ) from error
