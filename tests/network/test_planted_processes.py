"""Real processes: what was planted is in no log, file, page or answer once the round is over."""

import pytest

from network.planted import Secrets, leaks_of_files
from network.processes import NAMES, Processes
from scripts.network_roles import free_ports

ANSWERS = ("planted-answer-first", "planted-answer-second")
ASKED = "planted-by-a-stranger"
LEAKS = """
from mixtally.server.node.web import responses
usual = responses.guard_application
def guard_application(app, stop, log=None):
    inner = usual(app, stop, log)
    async def around(scope, receive, send):
        print(scope["path"], flush=True)
        await inner(scope, receive, send)
    return around
responses.guard_application = guard_application
from mixtally.cli.main import run; run()
"""


def strange_requests(network, name):
    """Requests of a stranger to every kind of route, with something planted in every place."""
    base = f"/contracts/{network.fingerprint}/rounds"
    headers = {"User-Agent": ASKED, "Cookie": ASKED, "X-Forwarded-For": ASKED}
    said = b""
    for method, path in (
        ("GET", f"/{ASKED}"),
        ("GET", f"/notes/{ASKED}"),
        ("GET", f"/contracts/{ASKED}"),
        ("GET", f"/problems/{ASKED}?{ASKED}"),
        ("GET", f"{base}/{ASKED}"),
        ("POST", "/notes"),
        ("POST", f"{base}/1/bundles"),
        ("POST", f"{base}/{ASKED}/key"),
        ("PUT", f"/pieces/{ASKED}"),
        ("DELETE", "/notes"),
    ):
        said += network.request(name, method, path, ASKED.encode() * 9, headers)[1]
    return said


@pytest.mark.seconds
def test_processes_leak_nothing(tmp_path):
    network, secrets = Processes(tmp_path), Secrets()
    network.prepare(free_ports(3))
    try:
        network.serve()
        secrets.keys = {text: text.encode() for text in (*ANSWERS, ASKED)}
        for name in NAMES:
            folder, key = network.folder(name), network.round_keys(name)
            secrets.keys |= {
                f"signing key of {name}": folder.signer.seed,
                f"round key of {name}": key.private,
                f"order of {name}": key.sort_key,
            }
        network.answer(ANSWERS)
        said = b"".join(strange_requests(network, name) for name in NAMES)
        during = leaks_of_files(secrets, [tmp_path], ciphers=False)
        network.close()
        said += network.get("collector", f"/contracts/{network.fingerprint}/rounds/1/result")
        network.shredded()
        for name in NAMES:
            for path in ("/status", f"/notes/{name}"):
                said += network.get(name, path)
        said += network.get("collector", "/")
        masters = {name: network.folder(name).master for name in NAMES}
    finally:
        network.end()
    assert "serving at" in network.log(("mix", "serve", "mix-1"))
    assert during == []
    for name in NAMES:
        own = tmp_path / f"{name}.master-key"
        assert masters[name].hex() in own.read_text()
        own.unlink()  # it lies where an operator has put it, and nowhere else
    secrets.keys |= {f"master key of {name}": master for name, master in masters.items()}
    assert len(secrets.keys) == 3 + 4 * 3
    assert leaks_of_files(secrets, [tmp_path], ciphers=False) == []
    assert secrets.found_in(said, secrets.keys) == []


@pytest.mark.seconds
def test_a_process_that_prints_requests_is_noticed(tmp_path):
    network, secrets = Processes(tmp_path), Secrets()
    (port,) = free_ports(1)
    network.fingerprint, network.ports = "0" * 64, {"mix-1": port}
    network.run("mix", "init", "mix-1", "--name", "mix-1", "--operator", "x",
                "--address", f"http://127.0.0.1:{port}")  # fmt: skip
    network.served.append(network.begin("mix", "serve", "mix-1", program=LEAKS))
    try:
        network.get("mix-1", "/status")
        strange_requests(network, "mix-1")
    finally:
        network.end()
    secrets.keys = {"a request": ASKED.encode()}
    found = leaks_of_files(secrets, [tmp_path / "logs"], ciphers=False)
    assert found == [("a request", "mix-serve-mix-1")]
