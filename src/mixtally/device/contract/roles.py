"""The roles of a contract, the keys with which they sign, and the schedule of rounds.

Source: C2SP signed-note, "verifier keys".
"""

import re
from base64 import b64encode
from hashlib import sha256
from typing import NamedTuple

from mixtally.device.contract.fields import Fields, base64_of, make_refusal

ROLE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,99}")
# Unencrypted http is accepted only for tests on one machine.
_ADDRESS = re.compile(
    r"https://[!-~]{1,200}|http://(127\.0\.0\.1|localhost|\[::1\])(:[0-9]+)?(/[!-~]{0,100})?"
)
ED25519 = b"\x01"
KEY_BYTES, HASH_BYTES = 32, 4


class Role(NamedTuple):
    """A hop or the collector; ``key`` is its Ed25519 public key, 32 bytes."""

    name: str
    address: str
    key: bytes
    operator: str


def read_role(value: object, place: str) -> Role:
    """Read a role, or raise RefusedError.

    Parameters
    ----------
    value : object
        The decoded JSON of the role.
    place : str
        Where the role is in its document, for error messages.
    """
    fields = Fields(value, place, "name address key operator")
    name = read_role_name(fields, "name")
    if not _ADDRESS.fullmatch(address := fields.text("address")):
        raise make_refusal(
            "address-malformed", fields.at("address"), "https:// and no space", address
        )
    operator = fields.text("operator")
    if not 1 <= len(operator) <= 200 or not operator.isprintable():
        raise make_refusal("operator-malformed", fields.at("operator"), "who runs it", operator)
    return Role(name, address, parse_verifier_key(name, fields.text("key"), place), operator)


def read_role_name(fields: Fields, field: str) -> str:
    """Return the name of a role in a field, or raise RefusedError."""
    if not ROLE_NAME.fullmatch(name := fields.text(field)):
        raise make_refusal(
            "role-name-malformed", fields.at(field), "letters, digits and ._/-", name
        )
    return name


def key_hash(name: str, public: bytes) -> bytes:
    """Return the four bytes that identify the key of a signature in a note.

    Parameters
    ----------
    name : str
        The name of the role.
    public : bytes
        The public key, 32 bytes.
    """
    return sha256(name.encode() + b"\n" + ED25519 + public).digest()[:HASH_BYTES]


def format_verifier_key(name: str, public: bytes) -> str:
    """Return a verifier key as text.

    Parameters
    ----------
    name : str
        The name of the role.
    public : bytes
        The public key, 32 bytes.
    """
    return f"{name}+{key_hash(name, public).hex()}+{b64encode(ED25519 + public).decode()}"


def parse_verifier_key(name: str, written: str, place: str) -> bytes:
    """Return the 32 bytes of an Ed25519 key, or raise RefusedError.

    Parameters
    ----------
    name : str
        The name that the key must have.
    written : str
        The key as NAME+HASH+BASE64.
    place : str
        Where the key is in its document, for error messages.
    """
    raw = base64_of(written.split("+", 2)[-1]) or b""
    if len(raw) != 1 + KEY_BYTES or written != format_verifier_key(name, raw[1:]):
        raise make_refusal(
            "key-malformed", f"{place}.key", f"the Ed25519 key {name}+HASH+BASE64", written
        )
    return raw[1:]


def read_rounds(value: object) -> tuple[int, int]:
    """Read the schedule of rounds, or raise RefusedError.

    The result is how long a round is open, and the time from one start to the next, in seconds.
    """
    fields = Fields(value, "rounds", "open_seconds every_seconds")
    every = fields.whole("every_seconds", 1, 10**8, "rounds-out-of-range")
    return fields.whole("open_seconds", 1, every, "rounds-out-of-range"), every
