"""``backup`` and ``restore`` as an operator types them, beside a network that runs."""

import shutil

import pytest

from helpers.roles_in_folders import ENVIRONMENT
from mixtally.server.node.backup import restore_backup, write_backup
from network.stage import COLLECTOR, people, stage_of


@pytest.fixture
def stage(tmp_path, monkeypatch):
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    return stage_of(tmp_path / "network")


@pytest.mark.parametrize(("place", "word"), [(2, "mix"), (COLLECTOR, "collector")])
def test_a_lost_role_comes_back(stage, cli, tmp_path, place, word):
    people(stage)
    folder, name = stage.folders[place - 1].path, stage.folders[place - 1].role.name
    file = tmp_path / "file"
    said = cli(f"{word} backup", folder, file)
    assert (said.status, said.err) == (0, "")
    assert said.out == f"{name} is in {file}, without its master key: keep that elsewhere\n"
    said = cli(f"{word} restore", file, folder)
    assert said.status == 2
    assert "expected a new folder, got one with files" in said.err
    shutil.rmtree(folder)
    said = cli(f"{word} restore", file, folder)
    assert (said.status, said.err) == (0, "")
    assert said.out.splitlines() == [
        f"{name} is restored in {folder}: serve it",
        "it waits until all other roles have said what it signed since the backup",
        "lost: round 1 of home-page, unless this role had delivered it",
        "never start the old folder again: two roles with one key contradict each other",
    ]
    if word == "mix":
        stage.mixes[place - 1] = stage.awaken(place)
    else:
        stage.office = stage.awaken_collector()
    stage.finish()
    ends = {"mix": "destroyed/lost", "collector": "lost/lost"}
    assert stage.states().split()[-1] == ends[word]
    assert (stage.office.results.read_charge(stage.row().folder) is None) == (word == "mix")
    page = stage.ask(COLLECTOR, "GET", "/").body.decode()
    words = {"mix": "a mix lost its disk", "collector": "lost with the collector's disk"}
    assert words[word] in page.replace("&#x27;", "'").replace("&#39;", "'")


def test_a_counted_round_is_released_after_all(stage, tmp_path, monkeypatch):
    """It needs no key any more; its tally is in the backup."""
    people(stage)
    monkeypatch.setattr(stage.office, "_conclude", lambda *_: False)
    stage.finish()
    assert stage.row().state == "counted"
    folder = stage.folders[-1].path
    write_backup(folder, tmp_path / "file")
    shutil.rmtree(folder)
    assert restore_backup(tmp_path / "file", folder, ENVIRONMENT).lost == []
    stage.office = stage.awaken_collector()
    assert (stage.row().state, stage.row().ended) == ("counted", "")
    stage.tick()
    assert stage.row().state == "released"
    assert stage.office.results.people(stage.row().folder) == 3


@pytest.mark.parametrize("word", ["mix", "collector"])
def test_what_is_no_role_or_no_backup_is_refused(cli, tmp_path, word):
    (tmp_path / "file").write_bytes(b"x" * 100)
    for command, place in (("backup", tmp_path), ("restore", tmp_path / "file")):
        said = cli(f"{word} {command}", place, tmp_path / "to")
        assert said.status == 2
        assert "mixtally: " in said.err
        assert not (tmp_path / "to").exists()
