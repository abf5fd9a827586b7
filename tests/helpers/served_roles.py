"""Roles and devices as their processes have them: told the time, asked by others, given commands.

They are what is served, without sockets: how others are asked is an argument. A disk that is full
lets a role go on later, as its loop does; whatever else is raised ends its process.
"""

from pathlib import Path
from typing import NamedTuple

from helpers.devices import ANY
from helpers.roles_in_folders import ENVIRONMENT, KEPT, ask
from mixtally.device.client.net import (
    Diary,
    Pins,
    PostResult,
    deliver,
    open_round,
    prepare,
    verify_contract,
)
from mixtally.errors import DataError, RefusedError
from mixtally.model.contract import fingerprint_of
from mixtally.model.job import Job
from mixtally.primitives.chance import SecureChance
from mixtally.server.collector import Collector, Proposal, parse_signed_contract, propose, sign
from mixtally.server.collector.serve import application_of
from mixtally.server.mix.intake import Intake
from mixtally.server.mix.intake_processes import IntakeProcess
from mixtally.server.mix.jobs import take_job
from mixtally.server.mix.mix import Mix
from mixtally.server.mix.serve import mix_application
from mixtally.server.mix.web import BundleRoute, bundle_application
from mixtally.server.node.calls import SilentError
from mixtally.server.node.disk import is_full
from mixtally.server.node.folder import open_folder
from mixtally.server.node.node import Node
from mixtally.server.node.peers import Peers
from mixtally.server.node.web.bodies import BodyBudget


class Spec(NamedTuple):
    """What a process is begun with.

    where
      kind    mix, collector, intake (beside the mix of the folder) or devices
      text    of the contract
      job     of a mix
      first   address of the first mix, for ``people`` devices
    """

    kind: str
    name: str
    path: Path
    text: bytes
    job: Job | None = None
    first: str = ""
    people: int = 0


class Serving:
    """A mix or a collector."""

    def __init__(self, spec, call, step, overruled=()) -> None:
        self.spec, self.call, self.step, self.now = spec, call, step, 0
        self.stopped = []
        folder = open_folder(spec.path, ENVIRONMENT)
        if spec.kind == "mix":
            self._by_hand(lambda node: take_job(node, spec.job, spec.text))
        node = Node(folder, SecureChance(), step)
        peers = Peers(node, call, frozenset(overruled))
        if spec.kind == "mix":
            intake = Intake(folder.subfolder("rounds"), self.stopped.append, step)
            self.role = Mix(node, peers, intake)
            self.app = mix_application(self.role, lambda: self.now, self.stopped.append)
        else:
            self.role = Collector(node, peers)
            self.app = application_of(self.role, lambda: self.now, self.stopped.append)

    def tick(self, now):
        """What its loop does."""
        self.now = now
        try:
            self.role.tick(now)
        except Exception as error:
            if not is_full(error):
                raise

    def ask(self, now, method, path, body=b""):
        """What it answers."""
        self.now = now
        answer = ask(self.app, method, path, body)
        return answer.status, answer.body

    def command(self, now, name):
        """Commands of a collector; None where it was done, or why it was not."""
        agreed = parse_signed_contract(self.spec.text, "contract")
        if name == "sign":
            found = self._by_hand(lambda node: sign(node, agreed, self.spec.text, self.call, now))
            return found.missing or None
        try:
            wish = Proposal(expiry_delay=KEPT)
            self._by_hand(lambda node: propose(node, agreed, self.call, now, wish))
        except DataError as error:
            return str(error)
        return None

    def end(self):
        """Give all files back."""
        self.role.end()

    def _by_hand(self, command):
        """A command has a process of its own, which opens what is being served."""
        folder = open_folder(self.spec.path, ENVIRONMENT)
        node = Node(folder, SecureChance(), self.step)
        try:
            return command(node)
        finally:
            node.close()


class Taking:
    """A process of intake."""

    def __init__(self, spec, _call, step) -> None:
        self.now, self.stopped = 0, []
        rounds = spec.path / "rounds"
        intake = Intake(rounds, self.stopped.append, step, 1)
        self._beside = IntakeProcess(rounds, intake, step)
        bundles = BundleRoute(intake, self._beside.find, lambda: self.now, BodyBudget(1 << 20))
        self._app = bundle_application(bundles, self.stopped.append)

    def tick(self, now):
        """What its loop does."""
        self._beside.tick(now)

    def ask(self, now, method, path, body=b""):
        """What it answers."""
        self.now = now
        answer = ask(self._app, method, path, body)
        return answer.status, answer.body

    def end(self):
        """Give all files back."""
        self._beside.end()


class Devices:
    """People, each with a diary; person i answers bin i."""

    def __init__(self, spec, call, step) -> None:
        self.spec, self.call, self.step = spec, call, step
        self.contract = fingerprint_of(spec.text)
        self.stopped = []

    def tick(self, now):
        """Everybody takes part in every round that they can, and sends what is due."""
        for number in range(1, 10):
            note, sheet = (
                self._get(f"/contracts/{self.contract}{more}") for more in ("", f"/rounds/{number}")
            )
            if not note or not sheet:
                return
            try:
                agreed = verify_contract(note, Pins(self.contract), ANY)
            except RefusedError:  # the first mix does not know yet that all have signed it
                return
            try:
                given = open_round(agreed, sheet, now)
            except RefusedError:  # not signed by all yet, or over
                given = None
            for person in range(self.spec.people):
                self._take_part(person, number, given, now)

    def command(self, _now, _name):
        """(person, round) -> how it ended, or pending."""
        found = {}
        for person in range(self.spec.people):
            with self._diary(person) as diary:
                found |= {(person, entry.round): entry.state.value for entry in diary.entries()}
        return found

    def end(self):
        """Nothing is open."""

    def _take_part(self, person, number, given, now):
        with self._diary(person) as diary:
            name = parse_signed_contract(self.spec.text, "contract").contract.name
            entry = diary.find(name, number)
            if entry is None and given is not None:
                entry = prepare(diary, given, person, _words, now, at_once=True)
            if entry is not None and entry.is_pending:
                deliver(diary, entry, now, ask=self._post)

    def _diary(self, person):
        return Diary(self.spec.path / f"{person}.db", self.step)

    def _get(self, path):
        try:
            answer = self.call(self.spec.first, "GET", path, b"")
        except SilentError:
            return None
        return answer.body if answer.is_success else None

    def _post(self, address, path, body):
        try:
            return PostResult(self.call(address, "POST", path, body).status)
        except SilentError:
            return PostResult(None)


def _words(count):
    return SecureChance().words(count).astype("<u8").tobytes()


def awaken(spec, call, step):
    """A process that begins."""
    kinds = {"devices": Devices, "intake": Taking}
    return kinds.get(spec.kind, Serving)(spec, call, step)
