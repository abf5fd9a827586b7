"""A mix without its sockets: it reads the facts about its rounds, and does the due work.

The loop of the role calls ``tick``, which advances every round as far as possible at a given time.
After a restart ``tick`` continues from the data on disk. ``server.mix.core`` decides which work is
due.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from mixtally.device.wire.bundle import bundle_bytes
from mixtally.device.wire.manifest import ENDED, EXPIRED, LOST, Manifest, is_broken_off
from mixtally.device.wire.problem import Problem
from mixtally.device.wire.sheet import read_sheet
from mixtally.errors import DataError, MixtallyError
from mixtally.model.roles import Role
from mixtally.server.engine.engine import Engine
from mixtally.server.mix.admission import CODES, codes_path, load_admission
from mixtally.server.mix.closing.close import (
    ClosingRound,
    PrecedingManifest,
    bundle_shapes,
    close_round,
)
from mixtally.server.mix.core import (
    ENDS,
    TRANSITIONS,
    Event,
    Facts,
    MixState,
    Work,
    next_event,
    next_work,
)
from mixtally.server.mix.intake import Intake
from mixtally.server.mix.jobs import Jobs
from mixtally.server.mix.salvage import count_lost, is_damaged, salvage_bodies
from mixtally.server.mix.window import Window, announce, is_intake_over, withdraw
from mixtally.server.node import disk
from mixtally.server.node.backoff import Backoff
from mixtally.server.node.batch_status import batch_status
from mixtally.server.node.events import Condition, FieldValue
from mixtally.server.node.keys import RoundKey
from mixtally.server.node.node import Node
from mixtally.server.node.peers import Peers
from mixtally.server.node.refusal import ProblemError
from mixtally.server.node.rounds import WITHDRAWN, RoundRow

_DELIVER_AGAIN_SECONDS = 30
"""Seconds to wait for a receipt before the next delivery."""
_NEEDS_NOBODY = frozenset({Event.ALL_SIGNED, Work.TAKE, Work.STOP})
"""Events and work that are allowed before peers have listed the notes of this role that they have.

A role that may have lost notes must not sign notes, draw fakes or open envelopes. These do not.
"""
_END_REASONS = {
    WITHDRAWN: "the round was withdrawn before it opened",
    "destroyed": "too few took part: all bundles were destroyed, and none was counted",
    "expired": "the round expired by this mix's clock: bundles that it had taken and not handed on "
    "were destroyed, and none of them was counted",
    LOST: "a mix lost its disk: all bundles are destroyed, and none is counted",
    ENDED: "an operator ended the round: all bundles are destroyed, and none is counted",
}
"""For each end of a round, the explanation for people who send bundles."""


_NO_KEY = RoundKey(b"", b"")


class EndingError(MixtallyError):
    """Interruption of a closing because the process ends; a restarted process closes again."""


class Options(NamedTuple):
    """Options of a mix."""

    engine: Engine = Engine()
    """How envelopes are opened and sorted."""
    background: bool = False
    """Whether a round is closed in a thread, while other rounds continue."""


class Mix:
    """The rounds of a mix; ``intake`` is used for rounds in which the mix is the first hop."""

    def __init__(
        self, node: Node, peers: Peers, intake: Intake, options: Options | None = None
    ) -> None:
        self.node, self.peers, self.intake = node, peers, intake
        self._options = options = options or Options()
        self.jobs = Jobs(node)
        self.windows: dict[tuple[str, int], Window] = {}
        self._stopped: set[tuple[str, int]] = set()
        self._full: set[str] = set()
        """Folders of rounds that were reported as full."""
        self._closer = ThreadPoolExecutor(1, "closing") if options.background else None
        self._closing: dict[str, Future[Manifest]] = {}
        self._sent: dict[str, int] = {}
        self._backoff = Backoff()
        self._ending = False

    def tick(self, now: int) -> None:
        """Do all work that is due; raises the error that must end the process."""
        if self.node.fatal_error is not None:
            raise self.node.fatal_error
        self.jobs.load_new()
        self.node.lists.remove_old(now)
        # Done first, so that rounds do not wait while silent roles are asked.
        self._step_rounds(now)
        self.peers.ask(now)
        # Notes that the first pass signs are sent to peers before the second pass.
        for _ in range(2):
            self.peers.send_all(now)
            self._step_rounds(now)
        self.peers.send_all(now)

    def _step_rounds(self, now: int) -> None:
        """Advance every round."""
        for row in self.node.rounds.all():
            if row.contract in self.node.agreements and row.state != MixState.SHREDDED:
                while (moved := self._step(row, now)) is not None:
                    row = moved

    def find(self, contract: str, number: int) -> Window:
        """Return the window of a round, for the route of bundles; raises ProblemError."""
        window = self.windows.get((contract, number))
        if window is not None:
            return window
        job = self.jobs.by_contract.get(contract)
        row = None if job is None or job.place > 1 else self.node.rounds.of(contract, number)
        if row is None:
            raise ProblemError(Problem.UNKNOWN)
        waits = row.state in (MixState.SIGNED, MixState.OPEN) and not row.ended
        if waits and (contract, number) not in self._stopped:
            raise ProblemError(Problem.NOT_READY, retry_seconds=2)
        raise ProblemError(Problem.ROUND_CLOSED, _END_REASONS.get(row.ended.partition(":")[0], ""))

    def end(self) -> None:
        """Interrupt closings, which are repeated after a restart, and close all files."""
        self._ending = True
        if self._closer is not None:
            self._closer.shutdown(cancel_futures=True)
        self.intake.end()
        self.node.close()

    def _step(self, row: RoundRow, now: int) -> RoundRow | None:
        """Handle one event or do one piece of work.

        Returns None if nothing more can be done now.
        """
        cleared = row.contract in self.node.cleared
        row = self.node.break_off(row) if cleared else row
        over = bool(row.ended) or now >= row.expires
        if over and not cleared and self.node.keys.has_key(row.folder):
            # This role does no more work in this round, even if silent roles know more about it.
            self.node.keys.destroy(row.folder)
        facts = self.facts(row)
        happened = next_event(facts, now)
        if happened is not None and (cleared or happened in _NEEDS_NOBODY):
            return self._move(row, happened)
        todo = next_work(facts, now)
        if todo is None or not (cleared or (todo in _NEEDS_NOBODY and not row.ended)):
            return None
        return row if self._do_work(todo, row, now) and cleared else None

    def _move(self, row: RoundRow, happened: Event) -> RoundRow:
        """Store the new state of a round."""
        if happened in (Event.EXPIRY, Event.WITHDRAWAL, Event.ACCIDENT):
            # The result is ignored: a round that sends nothing need not wait for its intake
            # processes.
            self._stop_taking(row)
        state = TRANSITIONS[MixState(row.state), happened]
        ended = state if state in ENDS and state is not MixState.BROKEN else ""
        moved = self.node.rounds.move(row, state, ended)
        self._tell_state(moved)
        return moved

    def _tell_state(self, row: RoundRow) -> None:
        """Log the state of a round and the numbers that this mix has signed."""
        if row.state == MixState.OPEN:
            self.node.tell_signed(row, " by all")
            return
        fields: dict[str, FieldValue] = {}
        own = self.node.manifest_of(row, self.node.agreements[row.contract].place)
        if row.state in (MixState.MIXED, MixState.DESTROYED) and own is not None:
            fields["bundles"] = own[1].bundles
            if own[1].destroyed is not None:
                fields["because"] = own[1].destroyed
            lost = count_lost(self.node.round_folder(row))
            if lost:
                fields["lost"] = lost
        elif row.state == MixState.BROKEN:
            fields["because"] = row.ended
        self.node.tell(row, f"round {row.state}", **fields)

    def facts(self, row: RoundRow) -> Facts:
        """Return the known facts about a round."""
        node, agreement = self.node, self.node.agreements[row.contract]
        before, own = node.preceding_manifest(row), node.manifest_of(row, agreement.place)
        state = MixState(row.state)
        return Facts(
            state,
            row.closes,
            row.expires,
            first=agreement.place == 1,
            all_signed=state is MixState.SIGNED and node.is_complete(row),
            withdrawn=row.ended == WITHDRAWN,
            broken=is_broken_off(row.ended),
            preceding_batch=batch_status(before),
            quiet=state is MixState.OPEN and agreement.place == 1 and self._is_intake_over(row),
            missing=node.count_missing(row) if state is MixState.OPEN else 0,
            received=node.has_signed_receipt(row),
            own_batch=batch_status(own),
            manifest_sent=own is not None and not node.notes.list_untried(own[0]),
            receipt=own is not None and node.has_receipt(row, own[0]),
            destroyed=not node.keys.has_key(row.folder) and not node.round_folder(row).exists(),
        )

    def _do_work(self, todo: Work, row: RoundRow, now: int) -> bool:
        """Do one piece of work, and return whether the facts may have changed."""
        does: dict[Work, Callable[[RoundRow, int], bool]] = {
            Work.TAKE: self._take,
            Work.STOP: lambda row, _: self._stop_taking(row),
            Work.RECEIVE: self._receive,
            Work.MIX: self._mix,
            Work.DELIVER: self._deliver,
            Work.DECLARE: self._declare,
            Work.SHRED: self._shred_round,
        }
        return does[todo](row, now)

    def _take(self, row: RoundRow, _: int) -> bool:
        self._stopped.discard((row.contract, row.round))
        if (row.contract, row.round) not in self.windows:
            job, place = self.jobs.by_contract[row.contract], self.node.folder.path
            lacks = job.admission == CODES and not codes_path(place, row.contract).exists()
            self.node.log.set_condition(
                Condition.CODES, lacks, contract=job.name, serial=job.serial
            )
            if lacks:
                return False
            window = Window(
                contract=row.contract,
                round=row.round,
                shapes=bundle_shapes(job),
                most_bundles=job.most_bundles,
                admission=job.admission,
                opens=row.opens,
                closes=row.closes,
            )
            most = window.most_bundles
            admission = load_admission(place, row.contract, window.admission, most)
            self.intake.open(row.folder, most, window.bundle_bytes, admission)
            self.windows[row.contract, row.round] = window
            # Announced last, because an intake process may start as soon as it sees the window.
            announce(self.node.round_folder(row), window)
            self.node.step("after window")
        elif self.intake.is_full(row.folder) and row.folder not in self._full:
            self._full.add(row.folder)
            self.node.tell(
                row, "round full", bundles=self.jobs.by_contract[row.contract].most_bundles
            )
        return False

    def _stop_taking(self, row: RoundRow) -> bool:
        """Stop accepting bundles, and return whether no process can add bundles any more."""
        self.windows.pop((row.contract, row.round), None)
        self._stopped.add((row.contract, row.round))
        self.intake.close(row.folder)
        withdraw(self.node.round_folder(row))
        self.node.step("after window gone")
        return self._is_intake_over(row)

    def _is_intake_over(self, row: RoundRow) -> bool:
        return (row.contract, row.round) not in self.windows and is_intake_over(
            self.node.round_folder(row)
        )

    def _receive(self, row: RoundRow, _: int) -> bool:
        before = self.node.preceding_manifest(row)
        if before is not None:
            self.node.sign_receipt(row, before[0])
        return True

    def _mix(self, row: RoundRow, _: int) -> bool:
        """Close the round, in a thread if so configured, and sign its manifest.

        Returns False while the thread is still running.
        """
        if self._closer is None:
            self.node.sign_manifest(row, self._close_round(row, self._make_closing(row)))
            return True
        running = self._closing.get(row.folder)
        if running is None:
            running = self._closer.submit(self._close_round, row, self._make_closing(row))
            self._closing[row.folder] = running
            running.add_done_callback(lambda _: self.node.wake())
        if not running.done():
            return False
        if running.exception() is None:
            # May have to be repeated, while another program locks the database.
            self.node.sign_manifest(row, running.result())
        self._closing.pop(row.folder).result()
        return True

    def _close_round(self, row: RoundRow, closing: ClosingRound) -> Manifest:
        """Close a round; bundles that cannot be read from a damaged disk are left out."""
        try:
            return close_round(closing)
        except DataError as error:
            if not is_damaged(error):
                raise
        salvage_bodies(closing.folder, bundle_bytes(bundle_shapes(closing.job)))
        self.node.tell(row, "bundles lost", about=count_lost(closing.folder))
        return close_round(closing)

    def _make_closing(self, row: RoundRow) -> ClosingRound:
        node, before = self.node, self.node.preceding_manifest(row)
        return ClosingRound(
            self.jobs.by_contract[row.contract],
            node.round_folder(row),
            read_sheet(node.sheet_note(row)),
            row.sheet,
            # Without a key, only the manifest of a round that sends nothing is made.
            node.keys.read_key(row.folder) if node.keys.has_key(row.folder) else _NO_KEY,
            None if before is None else PrecedingManifest(*before),
            node.rounds.list_overruled(row.contract),
            node.chance,
            node.lists.writer(row.expires),
            self._options.engine,
            self._step_of_closing,
        )

    def _step_of_closing(self, name: str) -> None:
        if self._ending:
            raise EndingError
        self.node.step(name)

    def _deliver(self, row: RoundRow, now: int) -> bool:
        agreement = self.node.agreements[row.contract]
        own, role = self.node.manifest_of(row, agreement.place), agreement.next_role
        if own is None or role is None or now < self._sent.get(row.folder, 0):
            return False
        key, folder = ("deliver", row.folder), self.node.round_folder(row)
        if self._backoff.is_waiting(row.folder, now) or self.peers.is_running(key):
            return False
        # The delay limits the attempts to a peer that refuses all pieces, or never sends a receipt.
        self._backoff.increase(row.folder, now)

        def deliver() -> None:
            try:
                delivered = deliver_pieces(self.peers, role, folder, own[1], now)
            except DataError:
                # The round may have expired meanwhile, which removes its pieces.
                if self.node.keys.has_key(row.folder):
                    raise
                return
            if delivered:
                # The receipt may arrive soon, so the pieces are not offered again immediately.
                self._sent[row.folder] = now + _DELIVER_AGAIN_SECONDS

        self.peers.run_job(key, deliver)
        return False

    def _declare(self, row: RoundRow, _: int) -> bool:
        # The result of a closing that is still running is no longer needed.
        if row.folder in self._closing:
            if not self._closing[row.folder].done():
                return False
            del self._closing[row.folder]
        end = row.ended if row.state == MixState.BROKEN else EXPIRED
        self.node.sign_manifest(row, self._make_closing(row).empty_manifest(end))
        return True

    def _shred_round(self, row: RoundRow, _: int) -> bool:
        self.node.shred_round(row)
        return True


def deliver_pieces(peers: Peers, role: Role, folder: Path, manifest: Manifest, now: int) -> bool:
    """Send the pieces that a role lacks, and return whether it has all of them."""
    for part in manifest.parts:
        for piece in part.pieces:
            path = f"/pieces/{piece.sha256}"
            there = peers.send(role, "HEAD", path, b"", now)
            if there is None:
                return False
            if there.is_success:
                continue
            data = disk.read_file(folder / f"out-{piece.sha256}", "a piece")
            answer = peers.send(role, "PUT", path, data, now)
            if answer is None or not answer.is_success:
                return False
    return True
