"""``mixtally mix rotate`` and ``collector rotate``: a stopped role gets another signing key."""

import io
import tomllib

import pytest
from msgspec.structs import replace

from helpers import contracts
from helpers.devices import NOW, World, answer, first_mix, secret
from mixtally.device.wire.note import Signer, find_signers, sign_note
from mixtally.device.wire.rotation import Rotation, write_rotation, write_rotations
from mixtally.model.contract import Role, write_contract
from mixtally.model.question import Question
from mixtally.server.node.folder import open_folder
from mixtally.server.node.running import exclusive_service

LIMITS = "[limits]\ndelta = 0.1\nhops = 2\n"


@pytest.fixture(scope="module")
def plan():
    return contracts.proved(
        contracts.plan_of(Question(name="q", bins=4), [contracts.shaped(4)], hops=2, delta=1e-3)
    )


class Office:
    """The folder of a mix that is the first hop of a contract, and the files of its serials."""

    def __init__(self, cli, place, plan):
        self.cli, self.place, self.plan, self.folder = cli, place, plan, place / "mix"
        outcome = cli(
            *("mix", "init", self.folder, "--name", "mix-1", "--operator", "Team A"),
            *("--address", "http://127.0.0.1:7001", "--port", 0),
        )
        self.role = self.read(outcome.out)

    @staticmethod
    def read(printed):
        return Role(**tomllib.loads(printed)["hops"][0])

    def contract(self, serial, role=None):
        """A contract of this role, which this mix has not signed."""
        hops, collector = contracts.network(2)
        made = contracts.contract_of(
            self.plan, hops=(role or self.role, hops[1]), collector=collector, serial=serial
        )
        path = self.place / f"contract-{serial}.json"
        path.write_bytes(write_contract(made))
        return path

    def sign(self, serial, role=None):
        return self.cli("mix", "sign", self.folder, self.contract(serial, role))


@pytest.fixture
def office(cli, tmp_path, plan):
    return Office(cli, tmp_path, plan)


def test_a_mix_gets_another_key_and_signs_the_next_serial_with_it(office, cli, refused):
    assert office.sign(1).status == 0
    outcome = cli("mix", "rotate", office.folder)
    assert outcome.status == 0
    new = office.read(outcome.out)
    assert new == replace(office.role, key=new.key)
    assert new.key != office.role.key
    said, then = outcome.err.splitlines()
    assert said == f"replaced {office.role.key}; both keys signed the note"
    assert then.startswith("next: serve the role, so that its peers receive the note")
    assert cli("mix", "rotate", office.folder) == outcome  # once, however often it is called
    assert office.sign(2, new).status == 0
    note = (office.folder / "contracts/home-page-2.note").read_bytes()
    assert find_signers(note, {"mix-1": new.public})
    assert office.sign(1).status == 0  # the earlier contract, whose files this repairs
    line = refused("mix", "sign", office.folder, office.contract(3, office.role))
    assert f"key of mix-1 in home-page, serial 3: expected {new.key}, got {office.role.key}" in line


def test_the_next_key_of_another_role_needs_its_note(office, refused):
    assert office.sign(1).status == 0
    other = Signer("mix-2", secret("a thief"))
    hops, collector = contracts.network(2)
    made = contracts.contract_of(
        office.plan,
        hops=(office.role, replace(hops[1], key=other.verifier)),
        collector=collector,
        serial=2,
    )
    path = office.place / "other.json"
    path.write_bytes(write_contract(made))
    line = refused("mix", "sign", office.folder, path)
    assert line.startswith(f"mixtally: key of mix-2 in home-page, serial 2: expected {hops[1].key}")
    assert not (office.folder / "jobs/home-page-2.json").exists()


def test_a_served_role_is_refused(office, refused):
    office.sign(1)
    with exclusive_service(office.folder):
        assert "a role that is not served" in refused("mix", "rotate", office.folder)
    assert open_folder(office.folder, {}).signer.verifier == office.role.key


def test_a_role_whose_key_is_in_no_contract(office, refused):
    assert "a role that has signed a contract" in refused("mix", "rotate", office.folder)
    assert "role.toml" in refused("mix", "rotate", office.place / "nowhere")


def test_an_earlier_key_that_others_may_read(office, cli, refused):
    office.sign(1)
    cli("mix", "rotate", office.folder)
    (path,) = office.folder.glob("signing-*.key")
    path.chmod(0o644)
    assert "that only its owner can read" in refused("mix", "sign", office.folder, "contract.json")


def test_a_collector_prints_its_own_table(cli, tmp_path, refused):
    cli(
        *("collector", "init", tmp_path / "office", "--name", "collector", "--operator", "x"),
        *("--address", "http://127.0.0.1:7004"),
    )
    assert "nobody knows yet" in refused("collector", "rotate", tmp_path / "office")


@pytest.fixture
def world():
    return World()


OLD = Signer("mix-1", secret("the key before"))


def rotations(world):
    new = world.signers[0]
    text = write_rotation(Rotation("mix-1", OLD.public, new.public))
    return write_rotations([sign_note(text, OLD, new)])


@pytest.fixture
def device(tmp_path, world, monkeypatch):
    """A device that pinned the key before the rotation: the folder with its files."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "trust.toml").write_text(f'keys = ["{OLD.verifier}"]\n{LIMITS}')
    (tmp_path / "contract.note").write_bytes(world.note)
    (tmp_path / "sheet.note").write_bytes(world.sheet())
    (tmp_path / "rotations.json").write_bytes(rotations(world))
    return tmp_path


def words(device, what, *more):
    return ["client", what, device / "contract.note", *more, "--trust", device / "trust.toml"]


def test_a_device_with_the_old_pin_needs_the_note(device, cli, refused, world):
    line = refused(*words(device, "show"))
    assert "mix-1 among its roles, with the key that is pinned, got another key" in line
    outcome = cli(*words(device, "show"), "--rotations", device / "rotations.json")
    assert outcome.status == 0
    assert (
        "mix-1 has a new key, signed by the old one that you trusted: "
        f"{world.signers[0].verifier}" in outcome.out
    )


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"[1]", b"\xff"])
def test_bad_rotations(device, refused, data):
    (device / "rotations.json").write_bytes(data)
    refused(*words(device, "show"), "--rotations", device / "rotations.json")


def test_rotations_are_fetched_beside_the_contract(device, cli, refused, world):
    trust = ("--trust", device / "trust.toml")
    with first_mix(answer(200, body=world.note), answer(200, body=rotations(world))) as role:
        outcome = cli("client", "show", f"{role.address}/contracts/{world.fingerprint}", *trust)
    assert "mix-1 has a new key" in outcome.out
    path = f"/contracts/{world.fingerprint}/rotations"
    assert role.requests[1].startswith(f"GET {path} HTTP/1.1\r\n".encode())
    for served in (answer(404), answer(200, body=b"[]\n")):
        with first_mix(answer(200, body=world.note), served) as role:
            line = refused("client", "show", f"{role.address}/contracts/x", *trust)
        assert "with the key that is pinned" in line


def test_the_diary_follows_the_pin(device, cli, monkeypatch):
    """After one answer the trust file may stay as it is, and nobody has to serve the note."""
    monkeypatch.setattr("mixtally.cli.client.time", lambda: NOW)
    sent = words(device, "send", device / "sheet.note")
    monkeypatch.setattr("sys.stdin", io.StringIO("yes\n"))
    for name in ("deliver", "deliver_until_answered"):
        monkeypatch.setattr(f"mixtally.cli.client.{name}", lambda _diary, entry, *_, **__: entry)
    outcome = cli(*sent, "--rotations", device / "rotations.json", "--yes")
    assert "home-page round 1: pending" in outcome.out
    assert cli(*words(device, "show")).status == 0
