"""``mixtally collector export`` and ``mixtally check round``: files, statuses and words."""

import json

import pytest

from helpers.exported_rounds import VALUES, KeepingOffice
from mixtally.cli import check_round as cli_check_round
from mixtally.device.contract.fields import fingerprint_of
from mixtally.device.wire.note import Signer, sign_note
from mixtally.device.wire.rotation import Rotation, write_rotation, write_rotations
from mixtally.server.collector import exporting
from mixtally.server.collector.export_index import INDEX, read_index, write_index
from mixtally.server.collector.stored import KEPT
from mixtally.server.node.calls import Answer


@pytest.fixture(scope="module")
def office(tmp_path_factory):
    office = KeepingOffice(tmp_path_factory.mktemp("office"))
    office.begin()
    office.count()
    return office


@pytest.fixture
def role(office, monkeypatch):
    monkeypatch.setenv("MASTER", "5c" * 32)
    return office.folders[-1].path


@pytest.fixture
def exported(cli, role, tmp_path):
    outcome = cli("collector", "export", role, "--round", 1, "--out", tmp_path / "out")
    assert outcome.status == 0, outcome.err
    assert "15 files, with the opened messages" in outcome.out
    return tmp_path / "out"


def test_an_honest_round(cli, exported, office):
    outcome = cli("check", "round", exported, "--fingerprint", office.fingerprint)
    assert outcome.status == 0, outcome.err
    assert outcome.out.startswith("Protects: each person's answer")
    assert "Everything that was looked at fits" in outcome.out
    assert "the messages were inside the pieces" in outcome.out
    said = json.loads(cli("check", "round", exported, "--json").out)
    assert said["fits"]
    assert said["findings"] == []
    assert len(said["claims"]) == 14


def test_a_false_one_names_the_file_and_accuses_nobody(cli, exported):
    (exported / "receipt.md").write_text("epsilon 0")
    outcome = cli("check", "round", exported)
    assert outcome.status == 1
    assert "receipt.md: expected" in outcome.out
    assert "nobody is accused" in outcome.out
    said = json.loads(cli("check", "round", exported, "--json").out)
    assert [(one["file"], one["role"]) for one in said["findings"]] == [("receipt.md", None)]


def test_unusable_input(cli, refused, exported, tmp_path):
    assert "exported round" in refused("check", "round", tmp_path)
    assert "fingerprint" in refused("check", "round", exported, "--fingerprint", "0" * 64)
    refused("check", "round", "http://127.0.0.1:1/")


def test_a_contract_of_another_fingerprint_is_refused_before_all_else(refused, exported, plant):
    def fail(*_):
        raise AssertionError("the round was checked")

    plant(cli_check_round, "check_round", fail)
    assert "fingerprint" in refused("check", "round", exported, "--fingerprint", "0" * 64)


def test_a_host_cannot_serve_another_contract_the_second_time(refused, exported, plant):
    """The contract is compared before the files are fetched, and again afterwards."""
    own = fingerprint_of((exported / "contract.note").read_bytes())
    served = []

    def call(_, place, method, path, body=b"", most=0, seconds=0.0):
        data = (exported / path[1:]).read_bytes()
        served.append(path)
        return Answer(200, b"x\n" if served.count("/contract.note") > 1 and "contract" in path
                      else data)  # fmt: skip

    plant(cli_check_round, "call", call)
    assert "fingerprint" in refused("check", "round", "http://127.0.0.1/x", "--fingerprint", own)
    assert served.count("/contract.note") == 2


def test_an_export_never_mixes_with_other_files(refused, role, exported, tmp_path):
    assert "a new folder" in refused("collector", "export", role, "--round", 1, "--out", exported)
    assert "a round that was proposed" in refused("collector", "export", role, "--round", 2)
    (tmp_path / "file").write_text("")
    refused("collector", "export", role, "--round", 1, "--out", tmp_path / "file" / "out")


def test_the_default_folder_is_served_and_replaced(cli, role, office):
    for _ in range(2):
        outcome = cli("collector", "export", role, "--round", 1)
        assert outcome.status == 0, outcome.err
    path = f"/contracts/{office.fingerprint}/rounds/1/export"
    assert (
        f"check it: mixtally check round {office.contract.collector.address}{path}" in outcome.out
    )
    assert office.ask("GET", f"{path}/{INDEX}").status == 200


def test_a_full_disk_leaves_nothing(refused, role, tmp_path, plant):
    def full(*_):
        raise OSError(28, "No space left on device")

    plant(exporting, "write_index", full)
    assert "no space left" in refused(
        "collector", "export", role, "--round", 1, "--out", tmp_path / "out"
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("limit", ["max_bytes", "MOST_FILES"])
def test_a_round_that_is_too_large_leaves_nothing(refused, role, tmp_path, monkeypatch, limit):
    monkeypatch.setattr(exporting, limit, 3 if limit == "MOST_FILES" else lambda _: 3)
    line = refused("collector", "export", role, "--round", 1, "--out", tmp_path / "out")
    assert "too large to be exported" in line
    assert not list(tmp_path.iterdir())


def test_an_index_that_a_later_key_signed(cli, exported, office):
    """After a rotation the old key may be deleted; the notes lead to the new one."""
    old, new = office.role.signer, Signer("collector", b"7" * 32)
    index = read_index((exported / INDEX).read_bytes())
    (exported / INDEX).write_bytes(sign_note(write_index(index), new))
    assert cli("check", "round", exported).status == 1
    text = write_rotation(Rotation("collector", old.public, new.public))
    office.sign_again(
        exported, rotations_json=write_rotations([sign_note(text, old, new)]), signer=new
    )
    assert cli("check", "round", exported).status == 0


def test_kept_messages_are_in_another_order(office):
    """The pieces and the messages are in orders that nothing links."""
    kept = office.collector.results.folder_of(office.row().folder, KEPT)
    (messages,) = kept.glob("messages-*")
    data = messages.read_bytes()
    counts = office.collector.results.read_tally(office.row().folder).parts[0].counts
    assert [data.count(bin_) for bin_ in range(4)] == counts
    assert data != bytes(VALUES) + b"".join(office.fakes * 3)  # as the last mix sent them


def test_a_cluster_keeps_no_messages(refused, role):
    place = role.parent
    line = ("collector", "serve", role, "--keep-messages", "--engine", "spark")
    more = ("--master", "local[1]", "--store", place, "--engine-key", "env:MASTER")
    assert "--keep-messages" in refused(*line, *more)
