"""The contract as a device reads it. Every format and range is checked."""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from mixtally.device.contract.fields import (
    DIGEST,
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

VERSION = 5
MOST_PER_USER = 100
"""The maximum quota of a round, in bundles for each expected person. A larger quota would not
protect the disk of the first hop."""
MOST_FILES = 128
"""Maximum number of client files that a contract names."""
LAYER_BYTES = {1: 48, 2: 1136}
"""The number of bytes that a layer of encryption adds, by the number of the HPKE suite."""
_FIELDS = (
    "version name serial plan hops collector suite envelope_bytes rounds most_bundles admission "
    "client_files"
)
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
# No segment begins with a dot, so a path cannot leave its folder.
_SEGMENT = "[A-Za-z0-9_@+~-][A-Za-z0-9._@+~-]*"
_FILE = re.compile(rf"(?=.{{1,200}}\Z){_SEGMENT}(/{_SEGMENT})*")


class Contract(NamedTuple):
    """The fields of a contract that a device uses.

    Attributes
    ----------
    fingerprint : str
        The SHA-256 of its text.
    name, serial : str, int
        The name of the contract, and the number of its version. A larger serial ends earlier ones.
    hops : tuple of Role
        The mixes in the order in which messages pass them.
    suite : int
        The HPKE suite: 1 is X25519, 2 is MLKEM768-X25519.
    open_seconds, every_seconds : int
        How long a round is open, and the time from the start of a round to the next start.
    most_bundles : int
        The maximum number of bundles that the first hop accepts in a round.
    admission : str
        Who may take part: everybody ("open"), or only people with a one-time code ("codes").
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
    most_bundles: int
    admission: str


def parse_contract(data: bytes) -> Contract:
    """Read the contract in ``data``, with or without signatures below it.

    Raise RefusedError, with a ``reason``, for anything else.
    """
    return read_contract(parse_json(text_of(data)), fingerprint_of(data))


def read_contract(plain: object, fingerprint: str = "") -> Contract:
    """Read a contract from parsed JSON. The rules and errors are those of ``parse_contract``.

    Parameters
    ----------
    plain : object
        The parsed JSON.
    fingerprint : str
        The SHA-256 of the contract's text, 64 hexadecimal digits.
    """
    check_version(plain, "contract", VERSION)
    fields = Fields(plain, "contract", _FIELDS)
    if not _NAME.fullmatch(name := fields.text("name")):
        raise make_refusal("name-malformed", "name", "small letters, digits and dashes", name)
    serial = fields.whole("serial", 1, 1 << 53, "serial-out-of-range")
    plan = read_plan(fields.values["plan"])
    hops = tuple(read_role(one, f"hop {place}") for place, one in enumerate(fields.items("hops")))
    collector = read_role(fields.values["collector"], "collector")
    suite = fields.whole("suite", 1, max(LAYER_BYTES), "unknown-suite")
    _check_network(plan, hops, collector)
    _check_sizes(fields, plan, suite)
    opened, every = read_rounds(fields.values["rounds"])
    most = MOST_PER_USER * plan.users
    most = fields.whole("most_bundles", plan.users, most, "most-bundles-out-of-range")
    admission = fields.choice("admission", "open|codes", "unknown-admission")
    _check_files(fields.items("client_files"))
    return Contract(
        fingerprint, name, serial, plan, hops, collector, suite, opened, every, most, admission
    )


def envelope_bytes(messages: Iterable[int], hops: int, suite: int) -> tuple[tuple[int, ...], ...]:
    """Return the length of an envelope in bytes, for each part and each role that receives it.

    The tuple of a part has the length that each hop receives, then the collector's.

    Parameters
    ----------
    messages : iterable of int
        The length of a message in bytes, for each part.
    hops : int
        The number of hops, each of which removes one layer.
    suite : int
        The number of the HPKE suite.
    """
    layer, layers = LAYER_BYTES[suite], range(hops + 1, 0, -1)
    return tuple(tuple(size + layer * remaining for remaining in layers) for size in messages)


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


def _check_sizes(fields: Fields, plan: ContractPlan, suite: int) -> None:
    place = "envelope_bytes"
    rows = [items(one, place) for one in fields.items(place)]
    sizes = tuple(tuple(whole(size, place) for size in row) for row in rows)
    expected = envelope_bytes((part.layout.message_bytes for part in plan.parts), plan.hops, suite)
    if sizes != expected:
        raise make_refusal("envelope-bytes", place, "the sizes that follow from its layouts", sizes)


def _check_files(files: list[Any]) -> None:
    place, before = "client_files", ""
    if len(files) > MOST_FILES:
        expected = f"at most {MOST_FILES} files"
        raise make_refusal("client-files-malformed", place, expected, len(files))
    for number, one in enumerate(files):
        fields = Fields(one, f"{place}.{number}", "path sha256")
        path, digest = fields.text("path"), fields.text("sha256")
        if not _FILE.fullmatch(path) or not DIGEST.fullmatch(digest) or path <= before:
            expected = "relative paths in ascending order, each with its SHA-256"
            raise make_refusal("client-files-malformed", fields.place, expected, path)
        before = path
