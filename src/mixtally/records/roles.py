"""Who runs what, and when: hops, collector, rounds."""

import base64
import binascii
import hashlib
import re

import msgspec

from mixtally.errors import PlanError

MOST_HOPS = 5
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,99}")
_ADDRESS = re.compile(
    r"https://[!-~]{1,200}|http://(127\.0\.0\.1|localhost|\[::1\])(:[0-9]+)?(/[!-~]{0,100})?"
)
_ED25519 = b"\x01"
_KEY_BYTES, _HASH_BYTES = 32, 4


class Role(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A hop, or the collector.

    where
      name       letters, digits, dots, dashes, underscores and slashes, at most 100
      address    https://..., or http:// on this machine and nowhere else
      key        its Ed25519 verifier key: NAME+HASH+BASE64, as signed notes have it
      operator   who runs it, in words

    Raises PlanError for anything else.

    Source: C2SP signed-note, "verifier keys".
    """

    name: str
    address: str
    key: str
    operator: str

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise _wrong("name", "letters, digits and ._/-", self.name)
        if not _ADDRESS.fullmatch(self.address):
            raise _wrong(f"address of {self.name}", "https:// and no space", self.address)
        if not self.operator or not self.operator.isprintable() or len(self.operator) > 200:
            raise _wrong(f"operator of {self.name}", "who runs it, in words", self.operator)
        verifier_key(self.name, self.key)

    @property
    def public(self) -> bytes:
        """The 32 bytes of its Ed25519 key, whatever the name they are written with."""
        return verifier_key(self.name, self.key)


def verifier_key(name: str, text: str) -> bytes:
    """The 32 bytes of the Ed25519 key that ``text`` writes for ``name``.

    Raises PlanError for a key of another form, name or algorithm.
    """
    parts = text.split("+", 2)
    try:
        raw = base64.b64decode(parts[-1], validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    known = len(parts) == 3 and parts[0] == name and raw[:1] == _ED25519
    if not known or len(raw) != 1 + _KEY_BYTES or parts[1] != _key_hash(name, raw):
        raise _wrong(f"key of {name}", f"the Ed25519 verifier key {name}+HASH+BASE64", text)
    return raw[1:]


def written_key(name: str, public: bytes) -> str:
    """The verifier key of ``name`` as text; ``public`` has 32 bytes."""
    raw = _ED25519 + public
    return f"{name}+{_key_hash(name, raw)}+{base64.b64encode(raw).decode()}"


def _key_hash(name: str, raw: bytes) -> str:
    return hashlib.sha256(name.encode() + b"\n" + raw).digest()[:_HASH_BYTES].hex()


class Rounds(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When answers are taken.

    where
      open_seconds    how long a round is open, in [1, 10^8]
      every_seconds   from the start of one to the start of the next, no less

    Raises PlanError for anything else.
    """

    open_seconds: int
    every_seconds: int

    def __post_init__(self) -> None:
        if not 1 <= self.open_seconds <= self.every_seconds <= 10**8:
            raise _wrong(
                "rounds",
                "1 <= open_seconds <= every_seconds <= 10^8",
                f"{self.open_seconds} and {self.every_seconds}",
            )


def _wrong(subject: str, wanted: str, got: object) -> PlanError:
    return PlanError(subject, wanted=wanted, got=ascii(got)[:80], do="mend the contract's network")
