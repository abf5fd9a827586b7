"""``mixtally mix``: begun once, signs what it has checked, serves until it is told to end."""

import os
import re
import signal
import subprocess
import sys
import tomllib

import pytest
from msgspec.structs import replace

from helpers import contracts
from mixtally.device.wire.note import find_signers
from mixtally.model.contract import Role, fingerprint_of, write_contract
from mixtally.model.job import read_job
from mixtally.model.question import Question
from mixtally.server.node.calls import call
from mixtally.server.node.folder import open_folder

PROGRAM = "from mixtally.cli.main import run; run()"
EVENT = re.compile(r"[0-9T:-]+Z (peer unreachable|waiting) ")


@pytest.fixture(scope="module")
def plan():
    return contracts.proved(
        contracts.plan_of(Question(name="q", bins=4), [contracts.shaped(4)], hops=2, delta=1e-3)
    )


@pytest.fixture
def begun(cli, tmp_path):
    """A mix, and the role that it printed."""
    outcome = cli(
        *("mix", "init", tmp_path / "mix", "--name", "mix-1", "--operator", "Team A"),
        *("--address", "http://127.0.0.1:7001", "--port", 0),
    )
    assert outcome.status == 0
    return tmp_path / "mix", Role(**tomllib.loads(outcome.out)["hops"][0])


def contract_file(tmp_path, plan, role, **changes):
    """A contract in which ``role`` is the first hop."""
    hops, collector = contracts.network(2)
    made = contracts.contract_of(plan, hops=(role, hops[1]), collector=collector, **changes)
    path = tmp_path / "contract.json"
    path.write_bytes(write_contract(made))
    return path


def test_it_is_begun_once(cli, refused, tmp_path, begun):
    folder, role = begun
    assert role.key.startswith("mix-1+")
    assert "PRIVATE" not in (folder / "role.toml").read_text()
    line = refused(
        *("mix", "init", folder, "--name", "mix-1", "--operator", "x"),
        *("--address", "http://127.0.0.1:7001"),
    )
    assert "keys are kept" in line
    assert (tmp_path / "mix.master-key").stat().st_mode & 0o077 == 0


def test_it_signs_what_it_has_checked(cli, tmp_path, begun, plan):
    folder, role = begun
    path = contract_file(tmp_path, plan, role)
    outcome = cli("mix", "sign", folder, path)
    assert outcome.status == 0
    assert "hop 1 of 2" in outcome.out
    assert fingerprint_of(path.read_bytes()) in outcome.out
    assert "any one of the 2 mixes is honest" in outcome.out
    note = (folder / "contracts" / "home-page-1.note").read_bytes()
    signer = open_folder(folder, {}).signer
    assert find_signers(note, {"mix-1": signer.public}) == {"mix-1"}
    job = (folder / "jobs" / "home-page-1.json").read_bytes()
    assert read_job(job, "job").place == 1
    assert b"question" not in job
    assert b"epsilon" not in job
    assert cli("mix", "sign", folder, path).out == outcome.out
    assert (folder / "contracts" / "home-page-1.note").read_bytes() == note


def test_the_guarantee_that_it_signs_is_not_rounded_down(cli, tmp_path, begun):
    folder, role = begun
    asked, part = Question(name="q", bins=4), contracts.shaped(4)
    plan = contracts.proved(contracts.plan_of(asked, [part], epsilon=1.2345642, delta=1e-3))
    said = cli("mix", "sign", folder, contract_file(tmp_path, plan, role)).out
    assert float(said.split(" at epsilon ")[1].split(",")[0]) >= 1.2345642


def test_it_signs_no_other_of_that_serial(cli, refused, tmp_path, begun, plan):
    folder, role = begun
    assert cli("mix", "sign", folder, contract_file(tmp_path, plan, role)).status == 0
    job = (folder / "jobs" / "home-page-1.json").read_bytes()
    other = contract_file(tmp_path, plan, role, client_files=contracts.FILES)
    assert "larger serial" in refused("mix", "sign", folder, other)
    assert (folder / "jobs" / "home-page-1.json").read_bytes() == job
    later = contract_file(tmp_path, plan, role, client_files=contracts.FILES, serial=2)
    assert cli("mix", "sign", folder, later).status == 0


def test_a_false_promise_is_not_signed(refused, tmp_path, begun, plan):
    folder, role = begun
    false = replace(plan, certificate=replace(plan.certificate, lower=0.0, upper=1e-9))
    assert "promise is false" in refused(
        "mix", "sign", folder, contract_file(tmp_path, false, role)
    )
    assert not list((folder / "jobs").iterdir())
    assert not list((folder / "contracts").iterdir())


@pytest.mark.parametrize("changes", [{"name": "mix-9"}, {"key": None}])
def test_it_is_none_of_the_hops(refused, tmp_path, begun, plan, changes):
    folder, _ = begun
    other = contracts.role(changes.get("name", "mix-1"))
    line = refused("mix", "sign", folder, contract_file(tmp_path, plan, other))
    assert "a hop mix-1 with the key" in line


def test_another_fingerprint(refused, tmp_path, begun, plan):
    folder, role = begun
    path = contract_file(tmp_path, plan, role)
    assert "fingerprint" in refused("mix", "sign", folder, path, "--fingerprint", "0" * 64)


def test_a_folder_that_is_no_role(refused, tmp_path, begun, plan):
    path = contract_file(tmp_path, plan, begun[1])
    assert "role.toml" in refused("mix", "sign", tmp_path, path)
    assert "role.toml" in refused("mix", "serve", tmp_path)


@pytest.mark.seconds
def test_it_serves_until_it_is_told_to_end(cli, tmp_path, begun, plan):
    folder, role = begun
    assert cli("mix", "sign", folder, contract_file(tmp_path, plan, role)).status == 0
    served = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "mix", "serve", folder, "--processes", "0"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        address = served.stdout.readline().split()[-1]
        status = call(address, "GET", "/status")
        assert b'"mix-1"' in status.body
        assert b'"serves": []' in status.body  # the others are waited for
        again = cli("mix", "serve", folder)
        assert again.status == 2
        assert "is served" in again.err
    finally:
        served.send_signal(signal.SIGTERM)
        out, err = served.communicate(timeout=200)
    assert served.returncode == 0
    assert out == ""
    assert all(EVENT.match(line) for line in err.splitlines()), err


@pytest.mark.seconds
def test_intake_begins_without_any_key(cli, refused, tmp_path, begun, plan):
    folder, role = begun
    assert cli("mix", "sign", folder, contract_file(tmp_path, plan, role)).status == 0
    (tmp_path / "mix.master-key").unlink()
    (folder / "signing.key").unlink()
    taking = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "mix", "intake", folder, "--number", "2", "--port", "0"],
        env={"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        said = taking.stdout.readline()
        assert said.startswith("accepting bundles at http://127.0.0.1:")
        path = f"/contracts/{'0' * 64}/rounds/1/bundles"
        assert call(said.split()[-1], "POST", path, b"x").status == 503
        line = refused("mix", "intake", folder, "--number", 2, "--port", 0)
        assert "Choose another number" in line
    finally:
        taking.send_signal(signal.SIGTERM)
        out, err = taking.communicate(timeout=200)
    assert taking.returncode == 0
    assert out + err == ""


def test_intake_loads_nothing_that_can_read_a_key():
    code = (
        "import sys, mixtally.cli.mix, mixtally.server.node.web.run\n"
        "print('intake_processes' in str(sys.modules), [n for n in sys.modules if "
        "n.startswith(('cryptog',"
        " 'numpy', 'mixtally.server.node.keys', 'mixtally.server.node.wrap',"
        " 'mixtally.server.mix.closing', 'mixtally.device.wire.env',"
        " 'mixtally.device.wire.note', 'mixtally.server.node.folder'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "True []\n"


@pytest.mark.seconds
def test_serve_signs_what_it_is_given_once(cli, tmp_path, begun, plan, refused):
    """The second start derives nothing; another contract of the same name is refused."""
    folder, role = begun
    path = contract_file(tmp_path, plan, role)
    said = []
    for _ in range(2):
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, "mix", "serve", folder, "--sign", path],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        with process:
            lines = [process.stdout.readline()]
            while lines[-1] and not lines[-1].startswith("serving at "):
                lines.append(process.stdout.readline())
            process.terminate()
        assert process.returncode == 0
        said.append("".join(lines))
    assert "signed home-page, serial 1, as hop 1 of 2" in said[0]
    assert "signed" not in said[1]
    other = contract_file(tmp_path, plan, role, suite=2)
    assert (
        "give the new contract a larger serial"
        in refused("mix", "serve", folder, "--sign", other).lower()
    )
