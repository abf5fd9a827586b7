"""The folder of a role: made once, opened with its own master key, nothing secret lies open."""

import os
import stat

import pytest

from helpers.roles_in_folders import ENVIRONMENT, Village
from mixtally.errors import DataError, PlanError
from mixtally.primitives.chance import SecureChance
from mixtally.server.node import disk
from mixtally.server.node.folder import RoleFile, create_folder, open_folder
from mixtally.server.node.keys import Keys
from mixtally.server.node.running import exclusive_service
from mixtally.server.node.wrapping import KeyPurpose, read_master, unwrap_secret, wrap_secret

CHANCE = SecureChance()


def role_file(**changes):
    fields = {
        "name": "mix-1",
        "address": "https://mix.example",
        "operator": 'Team "One"\\',
        "host": "127.0.0.1",
        "port": 7001,
        "master": "env:MASTER",
    }
    return RoleFile(**{**fields, **changes})


def test_what_was_made_is_opened(tmp_path):
    made = create_folder(tmp_path / "a", role_file(), ENVIRONMENT, CHANCE)
    assert open_folder(tmp_path / "a", ENVIRONMENT) == made
    assert "PRIVATE" not in repr(made)
    assert ENVIRONMENT["MASTER"] not in repr(made)


def test_it_is_for_its_owner_alone_and_shows_no_secret(tmp_path):
    made = create_folder(tmp_path / "a", role_file(), ENVIRONMENT, CHANCE)
    for path in [tmp_path / "a", *(tmp_path / "a").rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
        if path.is_file():
            data = path.read_bytes()
            assert made.signer.seed not in data
            assert made.signer.private_key_text.encode() not in data
            assert made.master not in data


def test_it_is_never_made_twice(tmp_path):
    create_folder(tmp_path / "a", role_file(), ENVIRONMENT, CHANCE)
    with pytest.raises(DataError, match="keys are kept"):
        create_folder(tmp_path / "a", role_file(), ENVIRONMENT, CHANCE)


@pytest.mark.parametrize(
    "changes", [{"name": "no name"}, {"address": "http://example.org"}, {"operator": ""}]
)
def test_a_role_that_no_contract_can_name_is_refused(tmp_path, changes):
    with pytest.raises(PlanError):
        create_folder(tmp_path / "a", role_file(**changes), ENVIRONMENT, CHANCE)


def test_a_master_key_is_made_where_it_is_named(tmp_path):
    key = tmp_path / "elsewhere" / "key"
    made = create_folder(tmp_path / "a", role_file(master=str(key)), {}, CHANCE)
    assert read_master(str(key), {}) == made.master
    assert open_folder(tmp_path / "a", {}).signer == made.signer
    key.chmod(0o644)
    with pytest.raises(DataError, match="others may read"):
        open_folder(tmp_path / "a", {})


@pytest.mark.parametrize("mode", [0o644, 0o620, 0o604])
def test_a_signing_key_that_others_may_read_is_refused(tmp_path, mode):
    create_folder(tmp_path / "a", role_file(), ENVIRONMENT, CHANCE)
    (tmp_path / "a" / "signing.key").chmod(mode)
    with pytest.raises(DataError, match="only its owner can read"):
        open_folder(tmp_path / "a", ENVIRONMENT)


@pytest.mark.parametrize("held", [{}, {"MASTER": "5c"}, {"MASTER": "Z" * 64}])
def test_another_form_of_master_key_is_refused(held):
    with pytest.raises(DataError, match="64 hexadecimal"):
        read_master("env:MASTER", held)


def test_another_master_key_opens_nothing(tmp_path):
    create_folder(tmp_path / "a", role_file(), ENVIRONMENT, CHANCE)
    with pytest.raises(DataError, match="cannot be decrypted"):
        open_folder(tmp_path / "a", {"MASTER": "5d" * 32})


def test_what_is_wrapped_is_bound_to_its_use_and_name():
    data = wrap_secret(bytes(32), KeyPurpose.ROUND, "a", b"secret", CHANCE)
    assert unwrap_secret(bytes(32), KeyPurpose.ROUND, "a", data) == b"secret"
    for label, name, altered in (
        (KeyPurpose.SIGNING, "a", data),
        (KeyPurpose.ROUND, "b", data),
        (KeyPurpose.ROUND, "a", data[:-1]),
        (KeyPurpose.ROUND, "a", b""),
        (KeyPurpose.ROUND, "a", bytes([data[0] ^ 1]) + data[1:]),
    ):
        with pytest.raises(DataError):
            unwrap_secret(bytes(32), label, name, altered)


@pytest.mark.parametrize("text", ["", "name = 3", "nonsense", 'name = "mix-1"\nport = "x"'])
def test_a_spoiled_role_file_is_refused(tmp_path, text):
    create_folder(tmp_path / "a", role_file(), ENVIRONMENT, CHANCE)
    (tmp_path / "a" / "role.toml").write_text(text)
    with pytest.raises(PlanError):
        open_folder(tmp_path / "a", ENVIRONMENT)


def test_one_process_serves(tmp_path):
    with (
        exclusive_service(tmp_path),
        pytest.raises(DataError, match="is served"),
        exclusive_service(tmp_path),
    ):
        pass
    with exclusive_service(tmp_path):
        pass


@pytest.mark.parametrize("suite", [1, 2])
def test_the_key_of_a_round_is_made_once_and_destroyed(tmp_path, suite):
    steps = []
    keys = Keys(tmp_path, bytes(32), CHANCE, steps.append)
    made = keys.ensure_key("r-1", suite)
    assert (
        keys.ensure_key("r-1", suite) == made == Keys(tmp_path, bytes(32), CHANCE).read_key("r-1")
    )
    assert keys.configuration("r-1", suite) == keys.configuration("r-1", suite)
    assert keys.ensure_key("r-2", suite) != made
    for path in tmp_path.iterdir():
        assert made.private not in path.read_bytes()
        assert made.sort_key not in path.read_bytes()
    file = os.open(tmp_path / "r-1.key", os.O_RDONLY)
    keys.destroy("r-1")
    assert set(os.read(file, 1000)) == {0}  # overwritten where it lay
    os.close(file)
    assert keys.all() == ["r-2"]
    assert steps == ["after key", "after key", "after key destroyed"]
    with pytest.raises(DataError):
        keys.read_key("r-1")


def test_a_database_that_is_gone_is_not_a_new_role(tmp_path):
    """It would sign again what it has signed."""
    village = Village(tmp_path, hops=1)
    path = village.folders[0].path
    for file in path.glob("node.db*"):
        file.unlink()
    with pytest.raises(
        DataError, match=r"node\.db: expected the database that init made, got none"
    ):
        village.node(1)
    assert not (path / "node.db").exists()


def test_a_database_that_is_not_whole_is_not_used(tmp_path):
    village = Village(tmp_path, hops=1)
    node = village.node(1)
    node.start_serving(village.agreement(1))
    node.database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    node.close()
    path = village.folders[0].path / "node.db"
    data = bytearray(path.read_bytes())
    for page in range(2, len(data) // 4096):
        data[page * 4096 : page * 4096 + 64] = b"\x07" * 64
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"an intact database|disk that can be"):
        village.node(1)


def test_a_command_begins_while_a_round_is_destroyed(tmp_path, monkeypatch):
    """The serving process removes a round's folder after the command has listed it."""
    (tmp_path / "rounds" / "1").mkdir(parents=True)
    synced, usual = [], disk.sync_folder

    def sync(path):
        if path == tmp_path / "rounds":
            (path / "1").rmdir()
        usual(path)
        synced.append(path)

    monkeypatch.setattr(disk, "sync_folder", sync)
    walked = [(str(tmp_path / one), [], []) for one in ("", "rounds", "rounds/1")]
    monkeypatch.setattr(disk.os, "walk", lambda _: walked)
    disk.sync_tree(tmp_path)
    assert synced == [tmp_path, tmp_path / "rounds"]


def test_two_threads_make_one_folder(tmp_path, monkeypatch):
    """The loop expects the pieces of a round while the route of notes does."""
    seen, usual = [False, False], disk.Path.is_dir  # neither has seen what the other makes
    monkeypatch.setattr(disk.Path, "is_dir", lambda path: seen.pop() if seen else usual(path))
    for _ in range(2):
        disk.make_folder(tmp_path / "rounds" / "1")
    assert (tmp_path / "rounds" / "1").is_dir()
