"""Options and helpers of the commands that create, open or change the folder of a role."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from mixtally.cli import options as o
from mixtally.cli.log_option import log_of
from mixtally.cli.plan_files import CONTRACT, read_contract_file
from mixtally.device.contract.roles import format_verifier_key
from mixtally.device.wire.note import find_signers
from mixtally.errors import PlanError
from mixtally.model.contract import fingerprint_of
from mixtally.model.contract.job import agreement_of
from mixtally.primitives.chance import SecureChance
from mixtally.primitives.files import read_bytes
from mixtally.server.collector.contracts import note_path
from mixtally.server.node.folder import Folder, RoleFile, create_folder, open_folder
from mixtally.server.node.key_rotation import rotate_signer
from mixtally.server.node.running import exclusive_service
from mixtally.server.node.service import Service

Place = Annotated[Path, typer.Argument(help="The folder of the role.", metavar="FOLDER")]
ContractFile = Annotated[Path, typer.Argument(help="The contract.", metavar="CONTRACT")]
Expected = Annotated[
    str | None, o.option("--fingerprint", "Refuse a contract of another fingerprint.", "HEX")
]
Overrule = Annotated[
    list[str],
    o.option("--overrule", "Do not wait for this silent role; manifests state it.", "NAME"),
]
MetricsPort = Annotated[
    int | None,
    o.whole_option("--metrics-port", "Port on this machine for /metrics and /status (0: any)."),
]

SignFirst = Annotated[
    Path | None,
    o.option("--sign", "Sign this contract first, as `sign` does, unless that is done.", "FILE"),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleOptions:
    """The name, address and keys of a new role."""

    name: Annotated[str, o.option("--name", "Name of the role in contracts.", "NAME")]
    address: Annotated[
        str,
        o.option("--address", "Public address: https://..., or http:// on this machine."),
    ]
    operator: Annotated[str, o.option("--operator", "Who operates the role, in words.", "TEXT")]
    host: Annotated[str, o.option("--host", "Host on which it listens.", "HOST")] = "127.0.0.1"
    port: Annotated[
        int | None,
        o.whole_option("--port", "Port on which it listens (default: that of the address)."),
    ] = None
    master_key: Annotated[
        str | None,
        o.option(
            "--master-key",
            "File of the master key, created if missing (default: next to the folder), or "
            "env:NAME. Do not back it up together with the folder.",
            "PLACE",
        ),
    ] = None

    def begin(self, folder: Path, table: str) -> None:
        """Create the role, and print its entry for a network file, under the header ``table``.

        Raises
        ------
        DataError
            If the folder or the key cannot be written.
        PlanError
            If a field has an invalid value.
        """
        # The master key is next to the folder, so that a backup of the folder does not contain it.
        key_path = folder.absolute().with_name(folder.absolute().name + ".master-key")
        found = urlsplit(self.address).port if self.port is None else self.port
        role = RoleFile(
            name=self.name,
            address=self.address,
            operator=self.operator,
            host=self.host,
            port=7000 if found is None else found,
            master=self.master_key or str(key_path),
        )
        made = create_folder(folder, role, os.environ, SecureChance())
        typer.echo(table)
        typer.echo(lines_for_network(made))
        # This line goes to standard error, so that standard output can be redirected into a network
        # file.
        typer.echo(f"written to {made.path}; its master key: {made.role.master}", err=True)


def check_fingerprint(contract: Path | str, expected: str | None, found: str) -> None:
    """Raise PlanError if the contract does not have the expected fingerprint."""
    if expected not in (None, found):
        raise PlanError(
            str(contract),
            expected=f"the contract of fingerprint {expected}",
            got=found,
            do="ask the sender of the fingerprint for the file",
        )


def is_signed(role: Folder, path: Path, *, by_all: bool = False) -> bool:
    """Return whether this role has signed the contract in a file.

    With ``by_all``, return whether all roles have signed it.
    """
    contract, fingerprint = read_contract_file(path)
    stored = note_path(role, contract)
    note = read_bytes(stored, "a contract", CONTRACT) if stored.exists() else b""
    keys = agreement_of(contract, fingerprint, 1).keys if by_all else {}
    return fingerprint_of(note) == fingerprint and find_signers(note, keys) == keys.keys()


def make_service(overruled: list[str], log: str, metrics_port: int | None) -> Service:
    """Return the settings of a serving role; raise ParameterError for an unknown log format."""
    return Service(
        overruled=frozenset(overruled),
        ready=lambda address: typer.echo(f"serving at {address}"),
        log=log_of(log),
        metrics_port=metrics_port,
    )


def open_role(folder: Path) -> Folder:
    """Open the folder of a role that ``init`` created. Errors are those of ``open_folder``."""
    return open_folder(folder, os.environ)


def lines_for_network(made: Folder) -> str:
    """Return the fields of the role as lines of TOML for a network file."""
    fields = {
        "name": made.role.name,
        "address": made.role.address,
        "key": made.signer.verifier,
        "operator": made.role.operator,
    }
    return "\n".join(f"{name} = {json.dumps(value)}" for name, value in fields.items())


def rotate_role(folder: Path, table: str) -> None:
    """Replace the signing key of a role, and print its entry for a network file, under ``table``.

    Raises
    ------
    DataError
        If the role is running, or if its key is in no contract that it has signed.
    """
    with exclusive_service(open_role(folder).path):
        # The folder is opened again under the lock, because another process may have replaced the
        # key in the meantime.
        rotation = rotate_signer(open_role(folder), SecureChance())
    typer.echo(table)
    typer.echo(lines_for_network(open_role(folder)))
    replaced = format_verifier_key(rotation.role, rotation.old)
    typer.echo(f"replaced {replaced}; both keys signed the note", err=True)
    typer.echo(
        "next: serve the role, so that its peers receive the note; then make the next serial of "
        "each of its contracts with this entry",
        err=True,
    )
