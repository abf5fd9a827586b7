"""The sheet of a round: its times, and the public keys of all hops and the collector.

All roles sign the sheet, and clients use only keys of a sheet. Otherwise a mix could give a key to
one person only. It could then recognize this person's messages even after an honest mix.
"""

import json
from base64 import b64encode
from typing import Any, NamedTuple

from mixtally.device.contract.fields import DIGEST as DIGEST
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
LEAST_KEYS, MOST_KEYS = 2, 6  # one to five hops, and the collector
_FIELDS = "version kind contract round opens closes expires keys prefixes closing"


class Sheet(NamedTuple):
    """The times and the keys of a round, on which all roles agree.

    Attributes
    ----------
    contract : str
        The fingerprint of the contract.
    round : int
        The number of the round in [1, 1000]. It increases over all contracts of one name: a larger
        serial continues the numbers.
    opens, closes, expires : int
        When the round opens and closes, and when its keys are destroyed at the latest, in seconds
        since 1970, UTC. opens < closes < expires.
    keys : tuple of bytes
        The HPKE key configurations of the hops in order, then that of the collector.
    prefixes : tuple of tuples of int, or None
        In a search for words: the prefixes whose extensions the round counts, each as the numbers
        of its symbols. None in the first round, and for other questions.
    closing : bool
        In a search for words: whether the round counts only complete words, which are a prefix and
        the symbols that the round asks for, without further symbols.
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
    """Return the text of a sheet, which all roles sign."""
    return write_note(
        "sheet",
        {
            **sheet._asdict(),
            "keys": [b64encode(key).decode() for key in sheet.keys],
            "prefixes": sheet.prefixes,
        },
    )


def read_sheet(data: bytes) -> Sheet:
    """Read the sheet in ``data``, with or without signatures, or raise RefusedError."""
    fields = note_fields(data, "sheet", _FIELDS)
    opens, closes, expires = (
        fields.whole(name, 0, MOST_TIME, "times-out-of-range")
        for name in ("opens", "closes", "expires")
    )
    if not opens < closes < expires:
        got = f"{opens}, {closes}, {expires}"
        raise make_refusal("times-out-of-range", "sheet", "opens < closes < expires", got)
    keys = tuple(_read_key(key, fields.at("keys")) for key in fields.items("keys"))
    if not LEAST_KEYS <= len(keys) <= MOST_KEYS:
        expected = "one of every hop and of the collector"
        raise make_refusal("keys-miscounted", fields.at("keys"), expected, len(keys))
    return Sheet(
        read_digest(fields, "contract"),
        fields.whole("round", 1, MOST_ROUNDS, "round-out-of-range"),
        opens,
        closes,
        expires,
        keys,
        _read_prefixes(fields.values["prefixes"], fields.at("prefixes")),
        fields.flag("closing"),
    )


def write_withdrawal(sheet: str) -> bytes:
    """Return the text that withdraws a round before it opens; all roles sign it.

    ``sheet`` is the SHA-256 of the sheet.
    """
    return write_note("withdrawal", {"sheet": sheet})


def read_withdrawal(data: bytes) -> str:
    """Return the SHA-256 of the sheet that ``data`` withdraws, or raise RefusedError."""
    return read_digest(note_fields(data, "withdrawal", "version kind sheet"), "sheet")


def sheet_hash(data: bytes) -> bytes:
    """Return the SHA-256 of the sheet's text, to which every envelope of its round is bound."""
    return bytes.fromhex(fingerprint_of(data))


def write_note(kind: str, fields: dict[str, Any]) -> bytes:
    """Return a note as text. The text contains ``kind``, so it cannot pass for another kind."""
    plain = json.dumps({"version": VERSION, "kind": kind, **fields}, indent=1, allow_nan=False)
    return plain.encode("ascii") + b"\n"


def note_fields(data: bytes, kind: str, names: str) -> Fields:
    """Return the fields of a note of ``kind``; raise RefusedError for another kind or version."""
    plain = parse_json(text_of(data))
    # Checked before the fields, because another version or kind has other fields, and the error
    # should name the version or kind.
    for name in ("version", "kind"):
        if isinstance(plain, dict) and name in plain:
            one = Fields({name: plain[name]}, kind, name)
            if name == "version":
                one.whole(name, VERSION, VERSION, "unknown-version")
            else:
                one.choice(name, kind, "another-kind")
    return Fields(plain, kind, names)


def kind_of(data: bytes) -> str:
    """Return the kind of a note; a note without a kind is a contract."""
    plain = parse_json(text_of(data))
    kind = plain.get("kind", "contract") if isinstance(plain, dict) else None
    if not isinstance(kind, str):
        raise make_refusal("another-kind", "note", "an object with a kind", kind)
    return kind


def read_digest(fields: Fields, name: str) -> str:
    """Return a field with a SHA-256 in 64 hexadecimal digits, or raise RefusedError."""
    value = fields.text(name)
    if not DIGEST.fullmatch(value):
        raise make_refusal("digest-malformed", fields.at(name), "64 digits of 0-9a-f", value)
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
