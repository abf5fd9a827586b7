"""Strict parsing of contracts and other notes: text, JSON and fields.

Every object has exactly its fields, each once. Integers up to 2^53 are JSON numbers and larger ones
decimal strings, so that every language reads the same value.

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
"""Maximum bytes of a note with its signatures, for roles and devices."""
MOST_TEXT_BYTES = MOST_NOTE_BYTES - (1 << 16)
"""Maximum bytes of the text of a note, which leaves space for signatures."""
_BELOW = "\n\n\u2014 ".encode()
DIGEST = re.compile(r"[0-9a-f]{64}")
"""The form of a SHA-256 in hexadecimal digits."""
_DECIMAL = re.compile(r"-?[1-9][0-9]{15,39}")


def text_of(data: bytes) -> bytes:
    """Return the text that is hashed and signed: ``data`` without signature lines."""
    text, below, _ = data.partition(_BELOW)
    return text + b"\n" if below else data


def fingerprint_of(data: bytes) -> str:
    """Return the SHA-256 of the text as 64 hexadecimal digits."""
    return sha256(text_of(data)).hexdigest()


def make_refusal(reason: str, place: str, expected: str, got: object) -> RefusedError:
    """Return the error for a contract with an invalid value.

    Parameters
    ----------
    reason : str
        The public name of the refusal, which clients in all languages share.
    place : str
        The path of the value in its document, for the message.
    expected : str
        A description of the expected value.
    got : object
        The invalid value.
    """
    return RefusedError(
        reason,
        place,
        expected=expected,
        got=ascii(got)[:80],
        do="do not take part: the file was altered or is for another version",
    )


def parse_json(text: bytes) -> Any:
    """Parse the JSON in ``text``; raise RefusedError for anything else or a repeated field."""
    if len(text) > MOST_TEXT_BYTES:
        raise make_refusal("too-long", "contract", f"at most {MOST_TEXT_BYTES:,} bytes", len(text))
    try:
        return json.loads(
            text.decode("utf-8"),
            object_pairs_hook=_reject_duplicate_fields,
            parse_constant=reject_constant,
        )
    except (ValueError, RecursionError) as error:  # RecursionError: deep nesting
        raise make_refusal("not-json", "contract", "JSON in UTF-8", str(error)) from error


def _reject_duplicate_fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, value in pairs:
        if name in fields:
            raise make_refusal(
                "field-twice", _escape_name(name), "every field once", "it stands twice"
            )
        fields[name] = value
    return fields


def base64_of(value: str) -> bytes | None:
    """Decode base64; return None unless ``value`` is the canonical encoding of its bytes."""
    try:
        raw = a2b_base64(value, strict_mode=True)
    except (Error, ValueError):
        return None
    return raw if b64encode(raw).decode() == value else None  # one spelling for one signature


def _escape_name(name: str) -> str:
    """Return a name from an untrusted document, escaped and shortened for a message."""
    return ascii(name)[1:-1][:80]


def reject_constant(name: str) -> None:
    """Raise ValueError for NaN or Infinity, which Python's parser of JSON accepts."""
    raise ValueError(f"{name} is not a number")


def whole(value: object, place: str) -> int:
    """Return ``value`` as an integer, or raise RefusedError if it is none.

    An integer above 2^53 must be written as a decimal string, and any other as a JSON number.
    """
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
    """Return ``value`` as a double, or raise RefusedError if no double equals it."""
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
    """Return ``value``, or raise RefusedError if it is not a string."""
    if not isinstance(value, str):
        raise make_refusal("wrong-type", place, "a string", value)
    return value


def items(value: object, place: str) -> list[Any]:
    """Return ``value``, or raise RefusedError if it is not a list."""
    if not isinstance(value, list):
        raise make_refusal("wrong-type", place, "a list", value)
    return value


class Fields:
    """The fields of a JSON object, which must have exactly the fields in ``names``.

    ``names`` are separated by spaces. ``place`` is the path of the object, for messages. All
    methods raise RefusedError for an invalid value.
    """

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
        """Return the path of a field, for error messages."""
        return f"{self.place}.{name}"

    def whole(self, name: str, least: int, most: int, reason: str) -> int:
        """Return the field ``name``, an integer in [least, most]."""
        value = whole(self.values[name], self.at(name))
        if not least <= value <= most:
            raise make_refusal(reason, self.at(name), f"an integer in [{least}, {most}]", value)
        return value

    def number(self, name: str, least: float, most: float, reason: str) -> float:
        """Return the field ``name``, a number in [least, most]."""
        value = number(self.values[name], self.at(name))
        if not least <= value <= most:
            raise make_refusal(reason, self.at(name), f"a number in [{least:g}, {most:g}]", value)
        return value

    def text(self, name: str) -> str:
        """Return the field ``name``, a string."""
        return text(self.values[name], self.at(name))

    def choice(self, name: str, among: str, reason: str) -> str:
        """Return the field ``name``, one of the strings in ``among``, which "|" separates."""
        value = self.text(name)
        if value not in among.split("|"):
            raise make_refusal(reason, self.at(name), f"one of {among}", value)
        return value

    def flag(self, name: str) -> bool:
        """Return the field ``name``, a boolean."""
        value = self.values[name]
        if not isinstance(value, bool):
            raise make_refusal("wrong-type", self.at(name), "true or false", value)
        return value

    def items(self, name: str) -> list[Any]:
        """Return the field ``name``, a list."""
        return items(self.values[name], self.at(name))


def check_version(plain: object, place: str, version: int) -> None:
    """Raise RefusedError for a document of another version.

    The check precedes all others, because another version may have other fields.

    Parameters
    ----------
    plain : object
        The parsed JSON.
    place : str
        The name of the document, for error messages.
    version : int
        The supported version.
    """
    if isinstance(plain, dict) and "version" in plain:
        where = f"{place}.version"
        found = whole(plain["version"], where)
        if found != version:
            raise make_refusal("unknown-version", where, f"version {version}", found)
