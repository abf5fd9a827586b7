"""The other roles: what they know is asked before anything is served, what is signed is sent them.

A role that was started from an old copy would draw its fakes a second time: whoever collects both
subtracts one from the other. So it asks all others for notes with its own signature, and does not
run if one of them is new to it.
"""

import re
from time import monotonic

from mixtally.device.contract.reading import fingerprint_of
from mixtally.device.wire.note import signed_by
from mixtally.errors import RefusedError
from mixtally.model.agreement import Agreement
from mixtally.model.roles import Role
from mixtally.server.node.calls import Answer, Call, SilentError
from mixtally.server.node.events import Lasting
from mixtally.server.node.node import Node
from mixtally.server.node.notes import MOST_LISTED, Errand
from mixtally.server.node.pauses import Pauses
from mixtally.server.node.refusal import OldStateError

_FINAL = (400, 403, 409, 413)
_DIGEST = re.compile(rb"[0-9a-f]{64}")
_AT_ONCE = 10
"""Notes that are asked for before a pause, of those in a list that are not known here."""


class Peers:
    """Talks to the other roles for a node; ``overruled`` are names that are not waited for."""

    def __init__(self, node: Node, call: Call, overruled: frozenset[str] = frozenset()) -> None:
        self._node, self._call, self._overruled = node, call, overruled
        self._asked: set[tuple[str, str]] = set()
        self._pauses = Pauses()
        self._foreign: dict[tuple[str, str], set[str]] = {}
        """Of each role, notes in its list that are not of this one: names may be the same."""

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
        if not self._remembers_no_more(agreement, role, now):
            if role.name in self._overruled:
                self._node.rounds.overrule(agreement.contract, role.name)
                self._asked.add((agreement.contract, role.name))
            return role.name in self._overruled
        self._asked.add((agreement.contract, role.name))
        self._node.rounds.answered(agreement.contract, role.name)
        return True

    def _remembers_no_more(self, agreement: Agreement, role: Role, now: int) -> bool:
        """Whether a role has told what it has of this one, and none of it is new here.

        It lists the hashes of all, and gives those that are not known here. Raises OldStateError
        for a note of this role's own among them.
        """
        name = self._node.signer.name
        answer = self._send(role, "GET", f"/notes/{name}", b"", now)
        found = None if answer is None or answer.status != 200 else listed(answer.body)
        if found is None:
            if answer is not None:
                self._pauses.grow(_who(role), now)
            return False
        known, foreign = (
            self._node.notes.slots_of(name),
            self._foreign.setdefault(_who(role), set()),
        )
        foreign &= set(found)  # no more is kept than a list holds
        unknown = [one for one in found if one not in known and one not in foreign]
        for digest in unknown[:_AT_ONCE]:
            answer = self._send(role, "GET", f"/note/{digest}", b"", now)
            if answer is None:
                return False
            if answer.good and self._is_own(agreement, answer.body, digest):
                raise OldStateError(role.name, f"the note {digest}")
            foreign.add(digest)
        if len(unknown) > _AT_ONCE:
            self._pauses.grow(_who(role), now)
            return False
        self._pauses.end(_who(role))
        return True

    def _is_own(self, agreement: Agreement, note: bytes, digest: str) -> bool:
        """Whether this role has signed it; anybody can make up what is no note."""
        try:
            own = signed_by(note, agreement.key_of(agreement.place))
        except RefusedError:
            return False
        return bool(own) and fingerprint_of(note) == digest

    def send_all(self, now: int) -> int:
        """Send what was signed to whom it was not sent yet; how many notes are left.

        A silent role is left alone for a while, then longer, until somebody asks in its name.
        """
        heard = self._node.take_heard()
        for who in self._pauses.known():
            if isinstance(who, tuple) and who[0] in heard:
                self._pauses.end(who)
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
        if done:
            self._pauses.end(_who(role))
        elif answer is not None:
            self._pauses.grow(_who(role), now)
        return done

    def _paused(self, role: Role, now: int) -> bool:
        return self._pauses.on(_who(role), now)

    def _send(
        self, role: Role, method: str, path: str, body: bytes, now: int, *, patient: bool = True
    ) -> Answer | None:
        """The answer; None of a role that is silent, or was and is left alone."""
        if patient and self._paused(role, now):
            return None
        began = monotonic()
        try:
            answer = self._call(role.address, method, path, body)
        except SilentError:
            self._pauses.grow(_who(role), now, monotonic() - began)
            self._node.log.holds(Lasting.SILENT, True, role=role.name)
            return None
        self._node.log.holds(Lasting.SILENT, False, role=role.name)
        return answer

    def send(self, role: Role, method: str, path: str, body: bytes, now: int) -> Answer | None:
        """Another request to a role, with the same patience."""
        answer = self._send(role, method, path, body, now)
        if answer is not None and answer.good:
            self._pauses.end(_who(role))
        return answer


def _named(agreement: Agreement, name: str) -> Role | None:
    return next((role for role in agreement.others if role.name == name), None)


def _who(role: Role) -> tuple[str, str]:
    """Another contract may have somebody else of the same name."""
    return role.name, role.address


def listing(hashes: list[str]) -> bytes:
    """The answer with these hashes: how many they are, and each on a line of its own."""
    return "".join(f"{line}\n" for line in (len(hashes), *hashes)).encode()


def listed(body: bytes) -> list[str] | None:
    """The hashes in an answer; None for anything else, and for too many."""
    count, *lines = body.split(b"\n", MOST_LISTED + 2)
    whole = lines[-1:] == [b""] and count == b"%d" % (len(lines) - 1)
    if not whole or not all(_DIGEST.fullmatch(line) for line in lines[:-1]):
        return None
    return [line.decode() for line in lines[:-1]]
