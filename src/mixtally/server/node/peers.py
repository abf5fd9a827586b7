"""Communication of a role with its peers, the other roles of its contracts.

A role started from an old backup would draw its fakes (dummy messages) a second time. An observer
of both batches could subtract one from the other. So a role that starts asks its peers for all
notes with its own signature. It does not run if it has forgotten one of them. Later it sends its
peers every note that it signs.

A peer can be slow on purpose, and two contracts can share a role. So a serving role calls its peers
in threads, one job per peer at a time. Its loop, which opens and closes windows, never waits for a
peer.
"""

import re
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from functools import partial
from threading import Thread
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
"""Status codes after which sending the same note again is useless."""
_DIGEST = re.compile(rb"[0-9a-f]{64}")
_AT_ONCE = 10
"""Maximum number of unknown notes that are requested from a peer before a delay."""
_MOST_JOBS = 64
"""Maximum number of threads that call peers; further jobs wait for the next pass of the loop."""


class Peers:
    """The peers of a node.

    ``overruled`` contains the names of peers whose answer the operator has decided not to wait for.
    With ``background`` peers are called in threads, and the loop of the role is woken when a thread
    has finished. Otherwise every method returns when all peers have answered.
    """

    def __init__(
        self,
        node: Node,
        call: Call,
        overruled: frozenset[str] = frozenset(),
        *,
        background: bool = False,
    ) -> None:
        self._node, self._call, self._overruled = node, call, overruled
        self._background = background
        self._jobs: dict[Hashable, Future[None]] = {}
        self._asked: set[tuple[str, str]] = set()
        self._backoff = Backoff()
        self._foreign: dict[tuple[str, str], set[str]] = {}
        """For each peer, hashes of notes of another role that has this role's name."""

    def ask(self, now: int) -> list[str]:
        """Ask peers that have not answered yet for the notes of this role.

        Returns the names of the peers that are still missing. Contracts whose peers have all
        answered become *cleared*: the role may act under them. Raises OldStateError if this role
        has lost a note.
        """
        self._collect_jobs()
        waiting: set[str] = set()
        for agreement in self._node.agreements.values():
            if agreement.contract in self._node.cleared:
                continue
            for role in self._list_silent(agreement):
                if self._is_delayed(role, now) and role.name not in self._overruled:
                    continue
                self.run_job(_role_key(role), partial(self._ask_role, agreement, role, now))
            silent = [role.name for role in self._list_silent(agreement)]
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

    def run_job(self, key: Hashable, job: Callable[[], None]) -> None:
        """Run ``job``, which calls peers: at once, or in a thread with ``background``.

        In the background nothing happens if the job with the same ``key`` has not finished, or too
        many jobs run. The caller repeats the request in its next pass. Errors of a job in a thread
        are raised by the next call of ``ask``.
        """
        if not self._background:
            job()
            return
        running = sum(not one.done() for one in self._jobs.values())
        if key in self._jobs or running >= _MOST_JOBS:
            return
        self._jobs[key] = done = Future[None]()
        # A daemon, because the process must be able to end while a peer is silent.
        Thread(target=self._run_in_thread, args=(done, job), name="peer", daemon=True).start()

    def is_running(self, key: Hashable) -> bool:
        """Return whether the job with this key runs in a thread, or has just finished."""
        return key in self._jobs

    def _run_in_thread(self, done: "Future[None]", job: Callable[[], None]) -> None:
        try:
            job()
        # Deliberately everything: the loop raises the error, which ends the process.
        except BaseException as error:
            done.set_exception(error)
        else:
            done.set_result(None)
        self._node.wake()

    def _collect_jobs(self) -> None:
        """Forget finished jobs, and raise the error of one that failed."""
        for key in [key for key, job in self._jobs.items() if job.done()]:
            self._jobs.pop(key).result()

    def _list_silent(self, agreement: Agreement) -> list[Role]:
        """Return the peers of a contract that have not answered and are not overruled."""
        contract = agreement.contract
        return [role for role in agreement.other_roles if (contract, role.name) not in self._asked]

    def _ask_role(self, agreement: Agreement, role: Role, now: int) -> None:
        """Ask one peer for the notes of this role, and note whether it has answered."""
        if self._knows_nothing_new(agreement, role, now):
            self._node.rounds.clear_overruled(agreement.contract, role.name)
        elif role.name in self._overruled:
            self._node.rounds.overrule(agreement.contract, role.name)
        else:
            return
        self._asked.add((agreement.contract, role.name))

    def _knows_nothing_new(self, agreement: Agreement, role: Role, now: int) -> bool:
        """Return whether a peer has listed its notes of this role, and this role knows all of them.

        The list contains hashes. Notes with unknown hashes are requested one by one. Raises
        OldStateError if one of them has this role's signature.
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
        # Digests that are no longer listed are forgotten, which limits the size of this set.
        foreign &= set(found)
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
        """Return whether this role has signed the note; malformed notes count as foreign."""
        try:
            own = find_signers(note, agreement.key_of(agreement.place))
        except RefusedError:
            return False
        return bool(own) and fingerprint_of(note) == digest

    def send_all(self, now: int) -> None:
        """Send all queued notes.

        A silent peer is tried again after a delay, which ends early when the peer asks for its
        notes.
        """
        heard = self._node.pop_awake()
        for who in self._backoff.list_delayed():
            if isinstance(who, tuple) and who[0] in heard:
                self._backoff.reset(who)
        queued: dict[tuple[str, str], list[tuple[Role, UnsentNote]]] = {}
        for errand in self._node.notes.list_unsent():
            agreement = self._node.agreements.get(errand.contract)
            role = None if agreement is None else _find_role(agreement, errand.role)
            # Pieces are sent only after the first attempt to send their manifest, so it is not
            # delayed.
            if role is not None and (errand.tries == 0 or not self._is_delayed(role, now)):
                queued.setdefault(_role_key(role), []).append((role, errand))
        for key, errands in queued.items():
            self.run_job(key, partial(self._send_notes, errands, now))

    def _send_notes(self, errands: list[tuple[Role, UnsentNote]], now: int) -> None:
        """Send the queued notes of one peer, until it is silent."""
        for role, errand in errands:
            # A peer that answered with an error may accept the next note.
            if not self._send_note(errand, role, now) and self._is_delayed(role, now):
                return

    def _send_note(self, errand: UnsentNote, role: Role, now: int) -> bool:
        """Try to send one note, and return whether it is finished."""
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
        """Return the answer of a peer, or None if it is silent or its delay has not ended."""
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
        """Send a request to a peer, and return its answer, or None under the rules of backoff."""
        answer = self._send(role, method, path, body, now)
        if answer is not None and answer.is_success:
            self._backoff.reset(_role_key(role))
        return answer


def _find_role(agreement: Agreement, name: str) -> Role | None:
    return next((role for role in agreement.other_roles if role.name == name), None)


def _role_key(role: Role) -> tuple[str, str]:
    """Return the identity of a role, because two contracts may use one name for different roles."""
    return role.name, role.address


def format_listing(hashes: list[str]) -> bytes:
    """Return the response that lists hashes: their number, then one hash per line."""
    return "".join(f"{line}\n" for line in (len(hashes), *hashes)).encode()


def parse_listing(body: bytes) -> list[str] | None:
    """Return the hashes in a response, or None if it is malformed or too long."""
    count, *lines = body.split(b"\n", MOST_LISTED + 2)
    whole = lines[-1:] == [b""] and count == b"%d" % (len(lines) - 1)
    if not whole or not all(_DIGEST.fullmatch(line) for line in lines[:-1]):
        return None
    return [line.decode() for line in lines[:-1]]
