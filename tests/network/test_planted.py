"""Answers, keys and ciphertexts are found in no log, page, answer, temporary or shredded file."""

import shutil
import tempfile
from base64 import b64encode
from pathlib import Path

import pytest

from helpers import contracts
from mixtally.device.wire import envelope
from mixtally.model.hashing import HMAC_SHA256, Hashing
from mixtally.model.question import Kind, Question
from mixtally.server.collector import stored
from mixtally.server.engine import sorting
from mixtally.server.mix import web
from mixtally.server.mix.closing import close
from mixtally.server.node import keys
from mixtally.server.node.web.bodies import BodyBudget
from network.conftest import folder
from network.onwires import NAMES
from network.planted import Secrets, Watched, leaks_of_files, leaks_of_wires
from network.wiretap import Taps

PLANTED = b"PLANTED7"
"""An answer of 64 bits, which is a message as it stands: flips are too rare to be seen."""
TEXT = "planted-answer-of-somebody"


def planned(question, part, **changes):
    return contracts.plan_of(
        question, [part], hops=3, collections=3, users=1000, minimum_crowd=2, **changes
    )


BITS = planned(
    Question(name="q", bins=64, kind=Kind.BITS),
    contracts.flipped(64, most_set=None, q=2**-40),
    count_flips=True,
)
HASHED = planned(
    Question(name="q", bins=9, hashed=Hashing(function=HMAC_SHA256, seed=contracts.SEED)),
    contracts.over_planes(9, 3, drawn=6),
)
VALUE = [PLANTED[i // 8] >> i % 8 & 1 for i in range(64)]
SCENES = {
    "a message": (BITS, VALUE, [0] * 64, PLANTED),
    "a text": (HASHED, TEXT, "another", TEXT.encode()),
}


@pytest.fixture(scope="module")
def taps():
    made = Taps(NAMES)
    yield made
    made.end()


class Played:
    """A round, and everything that anybody could look at during it and afterwards."""

    def __init__(self, taps, scene, capfd):
        agreed, value, other, planted = SCENES[scene]
        self.secrets, self.place = Secrets(), folder()
        self.secrets.keys["an answer"] = planted
        shared, tempfile.tempdir = tempfile.tempdir, str(self.place)  # whatever is temporary
        stage = Watched(self.place / "roles", taps, plan=agreed)
        try:
            stage.all_awake()
            stage.round()
            self.secrets.of_roles(stage)
            stage.secrets = self.secrets
            for seed, one in enumerate((value, other, other)):
                assert stage.answer(one, seed)
            self.of_bundles(taps, stage)
            stage.finish()
            self.states = stage.states()
            self.public(stage)
            self.files = {one.node.signer.name: left_by(one.node) for one in stage.roles}
            self.rows = {one.node.signer.name: rows_of(one.node) for one in stage.roles}
        finally:
            stage.end()
            tempfile.tempdir = shared
        self.heard += taps.take()
        self.leaks = [
            *stage.leaks,
            *leaks_of_files(self.secrets, [self.place], ciphers=True),
            *leaks_of_wires(self.secrets, self.heard),
        ]
        logs = "".join(capfd.readouterr()).encode()
        every = {**self.secrets.keys, **self.secrets.ciphers}
        self.leaks += [(name, "log") for name in self.secrets.found_in(logs, every)]
        shutil.rmtree(self.place)

    def of_bundles(self, taps, stage):
        """The envelopes as people sent them."""
        self.heard = taps.take()
        for _, sent, _ in self.heard:
            head, _, body = bytes(sent).partition(b"\r\n\r\n")
            if b"/bundles" in head:
                size = stage.jobs[0].sizes[0][0]
                self.secrets.envelopes(body, size, "hop 1")

    def public(self, stage):
        """All that anybody may ask for, and some requests that are refused."""
        for place in range(1, 5):
            name = NAMES[place - 1]
            for path in (
                "/status",
                f"/notes/{name}",
                stage.path("/manifests"),
                stage.path(""),
                "/",
            ):
                stage.call(stage.folders[place - 1].role.address, "GET", path)
            for path in ("/notes", stage.path("/bundles"), stage.path("/key"), "/pieces/x"):
                for method in ("POST", "PUT"):
                    stage.call(stage.folders[place - 1].role.address, method, path, b"{?}\n")
        stage.call(stage.folders[3].role.address, "GET", stage.path("/result"))


def left_by(node):
    """The files of a role."""
    return {str(path.relative_to(node.folder.path)) for path in node.folder.path.rglob("*")}


def rows_of(node):
    """What is left in its database: kinds of notes, and rows of other tables."""
    kinds = [kind for (kind,) in node.database.rows("SELECT kind FROM notes ORDER BY kind")]
    return kinds, node.notes.list_unsent()


COMMON = {"role.toml", "signing.key", "node.db", "node.db-wal", "node.db-shm", "contracts"}
COMMON |= {"contracts/home-page-1.note", "jobs", "keys", "rounds"}


@pytest.mark.seconds
@pytest.mark.parametrize("scene", SCENES)
def test_nothing_planted_is_found(taps, scene, capfd):
    played = Played(taps, scene, capfd)
    assert played.leaks == []
    assert len(played.secrets.keys) == 2 + 3 * 4
    assert {name.rpartition(" ")[2] for name in played.secrets.ciphers} == set("1234")
    assert played.states.split()[:3] == ["shredded/delivered"] * 3


@pytest.mark.seconds
def test_what_is_left_of_a_round_is_what_was_signed(taps, capfd):
    played = Played(taps, "a message", capfd)
    kinds = ["contract", *["manifest"] * 3, *["receipt"] * 3, "sheet"]
    for name in NAMES:
        assert played.rows[name] == (kinds, [])
        own = played.files[name] - COMMON
        # Arrival lists are kept for those who watch; manifests and receipts name them.
        assert "lists" in own
        own = {one for one in own if one != "lists" and not one.startswith("lists/")}
        if name == "collector":
            (place,) = [one for one in own if one.startswith("results/") and one.count("/") == 1]
            held = {f"{place}/{kind}.json" for kind in ("charge", "tally", "result")}
            assert own == {"results", place} | held
        else:
            assert own == {"jobs/home-page-1.json", "jobs/home-page-1.tag"}


def prints_messages(patch):
    """A collector that prints what it opens."""
    usual = envelope.Opener.open

    def told(self, data, part):
        opened = usual(self, data, part)
        print("opened", opened)
        return opened

    patch.setattr(envelope.Opener, "open", told)


def echoes(patch):
    """A first mix that answers with what came."""
    read, answer, held = BodyBudget.read_body, web.send_response, []

    async def whole(*given):
        held[:] = [await read(*given)]
        return held[0]

    async def echoed(send, status, *_):
        await answer(send, status, held[0][:99], "text/plain")

    patch.setattr(BodyBudget, "read_body", whole)
    patch.setattr(web, "send_response", echoed)


def keeps_keys_open(patch):
    """A role whose key files are not wrapped."""
    patch.setattr(keys, "wrap_secret", lambda *given: given[3])
    patch.setattr(keys, "unwrap_secret", lambda *given: given[3])


def stores_messages(patch):
    """A collector that keeps a message beside its tally."""
    usual = stored.Results.keep

    def keep(self, round_id, counted):
        usual(self, round_id, counted)
        (self._folder / round_id / "messages").write_bytes(b64encode(b"x" + PLANTED))

    patch.setattr(stored.Results, "keep", keep)


def leaves_pieces(patch):
    """A mix that leaves what it sent where shredding does not look."""
    usual = close._write_pieces

    def pieces(closing, messages, size):
        kept = list(messages)
        (closing.folder.parent / "kept").write_bytes(b"".join(kept))
        yield from usual(closing, iter(kept), size)

    patch.setattr(close, "_write_pieces", pieces)


def uses_temporary_files(patch):
    """A mix that sorts in a file of the system's."""
    usual = sorting.Sorter.add

    def add(self, keys, *columns):
        tempfile.mkstemp(prefix="sorting-")
        if columns:  # what is sorted for an arrival list has none
            path = Path(tempfile.gettempdir()) / f"sorted-{len(columns[-1])}"
            path.write_bytes(columns[-1])
        usual(self, keys, *columns)

    patch.setattr(sorting.Sorter, "add", add)


PLANTS = {
    prints_messages: ("an answer", "log"),
    echoes: ("envelope", "by mix-1: POST /contracts/"),
    keeps_keys_open: ("round key of", ".key"),
    stores_messages: ("an answer", "messages"),
    leaves_pieces: ("envelope", "rounds/kept"),
    uses_temporary_files: ("envelope", "sorted-"),
}


@pytest.mark.seconds
@pytest.mark.parametrize("plant", PLANTS, ids=lambda one: one.__name__)
def test_a_planted_leak_is_found(taps, capfd, monkeypatch, plant):
    plant(monkeypatch)
    what, where = PLANTS[plant]
    found = Played(taps, "a message", capfd).leaks
    assert [one for one in found if one[0].startswith(what) and where in one[1]], found
