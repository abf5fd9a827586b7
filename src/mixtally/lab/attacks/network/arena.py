"""A network of honest mixes and hostile roles, and the rounds that they run.

The honest mixes run the product's code (``server.mix``), each with keys, a database and files in a
separate folder. The devices run the product's code, too. An attack needs hundreds of rounds, so
requests reach the mixes by function calls, without HTTP and sockets. A subclass in the tests runs
the same rounds against processes that listen on sockets.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from msgspec.structs import replace

from mixtally.device.client import Limits
from mixtally.device.client.encode import Value
from mixtally.device.client.net import OpenRound, Pins, open_round, verify_contract
from mixtally.device.client.net.seal import seal_answer
from mixtally.device.wire.note import sign_note
from mixtally.device.wire.problem import Problem
from mixtally.device.wire.sheet import Sheet, sheet_hash, write_sheet
from mixtally.errors import DataError, RefusedError
from mixtally.lab.attacks.network.adversary import SUITE_NUMBER, Adversary, Attack, role_name
from mixtally.model.contract import (
    CONTRACT_VERSION,
    Contract,
    Plan,
    envelope_bytes,
    fingerprint_of,
    write_contract,
)
from mixtally.model.contract.job import job_of
from mixtally.model.roles import Role, Rounds
from mixtally.primitives.chance import SecureChance
from mixtally.server.mix.intake import Intake
from mixtally.server.mix.jobs import take_job
from mixtally.server.mix.mix import Mix
from mixtally.server.node.calls import Answer
from mixtally.server.node.folder import Folder, RoleFile, create_folder, to_role
from mixtally.server.node.node import Node
from mixtally.server.node.peers import Peers, format_listing
from mixtally.server.node.refusal import ProblemError

_START, _KEPT = 1_800_000_000, 600
"""The time of the first round, and the seconds for which a round is kept."""
_MOST_WAITS = 600
"""Attempts to receive a batch, or to have a request accepted; each lets the honest roles work."""
_NOT_READY = 503


class Arena:
    """A network with hostile hops, a hostile collector, and honest mixes below ``folder``.

    Its rounds have ``people`` bundles, of which ``honest`` are by people who follow the protocol.
    """

    open_seconds = 60

    def __init__(
        self, folder: Path, plan: Plan, hostile: frozenset[int], honest: int, people: int
    ) -> None:
        self._people, self._honest, self.number = people, honest, 0
        self.refusals: list[str] = []
        """The messages with which devices refused sheets of the attacker."""
        self._places = range(1, plan.hops + 2)
        self.adversary = Adversary(plan, {*hostile, plan.hops + 1}, SecureChance())
        self.folders: dict[int, Folder] = {}
        roles = []
        for place, address in zip(self._places, self.addresses(plan.hops + 1), strict=True):
            name, signer = role_name(plan, place), self.adversary.signers.get(place)
            if signer is None:
                self.folders[place] = own = _create_folder(folder / name, name, address)
                roles.append(to_role(own.role, own.signer))
            else:
                key = signer.verifier
                roles.append(Role(name=name, address=address, key=key, operator="the attacker"))
        # Each round is one game, so the contract allows many rounds, whatever number the plan has.
        self.contract = Contract(
            version=CONTRACT_VERSION,
            name="attacked",
            serial=1,
            plan=replace(plan, collections=1000, minimum_crowd=people),
            hops=tuple(roles[:-1]),
            collector=roles[-1],
            suite=SUITE_NUMBER,
            envelope_bytes=envelope_bytes(plan),
            rounds=Rounds(open_seconds=self.open_seconds, every_seconds=self.open_seconds),
            most_bundles=100 * plan.users,
            admission="open",
            client_files=(),
        )
        text = write_contract(self.contract)
        self.fingerprint = fingerprint_of(text)
        honest_signers = [one.signer for one in self.folders.values()]
        note = sign_note(text, *self.adversary.signers.values(), *honest_signers)
        limits = Limits(plan.guarantee.epsilon, 1.0, hops=1)
        self.trusted = verify_contract(note, Pins(self.fingerprint), limits)
        self.start(text)

    # -- how honest roles run: in this process, without sockets ---------------------------------

    def addresses(self, count: int) -> list[str]:
        """Return the addresses of all roles."""
        return [f"http://127.0.0.1:{1 + hop}" for hop in range(count)]

    def start(self, text: bytes) -> None:
        """Start the honest mixes, which sign the contract ``text``."""
        self.now, self.mixes, self._runner = _START, dict[str, Mix](), asyncio.Runner()
        for hop, folder in self.folders.items():
            node = Node(folder, SecureChance())
            take_job(node, job_of(self.contract, self.fingerprint, hop), text)
            intake = Intake(folder.subfolder("rounds"), _fail)
            self.mixes[folder.role.address] = Mix(node, Peers(node, self.call), intake)
        for _ in range(2):
            self.wait()

    def wait(self) -> None:
        """Let the honest mixes do all work that is due at the present time."""
        for mix in self.mixes.values():
            mix.tick(self.now)

    def pass_time(self, until: int) -> None:
        """Let time pass until the time ``until``, in seconds since 1970."""
        self.now = until

    def call(self, address: str, method: str, path: str, body: bytes = b"") -> Answer:
        """Send a request to any role, and return the answer.

        An honest mix answers as it would over HTTP. The adversary answers for the hostile roles.
        """
        if address not in self.mixes:
            return self.adversary.answer(method, path, body)
        try:
            return Answer(200, self._answer(self.mixes[address], method, path, body))
        except ProblemError as error:
            return Answer(error.problem.value.status, str(error).encode())

    def _answer(self, mix: Mix, method: str, path: str, body: bytes) -> bytes:
        node, name = mix.node, path.rpartition("/")[2]
        if path == "/notes":
            return node.take_note(body, self.now) or b""
        if method == "GET":
            return format_listing(node.notes.list_signed_by(name))
        if path.endswith("/key"):
            return node.key(self.fingerprint, self.number)
        if path.endswith("/bundles"):
            window = mix.find(self.fingerprint, self.number)
            self._runner.run(_put(mix.intake, window.round_id, body))
        elif method == "PUT" and node.pieces.max_bytes(name) is not None:
            node.pieces.put(name, body)
        elif not node.pieces.has_piece(name):
            raise ProblemError(Problem.UNKNOWN)
        return b""

    def end(self) -> None:
        """End the honest mixes."""
        for mix in self.mixes.values():
            mix.end()
        self._runner.close()

    # -- a round --------------------------------------------------------------------------------

    def play(self, attack: Attack, victims: Sequence[Value], others: Value) -> list[bytes]:
        """Play a round, and return the messages that the collector receives, in order.

        ``victims`` are the answers of the victims, and all other people answer ``others``. The
        result does not contain the messages that the attacker wrote.
        """
        self.open()
        # All devices verify the same note.
        opened = open_round(self.trusted, self._note, self.now)
        answers = [*victims, *[others] * (self._honest - len(victims))]
        batch = [self.seal(opened, one) for one in answers]
        batch += self.adversary.bundles(self._people - self._honest)
        if 1 in self.folders:
            self.post(1, f"{self._path}/bundles", b"".join(batch))
        self.pass_time(self.sheet.closes)
        *hops, collector = self._places
        for hop in hops:
            if hop in self.folders:
                batch = self.receive(hop)
            else:
                batch = self.adversary.pass_on(attack, hop, batch, len(victims))
                self.hand_over(hop, batch)
        return self.adversary.without_own(self.adversary.open(collector, batch))

    def play_sheet(self, value: Value) -> list[bytes]:
        """Show a victim's device a sheet whose keys all belong to the attacker.

        The honest mixes are asked to sign the sheet, too. Return the victim's messages, which the
        attacker opened, or an empty list if the device refuses the sheet.
        """
        if not self.number:
            self.open()
        keys = self.adversary.make_keys(self._places)
        sheet = self.sheet._replace(keys=tuple(keys.values()))
        note = sign_note(write_sheet(sheet), *self.adversary.signers.values())
        for hop in self.folders:
            answer = self.call(self.contract.hops[hop - 1].address, "POST", "/notes", note)
            note = answer.body if answer.is_success else note
        try:
            opened = open_round(self.trusted, note, self.now)
        except RefusedError as error:
            self.refusals.append(str(error))
            return []
        self.adversary.begin(sheet, sheet_hash(note))
        batch = [self.seal(opened, value)]
        for place in self._places:
            batch = self.adversary.open(place, batch)
        return batch

    def open(self) -> None:
        """Open the next round, whose sheet all roles sign."""
        self.number += 1
        self._path = f"/contracts/{self.fingerprint}/rounds/{self.number}"
        keys = self.adversary.make_keys(self.adversary.signers)
        keys |= {hop: self.post(hop, f"{self._path}/key").body for hop in self.folders}
        opens = self.now
        closes = opens + self.open_seconds
        every = tuple(keys[place] for place in self._places)
        self.sheet = Sheet(self.fingerprint, self.number, opens, closes, closes + _KEPT, every)
        self._note = sign_note(write_sheet(self.sheet), *self.adversary.signers.values())
        for _ in range(2):
            for hop in self.folders:
                self._note = self.post(hop, "/notes", self._note).body
        self.adversary.begin(self.sheet, sheet_hash(self._note))
        self.wait()

    def seal(self, given: OpenRound, value: Value) -> bytes:
        """Return the bundle in which a person's device seals the answer ``value`` for a round."""

        def words(count: int) -> bytes:
            return self.adversary.chance.words(count).astype("<u8").tobytes()

        return seal_answer(given, value, words, self.now).bundle

    def receive(self, hop: int) -> list[bytes]:
        """Return the batch that a hostile role receives from an honest hop.

        If the next hop is honest, the batch is empty, because that hop receives the messages.
        """
        if hop + 1 in self.folders:
            return []
        for _ in range(_MOST_WAITS):
            self.wait()
            batch = self.adversary.batch_from(hop)
            if batch is not None:
                self.post(hop, "/notes", self.adversary.receipt(hop + 1, len(batch)))
                return batch
        raise DataError(
            f"mix-{hop}", expected="a batch of this mix", got="none", do="read its log: it is stuck"
        )

    def hand_over(self, hop: int, batch: list[bytes]) -> None:
        """Announce the batch of a hostile hop to all honest mixes, and send the batch to the next.

        If the next hop is hostile, no request is sent.
        """
        note, piece = self.adversary.announce(hop, batch, self._people)
        if hop + 1 in self.folders:
            for place in self.folders:
                self.post(place, "/notes", note)
            self.post(hop + 1, f"/pieces/{piece.sha256}", b"".join(batch), "PUT")

    def post(self, hop: int, path: str, body: bytes = b"", method: str = "POST") -> Answer:
        """Send a request to an honest mix until the mix is ready, and return the answer.

        Raises
        ------
        DataError
            If the mix refuses the request, or is not ready after many attempts.
        """
        for _ in range(_MOST_WAITS):
            answer = self.call(self.contract.hops[hop - 1].address, method, path, body)
            if answer.status != _NOT_READY:
                break
            self.wait()
        if answer.is_success:
            return answer
        raise DataError(
            f"mix-{hop}",
            expected=f"success for {method} {path}",
            got=f"{answer.status} {answer.body[:300]!r}",
            do="attack a plan that this mix can serve",
        )


def _create_folder(path: Path, name: str, address: str) -> Folder:
    role = RoleFile(
        name=name,
        address=address,
        operator="honest",
        host="127.0.0.1",
        port=int(address.rpartition(":")[2]),
        master=f"{path}.master",
    )
    return create_folder(path, role, {}, SecureChance())


def _fail(error: BaseException) -> NoReturn:
    raise error


async def _put(intake: Intake, name: str, body: bytes) -> None:
    await intake.put(name, body, asyncio.get_running_loop())
