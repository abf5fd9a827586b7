"""Options and helpers of the commands that create or open the folder of a role."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from mixtally.cli import options as o
from mixtally.cli.log_option import log_of
from mixtally.errors import PlanError
from mixtally.primitives.chance import SecureChance
from mixtally.server.node.folder import Folder, RoleFile, create_folder, open_folder
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
        # Next to the folder, not inside, so that a backup of the folder does not contain the key.
        beside = folder.absolute().with_name(folder.absolute().name + ".master-key")
        found = urlsplit(self.address).port if self.port is None else self.port
        role = RoleFile(
            name=self.name,
            address=self.address,
            operator=self.operator,
            host=self.host,
            port=7000 if found is None else found,
            master=self.master_key or str(beside),
        )
        made = create_folder(folder, role, os.environ, SecureChance())
        typer.echo(table)
        typer.echo(_lines_for_network(made))
        # On standard error, so that standard output can be redirected into a network file.
        typer.echo(f"written to {made.path}; its master key: {made.role.master}", err=True)


def check_fingerprint(contract: Path, expected: str | None, found: str) -> None:
    """Raise PlanError if the contract does not have the expected fingerprint."""
    if expected not in (None, found):
        raise PlanError(
            str(contract),
            expected=f"the contract of fingerprint {expected}",
            got=found,
            do="ask the sender of the fingerprint for the file",
        )


def make_service(overruled: list[str], log: str) -> Service:
    """Return the settings of a serving role; raise ParameterError for an unknown log format."""
    return Service(
        overruled=frozenset(overruled),
        ready=lambda address: typer.echo(f"serving at {address}"),
        log=log_of(log),
    )


def open_role(folder: Path) -> Folder:
    """Return the folder of a role that ``init`` created; raise DataError or PlanError."""
    return open_folder(folder, os.environ)


def _lines_for_network(made: Folder) -> str:
    """Return the fields of the role as lines of TOML for a network file."""
    fields = {
        "name": made.role.name,
        "address": made.role.address,
        "key": made.signer.verifier,
        "operator": made.role.operator,
    }
    return "\n".join(f"{name} = {json.dumps(value)}" for name, value in fields.items())
