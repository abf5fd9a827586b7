"""Proposal and withdrawal of rounds by the collector, with the signatures of all mixes.

Each mix first creates a key. Then the collector signs a sheet with all keys, because mixes refuse
sheets that the collector has not signed. Finally all mixes sign the sheet, or state a reason.

Once a sheet has a signature, there is no other sheet with the same round number. After a failure
the next call requests the missing signatures for the same sheet. Mixes that have signed it sign the
same text again. If a mix refuses the sheet permanently, or the window of the round has passed, the
round number stays unused.
"""

from typing import NamedTuple

from mixtally.device.contract.fields import text_of
from mixtally.device.wire.note import find_signers
from mixtally.device.wire.sheet import Sheet, kind_of, read_sheet, write_sheet
from mixtally.device.wire.suite import SUITES
from mixtally.errors import DataError, ParameterError, PlanError, RefusedError
from mixtally.model.roles import Role
from mixtally.server.collector.contracts import SignedContract
from mixtally.server.collector.peer_requests import (
    PeerAnswers,
    ask_all,
    describe_problem,
    post_to_role,
    record_answer,
    send_signed,
)
from mixtally.server.collector.prefixes import Symbols
from mixtally.server.node.calls import Call
from mixtally.server.node.claims import claim_long_bodies
from mixtally.server.node.events import format_time
from mixtally.server.node.node import Node
from mixtally.server.node.peers import Peers
from mixtally.server.node.refusal import ProblemError
from mixtally.server.node.rounds import SIGNED, RoundRow
from mixtally.server.node.rules import earliest_opening

DAY = 86_400
_PROPOSE_AGAIN = (
    "mend that, and propose again: the same sheet is asked for until its window is over"
)


class Proposal(NamedTuple):
    """Properties of a round to be proposed."""

    opens: int | None = None
    """Seconds since 1970; None for the earliest time that the contract allows."""
    expiry_delay: int = DAY
    """Seconds from the end of the window to the expiry, when incomplete batches are destroyed."""
    prefixes: Symbols | None = None
    """Prefixes of the words that are asked for; None in a first round and for other questions."""
    closing: bool = False
    """In a search for words: whether to count only words that end after the next letters."""
    fresh: bool = False
    """Whether to abandon a sheet that lacks signatures, and to propose the next round number."""


class SignedSheet(NamedTuple):
    """A sheet that all roles have signed; ``is_resumed`` says whether an earlier call began it."""

    sheet: Sheet
    note: bytes
    is_resumed: bool


def propose(
    node: Node, agreed: SignedContract, call: Call, now: int, proposal: Proposal | None = None
) -> SignedSheet:
    """Propose the next round of a contract, and obtain the signatures of all mixes.

    ``now`` is in seconds since 1970. ``proposal`` describes the round; None for the default.

    Raises
    ------
    PlanError
        If the contract has no round left, or does not allow the window.
    ParameterError
        If the prefixes do not fit the question.
    DataError
        If mixes do not answer or refuse; the message names them.
    OldStateError
        If a mix has a note that this role has lost.
    """
    proposal = proposal or Proposal()
    _check_prefixes(agreed, proposal)
    _ensure_mixes_answered(node, agreed, call, now)
    last = node.rounds.last(agreed.contract.name)
    begun = None if proposal.fresh else _find_begun_round(node, agreed, last, proposal.opens, now)
    if begun is not None:
        return _finish_proposal(node, agreed, call, node.sheet_note(begun), is_resumed=True)
    number = 1 if last is None else last.round + 1
    _check_number(node, agreed, last, number)
    keys = _collect_keys(node, agreed, call, number)
    opens = proposal.opens
    # A given time is checked with the sheet, and refused there if it is too early or too late.
    if opens is None:
        opens = earliest_opening(
            agreed.agreement, node.rounds.last_binding(agreed.contract.name), now
        )
    sheet = _make_sheet(agreed, number, keys, opens, proposal)
    try:
        note = node.propose(write_sheet(sheet), now)
    except ProblemError as refusal:
        raise PlanError(
            f"round {number}",
            expected="one that the contract allows",
            got=describe_problem(refusal),
            do="propose another time",
        ) from refusal
    return _finish_proposal(node, agreed, call, note, is_resumed=False)


def _check_prefixes(agreed: SignedContract, proposal: Proposal) -> None:
    if agreed.contract.plan.prefixes is None and (
        proposal.prefixes is not None or proposal.closing
    ):
        raise ParameterError(
            "prefixes",
            expected="none: the question does not ask for words",
            got="some",
            do="leave --prefixes and --closing out",
        )


def _ensure_mixes_answered(node: Node, agreed: SignedContract, call: Call, now: int) -> None:
    """Raise DataError unless all mixes have listed the notes of this role that they have.

    A role that has lost one of its notes must not sign anything.
    """
    node.load_contract(agreed.agreement)
    # A serving process also has other contracts, and must not wait for their roles.
    if agreed.fingerprint in node.cleared:
        return
    if waiting := Peers(node, call).ask(now):
        raise DataError(
            "mixes",
            expected="an answer from all of them",
            got=f"none of {', '.join(waiting)}",
            do="start those mixes: a round needs all of them",
        )


def _find_begun_round(
    node: Node, agreed: SignedContract, last: RoundRow | None, opens: int | None, now: int
) -> RoundRow | None:
    """Return the round of an earlier call that this call continues, or None.

    This is the last round if its signatures are incomplete. Otherwise it is the round that opens at
    ``opens``, if there is one.
    """
    live = [
        row
        for row in node.rounds.all()
        if row.contract == agreed.fingerprint and not row.ended and now < row.closes
    ]
    if last in live and last.state == SIGNED and not node.is_complete(last):
        return last
    return next((row for row in live if row.opens == opens), None)


def _check_number(node: Node, agreed: SignedContract, last: RoundRow | None, number: int) -> None:
    contract = agreed.contract
    latest = node.latest(contract.name)
    if latest > contract.serial:
        raise PlanError(
            "contract",
            expected=f"serial {latest}",
            got=contract.serial,
            do="propose under that one",
        )
    if last is not None and number > contract.plan.collections:
        raise PlanError(
            "rounds",
            expected=f"at most {contract.plan.collections}, for which the contract is priced",
            got=f"one more: {number - 1} were proposed, including destroyed ones; the "
            f"last closes {format_time(last.closes)}",
            do="end the contract; one with a new name spends privacy in addition to this one",
        )


def _collect_keys(node: Node, agreed: SignedContract, call: Call, number: int) -> tuple[bytes, ...]:
    """Return the public keys for a round: of every hop in order, then of this role.

    Each role stores its private key before it discloses the public one.
    """
    contract, suite = agreed.contract, SUITES[agreed.contract.suite]
    path = f"/contracts/{agreed.fingerprint}/rounds/{number}/key"
    found = ask_all(call, contract.hops, path)
    for name, key in found.answers.items():
        try:
            suite.key(key)
        except RefusedError as error:
            found.refusals[name] = str(error)
    given = found.require_all(
        f"round {number}", "a key of every mix", "mend that, and propose again"
    )
    return (*(given[role.name] for role in contract.hops), node.key(agreed.fingerprint, number))


def _make_sheet(
    agreed: SignedContract, number: int, keys: tuple[bytes, ...], opens: int, proposal: Proposal
) -> Sheet:
    closes = opens + agreed.contract.rounds.open_seconds
    return Sheet(
        agreed.fingerprint,
        number,
        opens,
        closes,
        closes + proposal.expiry_delay,
        keys,
        proposal.prefixes,
        proposal.closing,
    )


def _finish_proposal(
    node: Node, agreed: SignedContract, call: Call, note: bytes, *, is_resumed: bool
) -> SignedSheet:
    """Obtain the signatures of all mixes, and return the sheet."""
    sheet = read_sheet(note)
    return SignedSheet(
        sheet, collect_signatures(node, agreed, call, note, sheet.round, _PROPOSE_AGAIN), is_resumed
    )


def withdraw(node: Node, agreed: SignedContract, call: Call, number: int, now: int) -> bytes:
    """Withdraw a round before it opens, and return the note with the signatures of all roles.

    The number of the round is not used again, but later rounds may overlap its window. A repeated
    call requests missing signatures again.

    Raises
    ------
    DataError
        If there is no such round, or the round has ended, has opened or opens soon. Also if some
        mixes have not answered or not signed; the message then names these mixes.
    """
    row = node.rounds.of(agreed.fingerprint, number)
    subject = f"round {number}"
    if row is None:
        raise DataError(
            subject,
            expected="a round that was proposed",
            got="none",
            do="see the collector's page for its rounds",
        )
    _ensure_mixes_answered(node, agreed, call, now)
    try:
        note = node.withdraw(row, now)
    except ProblemError as refusal:
        raise DataError(
            subject,
            expected="a round that has not opened",
            got=describe_problem(refusal),
            do="wait until it ends",
        ) from refusal
    return collect_signatures(node, agreed, call, note, number, "mend that, and call this again")


def collect_signatures(
    node: Node, agreed: SignedContract, call: Call, note: bytes, number: int, retry_advice: str
) -> bytes:
    """Collect the signatures of all mixes on a note, and send the complete note to each mix.

    Raises DataError that names the mixes that did not answer or refused.
    """
    keys, found = agreed.agreement.keys, PeerAnswers({}, {})
    call = claim_long_bodies(call, node.signer, *node.folder.earlier)
    subject = f"{kind_of(note)} of round {number}"
    for role in agreed.contract.hops:
        said = post_to_role(call, role, "/notes", note)
        if isinstance(said, bytes):
            note, said = _merge_signature(node, agreed, note, said, role)
        record_answer(found, role, said)
    found.require_all(subject, "the signature of every mix", retry_advice)
    if missing := sorted(set(keys) - find_signers(note, keys)):
        raise DataError(
            subject,
            expected="the signature of every role",
            got=f"none of {', '.join(missing)}",
            do=retry_advice,
        )
    send_signed(node.notes, call, agreed.contract.hops, note).require_all(
        subject,
        "every mix to have it with all signatures",
        "wait: the note is signed, and `mixtally collector serve` sends it again",
    )
    return note


def _merge_signature(
    node: Node, agreed: SignedContract, note: bytes, reply: bytes, role: Role
) -> tuple[bytes, bytes | str]:
    """Return the note with a role's signature, and the role's answer.

    If the answer is not a valid signature, the note is unchanged, and the second value is the
    reason.
    """
    try:
        if text_of(reply) != text_of(note):
            return note, "it answered with another text"
        merged = node.notes.merge(reply, agreed.agreement.keys)
        signed = role.name in find_signers(merged, agreed.agreement.keys)
    except RefusedError as error:
        return note, str(error)
    return merged, reply if signed else "it answered without its signature"
