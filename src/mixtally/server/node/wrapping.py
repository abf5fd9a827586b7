"""Encryption of the secrets of a role under its master key.

    wrapped = nonce (12 bytes), AES-256-GCM(master key, nonce, secret; label and name)

The label and the name are authenticated with the secret. A backup of the role's folder is useless
without the master key. The master key is a file of 64 hexadecimal digits outside the folder, or an
environment variable.

Source: NIST SP 800-38D.
"""

import hmac
import os
import re
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
    """The purpose of an encrypted secret, without which the secret cannot be decrypted."""

    SIGNING = b"mixtally signing key 1"
    ROUND = b"mixtally round key 1"
    DRAWN = b"mixtally drawn fakes 1"
    ENGINE = b"mixtally engine job 1"
    JOB = b"mixtally job of a contract 1"


def secret_bytes(chance: Chance, count: int) -> bytes:
    """Return ``count`` random bytes from ``chance``, as a secret."""
    return chance.words(-(-count // 8)).astype("<u8").tobytes()[:count]


def wrap_secret(key: bytes, label: KeyPurpose, name: str, secret: bytes, chance: Chance) -> bytes:
    """Encrypt ``secret`` under ``key``, and bind it to its purpose and name."""
    nonce = secret_bytes(chance, _NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, secret, label.value + name.encode())


def unwrap_secret(key: bytes, label: KeyPurpose, name: str, data: bytes) -> bytes:
    """Decrypt a secret; raises DataError if the key is wrong or the bytes were changed."""
    nonce, sealed = data[:_NONCE_BYTES], data[_NONCE_BYTES:]
    try:
        return AESGCM(key).decrypt(nonce, sealed, label.value + name.encode())
    except (InvalidTag, ValueError) as error:
        raise DataError(
            name,
            expected="a secret wrapped under this role's master key",
            got="one that cannot be decrypted",
            do="start with the master key that init used",
        ) from error


def compute_tag(key: bytes, label: KeyPurpose, name: str, data: bytes) -> bytes:
    """Return the HMAC-SHA256 of ``data`` in hexadecimal digits, bound to a purpose and a name."""
    # Zero bytes separate the fields, so that different fields never give the same input.
    made = hmac.new(key, label.value + b"\0" + name.encode() + b"\0" + data, "sha256")
    return made.hexdigest().encode() + b"\n"


def read_master(named: str, environment: Mapping[str, str]) -> bytes:
    """Read the master key of 32 bytes.

    ``named`` is ``env:NAME`` for a variable in ``environment``, or the path of a file.

    Raises
    ------
    DataError
        If the key is missing or malformed, or other users may read the file.
    """
    kind, _, variable = named.partition(":")
    if kind == "env":
        data = environment.get(variable, "").encode()
    else:
        path = Path(named)
        data = disk.read_file(path, "the master key")
        if not disk.is_private(path):
            raise _master_key_error(named, "one that others may read", "chmod 600")
    if not _HEX.fullmatch(data):
        raise _master_key_error(named, "something else", "give the one that init made")
    return bytes.fromhex(data.decode())


def make_master(path: Path, chance: Chance) -> None:
    """Write a new master key, unless the file exists."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        disk.put(path, secret_bytes(chance, KEY_BYTES).hex().encode() + b"\n", "the master key")
        os.chmod(path, disk.PRIVATE_FILE)


def _master_key_error(named: str, got: str, do: str) -> DataError:
    return DataError(named, expected="a master key of 64 hexadecimal digits", got=got, do=do)
