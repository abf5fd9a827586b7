"""Who runs a hop or the collector: name, address, Ed25519 key, operator."""

import re
from binascii import a2b_base64
from hashlib import sha256
from typing import NamedTuple

from mixtally.contract.reading import Fields, refused

_ROLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,99}")
_ADDRESS = re.compile(
    r"https://[!-~]{1,200}|http://(127\.0\.0\.1|localhost|\[::1\])(:[0-9]+)?(/[!-~]{0,100})?"
)
_KEY = re.compile(r"[A-Za-z0-9+/]{44}")


class Role(NamedTuple):
    """A hop or the collector; ``key`` is its Ed25519 public key, 32 bytes."""

    name: str
    address: str
    key: bytes
    operator: str


def read_role(value: object, place: str) -> Role:
    """A role; raises RefusedError for anything else."""
    held = Fields(value, place, "name address key operator")
    if not _ROLE.fullmatch(name := held.text("name")):
        raise refused("role-name-malformed", held.at("name"), "letters, digits and ._/-", name)
    if not _ADDRESS.fullmatch(address := held.text("address")):
        raise refused("address-malformed", held.at("address"), "https:// and no space", address)
    operator = held.text("operator")
    if not 1 <= len(operator) <= 200 or not operator.isprintable():
        raise refused("operator-malformed", held.at("operator"), "who runs it", operator)
    return Role(name, address, verifier_key(name, held.text("key"), place), operator)


def verifier_key(name: str, written: str, place: str) -> bytes:
    """The 32 bytes of the Ed25519 key that NAME+HASH+BASE64 writes; RefusedError otherwise.

    Source: C2SP signed-note, "verifier keys".
    """
    parts = written.split("+", 2)
    if len(parts) == 3 and parts[0] == name and _KEY.fullmatch(parts[2]):
        raw = a2b_base64(parts[2])
        digest = sha256(name.encode("ascii") + b"\n" + raw).hexdigest()
        if raw[0] == 1 and parts[1] == digest[:8]:
            return raw[1:]
    raise refused("key-malformed", f"{place}.key", f"the Ed25519 key {name}+HASH+BASE64", written)
