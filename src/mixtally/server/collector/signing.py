"""Signing of a contract by its collector, and collection of the signatures of its mixes."""

import json
from contextlib import suppress
from typing import NamedTuple

from mixtally.accounting.accountant import Accountant
from mixtally.accounting.plans.terms import verify
from mixtally.device.contract.fields import text_of
from mixtally.device.wire.note import find_signers
from mixtally.errors import PlanError, RefusedError
from mixtally.model.roles import Role
from mixtally.report.numbers import printable
from mixtally.server.collector.contracts import SignedContract, note_path, parse_signed_contract
from mixtally.server.collector.peer_requests import (
    PeerAnswers,
    body_or_reason,
    is_from_role,
    record_answer,
    request_answer,
    send_signed,
)
from mixtally.server.node import disk
from mixtally.server.node.calls import Answer, Call, SilentError
from mixtally.server.node.claims import claim_long_bodies
from mixtally.server.node.folder import Folder, to_role
from mixtally.server.node.node import Node
from mixtally.server.node.peers import Peers
from mixtally.server.node.refusal import ProblemError

_LONGEST = 80
"""The maximum length of the name of such another program in a message, in characters."""


class GatheredSignatures(NamedTuple):
    """A contract with the signatures collected so far."""

    agreed: SignedContract
    note: bytes
    missing: dict[str, str]
    """Reason for each mix that has not signed."""
    strangers: dict[str, str]
    """For some of these mixes, the name and address of another program that answered in place of
    the mix."""


def verify_contract(data: bytes, folder: Folder, subject: str) -> SignedContract:
    """Parse a contract, and verify that this role is its collector and its certificate is correct.

    All numbers of the certificate are derived again.

    Raises
    ------
    PlanError
        If the contract names another collector, or its guarantee is false.
    """
    agreed = parse_signed_contract(data, subject)
    own, named = to_role(folder.role, folder.signer), agreed.contract.collector
    if own != named:
        raise PlanError(
            f"collector of {subject}",
            expected=f"{own.name} at {own.address} with the key {own.key}, run by {own.operator}",
            got=f"{named.name} at {named.address} with {named.key}, run by {named.operator}",
            do="send the author of the contract what init printed, or correct role.toml",
        )
    verify(agreed.contract.plan, Accountant())
    return agreed


def sign(
    node: Node, agreed: SignedContract, data: bytes, call: Call, now: int
) -> GatheredSignatures:
    """Sign a contract, collect the signatures of all mixes, and store the note.

    ``agreed`` was returned by ``verify_contract`` for the note ``data``. ``now`` is in seconds
    since 1970. The function may be called repeatedly to obtain signatures that are still missing.

    Raises
    ------
    PlanError
        If this role has signed another contract of the same name and serial.
    OldStateError
        If a mix has a note that this role has lost.
    """
    agreement = agreed.agreement
    node.load_contract(agreement)
    # A silent mix does not prevent signing, because it is asked again before anything is served.
    Peers(node, call).ask(now)
    call = claim_long_bodies(call, node.signer, *node.folder.earlier)
    try:
        note = node.sign_contract(agreement, data)
    except ProblemError as refusal:
        raise PlanError(
            f"contract {agreement.name}",
            expected=f"the one that was signed with serial {agreement.serial}",
            got="another",
            do="give the new one a larger serial",
        ) from refusal
    path, found = note_path(node.folder, agreed.contract), PeerAnswers({}, {})
    strangers: dict[str, str] = {}
    # Stored before the mixes are asked: an interrupted call must not lose this role's signature.
    disk.put(path, note, "a contract")
    for role in agreement.hops:
        said = request_answer(call, role, "/notes", note)
        stranger = "" if isinstance(said, str) else _identify_stranger(call, role, said, note)
        if stranger:
            strangers[role.name] = said = f"{stranger} answers at {role.address}"
        answered = body_or_reason(said)
        note = _merge_signatures(node, agreed, note, answered)
        record_answer(found, role, answered)
    missing = sorted(set(agreement.keys) - find_signers(note, agreement.keys))
    why = {name: found.refusals.get(name, "it gave no signature") for name in missing}
    disk.put(path, note, "a contract")
    if not missing:
        # From then on, every mix can serve the contract with all signatures.
        send_signed(node.notes, call, agreement.hops, note)
    return GatheredSignatures(
        agreed, note, why, {name: strangers[name] for name in why if name in strangers}
    )


def _identify_stranger(call: Call, role: Role, answer: Answer, note: bytes) -> str:
    """Return the name of a program that answered in place of ``role``, or "" if there is none.

    A role that accepts a note answers with the same text and its signatures. A role that refuses
    states a reason, and its status contains its name.
    """
    if answer.is_success:
        return "" if text_of(answer.body) == text_of(note) else "another program"
    if not is_from_role(answer):
        return "another program"
    with suppress(SilentError, ValueError, TypeError, KeyError, RecursionError):
        name = json.loads(call(role.address, "GET", "/status", b"").body)["name"]
        if isinstance(name, str) and name != role.name:
            return printable(name)[:_LONGEST]
    return ""


def _merge_signatures(node: Node, agreed: SignedContract, note: bytes, reply: bytes | str) -> bytes:
    """Return the note with the signatures in a reply added.

    A reply with another text or an invalid signature adds nothing.
    """
    if isinstance(reply, str) or text_of(reply) != text_of(note):
        return note
    try:
        return node.notes.merge(reply, agreed.agreement.keys)
    except RefusedError:
        return note
