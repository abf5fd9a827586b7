"""The files of deploy/: what an image does is done in an environment, proxies stand before a role.

What is not installed here is skipped, and said: systemd-analyze, nginx, Caddy, docker compose.
"""

import os
import re
import shutil
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from scripts.network_roles import free_ports

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
IMAGE = (DEPLOY / "Containerfile").read_text()
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
ROLES = {name: one for name, one in COMPOSE["services"].items() if name != "proxy"}
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
NO_INDEX = re.compile(
    "No matching distribution|Failed to establish|Timeout|timed out|NameResolution|IncompleteRead"
    "|Connection (?:aborted|broken|reset)|HTTP error 5|ProxyError|SSLError"
)
SECONDS = 300
"""Generous: the machine may be busy."""


def needed(program):
    """The path of a program; without it the test is skipped."""
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"not checked: {program} is not installed here")
    return found


def run(*arguments, timeout=300, **more):
    return subprocess.run(
        [*map(str, arguments)], capture_output=True, text=True, timeout=timeout, check=False, **more
    )


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """An environment that the image's own script made."""
    (script,) = re.findall(r"^RUN sh /source/(\S+) /opt/mixtally$", IMAGE, re.M)
    place = tmp_path_factory.mktemp("image") / "mixtally"
    done = run("sh", ROOT / script, place, timeout=1800)
    if NO_INDEX.search(done.stderr):
        pytest.skip("not checked: no package index is reached")
    assert done.returncode == 0, done.stderr
    return place


@pytest.mark.slow
def test_the_image_serves_and_has_no_build_tools(image, tmp_path):
    assert run(image / "bin/mixtally", "--version").returncode == 0
    for name in ("pip", "setuptools", "hatchling", "pytest"):
        assert run(image / "bin/python", "-c", f"import {name}").returncode == 1, name
    assert not [*(image / "bin").glob("pip*")]
    assert "mixtally @" in (image / "packages.txt").read_text()
    with serving(image / "bin/mixtally", tmp_path, "mix", ROLES["mix-1"]["command"]) as port:
        assert status(f"http://127.0.0.1:{port}/healthz") == 200


def test_what_is_last_in_the_image():
    _, first, last = IMAGE.split("\nFROM ")
    assert "install.sh" in first
    assert "install.sh" not in last
    assert "COPY --from=built /opt/mixtally /opt/mixtally\n" in last
    assert re.search(r"^USER [1-9]\d+$", last, re.M)
    assert last.index("\nUSER ") < last.index("\nENTRYPOINT ")
    sent = (ROOT / ".dockerignore").read_text().splitlines()
    assert sent[0] == "*"
    assert all((ROOT / line.removeprefix("!")).exists() for line in sent[1:])


def test_every_role_of_the_compose_file_is_walled_in_alike():
    assert [*ROLES] == ["mix-1", "mix-2", "mix-3", "collector"]
    for name, one in ROLES.items():
        assert one["profiles"] == [name]
        assert one["ulimits"]["core"] == 0
        assert one["mem_limit"] == one["memswap_limit"]
        assert (one["read_only"], one["cap_drop"], one["restart"]) == (True, ["ALL"], "on-failure")
        assert one["command"] == [name.split("-")[0], "serve", f"/var/lib/mixtally/{name}"]
        site = (DEPLOY / "sites" / name).read_text()
        assert f"reverse_proxy {name}:7000 " in site
    assert sorted(path.name for path in (DEPLOY / "sites").iterdir()) == sorted(ROLES)
    assert COMPOSE["services"]["proxy"]["profiles"] == [*ROLES]


def test_docker_reads_the_compose_file():
    docker = needed("docker")
    if run(docker, "compose", "version").returncode != 0:
        pytest.skip("not checked: docker has no compose here")
    done = run(docker, "compose", "--file", DEPLOY / "compose.yaml", "--profile", "*", "config")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_a_unit_is_read_by_systemd(unit, tmp_path):
    text = unit.read_text()
    for line in ("LimitCORE=0", "MemorySwapMax=0", "Restart=on-failure", "ProtectSystem=strict"):
        assert f"\n{line}\n" in text
    assert re.search(r"^MemoryMax=\d+G$", text, re.M)
    assert ("LoadCredential=" in text) == ("intake" not in unit.name)
    analyze = needed("systemd-analyze")
    copy = tmp_path / unit.name
    copy.write_text(text.replace("/opt/mixtally/bin/mixtally", "/bin/true"))
    done = run(analyze, "verify", copy)
    assert (done.returncode, done.stderr) == (0, "")
    copy.write_text(copy.read_text().replace("ProtectSystem=", "ProtectSistem="))
    assert "ProtectSistem" in run(analyze, "verify", copy).stderr


@pytest.mark.seconds
def test_a_unit_gives_the_credential_to_its_role(tmp_path):
    """Its shell line is played with options; with another credential the role does not open."""
    (line,) = re.findall(r"^ExecStart=/bin/sh -c '(.*)'$", UNITS[-1].read_text(), re.M)
    own = Path(sys.executable).with_name("mixtally")
    given = ["sh", "-c", line.replace("$$", "$").replace("/opt/mixtally/bin/mixtally", str(own))]
    for digit, wanted in (("a", 200), ("b", None)):
        (tmp_path / "master-key").write_text("a" * 64 + "\n")
        place = tmp_path / digit
        port = begin(own, place, "mix", {"MIXTALLY_MASTER": "a" * 64})
        (tmp_path / "master-key").write_text(digit * 64 + "\n")
        shell = given[2].replace("/var/lib/mixtally/%i", str(place))
        more = {"CREDENTIALS_DIRECTORY": str(tmp_path), "OPTIONS": "--log json --metrics-port 0"}
        with started(["sh", "-c", shell], tmp_path / f"{digit}.log", more):
            found = status(f"http://127.0.0.1:{port}/healthz", SECONDS if wanted else 3)
        said = (tmp_path / f"{digit}.log").read_text()
        assert found == wanted, said
        assert ('"event": "metrics served"' in said) == bool(wanted)


@pytest.mark.seconds
def test_caddy_stands_before_a_role(tmp_path):
    caddy, own = needed("caddy"), Path(sys.executable).with_name("mixtally")
    with serving(own, tmp_path, "mix", ROLES["mix-1"]["command"]) as port:
        (front,) = free_ports(1)  # after the role has taken its own
        site = (DEPLOY / "sites" / "mix-1").read_text()
        site = site.replace("mix1.example", f"https://localhost:{front}")
        (tmp_path / "sites").mkdir()
        (tmp_path / "sites" / "mix-1").write_text(site.replace("mix-1:7000", f"127.0.0.1:{port}"))
        text = (DEPLOY / "Caddyfile").read_text()
        here = "\tlocal_certs\n\tskip_install_trust\n\tauto_https disable_redirects\n\tadmin off\n"
        (tmp_path / "Caddyfile").write_text(text.replace("\tadmin off\n", here))
        more = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), "SITES": "mix-1"}
        line = [caddy, "run", "--config", str(tmp_path / "Caddyfile"), "--adapter", "caddyfile"]
        with started(line, tmp_path / "caddy.log", more):
            look_through(f"https://localhost:{front}", tmp_path / "caddy.log")


@pytest.mark.seconds
def test_nginx_stands_before_a_role(tmp_path):
    nginx, own = needed("nginx"), Path(sys.executable).with_name("mixtally")
    made = run(needed("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj",
               "/CN=localhost", "-keyout", tmp_path / "key.pem", "-out",
               tmp_path / "cert.pem")  # fmt: skip
    assert made.returncode == 0
    with serving(own, tmp_path, "mix", ROLES["mix-1"]["command"]) as port:
        front, first, second = free_ports(3)
        text = (DEPLOY / "nginx.conf").read_text()
        for old, new in {
            "listen 443": f"listen 127.0.0.1:{front}",
            "127.0.0.1:7001": f"127.0.0.1:{port}",
            "127.0.0.1:7011": f"127.0.0.1:{first}",  # an intake process that has ended
            "127.0.0.1:7012": f"127.0.0.1:{second}",
            "/etc/letsencrypt/live/mix1.example/fullchain.pem": str(tmp_path / "cert.pem"),
            "/etc/letsencrypt/live/mix1.example/privkey.pem": str(tmp_path / "key.pem"),
        }.items():
            assert old in text
            text = text.replace(old, new)
        folders = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        temporary = "".join(f"{name}_temp_path {tmp_path}/{name};\n" for name in folders)
        (tmp_path / "nginx.conf").write_text(
            f"daemon off; pid {tmp_path}/pid; user root; error_log stderr;\n"
            f"events {{}}\nhttp {{\n{temporary}{text}}}\n"
        )
        line = [nginx, "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")]
        with started(line, tmp_path / "nginx.log"):
            look_through(f"https://localhost:{front}", tmp_path / "nginx.log")


def look_through(front, log):
    """A role answers behind its proxy, to long bodies too; bundles reach it by the other way."""
    assert status(f"{front}/healthz") == 200, log.read_text()
    assert status(f"{front}/notes", body=bytes(1 << 20)) in (400, 403, 413)
    path = f"/contracts/{'0' * 64}/rounds/1/bundles"
    for _ in range(4):  # each upstream once at least
        assert status(front + path, body=bytes(100)) == 404, log.read_text()
    assert status(f"{front}/notes", body=bytes(33 << 20)) == 413


def begin(program, place, kind, environment):
    """Create a role; returns the port on which it will listen."""
    (port,) = free_ports(1)
    done = run(program, kind, "init", place, "--name", f"{place.name}.example", "--address",
               "https://mix1.example", "--port", port, "--operator", "somebody", "--master-key",
               "env:MIXTALLY_MASTER", env={**os.environ, **environment})  # fmt: skip
    assert done.returncode == 0, done.stderr
    return port


@contextmanager
def serving(program, where, kind, command):
    """A role as the compose file starts it, in a folder of its own."""
    key = {"MIXTALLY_MASTER": "7" * 64}
    place = where / "role"
    port = begin(program, place, kind, key)
    line = [str(program), *command[:2], str(place), *command[3:]]
    with started(line, where / "role.log", key):
        assert status(f"http://127.0.0.1:{port}/healthz") == 200, (where / "role.log").read_text()
        yield port


@contextmanager
def started(line, log, more=None):
    """A process that is ended, whatever happens."""
    with log.open("wb") as said:
        process = subprocess.Popen(
            line, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
            env={**os.environ, **(more or {})},
        )  # fmt: skip
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def status(url, seconds=SECONDS, body=None):
    """The status of an answer; None if nobody answers in that time."""
    any_certificate = ssl._create_unverified_context()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            with urllib.request.urlopen(url, body, 20, context=any_certificate) as answer:
                return answer.status
        except urllib.error.HTTPError as refused:
            return refused.code
        except OSError:
            time.sleep(0.1)
    return None
