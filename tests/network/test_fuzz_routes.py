"""Whatever is asked of a role in whatever form, it answers by the rules, keeps room and runs on.

Notes are bent and then signed, as a dishonest role could; nothing is ever answered with 500.
"""

import gc
import json
import os
import random
import shutil
import subprocess
import sys
import tracemalloc
from collections import Counter

import pytest

from helpers.roles_in_folders import EVERY, START, ask
from helpers.sampled import exhaustive
from mixtally.device.contract.fields import fingerprint_of, text_of
from mixtally.device.wire.manifest import Receipt, write_manifest, write_receipt
from mixtally.device.wire.note import sign_note
from mixtally.device.wire.problem import MEDIA_TYPE, problem_of_path
from mixtally.server.collector.page import Page
from mixtally.server.collector.web import CollectorRoutes
from mixtally.server.mix.web import BundleRoute
from mixtally.server.node.web.bodies import BodyBudget
from mixtally.server.node.web.routes import SharedRoutes, application
from network.conftest import folder
from network.stage import BINS, COLLECTOR, people, stage_of
from wire.bending import bent, restated

ALLOWED = {200, 201, 204, 400, 403, 404, 405, 409, 410, 413, 503}
ROOM = 1 << 27
METHODS = ("GET", "POST", "PUT", "HEAD", "DELETE", "PATCH", "OPTIONS", "POST", "PUT", "\u00e9")
ODD_PARTS = ["", ".", "..", "0", "-1", "1e3", "9" * 30, "9" * 5000, "\u0661", "\0", "%2F"]
ODD_LENGTHS = ["0", "-1", "9" * 19, "9" * 5000, "1e3", "\u0661", " 7", "1" + "0" * 8]
ODD_DIGESTS = ["sha-256=:AAAA:", "sha-256=", "=", ",,,", "sha-512=:x:", "sha-256=:" + "A" * 9000]


class Target:
    """Three mixes and a collector with rooms that are watched, and good requests to them."""

    def __init__(self, place, chance):
        self.chance, self.stage, self.stopped = chance, stage_of(place), []
        people(self.stage)
        self.rooms, self.apps = [], {}
        for place_of, role in enumerate(self.stage.roles, 1):
            rooms = BodyBudget(ROOM), BodyBudget(ROOM)
            self.rooms += rooms
            routes = SharedRoutes(role.node, self.now, rooms[0]).routes()
            first = {}
            if place_of == COLLECTOR:
                page = Page(role)
                page.write()
                routes = [*CollectorRoutes(role, page, self.now).routes(), *routes]
            else:
                first["first"] = BundleRoute(role.intake, role.find, self.now, rooms[1]).match_route
            self.apps[place_of] = application(routes, self.stopped.append, **first)
        self.notes = self.good_notes()
        self.stage.apps = {}  # what is signed in a role's name here is not to reach it

    def now(self):
        return self.stage.now

    def good_notes(self):
        """Contract, sheets, a manifest of every hop, receipts."""
        stage, several = self.stage, [self.stage.note, self.stage.text]
        several += [stage.text_of_sheet(2), stage.text_of_sheet(1, expires=START + 9999)]
        self.pieces = {}
        for hop in (1, 2, 3):
            manifest, data = stage.batch(hop, [stage.sealed(one, first=hop + 1) for one in BINS])
            text = write_manifest(manifest)
            several += [text, write_receipt(Receipt(fingerprint_of(text), hop + 1))]
            self.pieces[manifest.parts[0].pieces[0].sha256] = data
        return several

    def body(self, place, path):
        """Bytes for a path: good ones, bent ones, or bent ones that somebody has signed."""
        chance, kind = self.chance, self.chance.random()
        if path.endswith("/bundles"):
            good = self.stage.bundle([chance.choice(BINS)])
            return good if kind < 0.3 else bent(chance, [good, good * 2])
        if "/pieces/" in path:
            good = self.pieces.get(path.rpartition("/")[2], b"x")
            return good if kind < 0.3 else bent(chance, [good])
        if kind < 0.2:
            return bent(chance, self.notes)
        text = text_of(restated(chance, self.notes) if kind < 0.7 else chance.choice(self.notes))
        others = [one.signer for at, one in enumerate(self.stage.folders, 1) if at != place]
        return sign_note(text, *chance.sample(others, chance.randint(1, 3)))

    def path(self):
        """A path of a route, sometimes with something odd in it."""
        stage, chance = self.stage, self.chance
        contract = f"/contracts/{stage.fingerprint}"
        number = f"{contract}/rounds/{chance.choice([1, 1, 2, 3, 4])}"
        path = chance.choice([
            *("/", "/status", "/notes", "/notes", "/notes", "/notes/mix-1", contract, number),
            *(f"{number}/{rest}" for rest in ("manifests", "key", "bundles", "bundles", "result")),
            *(f"/pieces/{name}" for name in self.pieces),
            "/problems/busy",
        ])  # fmt: skip
        if chance.random() < 0.2:
            parts = path.split("/")
            parts[chance.randrange(len(parts))] = chance.choice(ODD_PARTS)
            path = "/".join(parts)
        return path

    def headers(self, body):
        """Some of those that roles read, true or not."""
        chance, several = self.chance, []
        if chance.random() < 0.7:
            true = chance.random() < 0.7
            length = str(len(body)) if true else chance.choice(ODD_LENGTHS)
            several.append(("Content-Length", length))
        if chance.random() < 0.2:
            several.append(("Content-Digest", chance.choice(ODD_DIGESTS)))
        return several

    def request(self):
        """One request: whom, and all of it."""
        chance, place, path = self.chance, self.chance.randint(1, COLLECTOR), self.path()
        usual = "PUT" if "/pieces/" in path else "POST"
        method = usual if chance.random() < 0.6 else chance.choice(METHODS)
        body = self.body(place, path)
        headers, chunks = self.headers(body), None
        if chance.random() < 0.3:
            cut = chance.randrange(len(body) + 1)
            chunks = [body[:cut], b"", body[cut:]]
        return place, method, path, body, headers, chunks

    def tried(self, request):
        """The answer keeps all rules."""
        place, method, path, body, headers, chunks = request
        answer = ask(self.apps[place], method, path, body, headers, chunks)
        assert answer.status in ALLOWED
        assert not self.stopped
        assert all(room.used == 0 for room in self.rooms)
        if answer.status >= 400 and method != "HEAD":
            assert answer.headers["content-type"] == MEDIA_TYPE
            held = json.loads(answer.body)
            assert held["status"] == answer.status
            assert problem_of_path(held["type"])
        assert ("retry-after" in answer.headers) == (answer.status == 503)
        return answer.status

    def passes(self):
        """Time goes on, and everybody does what is due."""
        self.stage.now += self.chance.choice([0, 0, 1, 7, 700, EVERY])
        self.stage.tick()

    def end(self):
        for role in self.stage.roles:
            assert role.node.fatal_error is None
        self.stage.end()


def fuzzed(seed, count, target=Target):
    """How often each status came; what breaks a rule names its seed and its place."""
    chance, place = random.Random(seed), folder()
    try:
        aim, statuses = target(place, chance), Counter()
        for number in range(count):
            request = aim.request()
            try:
                statuses[aim.tried(request)] += 1
            except Exception as error:
                told = [str(one)[:200] for one in request]
                raise AssertionError(f"seed {seed}, request {number}: {told}") from error
            if number % 50 == 49:
                aim.passes()
        aim.end()
    finally:
        shutil.rmtree(place)
    return statuses


def test_every_route_answers_by_the_rules():
    statuses = fuzzed(28, 300)
    assert set(statuses) >= {200, 201, 204, 400, 403, 404, 405}


@pytest.mark.slow
@pytest.mark.parametrize("runs", [3, *exhaustive([12])])
def test_every_route_answers_by_the_rules_for_long(runs):
    """By a seed of its own each time where all cases are run, by a fixed one otherwise."""
    seed = 29 if runs == 3 else random.SystemRandom().randrange(1 << 32)
    for run in range(runs):  # each on a network of its own, as numbers of rounds are used up
        fuzzed(f"{seed} {run}", 1000)


def measure_growth():
    """Return by how many bytes memory grows from request 500 to request 2,500."""
    measured = []

    class Measured(Target):
        """Measures memory before two of the requests."""

        count = 0

        def tried(self, request):
            self.count += 1
            if self.count == 500:
                gc.collect()
                tracemalloc.start()
            if self.count in (500, 2500):
                gc.collect()
                measured.append(tracemalloc.get_traced_memory()[0])
            return super().tried(request)

        def passes(self):
            """No time passes."""

    fuzzed(3, 2500, Measured)
    tracemalloc.stop()
    return measured[1] - measured[0]


@pytest.mark.seconds
def test_memory_does_not_grow():
    """After what roles keep once, two thousand requests leave less than 500 bytes each.

    The requests run in a process of their own. In the process of the tests, Python's table of
    interned strings holds the names of all tests before this one, and may double by 7.7 MB.
    """
    code = "from network.test_fuzz_routes import measure_growth; print(measure_growth())"
    python = [sys.executable, "-c", code]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(python, env=environment, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[-1]) < 1_000_000, done.stdout


@pytest.mark.parametrize(
    ("method", "path"), [("status", "/status"), ("key", "/key"), ("take", "/notes")]
)
def test_a_route_that_fails_is_noticed(monkeypatch, method, path):
    """Planted: a route fails for an odd round, a room is lost, a stranger ends the process."""

    async def fails(*_):
        raise {"status": IndexError, "key": OverflowError, "take": OSError}[method]

    monkeypatch.setattr(SharedRoutes, method, fails)
    with pytest.raises(AssertionError, match=r"seed 1, request \d+"):
        fuzzed(1, 300)
