"""Automatic proposal of rounds by a serving collector, at the interval that the contract states.

The next round is proposed when the last one opens, so that devices and mixes know it early. It
opens a multiple of ``every_seconds`` after the opening of the last round. So daily
rounds open at the same time of day. If a mix is missing at the time of an opening, this opening is
skipped. A failed round is followed by the next one like any other. All facts are read from disk, so
a restarted process continues.
"""

from functools import partial

from mixtally.errors import InputError
from mixtally.report.numbers import printable
from mixtally.server.collector.contracts import Contracts, SignedContract
from mixtally.server.collector.proposing import Proposal, propose
from mixtally.server.node.calls import Call
from mixtally.server.node.events import Condition
from mixtally.server.node.node import Node
from mixtally.server.node.peers import Peers
from mixtally.server.node.refusal import OldStateError, ProblemError
from mixtally.server.node.rounds import SIGNED
from mixtally.server.node.rules import earliest_opening

RETRY_SECONDS = 60
"""Seconds until the next attempt after a round could not be proposed."""
_MOST_REASON = 300
"""The maximum length of a reason in characters, which is limited because other roles write a part
of it."""
_BY_HAND = "a search for words needs the prefixes of each round: propose its rounds by hand"


class Schedule:
    """The schedules of all contracts of a collector."""

    def __init__(self, node: Node, peers: Peers, contracts: Contracts, call: Call) -> None:
        self._node, self._peers, self._contracts, self._call = node, peers, contracts, call
        self._next_try: dict[str, int] = {}
        self._reasons: dict[str, str] = {}
        self._finished: set[str] = set()

    def tick(self, now: int) -> None:
        """Propose the rounds that are due; mixes are asked in threads, one for each contract."""
        for agreed in self._contracts.all():
            contract, name = agreed.fingerprint, agreed.contract.name
            until = self._next_try.get(contract, now)
            waits = until - RETRY_SECONDS <= now < until
            if waits or contract not in self._node.cleared or contract in self._finished:
                continue
            if agreed.contract.serial < self._node.latest(name):
                continue
            if agreed.contract.plan.prefixes is not None:
                self._report(agreed, _BY_HAND)
                continue
            opens = next_opening(self._node, agreed, now)
            last = self._node.rounds.last(name)
            if opens is None:
                # The operator may have proposed the round by hand.
                self._report(agreed, "")
                continue
            if last is not None and opens > last.opens and last.round >= agreed.agreement.rounds:
                self._finished.add(contract)
                self._report(agreed, "")
                self._node.log.tell("schedule finished", contract=name, rounds=last.round)
                continue
            self._peers.run_job(("schedule", contract), partial(self._propose, agreed, opens, now))

    def _propose(self, agreed: SignedContract, opens: int, now: int) -> None:
        """Propose a round, and record its success or the reason of its failure.

        Raises OldStateError, which ends the process, if the role has lost a note that it signed.
        """
        self._next_try[agreed.fingerprint] = now + RETRY_SECONDS
        try:
            propose(self._node, agreed, self._call, now, Proposal(opens=opens))
        except OldStateError:
            raise
        except (InputError, ProblemError) as error:
            self._report(agreed, printable(getattr(error, "problem", "") or str(error)))
        else:
            del self._next_try[agreed.fingerprint]
            self._report(agreed, "")

    def _report(self, agreed: SignedContract, reason: str) -> None:
        """Record the reason why no round can be proposed, or "" if one can be.

        Only a new reason is logged.
        """
        name, log, reason = agreed.contract.name, self._node.log, reason[:_MOST_REASON]
        known = self._reasons.get(agreed.fingerprint, "")
        self._reasons[agreed.fingerprint] = reason
        if reason and known and reason != known:
            log.tell("round not proposed", contract=name, because=reason)
        log.set_condition(Condition.SCHEDULE, bool(reason), contract=name, because=reason or known)


def next_opening(node: Node, agreed: SignedContract, now: int) -> int | None:
    """Return the opening time of the round that is to be proposed now, or None if none is due.

    The last round itself is still to be proposed while some of its signatures are missing and its
    window is not over.
    """
    agreement, name = agreed.agreement, agreed.contract.name
    last = node.rounds.last(name)
    if last is None:
        return now
    is_own = last.contract == agreed.fingerprint and last.state == SIGNED and not last.ended
    if is_own and now < last.closes and not node.is_complete(last):
        return last.opens
    if now < last.opens:
        return None
    every = agreement.windows.every_seconds
    earliest = earliest_opening(agreement, node.rounds.last_binding(name), now)
    return last.opens + max(1, -((last.opens - earliest) // every)) * every
