"""Communication of a role with its peers, the other roles of its contracts.

A role started from an old backup would draw its fakes (dummy messages) a second time. An observer
of both batches could subtract one batch from the other. So a role that starts asks its peers for
all notes with its own signature. If a peer has such a note and the role does not, the role does not
run. While it runs, it sends every note that it signs to its peers.

A peer can be slow on purpose, and one slow peer must not delay the other contracts of a role. So a
serving role calls its peers in threads, one job per peer at a time. Its loop, which opens and
closes windows, never waits for a peer.
"""

import json
import re
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from threading import Thread
from time import monotonic
from typing import Literal

import msgspec

from mixtally.device.contract.fields import fingerprint_of
from mixtally.errors import RefusedError
from mixtally.model.agreement import Agreement
from mixtally.model.roles import Role
from mixtally.server.node.backoff import Backoff
from mixtally.server.node.calls import Answer, Call, SilentError
from mixtally.server.node.claims import claim_long_bodies
from mixtally.server.node.events import Condition
from mixtally.server.node.node import Node
from mixtally.server.node.notes import MOST_LISTED, UnsentNote
from mixtally.server.node.refusal import OldStateError

_OK = 200
_FINAL = (400, 403, 409, 413)
"""Status codes after which sending the same note again is useless."""
_SERVER_ERROR = 500
"""The least status code of server errors, after which it is unknown whether a peer has a note."""
_CONFLICT = 409
"""The status code with which a peer refuses a note because it has another one in its place."""
_UNKNOWN = 404
"""The status code with which a peer answers a note about something that it does not know (yet)."""
_DIGEST = re.compile(rb"[0-9a-f]{64}")
_AT_ONCE = 10
"""Maximum number of unknown notes that are requested from a peer before a delay."""
_LOST_AT_ONCE = 1000
"""Maximum number of notes that a restored role requests from a peer before a delay.

It is larger than ``_AT_ONCE``, because most of these notes are really its own: about four for each
round since the backup.
"""
_MOST_JOBS = 64
"""Maximum number of threads that call peers; further jobs wait for the next pass of the loop."""
_HEALTH_SECONDS = 60
"""Seconds between two health requests to a peer.

A request ends after 30 s at the latest, so a dead peer is reported within two minutes.
"""
_MOST_HEALTH_BYTES = 1 << 16
"""The maximum size of a health answer in bytes; an honest one has about 100 for each condition."""


class PeerHealth(msgspec.Struct, frozen=True, kw_only=True):
    """The health of a peer of a role."""

    name: str
    address: str
    answered_seconds: int | None = None
    """Seconds since its last answer; None if there was none since the role was started."""
    skew_seconds: float | None = None
    """Seconds by which its clock is ahead; None if unknown."""


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
        self._node, self._overruled = node, overruled
        self._call = claim_long_bodies(call, node.signer, *node.folder.earlier)
        self._background = background
        self._jobs: dict[Hashable, Future[None]] = {}
        self._asked: set[tuple[str, str]] = set()
        self._backoff = Backoff()
        self._foreign: dict[tuple[str, str], set[str]] = {}
        """For each peer, the hashes of notes that it lists but that this role has not signed."""
        self._checked: dict[tuple[str, str], int] = {}
        self._answered: dict[tuple[str, str], int] = {}
        """The times of the last health request to each peer, and of the peer's last answer."""
        self.skews: dict[str, float] = {}
        """Seconds by which the clock of each peer is ahead, by name."""

    def ask(self, now: int) -> list[str]:
        """Ask peers that have not answered yet for the notes of this role.

        Returns the names of the peers that have not answered yet. When all peers of a contract have
        answered, the contract becomes *cleared*: the role may act under it. Raises OldStateError if
        a peer has a note that this role has lost. After a restore from a backup, such notes are
        stored instead, until the peer has shown all of them.
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
                    serial=agreement.serial,
                    role=role.name,
                    what="the list of notes that this role signed",
                )
            waiting.update(silent)
        return sorted(waiting)

    def check_health(self, now: int) -> None:
        """Ask each peer once a minute whether it is alive, also while nothing is sent to it."""
        for role in self._list_all():
            last = self._checked.get(_role_key(role))
            if last is None or not last <= now < last + _HEALTH_SECONDS:
                self.run_job(("health", _role_key(role)), partial(self._ask_health, role, now))

    def list_health(self, now: int) -> list[PeerHealth]:
        """Return the health of each peer."""
        return [
            PeerHealth(
                name=role.name,
                address=role.address,
                answered_seconds=None if last is None else now - last,
                skew_seconds=self.skews.get(role.name),
            )
            for role in self._list_all()
            for last in [self._answered.get(_role_key(role))]
        ]

    def _list_all(self) -> list[Role]:
        """Return every peer of every contract once."""
        agreements = list(self._node.agreements.values())
        return list(
            {_role_key(role): role for one in agreements for role in one.other_roles}.values()
        )

    def _ask_health(self, role: Role, now: int) -> None:
        """Ask one peer for its health.

        The request neither follows nor changes the delay of the peer, because the request is rare.
        """
        self._checked[_role_key(role)] = now
        try:
            answer = self._call(role.address, "GET", "/readyz", b"")
        except SilentError:
            self._record_answer(role, now, is_alive=False)
        else:
            self._record_answer(role, now, is_alive=is_health(answer))

    def _record_answer(self, role: Role, now: int, *, is_alive: bool) -> None:
        if is_alive:
            self._answered[_role_key(role)] = now
        self._node.log.set_condition(
            Condition.SILENT, not is_alive, role=role.name, address=role.address
        )

    def run_job(self, key: Hashable, job: Callable[[], None]) -> None:
        """Run ``job``, which calls peers: at once, or in a thread with ``background``.

        In the background, the job is not started if a job with the same ``key`` has not finished or
        too many jobs run. The caller then tries again in its next pass. The next call of ``ask``
        raises the error of a job in a thread.
        """
        if not self._background:
            job()
            return
        running = sum(not one.done() for one in self._jobs.values())
        if key in self._jobs or running >= _MOST_JOBS:
            return
        self._jobs[key] = done = Future[None]()
        # A daemon thread, because the process must be able to end while a peer does not answer.
        Thread(target=self._run_in_thread, args=(done, job), name="peer", daemon=True).start()

    def is_running(self, key: Hashable) -> bool:
        """Return whether the job with this key runs in a thread, or has just finished."""
        return key in self._jobs

    def _run_in_thread(self, done: "Future[None]", job: Callable[[], None]) -> None:
        try:
            job()
        # Deliberately every exception: the loop raises it, and it ends the process.
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
        """Ask one peer for the notes of this role, and record whether it has answered."""
        unsettled = self._node.restored.is_unsettled(agreement.contract, [role.name])
        if (
            not unsettled or self._take_up_rounds(agreement, role, now)
        ) and self._knows_nothing_new(role, now, unsettled=unsettled):
            if unsettled:
                self._node.restored.settle(agreement.contract, role.name)
            self._node.rounds.clear_overruled(agreement.contract, role.name)
        elif role.name in self._overruled:
            self._node.rounds.overrule(agreement.contract, role.name)
        else:
            return
        self._asked.add((agreement.contract, role.name))

    def _take_up_rounds(self, agreement: Agreement, role: Role, now: int) -> bool:
        """Store the unknown rounds that a peer knows, and return whether it has shown all of them.

        A restored role stores them as lost.
        """
        answer = self._fetch(role, "/status", now)
        if answer is None:
            return False
        found = _parse_rounds(answer.body) if answer.status == _OK else None
        if found is None:
            return self._delay(role, now)
        for number in range(1, agreement.rounds + 1):
            if (agreement.contract, number) not in found:
                continue
            if self._node.rounds.of(agreement.contract, number) is not None:
                continue
            path = f"/contracts/{agreement.contract}/rounds/{number}"
            answer = self._fetch(role, path, now)
            if answer is None:
                return False
            # Without a sheet that the collector has signed, the peer may have invented the round.
            with suppress(RefusedError):
                self._node.take_up_round(answer.body, agreement, number)
        return True

    def _fetch(self, role: Role, path: str, now: int) -> Answer | None:
        """Return the answer of a peer to a GET request, or None.

        The result is None if the peer is silent or its server fails. The next request to this peer
        is then delayed.
        """
        answer = self._send(role, "GET", path, b"", now)
        if answer is not None and answer.status >= _SERVER_ERROR:
            self._delay(role, now)
            return None
        return answer

    def _delay(self, role: Role, now: int) -> Literal[False]:
        """Delay the next request to a peer whose answer was useless, and return False."""
        self._backoff.increase(_role_key(role), now)
        return False

    def _knows_nothing_new(self, role: Role, now: int, *, unsettled: bool) -> bool:
        """Return whether a peer has shown all its notes of this role, and all are stored here.

        The peer lists the hashes of these notes, and each note with an unknown hash is requested.
        If such a note has the signature of this role, this role has lost the note. The note is then
        stored if the peer is ``unsettled``: it has not shown all notes since this role was
        restored. Otherwise OldStateError is raised. The result is False if the peer did not answer,
        or if more notes have to be requested later.
        """
        name = self._node.signer.name
        answer = self._fetch(role, f"/notes/{name}", now)
        if answer is None:
            return False
        found = parse_listing(answer.body) if answer.status == _OK else None
        if found is None:
            return self._delay(role, now)
        known, foreign = (
            self._node.notes.slots_of(name),
            self._foreign.setdefault(_role_key(role), set()),
        )
        # Hashes that are no longer listed are removed, which limits the size of this set.
        foreign &= set(found)
        unknown = [one for one in found if one not in known and one not in foreign]
        if unsettled:
            # Oldest first, because notes refer to earlier ones.
            unknown.reverse()
        at_once = _LOST_AT_ONCE if unsettled else _AT_ONCE
        for digest in unknown[:at_once]:
            answer = self._fetch(role, f"/note/{digest}", now)
            if answer is None:
                return False
            if not (answer.is_success and self._is_own(answer.body, digest)):
                foreign.add(digest)
            elif not unsettled:
                raise OldStateError(role.name, f"the note {digest}")
            elif not self._take_up(role, answer.body, now):
                return False
        if len(unknown) > at_once:
            return self._delay(role, now)
        self._backoff.reset(_role_key(role))
        return True

    def _take_up(self, role: Role, note: bytes, now: int) -> bool:
        """Store a lost note that a peer has shown, with a note to which it refers if necessary.

        Return False if the peer does not answer the request for the other note.
        """
        missing, about = self._node.restored.find_missing(note), None
        if missing is not None:
            answer = self._fetch(role, f"/note/{missing}", now)
            if answer is None:
                return False
            about = answer.body
        self._node.take_up(note, about)
        return True

    def _is_own(self, note: bytes, digest: str) -> bool:
        """Return whether this role has signed the note; malformed notes count as foreign."""
        try:
            own = self._node.has_own_signature(note)
        except RefusedError:
            return False
        return own and fingerprint_of(note) == digest

    def send_all(self, now: int) -> None:
        """Send all queued notes.

        A silent peer is tried again after a delay. The delay ends early if the peer starts again:
        it then asks this role for the notes that it signed.
        """
        heard = self._node.pop_awake()
        for who in self._backoff.list_delayed():
            if isinstance(who, tuple) and who[0] in heard:
                self._backoff.reset(who)
        queued: dict[tuple[str, str], list[tuple[Role, UnsentNote]]] = {}
        for errand in self._node.notes.list_unsent():
            role = self._find_recipient(errand)
            # The first attempt is not delayed, because the pieces of a manifest are sent only after
            # the first attempt to send the manifest.
            if role is None or (errand.tries > 0 and self._is_delayed(role, now)):
                continue
            if not self._backoff.is_waiting(_note_key(role, errand), now):
                queued.setdefault(_role_key(role), []).append((role, errand))
        for key, errands in queued.items():
            self.run_job(key, partial(self._send_notes, errands, now))

    def _find_recipient(self, errand: UnsentNote) -> Role | None:
        """Return the role that is to receive a note, or None if no served contract has this role.

        A rotation belongs to no contract. Its recipients are queued as name and address, because
        two contracts may use one name for different roles.
        """
        for agreement in self._node.agreements.values():
            for role in agreement.other_roles:
                named = role.name if errand.contract else " ".join(_role_key(role))
                if errand.contract in ("", agreement.contract) and named == errand.role:
                    return role
        return None

    def _send_notes(self, errands: list[tuple[Role, UnsentNote]], now: int) -> None:
        """Send the queued notes of one peer, until it is silent."""
        for role, errand in errands:
            # A peer that answered with an error may accept the next note.
            if not self._send_note(errand, role, now) and self._is_delayed(role, now):
                return

    def _send_note(self, errand: UnsentNote, role: Role, now: int) -> bool:
        """Try to send one note, and return whether it need not be sent again."""
        answer = self._send(role, "POST", "/notes", errand.note, now, use_backoff=False)
        done = answer is not None and (
            answer.is_success
            or answer.status in _FINAL
            or (answer.status == _UNKNOWN and self._is_over(errand, now))
        )
        self._node.notes.record_try(errand, done=done)
        if done:
            if not errand.contract and answer is not None and answer.status == _CONFLICT:
                self._node.log.set_condition(
                    Condition.ROTATED_TWICE, True, role=self._node.signer.name, peer=role.name
                )
            self._backoff.reset(_role_key(role))
            self._backoff.reset(_note_key(role, errand))
        elif answer is not None:
            # Only this note is delayed, because the peer may accept notes of another contract.
            self._backoff.increase(_note_key(role, errand), now)
        return done

    def _is_over(self, errand: UnsentNote, now: int) -> bool:
        """Return whether the round of a note has expired.

        A peer that does not know the sheet by then never signs it, so it does not need the note.
        """
        entry = self._node.notes.entry(fingerprint_of(errand.note))
        row = None if entry is None else self._node.rounds.of(entry.contract, entry.round)
        return row is not None and now >= row.expires

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
            self._record_answer(role, now, is_alive=False)
            return None
        # A proxy in front of a dead role answers with 502 to 504.
        if answer.status < _SERVER_ERROR:
            self._record_answer(role, now, is_alive=True)
        return answer

    def send(self, role: Role, method: str, path: str, body: bytes, now: int) -> Answer | None:
        """Send a request to a peer, and return its answer.

        Return None if the peer is silent, or if its delay after a failure has not ended.
        """
        answer = self._send(role, method, path, body, now)
        if answer is not None and answer.is_success:
            self._backoff.reset(_role_key(role))
        return answer


def is_health(answer: Answer) -> bool:
    """Return whether an answer to ``/readyz`` comes from a role, ready or not.

    A proxy or another program at the address of a dead role answers otherwise.
    """
    if len(answer.body) > _MOST_HEALTH_BYTES:
        return False
    try:
        return isinstance(json.loads(answer.body)["ready"], bool)
    except (ValueError, TypeError, KeyError, RecursionError):
        return False


def _parse_rounds(body: bytes) -> set[tuple[object, object]] | None:
    """Return contract and number of each round in a status, or None if the status is malformed."""
    try:
        return {(row["contract"], row["round"]) for row in json.loads(body)["rounds"]}
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _role_key(role: Role) -> tuple[str, str]:
    """Return the identity of a role, because two contracts may use one name for different roles."""
    return role.name, role.address


def _note_key(role: Role, errand: UnsentNote) -> tuple[str, str, int]:
    """Return the key for the delay of a queued note; like all keys it begins with a role's name."""
    return role.name, role.address, errand.number


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
