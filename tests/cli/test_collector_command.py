"""``mixtally collector``: begun once, signs, proposes, looks at tallies again."""

import json
import tomllib

import pytest

from helpers import contracts
from helpers.collector_scene import Office
from helpers.roles_in_folders import EVERY
from mixtally.cli import collector as commands
from mixtally.device.wire.note import sign_note
from mixtally.device.wire.sheet import read_sheet
from mixtally.model.contract import Prefixes, Role, fingerprint_of, write_contract
from mixtally.model.question import Question
from mixtally.server.collector.signing import GatheredSignatures

VALUES = [0, 0, 0, 1, 1, 3]


@pytest.fixture
def office(tmp_path, monkeypatch):
    """Roles without sockets: commands ask each of them directly, at the village's time."""
    return begun(Office(tmp_path, hops=2), monkeypatch)


def begun(office, monkeypatch):
    """The same of any office."""
    monkeypatch.setenv("MASTER", "5c" * 32)
    monkeypatch.setattr(commands, "call", office.call)
    monkeypatch.setattr(commands, "time", lambda: office.now)
    office.begin()
    return office


@pytest.fixture
def folder(office):
    return office.folders[-1].path


def test_it_is_begun_once(cli, refused, tmp_path):
    begin = (
        *("collector", "init", tmp_path / "c", "--name", "collector", "--operator", "Team C"),
        *("--address", "http://127.0.0.1:7000"),
    )
    outcome = cli(*begin)
    assert outcome.status == 0
    role = Role(**tomllib.loads(outcome.out)["collector"])
    assert role.operator == "Team C"
    assert "keys are kept" in refused(*begin)


def test_it_signs_what_it_has_checked(cli, refused, tmp_path, office, folder):
    path = tmp_path / "contract.json"
    plan = contracts.proved(
        contracts.plan_of(Question(name="q", bins=4), [contracts.shaped(4)], delta=1e-4)
    )
    hops, collector = office.contract.hops, office.contract.collector
    made = contracts.contract_of(plan, hops=hops, collector=collector, name="other")
    path.write_bytes(write_contract(made))
    line = refused("collector", "sign", folder, path)
    assert "the signatures of all mixes, got none of mix-1: " in line
    assert (folder / "contracts" / "other-1.note").exists()
    assert "expected the contract of fingerprint 12" in refused(
        "collector", "sign", folder, path, "--fingerprint", "12"
    )
    path.write_bytes(office.text)  # its certificate says less than is true
    assert "its promise is false" in refused("collector", "sign", folder, path)
    assert cli("collector", "sign", "--help").status == 0


def test_it_says_that_all_have_signed(cli, monkeypatch, tmp_path, office, folder):
    path = tmp_path / "contract.json"
    path.write_bytes(office.text)
    monkeypatch.setattr(commands.office, "verify_contract", lambda *_: office.agreed)
    outcome = cli("collector", "sign", folder, path)
    assert outcome.status == 0
    assert "is signed by its collector and all mixes" in outcome.out
    assert fingerprint_of(office.text) in outcome.out


def test_it_says_that_a_stranger_answers_at_an_address(monkeypatch, refused, office, folder):
    monkeypatch.setattr(commands.office, "verify_contract", lambda *_: office.agreed)
    path = folder / "contract.json"
    path.write_bytes(office.text)
    gathered = GatheredSignatures(
        office.agreed, b"", {"mix-2": "x"}, {"mix-2": "another program answers"}
    )
    monkeypatch.setattr(commands.office, "sign", lambda *_: gathered)
    line = refused("collector", "sign", folder, path)
    assert "got of mix-2: another program answers. Another program may use the port" in line


def test_a_round_is_proposed_and_looked_at(cli, refused, tmp_path, office, folder):
    outcome = cli("collector", "propose", folder, "--expires-after", "1e3")
    assert outcome.status == 0
    assert "round 1 of 3 is signed by all" in outcome.out
    assert "http://127.0.0.1:7001/contracts/" in outcome.out
    assert "a round that was counted" in refused("collector", "publish", folder, "--round", 1)
    assert "a round that was proposed" in refused("collector", "publish", folder, "--round", 2)
    assert "one that was refused" in refused("collector", "conclude", folder, "--round", 1)
    office.collector.tick(office.now)
    office.sheet_note = office.collector.node.sheet_note(office.row())
    office.send(*office.usual(VALUES))
    office.collector.tick(office.now)
    said = json.loads(cli("collector", "publish", folder, "--round", 1, "--json").out)
    assert [row["estimate"] for row in said["estimates"]] == [3, 2, 0, 1]
    assert said == json.loads(office.result().body)
    wide = json.loads(
        cli("collector", "publish", folder, "--round", 1, "--level", 0.999, "--json").out
    )
    assert wide["confidence_level"] == 0.999
    first, second = (row["label"] for row in said["estimates"][:2])
    groups = tmp_path / "groups.csv"
    groups.write_text(f"label,group\n{first},both\n{second},both\n")
    given = ("collector", "publish", folder, "--round", 1, "--total", groups)
    (total,) = json.loads(cli(*given, "--json").out)["totals"]
    assert (total["label"], total["estimate"]) == ("both", 5)
    again = cli("collector", "publish", folder, "--round", 1, "--shares", "--json").out
    assert [row["share"] for row in json.loads(again)["estimates"]] == [3 / 6, 2 / 6, 0, 1 / 6]
    groups.write_text("label,group\nnobody,both\n")
    out = tmp_path / "none"
    assert "labels of totals" in refused(*given, "--out", out)
    assert not out.exists()
    line = refused("collector", "publish", folder, "--round", 1, "--pairs")
    assert "a tally that holds single bins" in line
    assert said == json.loads(cli("collector", "conclude", folder, "--round", 1, "--json").out)


def test_files_of_a_round_and_of_the_page(cli, refused, tmp_path, office, folder):
    office.proposed()
    office.send(*office.usual(VALUES))
    office.collector.tick(office.now)
    out = tmp_path / "out"
    assert cli("collector", "publish", folder, "--round", 1, "--out", out).status == 0
    assert {path.name for path in out.iterdir()} == {
        "report.html",
        "result.json",
        "estimates.csv",
    }
    said = json.loads(cli("collector", "publish", folder, "--json").out)
    (contract,) = said["contracts"]
    assert contract["rounds"][0]["state"] == "released"
    assert contract["rounds"][0]["charged"]
    assert "Rounds proposed: 1; at most 3" in cli("collector", "publish", folder).out
    line = refused("collector", "publish", folder, "--contract", "another")
    assert "expected the name of a signed contract" in line


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--opens", "tomorrow"), "expected 2026-12-31T18:00:00Z, got 'tomorrow'"),
        (("--closing",), "the question does not ask for words"),
        (("--contract", "fruit"), "got fruit among home-page"),
        (("--opens", "1970-01-01T00:00:05"), "the round would be over already"),
    ],
)
def test_wishes_that_are_refused(refused, office, folder, more, words):
    assert words in refused("collector", "propose", folder, *more)


def test_a_time_may_have_a_zone(cli, office, folder):
    outcome = cli("collector", "propose", folder, "--opens", "1970-01-12T15:00:00+01:00")
    assert "opens: 1970-01-12 14:00:00 UTC" in outcome.out


def test_rounds_that_follow_words(tmp_path, monkeypatch, cli, refused):
    """People hold "ab" (300), "b" (200) and "ba" (3): a, b, then ab, and no word is longer."""
    asked = Prefixes(alphabet="ab", most=2, longest=3)
    part = contracts.shaped(asked.bins, shift=3)
    office = begun(Office(tmp_path, hops=2, part=part, prefixes=asked), monkeypatch)
    folder = office.folders[-1].path
    propose = ("collector", "propose", folder)
    letters = {"(ends)": 0, "a": 1, "b": 2}

    def round_of(number, *answers):
        """A round in which so many people answer each bin."""
        office.collector.tick(office.now)
        office.sheet_note = office.collector.node.sheet_note(office.row(number))
        office.send(*office.usual([place for place, count in answers for _ in range(count)]))
        office.now += EVERY
        office.collector.tick(office.now)
        return read_sheet(office.sheet_note).prefixes

    assert "a round that was proposed" in refused(*propose, "--extend", 1)
    assert cli(*propose).status == 0
    assert "a round that was counted" in refused(*propose, "--extend", 1)
    assert round_of(1, (letters["a"], 300), (letters["b"], 203)) is None
    words = tmp_path / "words"
    words.write_bytes(b"\xe4\n")
    assert "UTF-8" in refused(*propose, "--prefixes", words)
    assert "got both" in refused(*propose, "--prefixes", words, "--extend", 1)
    assert cli(*propose, "--extend", 1).status == 0
    other = 4 * 2  # the bin of everything else
    found = round_of(2, (letters["b"], 300), (4 + letters["(ends)"], 200), (4 + 1, 3), (other, 9))
    assert found == ((1,), (2,))  # the larger first
    assert cli(*propose, "--extend", 2).status == 0
    assert round_of(3, (letters["(ends)"], 300), (other, 209)) == ((1, 2),)  # three are too few
    assert "The search is over" in refused(*propose, "--extend", 3)


def test_only_words_are_extended(refused, folder):
    assert "another question" in refused("collector", "propose", folder, "--extend", 1)


def test_a_proposal_signs_its_contract_once(cli, monkeypatch, tmp_path, office, folder):
    path, derived = tmp_path / "contract.json", []
    path.write_bytes(office.text)
    note = folder / "contracts" / f"{office.contract.name}-1.note"
    note.unlink()  # signed by nobody, as far as the folder says

    def derive(*_):
        derived.append(1)
        return office.agreed

    monkeypatch.setattr(commands.office, "verify_contract", derive)
    for said in ("is signed by its collector and all mixes", "round 2 of 3 is signed by all"):
        outcome = cli("collector", "propose", folder, "--sign", path)
        assert outcome.status == 0
        assert said in outcome.out
    assert len(derived) == 1


def test_a_proposal_gathers_signatures_that_are_missing(cli, monkeypatch, tmp_path, office, folder):
    """The collector's own signature is not enough."""
    path = tmp_path / "contract.json"
    path.write_bytes(office.text)
    note = folder / "contracts" / f"{office.contract.name}-1.note"
    note.write_bytes(sign_note(office.text, office.folders[-1].signer))
    monkeypatch.setattr(commands.office, "verify_contract", lambda *_: office.agreed)
    outcome = cli("collector", "propose", folder, "--sign", path)
    assert "is signed by its collector and all mixes" in outcome.out
    assert outcome.status == 0
