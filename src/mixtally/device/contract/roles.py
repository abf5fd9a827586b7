"""The roles of a contract, the keys with which they sign, and the schedule of rounds.

Source: C2SP signed-note, "verifier keys".
"""

import re
from base64 import b64encode
from hashlib import sha256
from typing import NamedTuple

from mixtally.device.contract.fields import Fields, base64_of, make_refusal

_ROLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,99}")
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
    """Read a role, or raise RefusedError."""
    held = Fields(value, place, "name address key operator")
    if not _ROLE.fullmatch(name := held.text("name")):
        raise make_refusal("role-name-malformed", held.at("name"), "letters, digits and ._/-", name)
    if not _ADDRESS.fullmatch(address := held.text("address")):
        raise make_refusal(
            "address-malformed", held.at("address"), "https:// and no space", address
        )
    operator = held.text("operator")
    if not 1 <= len(operator) <= 200 or not operator.isprintable():
        raise make_refusal("operator-malformed", held.at("operator"), "who runs it", operator)
    return Role(name, address, parse_verifier_key(name, held.text("key"), place), operator)


def key_hash(name: str, public: bytes) -> bytes:
    """Return the four bytes by which a note identifies the key of a signature."""
    return sha256(name.encode() + b"\n" + ED25519 + public).digest()[:HASH_BYTES]


def format_verifier_key(name: str, public: bytes) -> str:
    """Return the verifier key of ``name`` as text, for a public key of 32 bytes."""
    return f"{name}+{key_hash(name, public).hex()}+{b64encode(ED25519 + public).decode()}"


def parse_verifier_key(name: str, written: str, place: str) -> bytes:
    """Return the 32 bytes of the Ed25519 key in NAME+HASH+BASE64, or raise RefusedError."""
    raw = base64_of(written.split("+", 2)[-1]) or b""
    if len(raw) != 1 + KEY_BYTES or written != format_verifier_key(name, raw[1:]):
        raise make_refusal(
            "key-malformed", f"{place}.key", f"the Ed25519 key {name}+HASH+BASE64", written
        )
    return raw[1:]


def read_rounds(value: object) -> tuple[int, int]:
    """Return how long a round is open, and the time from one start to the next, in seconds."""
    held = Fields(value, "rounds", "open_seconds every_seconds")
    every = held.whole("every_seconds", 1, 10**8, "rounds-out-of-range")
    return held.whole("open_seconds", 1, every, "rounds-out-of-range"), every
