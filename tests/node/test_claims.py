"""Strangers fill only their own memory: long bodies need a claim, which nobody else can sign."""

import asyncio
import socket
import time
from hashlib import sha256
from urllib.parse import parse_qs

import pytest

from helpers.listed import listed
from helpers.roles_in_folders import Village, ask
from mixtally.device.contract.roles import HASH_BYTES, key_hash
from mixtally.device.wire.manifest import (
    MOST_PIECE_BYTES,
    Manifest,
    PartManifest,
    Piece,
    write_manifest,
)
from mixtally.device.wire.note import Signer, is_valid_signature, sign_note
from mixtally.server.node import claims
from mixtally.server.node.calls import Answer
from mixtally.server.node.claims import MOST_UNCLAIMED_BYTES, claim_long_bodies, read_claim
from mixtally.server.node.peers import Peers
from mixtally.server.node.web import routes
from mixtally.server.node.web.bodies import BodyBudget
from mixtally.server.node.web.routes import SharedRoutes, application
from mixtally.server.node.web.run import Server, open_listening_socket
from mixtally.server.node.web.timeouts import MOST_PIPELINED

LONG = bytes(MOST_UNCLAIMED_BYTES + 1)


@pytest.fixture
def village(tmp_path):
    return Village(tmp_path, hops=2, users=10**9)


@pytest.fixture
def nodes(village):
    nodes = village.nodes()
    village.agreed(nodes)
    yield nodes
    for node in nodes:
        node.close()


def claimed(signer, address, path, body=LONG):
    """The path that a role asks for when it sends a long body."""
    seen = []
    claim_long_bodies(lambda *call: seen.append(call) or Answer(204, b""), signer)(
        address, "POST", path, body
    )
    return seen[0][2]


def named_piece(village, nodes, length):
    """A piece of the first hop that the second one expects: its name and its bytes."""
    size = village.jobs[0].sizes[0][1]
    data = bytes(length // size * size)
    piece = Piece(sha256(data).hexdigest(), len(data) // size)
    part = PartManifest(piece.messages, pieces=(piece,))
    sheet = nodes[0].rounds.all()[0].sheet
    text = write_manifest(listed(Manifest(sheet, 1, piece.messages, 0, None, None, (part,))))
    nodes[1].take_note(sign_note(text, village.folders[0].signer), village.now)
    return piece.sha256, data


def test_a_short_body_has_no_claim(village):
    path = claimed(village.folders[0].signer, "http://x", "/notes", LONG[1:])
    assert path == "/notes"


def test_a_claim_is_of_one_role_receiver_path_and_length(village, nodes):
    signer, agreements = village.folders[0].signer, [village.agreement(2)]
    address = village.folders[1].role.address
    _, query = claimed(signer, address, "/notes").split("?")
    claim = read_claim(query, "/notes", agreements)
    assert claim == (signer.public, len(LONG))
    wrong = {
        "path": read_claim(query, "/pieces/x", agreements),
        "receiver": read_claim(query, "/notes", [village.agreement(3)]),
        "nobody known": read_claim(query, "/notes", []),
        "length": read_claim(query.replace("bytes=65537", "bytes=65538"), "/notes", agreements),
        "name": read_claim(query.replace("by=mix-1", "by=mix-2"), "/notes", agreements),
        "signature": read_claim(query[:-1] + "0123456789abcdef"[query[-1] == "0"], "/notes",
                                agreements),
        "empty": read_claim("", "/notes", agreements),
        "more": read_claim(query + "&x=1", "/notes", agreements),
    }  # fmt: skip
    assert not any(wrong.values()), wrong


def test_a_role_with_a_new_key_claims_under_its_earlier_contracts(village, nodes):
    old, new = village.folders[0].signer, Signer("mix-1", bytes(32))
    seen, address = [], village.folders[1].role.address
    call = claim_long_bodies(lambda *given: seen.append(given[2]), new, old)
    call(address, "POST", "/notes", LONG)
    query = seen[0].partition("?")[2]
    assert read_claim(query, "/notes", [village.agreement(2)]).key == old.public


def test_a_false_claim_costs_one_signature_check(village, nodes, watch):
    """Eight signatures fit into a claim. Anybody can invent them, and copy the hash of a key."""
    signer, agreements = village.folders[0].signer, [village.agreement(2)]
    checks = watch(claims, "is_valid_signature")
    hashes = [key_hash(signer.name, signer.public), bytes(4)]
    for hash_ in hashes:
        signatures = ",".join((hash_ + bytes([i]) * 64).hex() for i in range(8))
        query = f"by=mix-1&bytes=65537&signature={signatures}"
        assert read_claim(query, "/notes", agreements) is None
    assert len(checks) == 1


def test_a_stranger_under_the_name_of_a_role_claims_nothing(village, nodes, tmp_path):
    other = Village(tmp_path / "other", hops=2)
    stranger = other.folders[1].signer  # made of another seed, under another name
    object.__setattr__(stranger, "name", "mix-1")
    app, address = village.awake(nodes[1]), village.folders[1].role.address
    assert ask(app, "POST", claimed(stranger, address, "/notes"), LONG).status == 404


def test_no_note_has_the_text_of_a_claim(village):
    signer = village.folders[0].signer
    _, query = claimed(signer, "http://x", "/notes").split("?")
    signature = bytes.fromhex(parse_qs(query)["signature"][0])[HASH_BYTES:]
    text = b"\0".join((b"mixtally claim", b"http://x", b"/notes", b"65537"))
    assert is_valid_signature(signer.public, signature, text)
    with pytest.raises(Exception, match="control characters"):
        sign_note(text, signer)


@pytest.mark.parametrize("path", ["/notes", "/pieces/"])
def test_a_long_body_without_a_claim_is_not_read(village, nodes, path):
    name, data = named_piece(village, nodes, 1 << 20)
    app = village.awake(nodes[1])
    path, method = (path + name, "PUT") if "pieces" in path else (path, "POST")
    assert ask(app, method, path, data).status == 413
    read = []
    chunks = [lambda: read.append(1) or bytes(1 << 14) for _ in range(20)]
    assert ask(app, method, path, chunks=chunks).status == 413
    assert len(read) == 5  # 64 KiB are not too long, one chunk more is


def test_a_claimed_piece_and_a_claimed_note_are_taken(village, nodes):
    name, data = named_piece(village, nodes, 1 << 20)
    app = village.awake(nodes[1])
    peers = Peers(nodes[0], village.call)
    role = village.agreement(1).next_role
    assert peers.send(role, "PUT", f"/pieces/{name}", data, 0).status == 201
    assert nodes[1].count_missing(nodes[1].rounds.all()[0]) == 0
    assert ask(app, "PUT", f"/pieces/{name}", data).status == 204  # nothing is read for a claim
    size = village.jobs[0].sizes[0][2]
    most = MOST_PIECE_BYTES // size
    pieces = tuple(Piece(sha256(b"%d" % i).hexdigest(), most) for i in range(700))
    received = PartManifest(len(data) // village.jobs[0].sizes[0][1])
    added = sum(one.messages for one in pieces) - received.received
    before = nodes[1].manifest_hash(nodes[1].rounds.all()[0], 1)
    row = nodes[1].rounds.all()[0]
    made = Manifest(row.sheet, 2, received.received, 0, None, before,
                    (received._replace(added=added, pieces=pieces),))  # fmt: skip
    note = sign_note(write_manifest(listed(made)), village.folders[1].signer)
    assert len(note) > MOST_UNCLAIMED_BYTES
    village.awake(nodes[0])
    back = Peers(nodes[1], village.call)
    answer = back.send(village.agreement(1).own_role, "POST", "/notes", note, 0)
    assert answer.status == 204, answer
    assert nodes[0].manifest_hash(row, 2) is not None


@pytest.mark.parametrize("most", [routes.MOST_CLAIMED_BYTES, (1 << 24) + (1 << 19)])
def test_slow_strangers_and_a_hostile_role_keep_no_peer_out(village, nodes, monkeypatch, most):
    """All memory of strangers is full of bodies that drip, and so is that of another role.

    With the smaller limit, so is the memory of all roles together.
    """
    monkeypatch.setattr(routes, "MOST_CLAIMED_BYTES", most)
    name, data = named_piece(village, nodes, 1 << 20)
    room = BodyBudget(1 << 20)
    shared = SharedRoutes(nodes[1], lambda: village.now, room)
    app = application(shared.routes(), lambda _: None)
    address = village.folders[1].role.address

    async def drip(path, count):
        parts, sent = [bytes(count)], asyncio.Queue()

        async def receive():
            if parts:
                return {"type": "http.request", "body": parts.pop(), "more_body": True}
            return await asyncio.Event().wait()

        scope = {"type": "http", "method": "POST", "path": path.partition("?")[0], "headers": [],
                 "query_string": path.partition("?")[2].encode(), "root_path": ""}  # fmt: skip
        await app(scope, receive, sent.put)

    async def act():
        paths = [("/notes", 60_000)] * 17 + [("/pieces/" + name, 60_000)]
        long = bytes(1 << 24)
        hostile = claimed(village.folders[2].signer, address, "/notes", long)
        tasks = [asyncio.create_task(drip(*one)) for one in paths]
        tasks += [asyncio.create_task(drip(hostile, len(long) - 1)) for _ in range(3)]
        await asyncio.sleep(0.05)
        assert room.used > (1 << 20) - 120_000
        assert 0 < sum(one.used for one in shared._rooms.values()) == shared._claimed.used <= most
        role, peers = village.agreement(1).next_role, Peers(nodes[0], village.call)
        village.apps[role.address] = app
        answer = await asyncio.to_thread(peers.send, role, "PUT", f"/pieces/{name}", data, 0)
        for one in tasks:
            one.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert room.used == shared._claimed.used == 0
        return answer

    assert asyncio.run(act()).status == 201


@pytest.mark.parametrize("headers", [(), [("transfer-encoding", "chunked")]])
def test_a_request_for_a_list_has_no_body(village, nodes, headers):
    app = village.awake(nodes[1])
    body = [] if headers else b"x"
    given = {"chunks": [b"x"], "headers": headers} if headers else {"body": body}
    assert ask(app, "GET", "/status", **given).status == 413
    assert ask(app, "GET", "/status").status == 200


@pytest.fixture
def served(village, nodes):
    """The second mix on a socket, with the connections that it has."""
    server = Server(village.awake(nodes[1]))
    place = open_listening_socket("127.0.0.1", 0)
    stop = server.run_in_thread(place)
    yield place.getsockname(), server._server.server_state
    stop()


def test_requests_in_one_packet_are_few(served):
    where, _ = served
    with socket.create_connection(where, 30) as stranger:
        stranger.sendall(b"GET /status HTTP/1.1\r\n\r\n" * (MOST_PIPELINED + 2))
        held = b""
        while some := stranger.recv(1 << 16):
            held += some
    assert b"HTTP/1.1 400 " in held
    with socket.create_connection(where, 30) as client:
        client.sendall(b"GET /status HTTP/1.1\r\n\r\n" * MOST_PIPELINED)
        held = b""
        while held.count(b"HTTP/1.1 200 ") < MOST_PIPELINED:
            some = client.recv(1 << 16)
            assert some
            held += some


def test_a_body_is_not_kept_after_an_early_answer(served):
    where, state = served
    with socket.create_connection(where, 30) as stranger:
        head = b"POST /nowhere HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n"
        stranger.sendall(head + bytes(50_000))
        assert stranger.recv(1 << 16).startswith(b"HTTP/1.1 404 ")
        end = time.monotonic() + 30
        while sum(len(one.cycle.body) for one in state.connections):
            assert time.monotonic() < end
            time.sleep(0.01)
