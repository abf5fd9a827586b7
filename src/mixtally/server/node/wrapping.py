"""The master key, and what it wraps: no secret of a role lies open in its folder.

    wrapped = nonce (12 bytes), AES-256-GCM(master key, nonce, secret; label and name)

A backup of the folder without the master key opens nothing. The key is a file of 64 hexadecimal
digits elsewhere, or an environment variable.

Source: NIST SP 800-38D.
"""

import hmac
import os
import re
import stat
from collections.abc import Mapping
from enum import Enum
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from mixtally.errors import DataError
from mixtally.primitives.chance import Chance
from mixtally.server.node import disk

KEY_BYTES = 32
_NONCE_BYTES = 12
_HEX = re.compile(rb"[0-9a-f]{64}\n?")


class KeyPurpose(bytes, Enum):
    """What a wrapped secret is for; one for each use."""

    SIGNING = b"mixtally signing key 1"
    ROUND = b"mixtally round key 1"
    DRAWN = b"mixtally drawn fakes 1"
    ENGINE = b"mixtally engine job 1"
    JOB = b"mixtally job of a contract 1"


def secret_bytes(chance: Chance, count: int) -> bytes:
    """So many bytes that nobody can predict."""
    return chance.words(-(-count // 8)).astype("<u8").tobytes()[:count]


def wrap_secret(key: bytes, label: KeyPurpose, name: str, secret: bytes, chance: Chance) -> bytes:
    """``secret`` under ``key``, bound to what it is for and whose it is."""
    nonce = secret_bytes(chance, _NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, secret, label.value + name.encode())


def unwrap_secret(key: bytes, label: KeyPurpose, name: str, data: bytes) -> bytes:
    """The secret again; raises DataError for another key and for bytes that were altered."""
    nonce, sealed = data[:_NONCE_BYTES], data[_NONCE_BYTES:]
    try:
        return AESGCM(key).decrypt(nonce, sealed, label.value + name.encode())
    except (InvalidTag, ValueError) as error:
        raise DataError(
            name,
            expected="a secret wrapped under this role's master key",
            got="one that does not open",
            do="start with the master key that init used",
        ) from error


def compute_tag(key: bytes, label: KeyPurpose, name: str, data: bytes) -> bytes:
    """What only who has ``key`` can write beside ``data``: HMAC-SHA256, in hexadecimal digits."""
    made = hmac.new(key, label.value + b"\0" + name.encode() + b"\0" + data, "sha256")
    return made.hexdigest().encode() + b"\n"


def read_master(named: str, environment: Mapping[str, str]) -> bytes:
    """The master key that ``named`` leads to: ``env:NAME``, or the path of a file.

    Raises DataError for none, for another form, and for a file that others may read.
    """
    kind, _, variable = named.partition(":")
    if kind == "env":
        data = environment.get(variable, "").encode()
    else:
        path = Path(named)
        data = disk.read_file(path, "the master key")
        if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise _master_key_error(named, "one that others may read", "chmod 600")
    if not _HEX.fullmatch(data):
        raise _master_key_error(named, "something else", "give the one that init made")
    return bytes.fromhex(data.decode())


def make_master(path: Path, chance: Chance) -> None:
    """Write a new master key; one that is there stays."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        disk.put(path, secret_bytes(chance, KEY_BYTES).hex().encode() + b"\n", "the master key")
        os.chmod(path, disk.PRIVATE_FILE)


def _master_key_error(named: str, got: str, do: str) -> DataError:
    return DataError(named, expected="a master key of 64 hexadecimal digits", got=got, do=do)
