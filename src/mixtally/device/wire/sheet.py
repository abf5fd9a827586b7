"""The sheet of a round: when it is open, and the one key of every hop. All roles sign it.

Clients take no key from anywhere else: a mix that showed one person a key of their own would
recognize them behind an honest mix.
"""

import json
import re
from base64 import b64encode
from typing import Any, NamedTuple

from mixtally.device.contract.fields import (
    Fields,
    base64_of,
    fingerprint_of,
    items,
    make_refusal,
    parse_json,
    text,
    text_of,
    whole,
)

VERSION = 1
MOST_TIME = 1 << 53
MOST_ROUNDS = 1000
LEAST_KEYS, MOST_KEYS = 2, 6
_DIGEST = re.compile(r"[0-9a-f]{64}")
_FIELDS = "version kind contract round opens closes expires keys prefixes closing"


class Sheet(NamedTuple):
    """What a round is.

    where
      contract   fingerprint of the contract
      round      its number, counted over all serials of the contract's name; in [1, 1000]
      opens, closes, expires   seconds since 1970, UTC; opens < closes < expires
      keys       key configurations, of every hop in order and of the collector
      prefixes   of the words asked for, as symbols; None for the first round and other questions
      closing    whether this round asks for words that end
    """

    contract: str
    round: int
    opens: int
    closes: int
    expires: int
    keys: tuple[bytes, ...]
    prefixes: tuple[tuple[int, ...], ...] | None = None
    closing: bool = False


def write_sheet(sheet: Sheet) -> bytes:
    """The text to be signed."""
    return write_note(
        "sheet",
        {
            **sheet._asdict(),
            "keys": [b64encode(key).decode() for key in sheet.keys],
            "prefixes": sheet.prefixes,
        },
    )


def read_sheet(data: bytes) -> Sheet:
    """The sheet in ``data``, signatures below it or not; raises RefusedError for anything else."""
    held = note_fields(data, "sheet", _FIELDS)
    opens, closes, expires = (
        held.whole(name, 0, MOST_TIME, "times-out-of-range")
        for name in ("opens", "closes", "expires")
    )
    if not opens < closes < expires:
        got = f"{opens}, {closes}, {expires}"
        raise make_refusal("times-out-of-range", "sheet", "opens < closes < expires", got)
    keys = tuple(_read_key(key, held.at("keys")) for key in held.items("keys"))
    if not LEAST_KEYS <= len(keys) <= MOST_KEYS:
        expected = "one of every hop and of the collector"
        raise make_refusal("keys-miscounted", held.at("keys"), expected, len(keys))
    return Sheet(
        read_digest(held, "contract"),
        held.whole("round", 1, MOST_ROUNDS, "round-out-of-range"),
        opens,
        closes,
        expires,
        keys,
        _read_prefixes(held.values["prefixes"], held.at("prefixes")),
        held.flag("closing"),
    )


def write_withdrawal(sheet: str) -> bytes:
    """The text that withdraws the round whose sheet has this SHA-256; before it opens, by all."""
    return write_note("withdrawal", {"sheet": sheet})


def read_withdrawal(data: bytes) -> str:
    """SHA-256 of the sheet that ``data`` withdraws; raises RefusedError for anything else."""
    return read_digest(note_fields(data, "withdrawal", "version kind sheet"), "sheet")


def sheet_hash(data: bytes) -> bytes:
    """SHA-256 of the sheet's text: what every envelope of its round is bound to."""
    return bytes.fromhex(fingerprint_of(data))


def write_note(kind: str, fields: dict[str, Any]) -> bytes:
    """A note of ``kind`` as text: its kind comes first, so that none passes for another."""
    plain = json.dumps({"version": VERSION, "kind": kind, **fields}, indent=1, allow_nan=False)
    return plain.encode("ascii") + b"\n"


def note_fields(data: bytes, kind: str, names: str) -> Fields:
    """The fields of a note of ``kind``; raises RefusedError for another kind or version."""
    plain = parse_json(text_of(data))
    for name in ("version", "kind"):  # others have other fields
        if isinstance(plain, dict) and name in plain:
            one = Fields({name: plain[name]}, kind, name)
            if name == "version":
                one.whole(name, VERSION, VERSION, "unknown-version")
            else:
                one.choice(name, kind, "another-kind")
    return Fields(plain, kind, names)


def kind_of(data: bytes) -> str:
    """What a note says it is: a contract, if it does not."""
    plain = parse_json(text_of(data))
    kind = plain.get("kind", "contract") if isinstance(plain, dict) else None
    if not isinstance(kind, str):
        raise make_refusal("another-kind", "note", "an object with a kind", kind)
    return kind


def read_digest(held: Fields, name: str) -> str:
    """A SHA-256 in 64 hexadecimal digits."""
    value = held.text(name)
    if not _DIGEST.fullmatch(value):
        raise make_refusal("digest-malformed", held.at(name), "64 digits of 0-9a-f", value)
    return value


def _read_key(value: object, place: str) -> bytes:
    raw = base64_of(text(value, place))
    if not raw:
        raise make_refusal("key-configuration", place, "base64", value)
    return raw


def _read_prefixes(value: object, place: str) -> tuple[tuple[int, ...], ...] | None:
    if value is None:
        return None
    return tuple(
        tuple(whole(symbol, place) for symbol in items(one, place)) for one in items(value, place)
    )
