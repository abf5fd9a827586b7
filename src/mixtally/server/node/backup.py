"""Backup of a role in one file, and its restoration after the loss of a disk.

A backup has the role's identity, its encrypted signing key, its contracts and signed notes, and a
collector's results. It never has keys of rounds, bundles or pieces: with copies of these, messages
could be opened after the round, when they must be unreadable. The file is a ZIP archive.
"""

import re
import sqlite3
import zlib
from collections.abc import Mapping
from contextlib import closing
from io import BytesIO
from pathlib import Path
from typing import NamedTuple
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

from msgspec.structs import replace

from mixtally.errors import DataError
from mixtally.server.node import disk
from mixtally.server.node.database import Database, open_connection, translate_sqlite_errors
from mixtally.server.node.folder import (
    DATABASE,
    KEY,
    ROLE,
    Folder,
    make_folders,
    open_folder,
    read_role_file,
    unwrap_signer,
    write_role_file,
)
from mixtally.server.node.restored import mark_restored
from mixtally.server.node.rounds import RoundRow
from mixtally.server.node.wrapping import read_master

_MARK = b"mixtally backup 1"
_MEMBER = re.compile(
    r"role\.toml|(next-)?signing(-[^/]+)?\.key|node\.db|jobs/[^/]+\.(json|tag)|contracts/[^/]+\.note|codes/[^/]+\.note"
    r"|results/[^/]+/(charge|tally|result)\.json"
)
"""The names of the files in a backup. All other files of a role are omitted."""
_PLACES = ("*", "jobs/*", "contracts/*", "codes/*", "results/*/*")
"""Patterns of the paths of these files. Other folders are not searched, because a serving role may
remove them meanwhile."""


class RestoredFolder(NamedTuple):
    """A restored folder, and the rounds that were open in the backup and are lost."""

    folder: Folder
    lost: list[RoundRow]


def write_backup(folder: Path, file: Path) -> str:
    """Write a backup of a role, which may be served meanwhile, and return the role's name.

    Raises
    ------
    DataError
        If the folder contains no role, or the file cannot be written.
    PlanError
        If ``role.toml`` is invalid.
    """
    data = disk.read_file(folder / ROLE, "the folder of a role")
    role, buffer = read_role_file(data, folder / ROLE), BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        archive.comment = _MARK
        # The database is read first, so that other files are never older than the database. So a
        # round that is counted according to the database has its tally.
        archive.writestr(DATABASE, _copy_database(folder / DATABASE))
        for path in sorted(path for place in _PLACES for path in folder.glob(place)):
            name = path.relative_to(folder).as_posix()
            if _MEMBER.fullmatch(name) and name != DATABASE:
                archive.writestr(name, disk.read_file(path, "a file of the role"))
    disk.put(file, buffer.getvalue(), "a backup")
    return role.name


def restore_backup(
    file: Path, folder: Path, environment: Mapping[str, str], master: str | None = None
) -> RestoredFolder:
    """Create the folder of a role from its backup; all rounds that were open are lost.

    Before the restored role acts, it asks all its peers for the notes that it signed after the
    backup. ``master`` is the place of the master key, as in ``role.toml``; None for the place that
    the backup names.

    Raises
    ------
    DataError
        If the file is no backup, the folder is not empty, or the master key is missing or wrong.
    PlanError
        If ``role.toml`` is invalid.
    """
    members = _read_members(file)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError(
            str(folder),
            expected="a new folder",
            got="one with files",
            do="choose another; if an earlier restore was interrupted, delete what it wrote",
        )
    role = read_role_file(members.pop(ROLE), file)
    role = role if master is None else replace(role, master=master)
    # Before anything is written: without the master key the backup is useless.
    unwrap_signer(role.name, read_master(role.master, environment), members[KEY])
    make_folders(folder)
    for name, data in members.items():
        (folder / name).parent.mkdir(disk.PRIVATE_FOLDER, parents=True, exist_ok=True)
        disk.put(folder / name, data, "a file of the role")
    with closing(Database(folder / DATABASE)) as database:
        lost = mark_restored(database)
    # Written last: a folder that contains this file is complete.
    disk.put(folder / ROLE, write_role_file(role), "who the role is")
    disk.sync_tree(folder)
    return RestoredFolder(open_folder(folder, environment), lost)


def _copy_database(path: Path) -> bytes:
    """Return a database as the bytes of one file, while other processes may write to it."""
    if not path.exists():
        raise DataError(str(path), expected="the folder of a role", got="none", do="check it")
    with (
        closing(open_connection(path)) as source,
        closing(sqlite3.connect(":memory:")) as target,
        translate_sqlite_errors(path),
    ):
        source.backup(target)
        return target.serialize()


def _read_members(file: Path) -> dict[str, bytes]:
    """Return the files in a backup by name; raises DataError if it is damaged or no backup."""
    buffer = BytesIO(disk.read_file(file, "a backup"))
    try:
        with ZipFile(buffer) as archive:
            found = {name: archive.read(name) for name in archive.namelist()}
            whole = archive.comment == _MARK and {ROLE, KEY, DATABASE} <= set(found)
            if not whole or not all(map(_MEMBER.fullmatch, found)):
                raise BadZipFile("another archive")
    except (BadZipFile, zlib.error, EOFError, ValueError, RuntimeError) as error:
        raise DataError(
            str(file),
            expected="a backup that this version of mixtally can read",
            got=str(error)[:200],
            do="choose another backup",
        ) from error
    return found
