"""Whether a contract and a round are what all who run them signed, and what this person believes.

Nothing is taken from elsewhere: the person pins a fingerprint or keys, the contract names all keys,
every role has signed the contract, and the same roles have signed the sheet with the round's keys.
So a role that shows one person something else is refused, whoever served it.
"""

import json
from hashlib import sha256
from typing import Any, NamedTuple

from mixtally.device.client.limits import Limits, checked
from mixtally.device.client.net.pins import Pins
from mixtally.device.client.net.post import target
from mixtally.device.contract.contract import Contract, read
from mixtally.device.contract.reading import parsed, text_of
from mixtally.device.contract.spelling import checked_prefixes
from mixtally.device.wire.envelope import Sealer
from mixtally.device.wire.fit import Frame
from mixtally.device.wire.note import verified
from mixtally.device.wire.round import signed_sheet
from mixtally.device.wire.sheet import Sheet, sheet_hash
from mixtally.device.wire.suite import SUITES
from mixtally.errors import RefusedError


class Trusted(NamedTuple):
    """A contract that is believed.

    where
      plan       SHA-256 of its plan: contracts that share it share a charge
      question   SHA-256 of its question, by which it is known again under another name
    """

    contract: Contract
    plan: str
    question: str


class Round(NamedTuple):
    """A round that may be answered.

    where
      digest   SHA-256 of its sheet
      sealer   for the keys of the sheet
    """

    trusted: Trusted
    sheet: Sheet
    digest: bytes
    sealer: Sealer

    @property
    def contract(self) -> Contract:
        """What all agreed on."""
        return self.trusted.contract


def trusted(data: bytes, pins: Pins, limits: Limits) -> Trusted:
    """The contract in the note ``data``.

    Raises RefusedError unless it is the pinned one, or has the pinned keys; unless every hop and
    the collector signed it; and past a limit.
    """
    contract = read(data)
    _check_pins(contract, pins)
    verified(data, _keys(contract))
    checked(contract.plan, limits)
    target(contract.hops[0].address)
    plan = parsed(text_of(data))["plan"]
    asked = {name: plan[name] for name in ("question", "edges", "grid", "prefixes")}
    return Trusted(contract, _digest(plan), _digest(asked))


def open_round(agreed: Trusted, data: bytes, now: int) -> Round:
    """The round whose sheet is in the note ``data``, which is open at ``now``.

    Raises RefusedError unless every role of the contract signed it and it fits the contract.
    """
    contract, plan = agreed.contract, agreed.contract.plan
    frame = Frame(
        contract.fingerprint,
        plan.collections,
        contract.open_seconds,
        plan.hops,
        contract.suite,
        len(plan.parts),
        plan.minimum_crowd,
    )
    sheet = signed_sheet(data, _keys(contract), frame)
    _check_prefixes(contract, sheet)
    check_open(sheet, now)
    digest = sheet_hash(data)
    return Round(agreed, sheet, digest, Sealer(SUITES[contract.suite], sheet.keys, digest))


def _keys(contract: Contract) -> dict[str, bytes]:
    return {role.name: role.key for role in (*contract.hops, contract.collector)}


def _check_pins(contract: Contract, pins: Pins) -> None:
    hops = {hop.name for hop in contract.hops}
    if pins.fingerprint is None and not hops.intersection(name for name, _ in pins.keys):
        expected = "a pinned fingerprint, or the pinned key of a hop"
        raise _no(
            "nothing-pinned", "trust", expected, "neither", "ask somebody you believe for one"
        )
    if pins.fingerprint not in (None, contract.fingerprint):
        raise _no("not-the-pinned-contract", "contract", pins.fingerprint, contract.fingerprint)
    keys = _keys(contract)
    for name, key in pins.keys:
        if keys.get(name) != key:
            expected = f"{name} among its roles, with the key that is pinned"
            got = "another key" if name in keys else "no such role"
            raise _no("not-the-pinned-key", "contract", expected, got)


def _check_prefixes(contract: Contract, sheet: Sheet) -> None:
    asked = contract.plan.prefixes
    if asked is None and (sheet.prefixes is not None or sheet.closing):
        expected = "no prefixes: no word is asked by them"
        raise _no("prefixes-not-asked", "sheet", expected, "some")
    if asked is not None and sheet.prefixes is not None:
        checked_prefixes(asked, sheet.prefixes)


def check_open(sheet: Sheet, now: int) -> None:
    """Raises RefusedError for a round that is not open."""
    expected = "a round that is open by this device's clock"
    if now < sheet.opens:
        got = f"one that opens in {sheet.opens - now:,} seconds"
        raise _no("round-not-open", "round", expected, got, "wait, or set the clock")
    if now >= sheet.closes:
        got = f"one that closed {now - sheet.closes:,} seconds ago"
        raise _no("round-over", "round", expected, got, "take part in the next one")


def _digest(plain: Any) -> str:
    return sha256(json.dumps(plain, sort_keys=True).encode("ascii")).hexdigest()


def _no(
    reason: str, subject: str, expected: str, got: object, do: str = "take no part"
) -> RefusedError:
    return RefusedError(reason, subject, expected=expected, got=got, do=do)
