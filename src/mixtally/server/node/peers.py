"""The other roles: what they know is asked before anything is served, what is signed is sent them.

A role that was started from an old copy would draw its fakes a second time: whoever collects both
subtracts one from the other. So it asks all others for notes with its own signature, and does not
run if one of them is new to it.
"""

import re
from time import monotonic

from mixtally.device.contract.fields import fingerprint_of
from mixtally.device.wire.note import find_signers
from mixtally.errors import RefusedError
from mixtally.model.agreement import Agreement
from mixtally.model.roles import Role
from mixtally.server.node.backoff import Backoff
from mixtally.server.node.calls import Answer, Call, SilentError
from mixtally.server.node.events import Condition
from mixtally.server.node.node import Node
from mixtally.server.node.notes import MOST_LISTED, UnsentNote
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
        self._backoff = Backoff()
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
                role.name
                for role in agreement.other_roles
                if not self._has_answered(agreement, role, now)
            ]
            if not silent:
                self._node.cleared.add(agreement.contract)
            for role in agreement.other_roles:
                self._node.log.set_condition(
                    Condition.WAITING,
                    role.name in silent,
                    contract=agreement.name,
                    role=role.name,
                    what="the notes it has of this role",
                )
            waiting.update(silent)
        return sorted(waiting)

    def _has_answered(self, agreement: Agreement, role: Role, now: int) -> bool:
        """Whether a role has answered, or is not waited for."""
        if (agreement.contract, role.name) in self._asked:
            return True
        if not self._knows_nothing_new(agreement, role, now):
            if role.name in self._overruled:
                self._node.rounds.overrule(agreement.contract, role.name)
                self._asked.add((agreement.contract, role.name))
            return role.name in self._overruled
        self._asked.add((agreement.contract, role.name))
        self._node.rounds.clear_overruled(agreement.contract, role.name)
        return True

    def _knows_nothing_new(self, agreement: Agreement, role: Role, now: int) -> bool:
        """Whether a role has told what it has of this one, and none of it is new here.

        It lists the hashes of all, and gives those that are not known here. Raises OldStateError
        for a note of this role's own among them.
        """
        name = self._node.signer.name
        answer = self._send(role, "GET", f"/notes/{name}", b"", now)
        found = None if answer is None or answer.status != 200 else parse_listing(answer.body)
        if found is None:
            if answer is not None:
                self._backoff.increase(_role_key(role), now)
            return False
        known, foreign = (
            self._node.notes.slots_of(name),
            self._foreign.setdefault(_role_key(role), set()),
        )
        foreign &= set(found)  # no more is kept than a list holds
        unknown = [one for one in found if one not in known and one not in foreign]
        for digest in unknown[:_AT_ONCE]:
            answer = self._send(role, "GET", f"/note/{digest}", b"", now)
            if answer is None:
                return False
            if answer.is_success and self._is_own(agreement, answer.body, digest):
                raise OldStateError(role.name, f"the note {digest}")
            foreign.add(digest)
        if len(unknown) > _AT_ONCE:
            self._backoff.increase(_role_key(role), now)
            return False
        self._backoff.reset(_role_key(role))
        return True

    def _is_own(self, agreement: Agreement, note: bytes, digest: str) -> bool:
        """Whether this role has signed it; anybody can make up what is no note."""
        try:
            own = find_signers(note, agreement.key_of(agreement.place))
        except RefusedError:
            return False
        return bool(own) and fingerprint_of(note) == digest

    def send_all(self, now: int) -> int:
        """Send what was signed to whom it was not sent yet; how many notes are left.

        A silent role is left alone for a while, then longer, until somebody asks in its name.
        """
        heard = self._node.pop_awake()
        for who in self._backoff.list_delayed():
            if isinstance(who, tuple) and who[0] in heard:
                self._backoff.reset(who)
        left, silent = 0, set()
        for errand in self._node.notes.list_unsent():
            agreement = self._node.agreements.get(errand.contract)
            role = None if agreement is None else _find_role(agreement, errand.role)
            # What leaves waits for the first try of its manifest, so that is not put off.
            put_off = role is not None and errand.tries > 0 and self._is_delayed(role, now)
            if role is None or put_off or _role_key(role) in silent:
                left += 1
            elif not self._send_note(errand, role, now):
                left += 1
                if self._is_delayed(role, now):  # else it answered, and may take what comes next
                    silent.add(_role_key(role))
        return left

    def _send_note(self, errand: UnsentNote, role: Role, now: int) -> bool:
        """Try to send one note; whether it is over with."""
        answer = self._send(role, "POST", "/notes", errand.note, now, use_backoff=False)
        done = answer is not None and (answer.is_success or answer.status in _FINAL)
        self._node.notes.record_try(errand, done=done)
        if done:
            self._backoff.reset(_role_key(role))
        elif answer is not None:
            self._backoff.increase(_role_key(role), now)
        return done

    def _is_delayed(self, role: Role, now: int) -> bool:
        return self._backoff.is_waiting(_role_key(role), now)

    def _send(
        self, role: Role, method: str, path: str, body: bytes, now: int, *, use_backoff: bool = True
    ) -> Answer | None:
        """The answer; None of a role that is silent, or was and is left alone."""
        if use_backoff and self._is_delayed(role, now):
            return None
        began = monotonic()
        try:
            answer = self._call(role.address, method, path, body)
        except SilentError:
            self._backoff.increase(_role_key(role), now, monotonic() - began)
            self._node.log.set_condition(Condition.SILENT, True, role=role.name)
            return None
        self._node.log.set_condition(Condition.SILENT, False, role=role.name)
        return answer

    def send(self, role: Role, method: str, path: str, body: bytes, now: int) -> Answer | None:
        """Another request to a role, with the same patience."""
        answer = self._send(role, method, path, body, now)
        if answer is not None and answer.is_success:
            self._backoff.reset(_role_key(role))
        return answer


def _find_role(agreement: Agreement, name: str) -> Role | None:
    return next((role for role in agreement.other_roles if role.name == name), None)


def _role_key(role: Role) -> tuple[str, str]:
    """Another contract may have somebody else of the same name."""
    return role.name, role.address


def format_listing(hashes: list[str]) -> bytes:
    """The answer with these hashes: how many they are, and each on a line of its own."""
    return "".join(f"{line}\n" for line in (len(hashes), *hashes)).encode()


def parse_listing(body: bytes) -> list[str] | None:
    """The hashes in an answer; None for anything else, and for too many."""
    count, *lines = body.split(b"\n", MOST_LISTED + 2)
    whole = lines[-1:] == [b""] and count == b"%d" % (len(lines) - 1)
    if not whole or not all(_DIGEST.fullmatch(line) for line in lines[:-1]):
        return None
    return [line.decode() for line in lines[:-1]]
