"""Signed notes: a text, followed by one line for each signature.

    TEXT, which ends with a newline
    (an empty line)
    — NAME BASE64(hash of the key, 4 bytes; Ed25519 signature of TEXT, 64 bytes)

The signature is over the bytes of the text, without any change. A verifier key is written
NAME+HASH+BASE64(1, public key), and a signing key PRIVATE+KEY+NAME+HASH+BASE64(1, seed). Here 1 is
one byte, and HASH is the first four bytes of SHA-256(NAME, newline, 1, public key).

Source: C2SP signed-note; RFC 8032.
"""

import re
from base64 import b64encode
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from mixtally.device.contract.fields import base64_of, fingerprint_of, make_refusal, text_of
from mixtally.device.contract.roles import (
    ED25519,
    HASH_BYTES,
    ROLE_NAME,
    format_verifier_key,
    key_hash,
)
from mixtally.errors import PlanError

MOST_SIGNATURES = 100
SEED_BYTES = 32
_CONTROL = re.compile(rb"[\x00-\x09\x0b-\x1f]")
_DASH = "\u2014 ".encode()
_FIELD = (1 << 255) - 19
_ORDER_8 = int.from_bytes(
    bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little"
)
_SMALL = (0, 1, _FIELD - 1, _ORDER_8, _FIELD - _ORDER_8)
"""The y coordinates of the points of small order. For such a key, anyone can make valid signatures.
"""
_PRIVATE = "PRIVATE+KEY+"


@dataclass(frozen=True, slots=True, repr=False)
class Signer:
    """A name and its Ed25519 signing key, derived from a ``seed`` of 32 secret bytes.

    Raises PlanError for an invalid name or another length of the seed.
    """

    name: str
    seed: bytes

    def __post_init__(self) -> None:
        if not ROLE_NAME.fullmatch(self.name):
            raise _key_error(
                "the name of a role", "letters, digits and ._/-", ascii(self.name)[:80]
            )
        if len(self.seed) != SEED_BYTES:
            got = f"{len(self.seed)} bytes"
            raise _key_error(f"the key of {self.name}", f"{SEED_BYTES} secret bytes", got)

    @property
    def public(self) -> bytes:
        """The public key, 32 bytes."""
        return self._private.public_key().public_bytes_raw()

    @property
    def verifier(self) -> str:
        """The verifier key as text."""
        return format_verifier_key(self.name, self.public)

    @property
    def private_key_text(self) -> str:
        """The signing key as text, which must be kept secret."""
        raw = b64encode(ED25519 + self.seed).decode()
        return f"{_PRIVATE}{self.name}+{key_hash(self.name, self.public).hex()}+{raw}"

    def signature_line(self, text: bytes) -> bytes:
        """Return the signature line of ``text``."""
        raw = key_hash(self.name, self.public) + self.sign(text)
        return _DASH + self.name.encode() + b" " + b64encode(raw) + b"\n"

    def sign(self, data: bytes) -> bytes:
        """Return the Ed25519 signature of ``data``, 64 bytes."""
        return self._private.sign(data)

    @property
    def _private(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(self.seed)


def parse_signer(written: str) -> Signer:
    """Return the signer with the signing key ``written``, or raise PlanError."""
    name, _, rest = written.removeprefix(_PRIVATE).partition("+")
    stated, _, encoded = rest.partition("+")
    raw = base64_of(encoded) or b""
    if written.startswith(_PRIVATE) and raw[:1] == ED25519 and len(raw) == 1 + SEED_BYTES:
        signer = Signer(name, raw[1:])
        if signer.private_key_text == written and stated == key_hash(name, signer.public).hex():
            return signer
    raise _key_error("the signing key", f"{_PRIVATE}NAME+HASH+BASE64", "something else")


def sign_note(data: bytes, *signers: Signer) -> bytes:
    """Return ``data`` with a signature line of each signer, without repeated lines.

    Raise RefusedError for a text that cannot be a note.
    """
    text = text_of(data)
    _check_text(text)
    return _join_lines(text, [*_lines(data), *(signer.signature_line(text) for signer in signers)])


def merge_notes(
    text: bytes, notes: Collection[bytes], known: Mapping[str, bytes] | None = None
) -> bytes:
    """Return ``text`` with the signature lines of all ``notes``, in order, without repeated lines.

    Raise RefusedError for a note of another text, for an invalid signature under a known key, and
    for too many lines.

    Parameters
    ----------
    text : bytes
        The signed text.
    notes : Collection of bytes
        Notes of this text.
    known : mapping of str to bytes or None
        Public keys by name. For each key, only its first valid signature line is kept, and the
        lines of all other keys are dropped. None keeps all lines.
    """
    lines: list[bytes] = []
    first: dict[str, bytes] = {}
    for note in notes:
        if text_of(note) != text:
            expected = f"signatures of the text {fingerprint_of(text)}"
            raise make_refusal("another-text", "note", expected, fingerprint_of(note))
        if known is None:
            lines += _lines(note)
        else:
            first = _known_lines(note, known) | first  # lines of earlier notes take precedence
    if known is not None:
        lines = [first[name] for name in known if name in first]
    return _join_lines(text, lines)


def find_signers(data: bytes, known: Mapping[str, bytes]) -> frozenset[str]:
    """Return the names in ``known`` whose keys have signed ``data``.

    Signature lines of other keys are ignored. Raise RefusedError for an invalid signature under a
    known key, and for data that is not a note.

    Parameters
    ----------
    data : bytes
        A signed note.
    known : mapping of str to bytes
        Public keys of 32 bytes, by name.
    """
    return frozenset(_known_lines(data, known))


def verify_note(data: bytes, signers: Mapping[str, bytes]) -> bytes:
    """Return the text of a note, or raise RefusedError unless all signers have signed it.

    Parameters
    ----------
    data : bytes
        The note.
    signers : mapping of str to bytes
        Public keys of 32 bytes, by name.
    """
    names = find_signers(data, signers)
    if missing := [name for name in signers if name not in names]:
        expected = f"signatures of {', '.join(signers)}"
        raise make_refusal("signature-missing", "note", expected, f"none of {', '.join(missing)}")
    return text_of(data)


def _known_lines(data: bytes, known: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the first signature line of each known name that has signed."""
    text, found = text_of(data), dict[str, bytes]()
    _check_text(text)
    for line in _lines(data):
        name, raw = _read_line(line)
        public = known.get(name)
        if public is None or raw[:HASH_BYTES] != key_hash(name, public):
            continue
        if not is_valid_signature(public, raw[HASH_BYTES:], text):
            expected = f"a signature of {name} that fits the text"
            got = "one that does not: the text or the signature was altered"
            raise make_refusal("signature-false", "note", expected, got)
        found.setdefault(name, line)
    return found


def is_valid_signature(public: bytes, signature: bytes, text: bytes) -> bool:
    """Return whether ``signature`` is the Ed25519 signature of ``text`` under the key ``public``.

    A key of small order has no valid signatures.
    """
    second = int.from_bytes(public, "little") & ((1 << 255) - 1)
    # A y coordinate that is not reduced modulo the field would be another encoding of the same key.
    if second >= _FIELD or second in _SMALL:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, text)
    except InvalidSignature:
        return False
    return True


def _check_text(text: bytes) -> None:
    try:
        text.decode("utf-8")
        right = text.endswith(b"\n") and not _CONTROL.search(text)
    except UnicodeDecodeError:
        right = False
    if not right:
        expected = "UTF-8 without control characters that ends with a newline"
        raise make_refusal("no-note", "note", expected, "something else")


def _lines(data: bytes) -> list[bytes]:
    """Return the signature lines below the text, after checking their form."""
    below = data[len(text_of(data)) :]
    if not below:
        return []
    most = MOST_SIGNATURES + 2  # bounds the work for data with very many lines
    lines = [line + b"\n" for line in below[1:].split(b"\n", most)[:-1]]
    if below[:1] != b"\n" or below[-1:] != b"\n" or len(lines) > MOST_SIGNATURES:
        raise make_refusal("no-note", "note", "an empty line and signature lines", "something else")
    for line in lines:
        _read_line(line)
    return lines


def _read_line(line: bytes) -> tuple[str, bytes]:
    """Return the name of a signature line, and the bytes of key hash and signature."""
    head, _, encoded = line.removeprefix(_DASH).rstrip(b"\n").partition(b" ")
    try:
        name, raw = head.decode("ascii"), base64_of(encoded.decode("ascii")) or b""
    except UnicodeDecodeError:
        name, raw = "", b""
    if not line.startswith(_DASH) or not ROLE_NAME.fullmatch(name) or len(raw) <= HASH_BYTES:
        raise make_refusal("no-note", "note", "lines of a dash, a name and base64", line[:80])
    return name, raw


def _join_lines(text: bytes, lines: Collection[bytes]) -> bytes:
    once = dict.fromkeys(lines)
    if len(once) > MOST_SIGNATURES:
        raise make_refusal("no-note", "note", f"at most {MOST_SIGNATURES} signatures", len(once))
    return text + b"\n" + b"".join(once) if once else text


def _key_error(subject: str, expected: str, got: str) -> PlanError:
    return PlanError(
        subject, expected=expected, got=got, do="make the role's folder again with init"
    )
