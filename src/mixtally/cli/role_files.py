"""What commands that begin or open a role share: its folder, its master key, its lines of TOML."""

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
    o.option("--overrule", "Do not wait for this silent role; manifests will say so.", "NAME"),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleOptions:
    """A role that is begun, and where it listens."""

    name: Annotated[str, o.option("--name", "What contracts call it.", "NAME")]
    address: Annotated[
        str,
        o.option("--address", "Where others reach it: https://..., or http:// on this machine."),
    ]
    operator: Annotated[str, o.option("--operator", "Who runs it, in words.", "TEXT")]
    host: Annotated[str, o.option("--host", "Where it listens.", "HOST")] = "127.0.0.1"
    port: Annotated[
        int | None, o.whole_option("--port", "Its port (default: that of the address).")
    ] = None
    master_key: Annotated[
        str | None,
        o.option(
            "--master-key",
            "A file for the master key, made if it is not there (default: beside the folder), or "
            "env:NAME. Keep it out of backups of the folder.",
            "PLACE",
        ),
    ] = None

    def begin(self, folder: Path, table: str) -> None:
        """Make the role, and print what a network file needs of it as a ``table``.

        Raises DataError or PlanError.
        """
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
        typer.echo(f"written to {made.path}; its master key: {made.role.master}", err=True)


def check_fingerprint(contract: Path, expected: str | None, found: str) -> None:
    """Raises PlanError for another contract than the one that is meant."""
    if expected not in (None, found):
        raise PlanError(
            str(contract),
            expected=f"the contract of fingerprint {expected}",
            got=found,
            do="ask who gave you the fingerprint for the file",
        )


def make_service(overruled: list[str], log: str) -> Service:
    """How a role is served from here; raises ParameterError for another form of ``log``."""
    return Service(
        overruled=frozenset(overruled),
        ready=lambda address: typer.echo(f"serving at {address}"),
        log=log_of(log),
    )


def open_role(folder: Path) -> Folder:
    """A role that ``init`` made; raises DataError or PlanError."""
    return open_folder(folder, os.environ)


def _lines_for_network(made: Folder) -> str:
    """The role as a network file has it."""
    fields = {
        "name": made.role.name,
        "address": made.role.address,
        "key": made.signer.verifier,
        "operator": made.role.operator,
    }
    return "\n".join(f"{name} = {json.dumps(value)}" for name, value in fields.items())
