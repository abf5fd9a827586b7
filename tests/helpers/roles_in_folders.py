"""Roles in temporary folders under one small contract, who talk by direct calls."""

import asyncio
from pathlib import Path
from types import SimpleNamespace

from msgspec.structs import replace

from helpers import contracts
from mixtally.device.wire.sheet import Sheet, write_sheet
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.agreement import Agreement
from mixtally.model.contract import fingerprint_of, write_contract
from mixtally.model.contract.job import job_of
from mixtally.model.question import Question
from mixtally.model.roles import Rounds
from mixtally.primitives.chance import SecureChance
from mixtally.server.node.calls import Answer, SilentError
from mixtally.server.node.disk import no_step
from mixtally.server.node.folder import RoleFile, create_folder, open_folder, to_role
from mixtally.server.node.node import Node
from mixtally.server.node.peers import Peers
from mixtally.server.node.web.routes import SharedRoutes, application

START, OPEN, EVERY, KEPT = 1_000_000, 600, 1000, 5000
ENVIRONMENT = {"MASTER": "5c" * 32}


class Village:
    """Some mixes and a collector.

    where
      contract    what they agree on, and ``text`` its bytes; of ``plan``, or of one ``part``
      folders     of every role, the collector's last
      apps        address -> ASGI application, of roles that are awake
    """

    def __init__(
        self,
        place: Path,
        hops: int = 3,
        *,
        part=None,
        crowd=2,
        users=None,
        rounds=3,
        rounds_every=EVERY,
        prefixes=None,
        plan=None,
        ports=range(7001, 7010),
        **changes,
    ):
        plan = plan or contracts.plan_of(
            Question(name="q", bins=(part.bins if part else 4)),
            [part or contracts.shaped(4, ratio=1 << 44, shift=3)],  # a mean of 3
            hops=hops,
            collections=rounds,
            users=users or max(1000, crowd),
            minimum_crowd=crowd,
            prefixes=prefixes,
        )
        hops = plan.hops
        names = [f"mix-{i + 1}" for i in range(hops)] + ["collector"]
        self.place, self.now, self.apps = place, START + 10, {}
        self.folders = [
            create_folder(
                place / name,
                RoleFile(
                    name=name,
                    address=f"http://127.0.0.1:{ports[i]}",
                    operator=f"Team {name}",
                    host="127.0.0.1",
                    port=0,
                    master="env:MASTER",
                ),
                ENVIRONMENT,
                SeededChance(i),
            )
            for i, name in enumerate(names)
        ]
        roles = [to_role(folder.role, folder.signer) for folder in self.folders]
        self.contract = contracts.contract_of(
            plan,
            hops=tuple(roles[:-1]),
            collector=roles[-1],
            rounds=Rounds(open_seconds=OPEN, every_seconds=rounds_every),
            **{"most_bundles": 100 * plan.users} | changes,
        )
        self.text = write_contract(self.contract)
        self.fingerprint = fingerprint_of(self.text)
        self.jobs = [job_of(self.contract, self.fingerprint, i + 1) for i in range(hops)]

    def agreement(self, place: int) -> Agreement:
        """Of the role at ``place``, from 1; the collector's is hops + 1."""
        held = {name: getattr(self.jobs[0], name) for name in Agreement.__struct_fields__}
        return Agreement(**held | {"place": place})

    def node(self, place: int, *, step=no_step, cleared=True, sign=True, chance=None) -> Node:
        """The role at ``place``, opened from its folder, its contract signed and taken up."""
        folder = open_folder(self.folders[place - 1].path, ENVIRONMENT)
        node = Node(folder, chance or SecureChance(), step)
        agreement = self.agreement(place)
        if sign:
            node.sign_contract(agreement, self.text)
        node.start_serving(agreement)
        if cleared:
            node.cleared.add(self.fingerprint)
        return node

    def nodes(self) -> list[Node]:
        """All of them."""
        return [self.node(place + 1) for place in range(len(self.folders))]

    def awake(self, node: Node):
        """Let others reach a node; its ASGI application."""
        stopped = []
        app = application(SharedRoutes(node, lambda: self.now).routes(), stopped.append)
        self.apps[node.folder.role.address] = app
        app.__dict__["stopped"] = stopped
        return app

    def call(self, address, method, path, body=b"") -> Answer:
        """A request to a role that is awake, without a socket."""
        if address not in self.apps:
            raise SilentError(address)
        answer = ask(self.apps[address], method, path, body)
        return Answer(answer.status, answer.body)

    def peers(self, node, overruled=()) -> Peers:
        """Its view of the others."""
        return Peers(node, self.call, frozenset(overruled))

    def sheet(self, nodes, number=1, **changes) -> bytes:
        """A sheet with the keys that the nodes made for it; signed by nobody."""
        keys = tuple(node.key(self.fingerprint, number) for node in nodes)
        opens = START + (number - 1) * EVERY
        fields = {
            "contract": self.fingerprint,
            "round": number,
            "opens": opens,
            "closes": opens + OPEN,
            "expires": opens + OPEN + KEPT,
            "keys": keys,
        }
        return write_sheet(Sheet(**fields | changes))

    def agreed(self, nodes, number=1, **changes) -> bytes:
        """A sheet that all nodes have signed and know to be signed by all."""
        note = nodes[-1].propose(self.sheet(nodes, number, **changes), self.now)
        for node in [*nodes, *nodes]:
            note = node.take_note(note, self.now)
        return note


def ask(app, method, path, body=b"", headers=(), chunks=None):
    """What an ASGI application answers.

    ``chunks`` are the body in pieces; one that is callable is called when it is its turn.
    """
    parts = list(chunks) if chunks is not None else [body]
    path, _, query = path.partition("?")
    given = [(name.lower().encode(), value.encode()) for name, value in headers]
    if not any(name == b"content-length" for name, _ in given) and chunks is None:
        given.append((b"content-length", str(len(body)).encode()))
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": given,
        "client": ("192.0.2.77", 4711),
        "server": ("127.0.0.1", 80),
    }
    sent = []

    async def receive():
        if not parts:
            return {"type": "http.disconnect"}
        one = parts.pop(0)
        one = one() if callable(one) else one
        return {"type": "http.request", "body": one, "more_body": bool(parts)}

    async def send(message):
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    start = next(one for one in sent if one["type"] == "http.response.start")
    held = b"".join(one.get("body", b"") for one in sent if one["type"] == "http.response.body")
    return SimpleNamespace(
        status=start["status"],
        body=held,
        headers={name.decode(): value.decode() for name, value in start["headers"]},
    )


def changed(agreement, **fields):
    """An agreement with other fields."""
    return replace(agreement, **fields)
