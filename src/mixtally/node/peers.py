"""The other roles: what they know is asked before anything is served, what is signed is sent them.

A role that was started from an old copy would draw its fakes a second time: whoever collects both
subtracts one from the other. So it asks all others for notes with its own signature, and does not
run if one of them is new to it.
"""

import json
from typing import NamedTuple

from mixtally.errors import RefusedError
from mixtally.node.calls import Answer, Call, SilentError
from mixtally.node.events import Lasting
from mixtally.node.node import Node
from mixtally.node.notes import Errand
from mixtally.node.refusal import OldStateError
from mixtally.records.agreement import Agreement
from mixtally.records.roles import Role
from mixtally.wire.note import signed_by
from mixtally.wire.reading import fingerprint_of

LONGEST_PAUSE = 60
_FINAL = (400, 403, 409, 413)


class Pause(NamedTuple):
    """How long a silent role is left alone."""

    until: int
    seconds: int


class Peers:
    """Talks to the other roles for a node; ``overruled`` are names that are not waited for."""

    def __init__(self, node: Node, call: Call, overruled: frozenset[str] = frozenset()) -> None:
        self._node, self._call, self._overruled = node, call, overruled
        self._asked: set[tuple[str, str]] = set()
        self._pauses: dict[tuple[str, str], Pause] = {}

    def ask(self, now: int) -> list[str]:
        """Ask those who were not asked yet; names of roles that are waited for.

        Contracts of which nobody is waited for are cleared. Raises OldStateError.
        """
        waiting: set[str] = set()
        for agreement in self._node.agreements.values():
            if agreement.contract in self._node.cleared:
                continue
            silent = [
                role.name for role in agreement.others if not self._answers(agreement, role, now)
            ]
            if not silent:
                self._node.cleared.add(agreement.contract)
            for role in agreement.others:
                self._node.log.holds(
                    Lasting.WAITING,
                    role.name in silent,
                    contract=agreement.name,
                    role=role.name,
                    what="the notes it has of this role",
                )
            waiting.update(silent)
        return sorted(waiting)

    def _answers(self, agreement: Agreement, role: Role, now: int) -> bool:
        """Whether a role has answered, or is not waited for."""
        if (agreement.contract, role.name) in self._asked:
            return True
        answer = self._send(role, "GET", f"/notes/{self._node.signer.name}", b"", now)
        notes = None if answer is None or answer.status != 200 else listed(answer.body)
        if notes is None:
            if role.name in self._overruled:
                self._node.rounds.overrule(agreement.contract, role.name)
                self._asked.add((agreement.contract, role.name))
            return role.name in self._overruled
        for note in notes:
            self._check(agreement, role, note)
        self._asked.add((agreement.contract, role.name))
        self._node.rounds.answered(agreement.contract, role.name)
        return True

    def _check(self, agreement: Agreement, role: Role, note: bytes) -> None:
        try:
            own = signed_by(note, agreement.key_of(agreement.place))
        except RefusedError:  # anybody can make up what is no note
            return
        if own and not self._node.notes.signed(self._node.signer.name, fingerprint_of(note)):
            raise OldStateError(role.name, f"the note {fingerprint_of(note)}")

    def send_all(self, now: int) -> int:
        """Send what was signed to whom it was not sent yet; how many notes are left.

        A silent role is left alone for a while, then longer, until somebody asks in its name.
        """
        heard = self._node.take_heard()
        self._pauses = {who: pause for who, pause in self._pauses.items() if who[0] not in heard}
        left, silent = 0, set()
        for errand in self._node.notes.errands():
            agreement = self._node.agreements.get(errand.contract)
            role = None if agreement is None else _named(agreement, errand.role)
            # What leaves waits for the first try of its manifest, so that is not put off.
            put_off = role is not None and errand.tries > 0 and self._paused(role, now)
            if role is None or put_off or _who(role) in silent:
                left += 1
            elif not self._run(errand, role, now):
                left += 1
                if self._paused(role, now):  # else it answered, and may take what comes next
                    silent.add(_who(role))
        return left

    def _run(self, errand: Errand, role: Role, now: int) -> bool:
        """Try to send one note; whether it is over with."""
        answer = self._send(role, "POST", "/notes", errand.note, now, patient=False)
        done = answer is not None and (answer.good or answer.status in _FINAL)
        self._node.notes.tried(errand, done=done)
        return done

    def _paused(self, role: Role, now: int) -> bool:
        pause = self._pauses.get(_who(role))  # a clock that was set back does not lengthen it
        return pause is not None and pause.until - pause.seconds <= now < pause.until

    def _send(
        self, role: Role, method: str, path: str, body: bytes, now: int, *, patient: bool = True
    ) -> Answer | None:
        """The answer; None of a role that is silent, or was and is left alone."""
        if patient and self._paused(role, now):
            return None
        try:
            answer = self._call(role.address, method, path, body)
        except SilentError:
            before = self._pauses.get(_who(role))
            seconds = 1 if before is None else min(LONGEST_PAUSE, 2 * before.seconds)
            self._pauses[_who(role)] = Pause(now + seconds, seconds)
            self._node.log.holds(Lasting.SILENT, True, role=role.name)
            return None
        self._node.log.holds(Lasting.SILENT, False, role=role.name)
        self._pauses.pop(_who(role), None)
        return answer

    def send(self, role: Role, method: str, path: str, body: bytes, now: int) -> Answer | None:
        """Another request to a role, with the same patience."""
        return self._send(role, method, path, body, now)


def _named(agreement: Agreement, name: str) -> Role | None:
    return next((role for role in agreement.others if role.name == name), None)


def _who(role: Role) -> tuple[str, str]:
    """Another contract may have somebody else of the same name."""
    return role.name, role.address


def listed(body: bytes) -> list[bytes] | None:
    """The notes in an answer; None for anything else."""
    try:
        held = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(held, list) or not all(isinstance(one, str) for one in held):
        return None
    return [one.encode("utf-8", "replace") for one in held]
