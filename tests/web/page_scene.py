"""A page on a static host, and a first hop that answers as it is told: both on loopback."""

import json
import shutil
import subprocess
import threading
import time
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from mixtally.app.page_files import page_files
from mixtally.model.contract import read_contract
from pages.browser import browser

WEB = Path(__file__).parents[2] / "web"
UNIFORM = "messages-label-clear-uniform-heads"
OPERATORS = ("a university", "a newspaper", "a statistician")
needs_node = pytest.mark.skipif(
    shutil.which("node") is None or not (WEB / "node_modules").is_dir(),
    reason="needs Node and the packages that `make web` installs",
)


def make_rounds(cases):
    """Signed contracts and sheets, as test/make-round.js makes them of a line for each."""
    lines = "".join(json.dumps(one) + "\n" for one in cases)
    made = subprocess.run(
        ["node", "test/make-round.js"], cwd=WEB, input=lines, capture_output=True, text=True,
        timeout=600,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    return [json.loads(line) for line in made.stdout.splitlines()]


class _Server(ThreadingHTTPServer):
    def handle_error(self, *_):
        """Log nothing: a page that is left closes its connections."""


class _Quiet(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Log nothing."""


class _Hop(BaseHTTPRequestHandler):
    """The first hop: ``server.hop`` is its FakeHop."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Log nothing."""

    def _answer(self, status, body=b"", more=()):
        self.send_response(status)
        for name, value in (("Access-Control-Allow-Origin", "*"), ("Content-Length", len(body)),
                            ("Access-Control-Expose-Headers", "retry-after"), *more):  # fmt: skip
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        hop = self.server.hop
        hop.asked.append(self.path)
        if self.path == "/status":
            return self._answer(200, json.dumps({"rounds": hop.rounds}).encode())
        served = hop.served.get(self.path)
        return self._answer(404) if served is None else self._answer(200, served)

    def do_OPTIONS(self):
        """Allow the header of a code, which a browser asks about first."""
        self._answer(204, b"", [("Access-Control-Allow-Headers", "authorization")])

    def do_POST(self):
        hop = self.server.hop
        body = self.rfile.read(int(self.headers["Content-Length"]))
        hop.bodies.append(body)
        status, *more = hop.answers.pop(0) if hop.answers else (201,)
        if status is None:
            self.connection.close()
            return
        self._answer(status, b"", more)


class FakeHop:
    """What the first hop serves, and what it received."""

    def __init__(self):
        self.server = _Server(("127.0.0.1", 0), _Hop)
        self.server.hop = self
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        self.rounds, self.served, self.asked, self.bodies, self.answers = [], {}, [], [], []
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def serve(self, made, **listed):
        """Serve a contract and its sheet, and list its round as the role of a hop does."""
        path, sheet = (
            f"/contracts/{made['fingerprint']}",
            json.loads(made["sheet"].split("\n\n")[0]),
        )
        self.served = {path: made["note"].encode(), f"{path}/rounds/1": made["sheet"].encode()}
        row = {name: sheet[name] for name in ("contract", "round", "opens", "closes")}
        self.rounds = [{**row, "state": "open", **listed}]
        self.asked, self.bodies, self.answers = [], [], []

    def serve_next(self, made):
        """Close the round, and serve the sheet of the next one."""
        self.served[f"/contracts/{made['fingerprint']}/rounds/2"] = made["next"].encode()
        sheet = json.loads(made["next"].split("\n\n")[0])
        row = {name: sheet[name] for name in ("contract", "round", "opens", "closes")}
        self.rounds = [{**self.rounds[0], "state": "closed"}, {**row, "state": "open"}]


class Stage:
    """One Chromium, a static host with a folder, and a first hop."""

    def __init__(self, shown, folder):
        self.shown, self.folder, self.hop = shown, folder, FakeHop()
        self.host = _Server(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
        threading.Thread(target=self.host.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.host.server_port}"
        self.stranger = FakeHop()

    def case(self, vector=UNIFORM, *, window=(-60, 3600), **edits):
        """A case for ``make_rounds``: a vector with this first hop and an open round."""
        now, (opens, closes) = int(time.time()), window
        roles = [{"operator": operator} for operator in OPERATORS]
        roles[0]["address"] = self.hop.address
        for role, more in zip(roles, edits.pop("roles", [{}] * 3), strict=True):
            role |= more
        times = {"opens": now + opens, "closes": now + closes, "expires": now + closes + 600}
        seconds = closes - opens
        rounds = {"open_seconds": seconds, "every_seconds": seconds}
        contract = {"rounds": rounds, **edits.pop("contract", {})}
        return {"vector": vector, "contract": contract, "sheet": times, "roles": roles, **edits}

    def publish(self, made, **listed):
        """Serve the page of a contract, and its round; return the link."""
        note = made["note"].encode()
        for name, data in page_files(read_contract(note, "contract"), note).items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        self.hop.serve(made, **listed)
        return f"{self.address}/#{made['fingerprint']}"

    def end(self):
        for server in (self.host, self.hop.server, self.stranger.server):
            server.shutdown()
            server.server_close()


@contextmanager
def stage(folder):
    with browser() as shown:
        made = Stage(shown, folder)
        try:
            yield made
        finally:
            made.end()
