"""What is read of a contract or another note: its text, its JSON, and its fields one by one.

Every object has exactly its fields, each once. Integers up to 2^53 are numbers and larger ones
decimal strings, so that every language reads the same.

Source: RFC 8259; C2SP signed-note, for the lines below the text.
"""

import json
import re
from base64 import b64encode
from binascii import Error, a2b_base64
from hashlib import sha256
from typing import Any

from mixtally.errors import RefusedError

MOST_PLAIN = 1 << 53
MOST_NOTE_BYTES = 1 << 24
"""Of a note as it travels: roles and devices read no more."""
MOST_TEXT_BYTES = MOST_NOTE_BYTES - (1 << 16)
"""Of its text: what is left is for signatures."""
_BELOW = "\n\n\u2014 ".encode()
_DECIMAL = re.compile(r"-?[1-9][0-9]{15,39}")


def text_of(data: bytes) -> bytes:
    """The text that is hashed and signed: ``data`` without the lines of its signatures."""
    text, below, _ = data.partition(_BELOW)
    return text + b"\n" if below else data


def fingerprint_of(data: bytes) -> str:
    """SHA-256 of the text, 64 hexadecimal digits."""
    return sha256(text_of(data)).hexdigest()


def make_refusal(reason: str, place: str, expected: str, got: object) -> RefusedError:
    """The refusal of a contract for what stands at ``place``."""
    return RefusedError(
        reason,
        place,
        expected=expected,
        got=ascii(got)[:80],
        do="take no part: the file was altered or is for another version",
    )


def parse_json(text: bytes) -> Any:
    """The JSON in ``text``; raises RefusedError for other bytes and a field that stands twice."""
    if len(text) > MOST_TEXT_BYTES:
        raise make_refusal("too-long", "contract", f"at most {MOST_TEXT_BYTES:,} bytes", len(text))
    try:
        return json.loads(
            text.decode("utf-8"),
            object_pairs_hook=_reject_duplicate_fields,
            parse_constant=_reject_constant,
        )
    except (ValueError, RecursionError) as error:
        raise make_refusal("not-json", "contract", "JSON in UTF-8", str(error)) from error


def _reject_duplicate_fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    held: dict[str, Any] = {}
    for name, value in pairs:
        if name in held:
            raise make_refusal(
                "field-twice", _escape_name(name), "every field once", "it stands twice"
            )
        held[name] = value
    return held


def base64_of(value: str) -> bytes | None:
    """The bytes that ``value`` writes in base64; None where an encoder would not write it so."""
    try:
        raw = a2b_base64(value, strict_mode=True)
    except (Error, ValueError):
        return None
    return raw if b64encode(raw).decode() == value else None  # one spelling for one signature


def _escape_name(name: str) -> str:
    """A name that somebody else gave, as a message may hold it."""
    return ascii(name)[1:-1][:80]


def _reject_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number")


def whole(value: object, place: str) -> int:
    """An integer as the rule wants it written."""
    if isinstance(value, int) and not isinstance(value, bool):
        if abs(value) > MOST_PLAIN:
            raise make_refusal("integer-as-number", place, "a decimal string above 2^53", value)
        return value
    if isinstance(value, str) and value.lstrip("-").isdecimal() and value.isascii():
        if not _DECIMAL.fullmatch(value) or abs(int(value)) <= MOST_PLAIN:
            raise make_refusal("integer-as-string", place, "a number up to 2^53", value)
        return int(value)
    raise make_refusal("wrong-type", place, "an integer", value)


def number(value: object, place: str) -> float:
    """A number, whole or not, that is exactly a double."""
    if isinstance(value, float):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        try:
            if float(value) == value:
                return float(value)
        except OverflowError:
            pass
    raise make_refusal("wrong-type", place, "a number", value)


def text(value: object, place: str) -> str:
    """A string."""
    if not isinstance(value, str):
        raise make_refusal("wrong-type", place, "a string", value)
    return value


def items(value: object, place: str) -> list[Any]:
    """A list."""
    if not isinstance(value, list):
        raise make_refusal("wrong-type", place, "a list", value)
    return value


class Fields:
    """The fields of one object, which has exactly ``names``."""

    def __init__(self, value: object, place: str, names: str) -> None:
        if not isinstance(value, dict):
            raise make_refusal("wrong-type", place, "an object", value)
        expected = names.split()
        for name in expected:
            if name not in value:
                raise make_refusal(
                    "field-missing", f"{place}.{name}", "a field of this name", "none"
                )
        for name in value:
            if name not in expected:
                raise make_refusal(
                    "field-unknown", f"{place}.{_escape_name(name)}", f"one of {names}", name
                )
        self.values, self.place = value, place

    def at(self, name: str) -> str:
        """Where a field stands."""
        return f"{self.place}.{name}"

    def whole(self, name: str, least: int, most: int, reason: str) -> int:
        """An integer in [least, most]."""
        value = whole(self.values[name], self.at(name))
        if not least <= value <= most:
            raise make_refusal(reason, self.at(name), f"an integer in [{least}, {most}]", value)
        return value

    def number(self, name: str, least: float, most: float, reason: str) -> float:
        """A number in [least, most]."""
        value = number(self.values[name], self.at(name))
        if not least <= value <= most:
            raise make_refusal(reason, self.at(name), f"a number in [{least:g}, {most:g}]", value)
        return value

    def text(self, name: str) -> str:
        """A string."""
        return text(self.values[name], self.at(name))

    def choice(self, name: str, among: str, reason: str) -> str:
        """One of the strings in ``among``."""
        value = self.text(name)
        if value not in among.split("|"):
            raise make_refusal(reason, self.at(name), f"one of {among}", value)
        return value

    def flag(self, name: str) -> bool:
        """True or false."""
        value = self.values[name]
        if not isinstance(value, bool):
            raise make_refusal("wrong-type", self.at(name), "true or false", value)
        return value

    def items(self, name: str) -> list[Any]:
        """A list."""
        return items(self.values[name], self.at(name))


def check_version(plain: object, place: str, version: int) -> None:
    """Raises RefusedError for another version, whatever else is in it: it has other fields."""
    if isinstance(plain, dict) and "version" in plain:
        where = f"{place}.version"
        found = whole(plain["version"], where)
        if found != version:
            raise make_refusal("unknown-version", where, f"version {version}", found)
