"""``backup`` and ``restore``, which mixes and collectors share, and ``mixtally mix end``."""

import os
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from mixtally.cli import options as o
from mixtally.cli import role_files as r
from mixtally.cli.option_groups import with_option_groups
from mixtally.device.wire.manifest import end_of
from mixtally.errors import DataError, ParameterError
from mixtally.server.node.backup import restore_backup, write_backup
from mixtally.server.node.database import Database
from mixtally.server.node.rounds import RoundRow, Rounds

File = Annotated[Path, typer.Argument(help="The backup.", metavar="FILE")]
NewFolder = Annotated[Path, typer.Argument(help="The new folder.", metavar="FOLDER")]


def backup(folder: r.Place, file: File) -> None:
    """Write identity, contracts and signed notes into one file; the role may be served meanwhile.

    Keys of rounds and bundles stay out, and so does the master key.
    """
    name = write_backup(folder, file)
    typer.echo(f"{name} is in {file}, without its master key: keep that elsewhere")


@with_option_groups
def restore(
    file: File,
    folder: NewFolder,
    master_key: Annotated[
        str | None,
        o.option(
            "--master-key",
            "Place of the master key, a file or env:NAME (default: as in the backup).",
            "PLACE",
        ),
    ] = None,
) -> None:
    """Make the folder of a lost role from its backup. Rounds that were open are lost.

    The restored role asks all other roles what it has signed since the backup, and waits until all
    have answered.
    """
    made = restore_backup(file, folder, os.environ, master_key)
    typer.echo(f"{made.folder.role.name} is restored in {folder}: serve it")
    typer.echo("it waits until all other roles have said what it signed since the backup")
    for row in made.lost:
        typer.echo(f"lost: round {row.round} of {row.name}, unless this role had delivered it")
    typer.echo("never start the old folder again: two roles with one key contradict each other")


@with_option_groups
def end(
    folder: r.Place,
    number: Annotated[int, o.whole_option("--round", "Number of the round.")],
    why: Annotated[
        str, o.option("--why", "Reason, which all roles receive: 1 to 200 ASCII letters.", "TEXT")
    ],
    contract: Annotated[
        str | None, o.option("--contract", "Name of the contract, if several were signed.", "NAME")
    ] = None,
) -> None:
    """End a round that is not delivered, after an accident. Its key and bundles are destroyed.

    The serving mix does this within a second, and tells all other roles.
    """
    ended = end_of(why)
    if ended is None:
        raise ParameterError(
            "--why",
            expected="1 to 200 printable ASCII characters",
            got=ascii(why)[:80],
            do="write the reason in other words",
        )
    role = r.open_role(folder)
    with closing(Database(role.database)) as database:
        rounds = Rounds(database)
        row = _find_round(rounds.all(), number, contract)
        found = rounds.end(row, ended)
    if found.ended != ended:
        raise DataError(
            f"round {number}",
            expected="one that has not ended",
            got=f"one that ended before: {found.ended}",
            do="nothing: its key and bundles are destroyed, or will be while the mix is served",
        )
    typer.echo(f"round {number} of {row.name} is ended: {why}")
    typer.echo("the serving mix destroys its key and bundles, and tells all other roles")


def _find_round(rows: list[RoundRow], number: int, contract: str | None) -> RoundRow:
    """Return the round with this number, of the contract with this name unless the name is None."""
    found = [row for row in rows if row.round == number and contract in (None, row.name)]
    if len(found) != 1:
        names = ", ".join(row.name for row in found)
        raise DataError(
            f"round {number}",
            expected="a round that this mix has signed",
            got=f"one of each of {names}" if found else "none",
            do="give --contract NAME" if found else "see its events for the rounds that it signed",
        )
    return found[0]
