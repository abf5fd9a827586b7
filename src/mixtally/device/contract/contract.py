"""The contract as a device reads it. Every format and range is checked."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from mixtally.device.contract.fields import (
    Fields,
    check_version,
    fingerprint_of,
    items,
    make_refusal,
    parse_json,
    text_of,
    whole,
)
from mixtally.device.contract.plan import ContractPlan, read_plan
from mixtally.device.contract.roles import Role, read_role, read_rounds

VERSION = 3
LAYER_BYTES = {1: 48, 2: 1136}
"""Bytes that a layer of encryption adds, by the number of the suite."""
_FIELDS = (
    "version name serial plan hops collector suite envelope_bytes rounds admission client_files"
)
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_FILE, _DIGEST = re.compile(r"[!-~]{1,200}"), re.compile(r"[0-9a-f]{64}")


class Contract(NamedTuple):
    """What a device needs of a contract.

    Attributes
    ----------
    fingerprint : str
        The SHA-256 of its text.
    hops : tuple of Role
        The mixes in the order in which messages pass them.
    suite : int
        The HPKE suite: 1 is X25519, 2 is MLKEM768-X25519.
    """

    fingerprint: str
    name: str
    serial: int
    plan: ContractPlan
    hops: tuple[Role, ...]
    collector: Role
    suite: int
    open_seconds: int
    every_seconds: int


def parse_contract(data: bytes) -> Contract:
    """Read the contract in ``data``, with or without signatures below it.

    Raise RefusedError, with a ``reason``, for anything else.
    """
    return read_contract(parse_json(text_of(data)), fingerprint_of(data))


def read_contract(plain: object, fingerprint: str = "") -> Contract:
    """Read a contract from parsed JSON, like ``parse_contract``."""
    check_version(plain, "contract", VERSION)
    held = Fields(plain, "contract", _FIELDS)
    if not _NAME.fullmatch(name := held.text("name")):
        raise make_refusal("name-malformed", "name", "small letters, digits and dashes", name)
    serial = held.whole("serial", 1, 1 << 53, "serial-out-of-range")
    plan = read_plan(held.values["plan"])
    hops = tuple(read_role(one, f"hop {place}") for place, one in enumerate(held.items("hops")))
    collector = read_role(held.values["collector"], "collector")
    suite = held.whole("suite", 1, max(LAYER_BYTES), "unknown-suite")
    _check_network(plan, hops, collector)
    _check_sizes(held, plan, suite)
    opened, every = read_rounds(held.values["rounds"])
    held.choice("admission", "open", "unknown-admission")
    _check_files(held.values["client_files"])
    return Contract(fingerprint, name, serial, plan, hops, collector, suite, opened, every)


def envelope_bytes(messages: Iterable[int], hops: int, suite: int) -> tuple[tuple[int, ...], ...]:
    """Return the bytes of an envelope before each hop and the collector, for each message size.

    Every hop removes one layer.
    """
    layer, layers = LAYER_BYTES[suite], range(hops + 1, 0, -1)
    return tuple(tuple(size + layer * left for left in layers) for size in messages)


def _check_network(plan: ContractPlan, hops: tuple[Role, ...], collector: Role) -> None:
    if len(hops) < plan.hops:
        reason = "more-drawing-mixes-than-hops"
        raise make_refusal(reason, "hops", f"the {plan.hops} that its plan counts on", len(hops))
    if len(hops) > plan.hops:
        raise make_refusal("more-hops-than-priced", "hops", f"{plan.hops}", len(hops))
    roles = [*hops, collector]
    # Names, addresses and keys must all be distinct. Otherwise one server could play two roles.
    for values in zip(*(role[:3] for role in roles), strict=True):
        if len(set(values)) < len(values):
            raise make_refusal(
                "hop-twice", "hops", "another name, address and key each", "one twice"
            )


def _check_sizes(held: Fields, plan: ContractPlan, suite: int) -> None:
    place = "envelope_bytes"
    rows = [items(one, place) for one in held.items(place)]
    sizes = tuple(tuple(whole(size, place) for size in row) for row in rows)
    expected = envelope_bytes((part.layout.message_bytes for part in plan.parts), plan.hops, suite)
    if sizes != expected:
        raise make_refusal("envelope-bytes", place, "the sizes that follow from its layouts", sizes)


def _check_files(value: object) -> None:
    files = value if isinstance(value, dict) else {}
    if files is not value:
        raise make_refusal("wrong-type", "client_files", "an object", value)
    for name, digest in files.items():
        written = isinstance(digest, str) and _DIGEST.fullmatch(digest)
        if not _FILE.fullmatch(name) or not written:
            raise make_refusal("client-files-malformed", "client_files", "names and SHA-256", name)
