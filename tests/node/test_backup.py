"""A backup has what a role is and has signed, and nothing that opens a round."""

import contextlib
import shutil
import sqlite3
import stat
from zipfile import ZipFile

import pytest

from helpers.mixes import town_of
from helpers.roles_in_folders import ENVIRONMENT, Village
from mixtally.errors import DataError
from mixtally.primitives.chance import SecureChance
from mixtally.server.node import disk
from mixtally.server.node.backup import restore_backup, write_backup
from mixtally.server.node.database import Database
from mixtally.server.node.folder import open_folder
from mixtally.server.node.node import Node


@pytest.fixture
def town(tmp_path):
    made = town_of(tmp_path)
    yield made
    made.end()


@pytest.fixture
def village(tmp_path):
    return Village(tmp_path, hops=1)


def test_no_key_and_no_bundle_is_in_it(town, tmp_path):
    for bin_ in (0, 1):
        assert town.send(town.bundle([bytes([bin_])])).status == 201
    folder, file = town.folders[0].path, tmp_path / "mix-1.backup"
    assert write_backup(folder, file) == "mix-1"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with ZipFile(file) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    assert set(held) == {
        *("node.db", "role.toml", "signing.key"),
        *("jobs/home-page-1.json", "jobs/home-page-1.tag", "contracts/home-page-1.note"),
    }
    secrets = [path.read_bytes() for path in folder.glob("keys/*")]
    assert len(secrets) == 1
    assert not any(secret in data for secret in secrets for data in held.values())


def test_it_is_made_while_the_role_writes(town, tmp_path):
    """Another process is in the middle of a transaction."""
    folder = town.folders[0].path
    writing = sqlite3.connect(folder / "node.db", isolation_level=None)
    writing.execute("BEGIN IMMEDIATE")
    writing.execute("DELETE FROM rounds")
    write_backup(folder, tmp_path / "file")
    writing.execute("ROLLBACK")
    writing.close()
    made = restore_backup(tmp_path / "file", tmp_path / "again", ENVIRONMENT)
    assert [(row.round, row.ended) for row in made.lost] == [(1, "")]
    with Database(made.folder.database).transaction("look") as open_:
        assert open_.execute("SELECT ended FROM rounds").fetchall() == [("lost",)]


def test_the_same_role_comes_back(village, tmp_path):
    nodes = village.nodes()
    write_backup(village.folders[0].path, tmp_path / "file")
    shutil.rmtree(village.folders[0].path)
    made = restore_backup(tmp_path / "file", village.folders[0].path, ENVIRONMENT)
    assert made.folder == village.folders[0]
    assert made.lost == []
    node = Node(open_folder(made.folder.path, ENVIRONMENT), SecureChance())
    assert node.has_signed_contract(village.agreement(1))
    assert stat.S_IMODE(made.folder.path.stat().st_mode) == 0o700
    for path in made.folder.path.rglob("*"):
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077, path
    nodes[1].close()


def test_the_master_key_may_be_at_another_place(village, tmp_path):
    write_backup(village.folders[0].path, tmp_path / "file")
    key = tmp_path / "key"
    key.write_text(ENVIRONMENT["MASTER"] + "\n")
    key.chmod(0o600)
    made = restore_backup(tmp_path / "file", tmp_path / "again", {}, str(key))
    assert made.folder.role.master == str(key)
    assert made.folder.signer == village.folders[0].signer


def test_no_role_is_no_backup(tmp_path):
    with pytest.raises(DataError, match="expected the folder of a role"):
        write_backup(tmp_path, tmp_path / "file")
    assert not (tmp_path / "file").exists()


def test_a_folder_with_files_is_not_touched(village, tmp_path):
    folder = village.folders[0].path
    write_backup(folder, tmp_path / "file")
    before = sorted(folder.rglob("*"))
    with pytest.raises(DataError, match="expected a new folder, got one with files"):
        restore_backup(tmp_path / "file", folder, ENVIRONMENT)
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("environment", [{}, {"MASTER": "5d" * 32}])
def test_without_its_master_key_nothing_is_written(village, tmp_path, environment):
    write_backup(village.folders[0].path, tmp_path / "file")
    with pytest.raises(DataError, match="master key"):
        restore_backup(tmp_path / "file", tmp_path / "again", environment)
    assert not (tmp_path / "again").exists()


def added(name):
    def change(path):
        with ZipFile(path, "a") as archive:
            archive.writestr(name, b"x")

    return change


def without_mark(path):
    with ZipFile(path, "a") as archive:
        archive.comment = b"mixtally backup 2"


def cut(path):
    path.write_bytes(path.read_bytes()[:-100])


def one_byte_else(path):
    """Change the checksum of the last file: changes of compressed bytes may not change a file."""
    data = bytearray(path.read_bytes())
    data[data.rindex(b"PK\x01\x02") + 16] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize(
    "change",
    [
        *(cut, one_byte_else, without_mark, lambda path: path.write_bytes(b"")),
        *(added("../role.toml"), added("keys/1.key"), added("/etc/passwd"), added("jobs/../a.tag")),
    ],
)
def test_another_file_is_no_backup(village, tmp_path, change):
    write_backup(village.folders[0].path, tmp_path / "file")
    change(tmp_path / "file")
    with pytest.raises(DataError, match="expected a backup that this version"):
        restore_backup(tmp_path / "file", tmp_path / "again", ENVIRONMENT)
    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize("writes", range(5))
def test_an_interrupted_restore_leaves_no_role(village, tmp_path, monkeypatch, writes):
    write_backup(village.folders[0].path, tmp_path / "file")
    usual, left = disk.put, [None] * writes

    def put(*more):
        if not left:
            raise KeyboardInterrupt
        left.pop()
        usual(*more)

    with monkeypatch.context() as patch:
        patch.setattr(disk, "put", put)
        with contextlib.suppress(KeyboardInterrupt):
            restore_backup(tmp_path / "file", tmp_path / "again", ENVIRONMENT)
    whole = (tmp_path / "again" / "role.toml").exists()
    assert whole == (writes >= 3)  # database, signing key, role: a role without contracts
    if not whole:
        with pytest.raises(DataError, match="that init wrote"):
            open_folder(tmp_path / "again", ENVIRONMENT)


def test_replaced_signing_keys_come_back_too(village, tmp_path):
    folder = village.folders[0]
    new = folder.next_signer(SecureChance())
    folder.replace_signer(SecureChance(), disk.no_step)
    write_backup(folder.path, tmp_path / "file")
    made = restore_backup(tmp_path / "file", tmp_path / "again", ENVIRONMENT)
    assert (made.folder.signer, made.folder.earlier) == (new, (folder.signer,))
