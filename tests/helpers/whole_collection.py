"""A whole collection, played role by role until it ends, whatever happens to whom meanwhile.

Fakes are as many in every bin as the mean (their ratio is one in 2^64) and person i answers bin i,
so the tally says how often each person was counted.
"""

import json
import shutil
from collections import defaultdict
from hashlib import sha256
from typing import NamedTuple

from helpers import contracts
from helpers.role_processes import NOTHING, Process, cut_place
from helpers.roles_in_folders import ENVIRONMENT, START, Village
from helpers.served_roles import Spec
from mixtally.device.contract.fields import fingerprint_of
from mixtally.device.wire.manifest import read_manifest, read_receipt
from mixtally.device.wire.sheet import kind_of
from mixtally.primitives.chance import SecureChance
from mixtally.server.collector.stored import Results
from mixtally.server.node.folder import open_folder
from mixtally.server.node.node import Node
from mixtally.server.node.rounds import round_id

SHIFT = 1
INTAKE = "intake-1"
ENDS = ("released", "refused", "destroyed", "expired")


class Left(NamedTuple):
    """What left a process, and whether it was answered that it was taken."""

    sender: str
    method: str
    path: str
    body: bytes
    taken: bool


class Stage:
    """Roles as processes.

    where
      people   there are bins for, of whom ``answering`` answer; two are enough
      faults   of processes one after the other, by name
      beside   whether a process of intake takes every second bundle
    """

    def __init__(
        self, place, *, hops=3, people=6, answering=None, rounds=1, faults=None, beside=True
    ) -> None:
        place.mkdir(exist_ok=True)
        part = contracts.shaped(people, ratio=1, shift=SHIFT)
        self.village = Village(place, hops, part=part, crowd=2, rounds=rounds + 1)
        self.hops, self.people, self.rounds = hops, people, rounds
        self.now, self.left = START + 10, []
        self.persons = range(people if answering is None else answering)
        text, folders = self.village.text, self.village.folders
        jobs = [*self.village.jobs, None]
        self.specs = {
            folder.role.name: Spec(
                "mix" if job else "collector", folder.role.name, folder.path, text, job
            )
            for folder, job in zip(folders, jobs, strict=True)
        }
        self.addresses = {folder.role.address: folder.role.name for folder in folders}
        (place / "devices").mkdir()
        first = folders[0].role.address
        if beside:
            self.specs[INTAKE] = Spec("intake", INTAKE, folders[0].path, text)
        self.specs["devices"] = Spec(
            "devices", "devices", place / "devices", text, first=first, people=len(self.persons)
        )
        self.faults = {name: list(some) for name, some in (faults or {}).items()}
        self.processes, self.ended, self.ends, self.posts = {}, [], {}, 0

    # -- processes ------------------------------------------------------------------------------

    def wake(self):
        """Begin whoever is not there."""
        for name, spec in self.specs.items():
            process = self.processes.get(name)
            if process is None or not process.alive:
                if process is not None:
                    self.ended.append((name, process.why))
                    assert process.why is None or _may_end(process.why), process.why
                self._begin(name, spec)

    def _begin(self, name, spec):
        """A process on what the one before has left, be it a cut."""
        left = cut_place(spec.path)
        if left.exists():
            shutil.rmtree(spec.path)
            left.rename(spec.path)
        faults = self.faults.get(name)
        fault = faults.pop(0) if faults else NOTHING
        self.processes[name] = Process(spec, self.route, fault)

    def route(self, sender, address, method, path, body):
        """A request of one to another; every second bundle goes to the process of intake."""
        name = self.addresses[address]
        if path.endswith("/bundles") and INTAKE in self.specs:
            self.posts += 1
            name = INTAKE if self.posts % 2 else name
        return self.hand(sender, name, method, path, body)

    def hand(self, sender, name, method, path, body):
        """Give a request to a process; its answer, None for none."""
        process = self.processes.get(name)
        answer = None if process is None else process.tell("ask", self.now, method, path, body)
        taken = answer is not None and 200 <= answer[0] < 300
        self.left.append(Left(sender, method, path, body, taken))
        return answer

    def tick(self):
        """Everybody does what is due, some time later."""
        self.wake()
        for name in self.specs:
            self.processes[name].tell("tick", self.now)
        self.now += 1

    def steps(self, name):
        """How often a process took each step, whether its fault has happened, its operations."""
        return self.processes[name].tell("steps")

    def end(self):
        """Everybody ends."""
        for process in self.processes.values():
            process.end()

    # -- the story ------------------------------------------------------------------------------

    def play(self):
        """All rounds, from the contract to their ends."""
        self.until(self.signed, "a contract that all signed")
        for number in range(1, self.rounds + 1):
            self.until(lambda n=number: self.proposed(n), f"a sheet of round {number}, all signed")
            row = self.row(number)
            self.now = max(self.now, row["opens"])
            self.until(lambda n=number: self.answered(n), f"answers in round {number}")
            self.now = max(self.now, row["closes"])
            self.before_end(row)
            self.until(lambda n=number: self.over(n), f"the end of round {number}")
        self.calm()
        for _ in range(6):  # who was silent hears the rest
            self.now += 61
            self.tick()
        self.wake()

    def before_end(self, row):
        """Something that happens when a round is closed."""

    def calm(self):
        """Nothing happens from now on."""

    def row(self, number):
        """A round as somebody has it who answers."""
        return next(row for name in self.addresses.values() if (row := self.round(number, name)))

    def until(self, done, what, most=150):
        """Go on until something is so."""
        for _ in range(most):
            self.tick()
            if done():
                return
        states = {name: self.status(name) for name in self.addresses.values()}
        raise AssertionError(f"not within {most} turns: {what}; {states}; {self.ended}")

    def signed(self):
        """Whether all have signed the contract; asked for again where not."""
        return self._command("sign")

    def proposed(self, number):
        """The same of the next round, which may have been signed by all since it was asked for.

        A collector that has every signature says so after its next turn, and proposes another round
        if it is asked before that.
        """
        self.processes["collector"].tell("tick", self.now)
        known = self.round(number, "collector")
        return (known is not None and known["state"] != "signed") or self._command("propose")

    def _command(self, name):
        process = self.processes["collector"]
        refused = process.tell("command", self.now, name)
        return refused is None and process.alive

    def answered(self, number):
        """Whether all devices have an answer."""
        found = self.entries()
        return all(found.get((person, number), "pending") != "pending" for person in self.persons)

    def entries(self):
        """(person, round) -> how far it is, as far as devices say."""
        return self.processes["devices"].tell("command", self.now, "entries") or {}

    def taken(self):
        """(person, round) of those who know that their bundle was taken."""
        return {where for where, state in self.entries().items() if state == "taken"}

    def over(self, number):
        """Whether nobody has anything left to do in a round."""
        *mixes, last = [self.round(number, name) for name in self.addresses.values()]
        if last is None or last["state"] not in ENDS:
            return False
        self.ends[number] = last["state"]
        return all(one is not None and one["state"] == "shredded" for one in mixes)

    def round(self, number, name="mix-1"):
        """What a role says of a round; None where it says nothing."""
        said = self.status(name)
        return next((one for one in (said or {}).get("rounds", []) if one["round"] == number), None)

    def status(self, name):
        """What a role says of itself."""
        answer = self.processes[name].tell("ask", self.now, "GET", "/status", b"")
        return None if answer is None or answer[0] != 200 else json.loads(answer[1])


def _may_end(why):
    return "full" in why or "a sync has failed" in why


def check(stage):
    """Every acknowledged message was counted once, every hop sent one batch, nothing else is left.

    A round that was destroyed or has expired says so, and counts nobody.
    """
    taken = stage.taken()
    stage.end()
    for number in range(1, stage.rounds + 1):
        counted_once(stage, number, {person for person, of in taken if of == number})
    same_bytes(stage)
    for name in stage.addresses.values():
        nothing_left(stage.specs[name])


def counted_once(stage, number, taken):
    """Whoever was told 201 is in the tally once; nobody is twice."""
    spec = stage.specs["collector"]
    tally = Results(spec.path).read_tally(round_id(stage.village.fingerprint, number))
    if tally is None:
        assert stage.ends[number] in ("destroyed", "expired"), stage.ends
        return
    assert stage.ends[number] == "released", stage.ends
    path = f"/rounds/{number}/bundles"
    told = {one.body for one in stage.left if one.taken and one.path.endswith(path)}
    (part,) = tally.parts
    counts = [count - stage.hops * SHIFT for count in part.counts]
    assert {person for person, count in enumerate(counts) if count == 1} >= taken, (counts, taken)
    assert set(counts) <= {0, 1}, counts
    assert sum(counts) >= len(told)
    assert part.dropped == {}
    assert part.came == sum(counts) + stage.hops * SHIFT * len(counts)


def same_bytes(stage):
    """Each sent one text of a kind and round, and no piece that it does not name."""
    texts, named, bundles = {}, defaultdict(set), defaultdict(set)
    for one in stage.left:
        if one.path == "/notes":
            kind = kind_of(one.body)
            if kind == "manifest":
                manifest = read_manifest(one.body)
                slot = one.sender, kind, manifest.sheet
                for part in manifest.parts:
                    named[one.sender].update(f"/pieces/{piece.sha256}" for piece in part.pieces)
            elif kind == "receipt":
                slot = one.sender, kind, read_receipt(one.body).manifest
            else:
                continue
            found = fingerprint_of(one.body)
            assert texts.setdefault(slot, found) == found, slot
    for one in stage.left:
        if one.method == "PUT":
            assert one.path in named[one.sender], one.sender
            assert one.path == f"/pieces/{sha256(one.body).hexdigest()}"
        elif one.path.endswith("/bundles"):
            bundles[one.path].add(one.body)
    assert all(len(found) <= stage.people for found in bundles.values())


def nothing_left(spec):
    """No key, no envelope, no note that somebody has not."""
    node = Node(open_folder(spec.path, ENVIRONMENT), SecureChance())
    assert node.keys.all() == []
    assert list((spec.path / "rounds").iterdir()) == []
    assert node.notes.list_unsent() == []
    assert all(row.ended for row in node.rounds.all())
    node.close()
