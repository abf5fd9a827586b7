"""Verification of a contract and of a round against signatures and the person's own decisions.

A person *pins* the fingerprint of a contract or the keys of roles, learned from a trustworthy
source. The contract names the keys of all roles, and every role must have signed it. The same roles
must have signed the *sheet*, which has the times and the public keys of a round. So if one role
shows a person another contract or sheet, the device refuses it.
"""

import json
from hashlib import sha256
from itertools import pairwise
from typing import Any, NamedTuple

from mixtally.device.client.limits import Limits, check_plan
from mixtally.device.client.net.pins import Pins
from mixtally.device.client.net.requests import parse_address
from mixtally.device.contract.contract import Contract, parse_contract
from mixtally.device.contract.fields import parse_json, text_of
from mixtally.device.contract.spelling import check_prefixes
from mixtally.device.wire.consistency import Frame
from mixtally.device.wire.envelope import Sealer
from mixtally.device.wire.note import verify_note
from mixtally.device.wire.rotation import KeyChanges, Rotation, follow_key
from mixtally.device.wire.round import verify_sheet
from mixtally.device.wire.sheet import Sheet, sheet_hash
from mixtally.device.wire.suite import SUITES
from mixtally.errors import RefusedError


class TrustedContract(NamedTuple):
    """A contract that was verified.

    Attributes
    ----------
    plan : str
        The SHA-256 of its plan. Contracts with the same name and plan are charged once.
    question : str
        The SHA-256 of its question. It shows whether the same question was answered under another
        name.
    rotations : tuple of Rotation
        The key replacements that lead from pinned keys to keys of the contract.
    """

    contract: Contract
    plan: str
    question: str
    rotations: tuple[Rotation, ...] = ()


class OpenRound(NamedTuple):
    """A round that was verified and can be answered.

    Attributes
    ----------
    digest : bytes
        The SHA-256 of its sheet.
    sealer : Sealer
        It encrypts messages for the roles with the keys of the sheet.
    """

    trusted: TrustedContract
    sheet: Sheet
    digest: bytes
    sealer: Sealer

    @property
    def contract(self) -> Contract:
        """The contract of the round."""
        return self.trusted.contract


def verify_contract(
    data: bytes, pins: Pins, limits: Limits, rotations: KeyChanges | None = None
) -> TrustedContract:
    """Verify a signed contract.

    Raise RefusedError unless the contract matches the pins, every hop and the collector have signed
    the contract, and the contract is within the limits.

    Parameters
    ----------
    data : bytes
        The note with the contract.
    pins : Pins
        The keys and the fingerprint that the person trusts.
    limits : Limits
        The limits that the owner of the device has set.
    rotations : KeyChanges or None
        Verified rotations, which are followed from a pinned key to the key in the contract.
    """
    contract = parse_contract(data)
    # The pins come first: without them, the keys of the contract prove nothing.
    followed = _check_pins(contract, pins, rotations or {})
    verify_note(data, role_keys(contract))
    check_plan(contract.plan, limits)
    for role in (*contract.hops, contract.collector):
        parse_address(role.address)
    plan = parse_json(text_of(data))["plan"]
    asked = {name: plan[name] for name in ("question", "edges", "grid", "prefixes")}
    return TrustedContract(contract, _hash_json(plan), _hash_json(asked), followed)


def open_round(agreed: TrustedContract, data: bytes, now: int) -> OpenRound:
    """Verify the signed sheet of an open round.

    Raise RefusedError unless every role of the contract has signed the sheet and the sheet fits the
    contract.

    Parameters
    ----------
    agreed : TrustedContract
        The verified contract.
    data : bytes
        The note with the sheet.
    now : int
        The time, in seconds since 1970.
    """
    contract = agreed.contract
    sheet = verify_sheet(data, role_keys(contract), frame_of(contract))
    _check_prefixes(contract, sheet)
    check_open(sheet, now)
    digest = sheet_hash(data)
    return OpenRound(agreed, sheet, digest, Sealer(SUITES[contract.suite], sheet.keys, digest))


def frame_of(contract: Contract) -> Frame:
    """Return the numbers of a contract with which the notes of its rounds must agree."""
    plan = contract.plan
    return Frame(
        contract.fingerprint,
        plan.collections,
        contract.open_seconds,
        plan.hops,
        contract.suite,
        len(plan.parts),
        plan.minimum_crowd,
        contract.most_bundles,
        tuple(part.most_sent(contract.most_bundles, plan.hops) for part in plan.parts),
    )


def role_keys(contract: Contract) -> dict[str, bytes]:
    """Return the public key of each role by name: the hops in order, then the collector."""
    return {role.name: role.key for role in (*contract.hops, contract.collector)}


def _check_pins(contract: Contract, pins: Pins, rotations: KeyChanges) -> tuple[Rotation, ...]:
    """Return the rotations from pinned keys to keys of the contract, or raise RefusedError."""
    hops = {hop.name for hop in contract.hops}
    if pins.fingerprint is None and not hops.intersection(name for name, _ in pins.keys):
        expected = "a pinned fingerprint, or the pinned key of a hop"
        raise refusal(
            "nothing-pinned", "trust", expected, "neither", "get one from a person whom you trust"
        )
    if pins.fingerprint not in (None, contract.fingerprint):
        raise refusal("not-the-pinned-contract", "contract", pins.fingerprint, contract.fingerprint)
    keys, followed = role_keys(contract), list[Rotation]()
    for name, key in pins.keys:
        known = follow_key(rotations, name, key)
        if keys.get(name) not in known:
            expected = f"{name} among its roles, with the key that is pinned"
            got = "another key" if name in keys else "no such role"
            do = "do not take part, unless the role's rotations lead to this key (--rotations)"
            raise refusal("not-the-pinned-key", "contract", expected, got, do)
        known = known[: known.index(keys[name]) + 1]
        followed += [Rotation(name, old, new) for old, new in pairwise(known)]
    return tuple(followed)


def _check_prefixes(contract: Contract, sheet: Sheet) -> None:
    asked = contract.plan.prefixes
    if asked is None and (sheet.prefixes is not None or sheet.closing):
        expected = "no prefixes, because the question does not use them"
        raise refusal("prefixes-not-asked", "sheet", expected, "some")
    if asked is not None and sheet.prefixes is not None:
        check_prefixes(asked, sheet.prefixes)


def check_open(sheet: Sheet, now: int) -> None:
    """Raise RefusedError for a round that is not open."""
    expected = "a round that is open by this device's clock"
    if now < sheet.opens:
        got = f"one that opens in {sheet.opens - now:,} seconds"
        raise refusal("round-not-open", "round", expected, got, "wait, or set the clock")
    if now >= sheet.closes:
        got = f"one that closed {now - sheet.closes:,} seconds ago"
        raise refusal("round-over", "round", expected, got, "take part in the next one")


def _hash_json(plain: Any) -> str:
    # Sorted, so that the order of fields in a file does not matter.
    return sha256(json.dumps(plain, sort_keys=True).encode("ascii")).hexdigest()


def refusal(
    reason: str, subject: str, expected: str, got: object, do: str = "do not take part"
) -> RefusedError:
    """Return the error that keeps a device from taking part in a round."""
    return RefusedError(reason, subject, expected=expected, got=got, do=do)
