"""Load: room is bounded and given back, whoever is too much is told when to come again."""

import asyncio
from unittest import mock

from helpers.roles_in_folders import ask
from mixtally.device.wire.manifest import MOST_HOPS, write_manifest
from mixtally.device.wire.note import Signer
from mixtally.server.mix import intake
from mixtally.server.mix.web import MOST_BODY_BYTES, BundleRoute
from mixtally.server.node.web import bodies
from mixtally.server.node.web.bodies import BodyBudget
from mixtally.server.node.web.routes import MOST_NOTE_BYTES, SharedRoutes, application
from network.stage import BINS

STRANGER = Signer("mix-1", b"s" * 32)
ROOM = 1000
MORE = MOST_NOTE_BYTES + 1


def roomy(stage, place=1):
    """A role as it serves, with little room, which it is to have again afterwards."""
    mix, room = stage.mixes[place - 1], BodyBudget(ROOM)
    bundles = BundleRoute(mix.intake, mix.find, lambda: stage.now, room)
    shared = SharedRoutes(mix.node, lambda: stage.now, room).routes()
    return application(shared, mix.stopped.append, bundles.match_route), room


class Sent:
    """A request whose body comes as a test lets it; keeps what is answered."""

    def __init__(self, path, length, receive, method="POST"):
        self.scope = {
            "type": "http",
            "method": method,
            "path": path,
            "headers": [(b"content-length", str(length).encode())] if length else [],
        }
        self.receive, self.status, self.after = receive, None, None

    async def __call__(self, app):
        await app(self.scope, self.receive, self.send)
        return self.status

    async def send(self, message):
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.after = dict(message["headers"]).get(b"retry-after")


def body_of(data, *, wait=None):
    """A body that comes whole, once ``wait`` is set."""

    async def receive():
        if wait is not None:
            await wait.wait()
        return {"type": "http.request", "body": data, "more_body": False}

    return receive


def never(begun=b""):
    """A body of which ``begun`` comes and then nothing."""
    parts = [begun] if begun else []

    async def receive():
        if parts:
            return {"type": "http.request", "body": parts.pop(), "more_body": True}
        await asyncio.Event().wait()
        raise AssertionError

    return receive


def broken(begun=b""):
    """A body of which ``begun`` comes; then the connection is gone."""
    parts = [begun] if begun else []

    async def receive():
        if parts:
            return {"type": "http.request", "body": parts.pop(), "more_body": True}
        return {"type": "http.disconnect"}

    return receive


def counted(statuses, room):
    """How often each status was answered, and whether all room is there again."""
    several = [f"{statuses.count(one)} x {one}" for one in sorted(set(statuses))]
    return ", ".join([*several, "all room again" if room.used == 0 else "room is lost"])


def burst(stage):
    """Twenty times the bodies that have room come at once, and none ends before all began."""
    app, room = roomy(stage)
    body = stage.bundle([BINS[0]])

    async def all_at_once():
        wait = asyncio.Event()
        path = stage.path("/bundles")
        several = [Sent(path, 100, body_of(body, wait=wait)) for _ in range(100)]
        running = [asyncio.create_task(one(app)) for one in several]
        await asyncio.sleep(0)
        wait.set()
        statuses = await asyncio.gather(*running)
        assert all(one.after for one in several if one.status == 503)
        return statuses

    return counted(asyncio.run(all_at_once()), room)


def burst_behind_a_slow_disk(stage):
    """Ten times what may wait for the disk comes while it syncs."""
    app, body = stage.apps[stage.folders[0].role.address], stage.bundle([BINS[0]])

    async def all_at_once():
        path, taker = stage.path("/bundles"), stage.mixes[0].intake
        several = [Sent(path, len(body), body_of(body)) for _ in range(200)]
        with taker._turn:  # nothing is committed meanwhile
            running = [asyncio.create_task(one(app)) for one in several]
            for _ in range(5):
                await asyncio.sleep(0)
        return await asyncio.gather(*running)

    with mock.patch.object(intake, "MOST_WAITING", 20):
        statuses = asyncio.run(all_at_once())
    return ", ".join(f"{statuses.count(one)} x {one}" for one in sorted(set(statuses)))


def ends_as(path, length, receive, method="POST"):
    """One such request, by a role with little room and no patience."""

    def act(stage):
        app, room = roomy(stage)
        one = Sent(stage.path(path) if path == "/bundles" else path, length, receive(), method)
        with mock.patch.object(bodies, "GRACE_SECONDS", 0.02):
            return counted([asyncio.run(one(app))], room)

    return act


def idle_ones(stage):
    """As many idle requests as fill the room, for longer than a body may take; then a good one."""
    app, room = roomy(stage)
    body = stage.bundle([BINS[0]])

    async def all_of_them():
        path = stage.path("/bundles")
        idle = [asyncio.create_task(Sent(path, 100, never())(app)) for _ in range(10)]
        await asyncio.sleep(0)
        meanwhile = await Sent(path, len(body), body_of(body))(app)
        statuses = await asyncio.gather(*idle)
        return [meanwhile, *statuses, await Sent(path, len(body), body_of(body))(app)]

    with mock.patch.object(bodies, "GRACE_SECONDS", 0.02):
        return counted(asyncio.run(all_of_them()), room)


def piece_half(stage):
    """A piece that was named comes by half, and then the connection is gone."""
    app, room = roomy(stage, 2)
    manifest, data = stage.batch(1, [stage.sealed(one, first=2) for one in BINS])
    stage.post(2, stage.by(1, write_manifest(manifest)))
    path = f"/pieces/{manifest.parts[0].pieces[0].sha256}"
    one = Sent(path, len(data), broken(data[:50]), "PUT")
    return counted([asyncio.run(one(app))], room)


def chunks(path, most, method="POST"):
    """A body without a length that is a byte longer than allowed."""

    def act(stage):
        whole = [bytes(1 << 20)] * (most >> 20)
        return stage.ask(1, method, stage.path(path) if path == "/bundles" else path,
                         chunks=[*whole, b"x"])  # fmt: skip

    return act


def stated(path, length):
    def act(stage):
        to = stage.path(path) if path == "/bundles" else path
        return stage.ask(1, "POST", to, headers=[("Content-Length", str(length))])

    return act


def lines_of_strangers(stage):
    """A contract that is known, with a line for each of twenty thousand strangers."""
    line = STRANGER.signature_line(b"another\n")
    return stage.post(1, stage.text + b"\n" + line * 20_000)


def long_text(stage):
    """A text longer than any that roles read of somebody whom they do not know."""
    text = b'{"kind": "sheet", "x": "' + b"[" * (1 << 17) + b'"}\n'
    with mock.patch("json.loads") as parsed:
        said = stage.post(1, text + b"\n" + STRANGER.signature_line(text))
    assert not parsed.called
    return said


def overruled(stage):
    """A manifest with a thousand names, which its hop has signed."""
    names = tuple(f"mix-{number}" for number in range(1000))
    assert len(names) > MOST_HOPS
    return stage.told(1, BINS, overruled=names)


def same_key(stage):
    """One peer asks for a key a hundred times."""
    said = {stage.ask(1, "POST", stage.path("/key", 2)).body for _ in range(100)}
    return f"{len(said)} key"


def unnamed_pieces(stage):
    """One peer sends five hundred pieces that nobody has named."""
    app, room = roomy(stage)
    statuses = [ask(app, "PUT", f"/pieces/{n:064x}", bytes(ROOM)).status for n in range(500)]
    return counted(statuses, room)


def names_asked(stage):
    """One peer asks what a hundred roles signed that nobody knows."""
    for number in range(100):
        assert stage.ask(1, "GET", f"/notes/stranger-{number}").body == b"0\n"
    return f"{len(stage.mixes[0].node.pop_awake())} names are kept"


SHARED = {
    "a body that is announced and never begins": (
        ends_as("/bundles", 500, never),
        "1 x 408, all room again",
    ),
    "a body that begins and never ends": (
        ends_as("/bundles", 500, lambda: never(b"\0\1")),
        "1 x 408, all room again",
    ),
    "a note that is announced and never begins": (
        ends_as("/notes", 500, never),
        "1 x 408, all room again",
    ),
    "a body that breaks off": (
        ends_as("/bundles", 500, lambda: broken(b"\0\1")),
        "1 x 400, all room again",
    ),
    "a connection that ends before its body": (
        ends_as("/bundles", 500, broken),
        "1 x 400, all room again",
    ),
    "a note that breaks off": (
        ends_as("/notes", 500, lambda: broken(b"{")),
        "1 x 400, all room again",
    ),
    "a body longer than allowed, announced": (
        stated("/bundles", MOST_BODY_BYTES + 1),
        "413 too-large",
    ),
    "a body longer than allowed, unannounced": (
        chunks("/bundles", MOST_BODY_BYTES),
        "413 too-large",
    ),
    "a note longer than allowed, announced": (stated("/notes", MORE), "413 too-large"),
    "a note longer than allowed, unannounced": (chunks("/notes", MOST_NOTE_BYTES), "413 too-large"),
    "a length of five thousand digits": (stated("/bundles", "9" * 5000), "400 body-length"),
    "a contract below which twenty thousand strangers signed": (
        lines_of_strangers,
        "413 too-large",
    ),
    "a long text of a stranger, which nobody parses": (long_text, "413 too-large"),
    "a manifest with a thousand names": (overruled, "400 no-note"),
    "one peer that asks a hundred times for a key": (same_key, "1 key"),
    "one peer that sends five hundred pieces nobody named": (
        unnamed_pieces,
        "500 x 403, all room again",
    ),
    "one peer that asks for a hundred strangers' notes": (names_asked, "0 names are kept"),
}


ALONE = {
    "a hundred bodies where five have room": (burst, "5 x 201, 95 x 503, all room again"),
    "two hundred bodies where twenty may wait for the disk": (
        burst_behind_a_slow_disk,
        "20 x 201, 180 x 503",
    ),
    "idle requests that announce more than all room, then a good one": (
        idle_ones,
        "2 x 201, 10 x 408, all room again",
    ),
    "a piece that breaks off": (piece_half, "1 x 400, all room again"),
}
