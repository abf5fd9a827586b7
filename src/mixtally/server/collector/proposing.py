"""A round is proposed: every mix makes a key for it, then all sign one sheet, or say why not.

The collector signs first: mixes sign no sheet of a stranger. From then on this sheet is the only
one of its number, so a call that follows one that failed asks for the missing signatures of it; a
mix that has signed signs the same text again. A number whose sheet a mix refuses for good, or whose
window is over, is used up.
"""

from typing import NamedTuple

from mixtally.device.contract.fields import fingerprint_of, text_of
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
)
from mixtally.server.collector.prefixes import Symbols
from mixtally.server.node.calls import Call
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
    """What is expected of a round.

    where
      opens      seconds since 1970; None for as soon as the contract's windows allow
      kept       seconds from its close to its expiry: what has not come by then is destroyed
      prefixes   of the words that are asked for; None for the first round, and other questions
      closing    whether it asks for words that end
      fresh      give up a number that lacks signatures, and take the next one
    """

    opens: int | None = None
    kept: int = DAY
    prefixes: Symbols | None = None
    closing: bool = False
    fresh: bool = False


class SignedSheet(NamedTuple):
    """A sheet that all roles have signed; ``again`` says that it was begun by an earlier call."""

    sheet: Sheet
    note: bytes
    again: bool


def propose(
    node: Node, agreed: SignedContract, call: Call, now: int, wish: Proposal | None = None
) -> SignedSheet:
    """The next round of a contract, signed by all.

    Raises PlanError past the contract's rounds, ParameterError for a wish that does not fit its
    question, DataError naming the mixes that did not answer or refused, OldStateError.
    """
    wish = wish or Proposal()
    _check_prefixes(agreed, wish)
    _ensure_mixes_answered(node, agreed, call, now)
    last = node.rounds.last(agreed.contract.name)
    begun = None if wish.fresh else _find_begun_round(node, agreed, last, wish.opens, now)
    if begun is not None:
        return _finish_proposal(node, agreed, call, node.sheet_note(begun), again=True)
    number = 1 if last is None else last.round + 1
    _check_number(node, agreed, last, number)
    keys = _collect_keys(node, agreed, call, number)
    opens = wish.opens
    if opens is None:  # a wish that is too early or too late is refused where sheets are
        opens = earliest_opening(
            agreed.agreement, node.rounds.last_binding(agreed.contract.name), now
        )
    sheet = _make_sheet(agreed, number, keys, opens, wish)
    try:
        note = node.propose(write_sheet(sheet), now)
    except ProblemError as refusal:
        raise PlanError(
            f"round {number}",
            expected="one that the contract allows",
            got=describe_problem(refusal),
            do="propose another time",
        ) from refusal
    return _finish_proposal(node, agreed, call, note, again=False)


def _check_prefixes(agreed: SignedContract, wish: Proposal) -> None:
    if agreed.contract.plan.prefixes is None and (wish.prefixes is not None or wish.closing):
        raise ParameterError(
            "prefixes",
            expected="none: the question does not ask for words",
            got="some",
            do="leave --prefixes and --closing out",
        )


def _ensure_mixes_answered(node: Node, agreed: SignedContract, call: Call, now: int) -> None:
    """Nothing is signed before all mixes were asked what this role has signed."""
    node.start_serving(agreed.agreement)
    if waiting := Peers(node, call).ask(now):
        raise DataError(
            "mixes",
            expected="an answer of all of them",
            got=f"none of {', '.join(waiting)}",
            do="see that they serve: a round needs them all",
        )


def _find_begun_round(
    node: Node, agreed: SignedContract, last: RoundRow | None, opens: int | None, now: int
) -> RoundRow | None:
    """The round of an earlier call: the last, which some have not signed, or that of this window.

    None where it is over.
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
            got=f"one more: {number - 1} were proposed, those that were destroyed among them; the "
            f"last closes {format_time(last.closes)}",
            do="end it; a new name is a new promise, and adds to this one",
        )


def _collect_keys(node: Node, agreed: SignedContract, call: Call, number: int) -> tuple[bytes, ...]:
    """One of every hop in order, and this role's own; each is on the disk of its role."""
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
    agreed: SignedContract, number: int, keys: tuple[bytes, ...], opens: int, wish: Proposal
) -> Sheet:
    closes = opens + agreed.contract.rounds.open_seconds
    return Sheet(
        agreed.fingerprint,
        number,
        opens,
        closes,
        closes + wish.kept,
        keys,
        wish.prefixes,
        wish.closing,
    )


def _finish_proposal(
    node: Node, agreed: SignedContract, call: Call, note: bytes, *, again: bool
) -> SignedSheet:
    """Have every mix sign, then give all of them the whole note."""
    sheet = read_sheet(note)
    return SignedSheet(
        sheet, collect_signatures(node, agreed, call, note, sheet.round, _PROPOSE_AGAIN), again
    )


def withdraw(node: Node, agreed: SignedContract, call: Call, number: int, now: int) -> bytes:
    """The note of all roles that a round is withdrawn, which has not opened.

    Its number stays used up, and its window binds nobody. Called again it asks for the signatures
    that are missing. Raises DataError for a round that is not there, has opened or is over, and
    naming the mixes that did not sign.
    """
    row = node.rounds.of(agreed.fingerprint, number)
    subject = f"round {number}"
    if row is None:
        raise DataError(
            subject,
            expected="a round that was proposed",
            got="none",
            do="look at the page for them",
        )
    _ensure_mixes_answered(node, agreed, call, now)
    try:
        note = node.withdraw(row, now)
    except ProblemError as refusal:
        raise DataError(
            subject,
            expected="a round that has not opened",
            got=describe_problem(refusal),
            do="let it end by itself",
        ) from refusal
    return collect_signatures(node, agreed, call, note, number, "mend that, and call this again")


def collect_signatures(
    node: Node, agreed: SignedContract, call: Call, note: bytes, number: int, again: str
) -> bytes:
    """A note of this role with the signatures of all, which all mixes have then.

    Raises DataError naming the mixes that did not answer or refused.
    """
    keys, found = agreed.agreement.keys, PeerAnswers({}, {})
    subject = f"{kind_of(note)} of round {number}"
    for role in agreed.contract.hops:
        said = post_to_role(call, role, "/notes", note)
        if isinstance(said, bytes):
            note, said = _merge_signature(node, agreed, note, said, role)
        record_answer(found, role, said)
    found.require_all(subject, "the signature of every mix", again)
    if missing := sorted(set(keys) - find_signers(note, keys)):
        raise DataError(
            subject,
            expected="the signature of every role",
            got=f"none of {', '.join(missing)}",
            do=again,
        )
    told, late = PeerAnswers({}, {}), []
    for role in agreed.contract.hops:
        said = post_to_role(call, role, "/notes", note)
        if not isinstance(said, bytes):
            late.append(role.name)  # an earlier errand may be over, with fewer signatures
        record_answer(told, role, said)
    node.notes.send_again(fingerprint_of(note), late)
    told.require_all(
        subject,
        "every mix to have it with all signatures",
        "nothing: it is signed, and `mixtally collector serve` sends it again",
    )
    return note


def _merge_signature(
    node: Node, agreed: SignedContract, note: bytes, said: bytes, role: Role
) -> tuple[bytes, bytes | str]:
    """The note with the signature of a role, or why it is none."""
    try:
        if text_of(said) != text_of(note):
            return note, "it answered with another text"
        merged = node.notes.merge(said, agreed.agreement.keys)
        signed = role.name in find_signers(merged, agreed.agreement.keys)
    except RefusedError as error:
        return note, str(error)
    return merged, said if signed else "it answered without its signature"
