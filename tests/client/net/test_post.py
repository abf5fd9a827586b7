"""One request and nothing else in it; of what comes back only a status and a time are read."""

import socket
import ssl
import time
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from importlib import import_module
from itertools import repeat

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from helpers.devices import answer, first_mix
from mixtally.device.client.net.requests import fetch, parse_address, post
from mixtally.errors import DataError, RefusedError

PATH = "/contracts/abc/rounds/1/bundles"
BODY = bytes(range(256)) * 3
REQUESTS = import_module("mixtally.device.client.net.requests")
PATIENT = 60.0
"""Seconds that only a failing test waits."""


def test_the_bytes_of_a_request():
    with first_mix() as mix:
        assert post(mix.address, PATH, BODY).status == 201
        host = mix.address.removeprefix("http://")
    head = (
        f"POST {PATH} HTTP/1.1\r\nHost: {host}\r\n"
        f"Content-Type: application/octet-stream\r\nContent-Length: {len(BODY)}\r\n\r\n"
    )
    assert mix.requests == [head.encode() + BODY]


def test_a_path_in_the_address_stands_first():
    with first_mix() as mix:
        post(mix.address + "/mixes/one/", PATH, BODY)
    assert mix.requests[0].startswith(b"POST /mixes/one/contracts/abc/")


def test_nothing_that_was_said_is_said_back():
    with first_mix(answer(503, "Set-Cookie: who=you", "ETag: you", "Retry-After: 1")) as mix:
        for _ in range(2):
            post(mix.address, PATH, BODY)
    assert mix.requests[0] == mix.requests[1]


def test_redirections_and_proxies_are_not_followed(monkeypatch):
    with first_mix() as other, first_mix(answer(307, f"Location: {other.address}/")) as mix:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, other.address)
        assert post(mix.address, PATH, BODY).status == 307
    assert (len(mix.requests), other.requests) == (1, [])


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        (answer(201), (201, None)),
        (answer(410, "Retry-After: 5"), (410, "5")),
        (answer(503, "Retry-After: soon"), (503, "soon")),
        (answer(599), (599, None)),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + answer(202), (202, None)),
        (answer(200, body=b"x" * 100_000), (200, None)),
        (None, (None, None)),
        (b"", (None, None)),
        (b"HTTP/1.1 twohundred Fine\r\n\r\n", (None, None)),
        (b"SSH-2.0-OpenSSH\r\n", (None, None)),
        (b"HTTP/1.1 201 " + b"x" * 70_000, (None, None)),
        (b"HTTP/1.1 201 Said\r\n" + b"A: b\r\n" * 200 + b"\r\n", (None, None)),
    ],
    ids=[
        "taken", "gone", "busy", "no status of ours", "continue first", "a long body", "closed",
        "nothing", "no number", "another protocol", "an endless line", "too many headers",
    ],
)  # fmt: skip
def test_what_comes_back(said, wanted):
    with first_mix(said) as mix:
        got = post(mix.address, PATH, BODY, PATIENT)
    assert (got.status, got.retry_after) == wanted
    assert (got.status is None) == bool(got.why)


def drip(out):
    """Go on, go on, for ever."""
    with suppress(OSError):
        for pause in repeat(0.005):
            out.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            out.flush()
            time.sleep(pause)


def test_a_first_mix_that_never_comes_to_an_end_is_left():
    with first_mix(drip) as mix:
        began = time.perf_counter()
        assert post(mix.address, PATH, BODY, 0.05).status is None
        assert time.perf_counter() - began < PATIENT


def test_a_first_mix_that_never_answers_is_left(plant):
    """At a step that has no answer: the limit of all steps is far off here."""
    plant(REQUESTS, "Timer", lambda honest, _, *given: honest(PATIENT, *given))
    with socket.create_server(("127.0.0.1", 0)) as mute:
        address = f"http://127.0.0.1:{mute.getsockname()[1]}"
        assert post(address, PATH, BODY, 0.05).why == "TimeoutError"


@contextmanager
def deaf():
    """An address that is taken, so that nobody else can listen there, and nobody does."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"


def test_nobody_is_there():
    with deaf() as address:
        assert post(address, PATH, BODY).why == "ConnectionRefusedError"


def certificate(folder):
    """A file with a key and a certificate for this machine that nobody vouches for."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    day = datetime(2026, 1, 1, tzinfo=UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, day, day.replace(year=2126))
    made = made.add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), False)
    forms = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    written = key.private_bytes(*forms, serialization.NoEncryption())
    file = folder / "mix.pem"
    file.write_bytes(written + made.sign(key, hashes.SHA256()).public_bytes(forms[0]))
    return file


@pytest.fixture
def hidden(tmp_path):
    """A first mix behind TLS, its address, and its certificate."""
    file = certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    with first_mix() as mix:
        mix.socket = context.wrap_socket(mix.socket, server_side=True)
        mix.handle_error = lambda *_: None  # whoever does not believe it leaves
        yield mix, f"https://localhost:{mix.server_address[1]}", file


def test_tls_with_a_certificate_that_is_believed(hidden, monkeypatch):
    mix, address, file = hidden
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    assert post(address, PATH, BODY, PATIENT).status == 201
    assert mix.bodies == [BODY]


def test_a_certificate_that_nobody_vouches_for(hidden):
    mix, address, _ = hidden
    answered = post(address, PATH, BODY, PATIENT)
    assert (answered.why, mix.requests) == ("SSLCertVerificationError", [])


def test_a_certificate_for_another_name(hidden, monkeypatch):
    mix, address, file = hidden
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    answered = post(address.replace("localhost", "127.0.0.1"), PATH, BODY, PATIENT)
    assert (answered.why, mix.requests) == ("SSLCertVerificationError", [])


def test_https_where_nobody_speaks_it():
    with first_mix(answer(201)) as mix:
        address = mix.address.replace("http:", "https:")
        assert post(address, PATH, BODY, 0.1).status is None
    assert not any(BODY in request for request in mix.requests)  # a greeting of TLS is random


@pytest.mark.parametrize(
    ("address", "wanted"),
    [
        ("https://mix.example", (True, "mix.example", None, "")),
        ("https://mix.example:8443/one/", (True, "mix.example", 8443, "/one")),
        ("https://[2001:db8::1]:1", (True, "2001:db8::1", 1, "")),
        ("http://127.0.0.1:80", (False, "127.0.0.1", 80, "")),
        ("http://[::1]:80/x", (False, "::1", 80, "/x")),
        ("http://localhost", (False, "localhost", None, "")),
    ],
)
def test_addresses(address, wanted):
    assert parse_address(address) == wanted


@pytest.mark.parametrize(
    "address",
    ["http://mix.example", "http://127.0.0.1.example", "ftp://mix.example", "mix.example", "",
     "http://localhost@mix.example", "https://mix.example:0", "http://127.0.0.2"],
)  # fmt: skip
def test_addresses_that_are_none(address):
    with pytest.raises(RefusedError) as refusal:
        parse_address(address)
    assert refusal.value.reason == "address-malformed"


def test_a_note_is_fetched_with_nothing_but_its_path():
    with first_mix(answer(200, body=b"a note\n")) as role:
        assert fetch(role.address + "/contracts/abc") == b"a note\n"
        host = role.address.removeprefix("http://")
    assert role.requests == [f"GET /contracts/abc HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()]


@pytest.mark.parametrize(
    ("said", "got"),
    [
        (answer(404), "status 404"),
        (answer(307, "Location: http://127.0.0.1:1/"), "status 307"),
        (answer(200, body=bytes(1 << 10)), "more bytes"),
        (b"SSH-2.0\r\n", "BadStatusLine"),
    ],
)
def test_what_is_no_note_is_refused(monkeypatch, said, got):
    monkeypatch.setattr(REQUESTS, "MOST_NOTE_BYTES", 1023)
    with first_mix(said) as role, pytest.raises(DataError, match=got):
        fetch(role.address + "/contracts/abc")


def test_nobody_serves_it():
    with deaf() as address, pytest.raises(DataError, match="ConnectionRefusedError"):
        fetch(address)
    with pytest.raises(RefusedError, match="https"):
        fetch("http://mix.example/contracts/abc")
