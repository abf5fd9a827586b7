"""A database of an older version is upgraded, also in the middle of a round; a newer one is not."""

import sqlite3

import pytest

from helpers.mixes import run, town_of
from helpers.roles_in_folders import ENVIRONMENT
from mixtally.errors import DataError
from mixtally.server.node.database import Database
from mixtally.server.node.folder import open_folder

VERSION_1 = """
CREATE TABLE slots (signer TEXT, slot TEXT, hash TEXT NOT NULL, PRIMARY KEY (signer, slot))
  WITHOUT ROWID;
CREATE TABLE notes (hash TEXT PRIMARY KEY, kind TEXT NOT NULL, contract TEXT NOT NULL,
  round INTEGER NOT NULL, hop INTEGER NOT NULL, note BLOB NOT NULL);
CREATE TABLE signers (name TEXT, hash TEXT, PRIMARY KEY (name, hash)) WITHOUT ROWID;
CREATE TABLE outbox (number INTEGER PRIMARY KEY, hash TEXT NOT NULL, role TEXT NOT NULL,
  tries INTEGER NOT NULL DEFAULT 0, UNIQUE (hash, role));
CREATE TABLE rounds (name TEXT, round INTEGER, contract TEXT NOT NULL, sheet TEXT NOT NULL,
  opens INTEGER NOT NULL, closes INTEGER NOT NULL, expires INTEGER NOT NULL,
  state TEXT NOT NULL, ended TEXT NOT NULL DEFAULT '', PRIMARY KEY (name, round));
CREATE TABLE overruled (contract TEXT, name TEXT, PRIMARY KEY (contract, name)) WITHOUT ROWID;
PRAGMA user_version=1;
"""
"""The tables as the first version of mixtally made them."""
NAMES = ("slots", "notes", "signers", "outbox", "rounds", "overruled")


class KilledError(Exception):
    """A process that ends in the middle of an upgrade."""


def downgrade(path):
    """Write the content of a database as the first version would have."""
    old = path.with_name("old.db")
    with sqlite3.connect(old) as made:
        made.executescript(f"PRAGMA journal_mode=WAL; {VERSION_1}")
        made.execute("ATTACH ? AS new", (str(path),))
        for name in NAMES:
            made.execute(f"INSERT INTO {name} SELECT * FROM new.{name}")
    made.close()
    for end in ("", "-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    old.rename(path)


def version(path):
    held = sqlite3.connect(path)
    ((found,),) = held.execute("PRAGMA user_version").fetchall()
    held.close()
    return found


def content(database):
    return {name: database.rows(f"SELECT * FROM {name}") for name in NAMES}


def test_a_round_half_done_goes_on(tmp_path):
    town = town_of(tmp_path)
    for bin_ in (0, 1):
        assert town.send(town.bundle([bytes([bin_])])).status == 201
    before = [content(mix.node.database) for mix in town.mixes]
    for mix in town.mixes:
        mix.end()
        downgrade(mix.node.folder.database)
        assert version(mix.node.folder.database) == 1
    town.mixes = [town.awaken(place) for place in (1, 2, 3)]
    assert [content(mix.node.database) for mix in town.mixes] == before
    assert {version(mix.node.folder.database) for mix in town.mixes} == {2}
    town.tick()
    assert town.send(town.bundle([bytes([3])])).status == 201
    run(town)
    assert town.collector.manifest_of(town.collector.rounds.all()[0], 3)[1].bundles == 3
    assert len(town.opened()[0]) >= 3
    town.end()


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("when", ["before", "after"])
def test_an_upgrade_that_is_killed_is_done_again(tmp_path, when, number):
    seen = []

    def step(name):
        seen.append(name)
        if seen.count(f"{when} tables") == number:
            raise KilledError

    path = tmp_path / "node.db"
    with pytest.raises(KilledError):
        Database(path, step)
    assert version(path) == number - (when == "before")
    Database(path).close()
    assert version(path) == 2


def test_a_newer_version_is_refused_and_left_alone(tmp_path):
    town = town_of(tmp_path)
    town.end()
    path = town.folders[0].path / "node.db"
    held = sqlite3.connect(path)
    held.execute("PRAGMA user_version=3")
    held.close()
    wanted = (
        "expected a database of version 2 or older, got version 3, which a newer mixtally wrote"
    )
    with pytest.raises(DataError, match=wanted):
        Database(open_folder(path.parent, ENVIRONMENT).database)
    assert version(path) == 3
