"""A collector without its sockets: it reads the facts about its rounds, and does the due work.

The loop of the role calls ``tick``, which advances every round as far as possible at a given time.
After a restart ``tick`` continues from the data on disk. ``server.collector.core`` decides which
work is due.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from itertools import product

from mixtally.device.wire.manifest import LOST, Manifest, is_broken_off
from mixtally.device.wire.sheet import read_sheet
from mixtally.errors import DataError
from mixtally.protocol.estimate.analysis import COUNTS_ALONE, Analysis
from mixtally.server.collector.concluding import Conclusion, CountedRound, conclude_round
from mixtally.server.collector.contracts import Contracts
from mixtally.server.collector.core import ENDS, CollectorState, Facts, Work, next_state, next_work
from mixtally.server.collector.counting import CountingTask, count_batch, list_batch
from mixtally.server.collector.results import ShownRound, result_facts
from mixtally.server.collector.stored import KEPT, Results, StoredCharge
from mixtally.server.engine.engine import Engine
from mixtally.server.node.batch_status import BatchStatus, batch_status
from mixtally.server.node.events import FieldValue
from mixtally.server.node.node import Node
from mixtally.server.node.peers import Peers
from mixtally.server.node.refusal import ProblemError
from mixtally.server.node.rounds import WITHDRAWN, RoundRow

_ASK_AGAIN_SECONDS = 10
"""Seconds between two requests for the missing manifests of a round."""


class Collector:
    """The rounds of a collector.

    ``engine`` says how envelopes are opened and counted. With ``keep_messages`` the opened messages
    and the pieces of each batch are kept. The attribute ``on_change`` is called when the page has
    to change.
    """

    def __init__(
        self,
        node: Node,
        peers: Peers,
        engine: Engine | None = None,
        *,
        keep_messages: bool = False,
    ) -> None:
        self.node, self.peers, self._engine = node, peers, engine or Engine()
        self._keep_messages = keep_messages
        self.contracts = Contracts(node)
        self.results = Results(node.folder.path, node.step)
        self.on_change: Callable[[], None] = lambda: None
        self.warnings: Callable[[], list[dict[str, FieldValue]]] = node.log.list_warnings
        """Returns the lasting conditions that the page shows as warnings."""
        self.on_end: Callable[[dict[str, FieldValue]], None] = lambda _: None
        """Called with the event when a round has ended."""
        self._asked: dict[str, int] = {}
        self._over: set[tuple[str, str]] = set()
        self._shown: object = None
        # The privacy cost of a batch is stored before any of its pieces is accepted.
        node.accept = lambda row, digest, _: self._charge(row, digest)

    def tick(self, now: int) -> None:
        """Do all work that is due; raises the error that must end the process."""
        if self.node.fatal_error is not None:
            raise self.node.fatal_error
        self.contracts.load_new()
        self.node.lists.remove_old(now)
        self.peers.ask(now)
        self.peers.send_all(now)
        for row in self.node.rounds.all():
            if row.contract in self.node.cleared and (row.folder, row.state) not in self._over:
                while (later := self._step(row, now)) is not None:
                    row = later
                if row.state in ENDS:
                    # Finished rounds are skipped from now on, so that a tick does not read the
                    # facts of all of them.
                    self._over.add((row.folder, row.state))
        self.peers.send_all(now)
        rows = [row for row in self.node.rounds.all() if row.contract in self.node.agreements]
        known = sorted(self.node.cleared), sorted(self.node.agreements)
        shown = (rows, known, [self.describe_missing(row) for row in rows], self.warnings())
        if shown != self._shown:
            self._shown = shown
            self.on_change()

    def shown_round(self, row: RoundRow) -> ShownRound:
        """Return a round with the data that are needed to show it."""
        overruled = self.node.rounds.list_overruled(row.contract)
        agreed = self.contracts.of(row.contract)
        return ShownRound(agreed, row.round, row.opens, row.closes, overruled)

    def conclusion(self, row: RoundRow, analysis: Analysis = COUNTS_ALONE) -> Conclusion:
        """Compute the estimates of a counted round, which costs no further privacy.

        Raises DataError if the tally or a manifest is missing, and ParameterError if the analysis
        needs data that the tally does not contain.
        """
        tally, manifests = self.results.read_tally(row.folder), self._manifests(row)
        if tally is None or None in manifests:
            raise DataError(
                f"round {row.round}",
                expected="a round that was counted, and the manifests of all mixes",
                got=f"one that is {row.state}",
                do=self.describe_missing(row)
                or (
                    "nothing of it can be counted any more"
                    if row.state in ENDS
                    else "wait until its batch is counted"
                ),
            )
        known = [one for one in manifests if one is not None]
        sheet = read_sheet(self.node.sheet_note(row))
        given = CountedRound(self.contracts.of(row.contract), sheet, row.sheet, known, tally)
        return conclude_round(given, analysis)

    def conclude_again(self, row: RoundRow) -> None:
        """Repeat the conclusion of a refused round from its stored tally and manifests.

        The round is released if its numbers are now consistent. A released round stays unchanged.
        Raises DataError for a round in any other state.
        """
        if row.state not in (CollectorState.REFUSED, CollectorState.RELEASED):
            raise DataError(
                f"round {row.round}",
                expected="one that was refused",
                got=f"one that is {row.state}",
                do=self.describe_missing(row) or "wait: it is concluded by itself",
            )
        if row.state == CollectorState.REFUSED:
            self._conclude(row, 0)
            if self.results.is_released(row.folder):
                self.node.rounds.move(row, CollectorState.RELEASED, CollectorState.RELEASED)

    def describe_missing(self, row: RoundRow) -> str:
        """Return a text that names the roles with missing signatures or manifests, or ""."""
        agreed = self.contracts.of(row.contract)
        if row.state == CollectorState.SIGNED:
            missing = [
                role.name
                for role in agreed.agreement.roles
                if not self.node.notes.has_signed(role.name, row.sheet)
            ]
            what = "signatures"
        elif row.state == CollectorState.COUNTED:
            names = [role.name for role in agreed.contract.hops]
            found = zip(names, self._manifests(row), strict=True)
            missing, what = [name for name, manifest in found if manifest is None], "manifests"
        else:
            return ""
        return f"waits for {what} of {', '.join(missing)}" if missing else ""

    def end(self) -> None:
        """Close all files."""
        self.node.close()

    def _charge(self, row: RoundRow, digest: str) -> None:
        """Store the charge of a round, which is the privacy cost of its batch.

        ``digest`` is the SHA-256 of the batch's manifest, or "" if it is not known whether a batch
        was received.
        """
        agreed = self.contracts.of(row.contract)
        plan = agreed.contract.plan
        charge = StoredCharge(
            name=agreed.contract.name,
            serial=agreed.contract.serial,
            contract=row.contract,
            round=row.round,
            sheet=row.sheet,
            manifest=digest,
            epsilon=plan.certificate.epsilon,
            delta=plan.certificate.upper,
            collections=plan.collections,
        )
        self.results.charge(row.folder, charge)

    def _step(self, row: RoundRow, now: int) -> RoundRow | None:
        """Change the state of a round once, or do one piece of work.

        Returns None if nothing more can be done now.
        """
        row = self.node.break_off(row)
        known = self.facts(row)
        state = next_state(known, now)
        if state is not None:
            lost = state is CollectorState.LOST
            if lost and self.results.read_charge(row.folder) is None:
                # The batch of the round may have been received before the disk was lost.
                self._charge(row, "")
            moved_on = self.node.rounds.move(row, state, self._describe_end(row, state))
            if state is CollectorState.OPEN:
                self.node.tell_signed(row, " by all")
                return moved_on
            because = {"because": moved_on.ended} if state is CollectorState.DESTROYED else {}
            self.node.tell(row, f"round {state}", **because)
            if state in ENDS:
                self.on_end(self._end_event(moved_on))
            return moved_on
        todo = next_work(known)
        return row if todo is not None and self._do_work(todo, row, now) else None

    def _end_event(self, row: RoundRow) -> dict[str, FieldValue]:
        """Return the event that ``on_end`` receives when a round has ended.

        If nothing is released, the event contains the reason.
        """
        said: dict[str, FieldValue] = {
            "event": f"round {row.state}",
            "contract": row.name,
            "fingerprint": row.contract,
            "round": row.round,
        }
        if row.state == CollectorState.REFUSED:
            result = json.loads(self.results.read_result(row.folder) or b"{}")
            return {**said, "because": str(result.get("refusal"))}
        return said if row.state == CollectorState.RELEASED else {**said, "because": row.ended}

    def _describe_end(self, row: RoundRow, state: CollectorState) -> str:
        if state not in ENDS or (state is CollectorState.DESTROYED and row.ended):
            return ""
        before = self.node.preceding_manifest(row)
        if state is CollectorState.DESTROYED and before is not None:
            return before[1].destroyed or ""
        return state.value

    def facts(self, row: RoundRow) -> Facts:
        """Return the known facts about a round.

        Facts that the current state does not use are not read from disk.
        """
        node, state = self.node, CollectorState(row.state)
        return Facts(
            state,
            row.expires,
            all_signed=state is CollectorState.SIGNED and node.is_complete(row),
            withdrawn=row.ended == WITHDRAWN,
            lost=row.ended == LOST and not node.keys.has_key(row.folder),
            batch=BatchStatus.DESTROYED
            if is_broken_off(row.ended)
            else batch_status(node.preceding_manifest(row)),
            charged=state is CollectorState.OPEN
            and self.results.read_charge(row.folder) is not None,
            missing=node.count_missing(row) if state is CollectorState.OPEN else 0,
            receipt=state is CollectorState.OPEN and node.has_signed_receipt(row),
            tallied=state is CollectorState.RECEIVED and self.results.has_tally(row.folder),
            manifests=state is CollectorState.COUNTED and None not in self._manifests(row),
            released=self.results.is_released(row.folder)
            if state is CollectorState.COUNTED
            else None,
            destroyed=not node.keys.has_key(row.folder) and not node.round_folder(row).exists(),
        )

    def _do_work(self, todo: Work, row: RoundRow, now: int) -> bool:
        """Do one piece of work, and return whether the facts may have changed."""
        does: dict[Work, Callable[[RoundRow, int], bool]] = {
            Work.EXPECT: self._expect,
            Work.RECEIVE: self._receive,
            Work.COUNT: self._count,
            Work.SHRED: self._shred_round,
            Work.ASK: self._ask,
            Work.CONCLUDE: self._conclude,
        }
        return does[todo](row, now)

    def _expect(self, row: RoundRow, _: int) -> bool:
        self.node.expect_pieces(row)
        return False

    def _receive(self, row: RoundRow, now: int) -> bool:
        before = self.node.preceding_manifest(row)
        if before is not None:
            batch = self._counting_task(row, before)
            lists = list_batch(batch, self.node.lists.writer(row.expires))
            self.node.sign_receipt(row, before[0], lists)
            # The receipt is sent first, because counting may take long.
            self.peers.send_all(now)
        return True

    def _count(self, row: RoundRow, _: int) -> bool:
        before = self.node.preceding_manifest(row)
        if before is None:
            return False
        self.results.keep(row.folder, count_batch(self._counting_task(row, before)))
        return True

    def _counting_task(self, row: RoundRow, before: tuple[str, Manifest]) -> CountingTask:
        return CountingTask(
            self.contracts.of(row.contract).contract,
            row.contract,
            row.round,
            self.node.round_folder(row),
            self.node.keys.read_key(row.folder).private,
            row.sheet,
            *before,
            self._engine,
            self.results.folder_of(row.folder, KEPT) if self._keep_messages else None,
        )

    def _shred_round(self, row: RoundRow, _: int) -> bool:
        self.node.shred_round(row)
        return True

    def _conclude(self, row: RoundRow, _: int) -> bool:
        conclusion = self.conclusion(row)
        if conclusion.refusal is not None:
            self.node.tell(row, "nothing released", because=conclusion.refusal)
        self.results.publish(row.folder, result_facts(self.shown_round(row), conclusion))
        return True

    def _ask(self, row: RoundRow, now: int) -> bool:
        """Request the missing manifests of a round, and return whether all are known now.

        Every mix is asked for all of them, because a mix may have the manifests of other mixes. If
        the last request was sent a short time ago, nothing is requested and False is returned.
        """
        last = self._asked.get(row.folder)
        if last is not None and last <= now < last + _ASK_AGAIN_SECONDS:
            return False
        self._asked[row.folder] = now
        self.peers.run_job(("ask", row.folder), lambda: self._ask_mixes(row, now))
        return None not in self._manifests(row)

    def _ask_mixes(self, row: RoundRow, now: int) -> None:
        """Request the missing manifests of a round from each mix in turn."""
        path = f"/contracts/{row.contract}/rounds/{row.round}/manifests"
        hops = self.contracts.of(row.contract).contract.hops
        for role, place in product(hops, range(1, len(hops) + 1)):
            if self.node.manifest_hash(row, place) is not None:
                continue
            answer = self.peers.send(role, "GET", f"{path}/{place}", b"", now)
            if answer is None or not answer.is_success:
                continue
            # A malicious mix may send a false note, or a second manifest.
            with suppress(ProblemError):
                self.node.take_note(answer.body, now)

    def _manifests(self, row: RoundRow) -> list[tuple[str, Manifest] | None]:
        hops = self.contracts.of(row.contract).contract.hops
        return [self.node.manifest_of(row, place) for place in range(1, len(hops) + 1)]
