"""Two mixes, a collector and devices as processes, by their commands alone."""

import os
import subprocess
import sys
import time
import tomllib
from http.client import HTTPConnection, HTTPException

from helpers import contracts
from mixtally.model.contract import Role, Rounds, fingerprint_of, write_contract
from mixtally.model.hashing import HMAC_SHA256, Hashing
from mixtally.model.question import Question
from mixtally.server.node.folder import open_folder
from mixtally.server.node.keys import Keys
from scripts.leaping_clock import command, leap

SECONDS = 300
"""For anything to happen: a busy machine is slow."""
OPEN = 600
"""A round is never waited for: ``close`` turns the clocks of the roles."""
NAMES = ("mix-1", "mix-2", "collector")


def planned():
    """Hashed texts, so that an answer stands in no contract; its certificate is proved."""
    question = Question(name="q", bins=9, hashed=Hashing(function=HMAC_SHA256, seed=contracts.SEED))
    part = contracts.over_planes(9, 3, drawn=140)
    made = contracts.plan_of(question, [part], hops=2, users=1000, minimum_crowd=2, delta=1e-6)
    return contracts.proved(made)


class Processes:
    """A network in a folder; everything that its processes say is kept in ``logs`` there."""

    def __init__(self, place):
        self.place, self.served = place, []
        (place / "logs").mkdir()
        self.ahead = place / "ahead"
        self.environment = {**os.environ, "TMPDIR": str(place), "SQLITE_TMPDIR": str(place)}

    def run(self, *arguments, said=None, program=None):
        """A command to its end; what it printed."""
        done = self.begin(*arguments, said=said, program=program)
        assert done.wait(SECONDS) == 0, self.log(arguments)
        return self.log(arguments)

    def ask_again(self, *arguments):
        """The same of a command that needs all mixes: they serve once each has heard the others."""
        for _ in range(60):
            if self.begin(*arguments).wait(SECONDS) == 0:
                return
            time.sleep(0.5)  # they are other processes, without a clock of ours
        raise AssertionError(self.log(arguments))

    def begin(self, *arguments, said=None, program=None):
        """A command that runs."""
        program = program or command(self.ahead)
        with self.path(arguments).open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-c", program, *map(str, arguments)],
                cwd=self.place,
                env=self.environment,
                stdin=subprocess.DEVNULL if said is None else subprocess.PIPE,
                stdout=log,
                stderr=log,
            )
        if said is not None:
            process.stdin.write(said)
            process.stdin.close()
        return process

    def path(self, arguments):
        """Where what a command says is kept."""
        name = "-".join(str(one).rpartition("/")[2] for one in arguments[:3])
        return self.place / "logs" / name

    def log(self, arguments):
        return self.path(arguments).read_text()

    def prepare(self, ports):
        """Three roles, and a contract that both mixes have signed."""
        self.ports = dict(zip(NAMES, ports, strict=True))
        roles = []
        for name, port in self.ports.items():
            kind = name.partition("-")[0]
            said = self.run(kind, "init", name, "--name", name, "--operator", f"Team {name}",
                            "--address", f"http://127.0.0.1:{port}")  # fmt: skip
            held = tomllib.loads(said.partition("written to")[0])
            roles.append(Role(**(held["hops"][0] if "hops" in held else held["collector"])))
        contract = contracts.contract_of(
            planned(),
            hops=tuple(roles[:2]),
            collector=roles[2],
            rounds=Rounds(open_seconds=OPEN, every_seconds=OPEN),
        )
        (self.place / "contract.json").write_bytes(write_contract(contract))
        self.fingerprint = fingerprint_of(write_contract(contract))
        for name in NAMES[:2]:
            self.run("mix", "sign", name, "contract.json")

    def serve(self):
        """All roles serve, and a round is open."""
        for name in NAMES:
            kind = name.partition("-")[0]
            more = ("--processes", "0") if kind == "mix" else ()
            self.served.append(self.begin(kind, "serve", name, *more))
        for name in NAMES:
            self.get(name, "/status")
        self.ask_again("collector", "sign", "collector", "contract.json")
        self.ask_again("collector", "propose", "collector", "--expires-after", "6000")
        base = f"/contracts/{self.fingerprint}"
        for file, path in (("contract.note", base), ("sheet.note", f"{base}/rounds/1")):
            (self.place / file).write_bytes(self.get("mix-1", path))

    def close(self):
        """The time of the open round is over."""
        leap(self.ahead, OPEN)

    def answer(self, texts):
        """People answer, all at once, each by a command of their own."""
        sent = [
            self.begin("client", "send", "contract.note", "sheet.note", "--yes", "--now",
                       "--fingerprint", self.fingerprint, "--diary", f"diary-{place}.db",
                       said=f"{text}\n".encode())
            for place, text in enumerate(texts)
        ]  # fmt: skip
        assert [one.wait(SECONDS) for one in sent] == [0] * len(texts), self.log(
            ("client", "send", "contract.note")
        )

    def request(self, name, method, path, body=b"", headers=()):
        """An answer of a role: status, and all its bytes."""
        link = HTTPConnection("127.0.0.1", self.ports[name], timeout=SECONDS)
        try:
            link.request(method, path, body, dict(headers))
            answer = link.getresponse()
            return answer.status, str(answer.headers).encode() + answer.read()
        finally:
            link.close()

    def get(self, name, path):
        """What is served, once it is."""
        for _ in range(10 * SECONDS):
            try:
                status, said = self.request(name, "GET", path)
                if status == 200:
                    return said.partition(b"\n\n")[2] if b"\n\n" in said else said
            except (OSError, HTTPException):
                pass
            time.sleep(0.1)  # it is another process that is waited for, no clock of a round
        raise AssertionError(f"{name}{path}")

    def folder(self, name):
        """A role's folder, opened with its master key."""
        return open_folder(self.place / name, self.environment)

    def round_keys(self, name):
        """The secrets of the open round."""
        folder = self.folder(name)
        (round_id,) = [path.stem for path in folder.subfolder("keys").iterdir()]
        return Keys(folder.subfolder("keys"), folder.master, None).read_key(round_id)

    def shredded(self):
        """Wait until no role has anything of the round."""
        for _ in range(10 * SECONDS):
            left = [
                path
                for name in NAMES
                for kind in ("keys", "rounds")
                for path in (self.place / name / kind).iterdir()
            ]
            if not left:
                return
            time.sleep(0.1)
        raise AssertionError(left)

    def end(self):
        """No process is left."""
        for one in self.served:
            one.terminate()
        for one in self.served:
            try:
                one.wait(120)
            except subprocess.TimeoutExpired:
                one.kill()
                one.wait()
