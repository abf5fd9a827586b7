"""The sealed bytes in which memoized responses survive on a device.

Little-endian:

    16  "mixtally memory" and a newline
     2  version
    32  fingerprint of the plan
     8  tag of the key
    16  tag of the owner, under the key
    16  synthetic nonce, which authenticates all of this and
     n  encrypted: the number of responses in 8 bytes, then each response's tag (16) and bits

Neither owner nor value stands there in plain. The seal is AES-SIV: it needs no nonce that a
restored copy could use twice.

Source: RFC 5297 (AES-SIV), RFC 7693 (BLAKE2b with key and personalization).
"""

import hashlib

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from mixtally.errors import DataError, PlanError
from mixtally.ground.codec import fingerprint
from mixtally.randomize.memoized import TAG_BYTES, Responses, keyed
from mixtally.records.memoized_plan import MemoizedPlan

SEALED_VERSION = 2
_MAGIC = b"mixtally memory\n"
_KEY_TAG_BYTES = 8
_HEADER_BYTES = len(_MAGIC) + 2 + 32 + _KEY_TAG_BYTES + TAG_BYTES
_DIGITS = 16
_LEAST_BYTES = _HEADER_BYTES + 16 + 8


def seal(responses: Responses, key: bytes) -> bytes:
    """The bytes of ``responses``; the same for the same responses and key."""
    header = _header(responses.plan, responses.owner, key)
    parts = [tag + responses.by_tag[tag] for tag in sorted(responses.by_tag)]
    plain = len(parts).to_bytes(8, "little") + b"".join(parts)
    return header + _cipher(key).encrypt(plain, [header])


def unseal(data: bytes, plan: MemoizedPlan, owner: str, key: bytes, subject: str) -> Responses:
    """The responses in ``data``, called ``subject``.

    Raises PlanError for those of another plan or version, DataError for those of another owner or
    key and for bytes that are truncated, edited or something else.
    """
    _check_header(data, plan, owner, key, subject)
    try:
        plain = _cipher(key).decrypt(data[_HEADER_BYTES:], [data[:_HEADER_BYTES]])
    except InvalidTag:
        raise _damaged(subject, "bytes that were cut short or edited") from None
    size = TAG_BYTES + plan.mechanism.layout.message_bytes
    if len(plain) != 8 + size * int.from_bytes(plain[:8], "little"):
        raise _damaged(subject, "responses of another length")
    entries = (plain[start : start + size] for start in range(8, len(plain), size))
    return Responses(plan, owner, {entry[:TAG_BYTES]: entry[TAG_BYTES:] for entry in entries})


def is_sealed(data: bytes) -> bool:
    """Whether ``data`` begins as sealed responses do."""
    return data.startswith(_MAGIC)


def _check_header(data: bytes, plan: MemoizedPlan, owner: str, key: bytes, subject: str) -> None:
    if not is_sealed(data) or len(data) < _LEAST_BYTES:
        raise _damaged(subject, f"{len(data):,} other bytes")
    fields, start = [], len(_MAGIC)
    for size in (2, 32, _KEY_TAG_BYTES, TAG_BYTES):
        fields.append(data[start : start + size])
        start += size
    version, of_plan, of_key, of_owner = fields
    if int.from_bytes(version, "little") != SEALED_VERSION:
        raise PlanError(
            subject,
            wanted=f"memoized responses of version {SEALED_VERSION}",
            got=f"version {int.from_bytes(version, 'little')}",
            do="use the version of mixtally that wrote them: drawn anew they would tell more",
        )
    displayed = _DIGITS // 2
    if of_plan != _fingerprint(plan) and of_plan[:displayed] == _fingerprint(plan)[:displayed]:
        raise _damaged(subject, "a plan's fingerprint of which a part was edited")
    if of_plan != _fingerprint(plan):
        raise PlanError(
            subject,
            wanted=f"the memoized responses of plan {fingerprint(plan)[:_DIGITS]}",
            got=f"those of plan {of_plan.hex()[:_DIGITS]}",
            do="keep one file a plan; a response is not valid under other parameters or bins",
        )
    if of_key != _key_tag(key):
        raise DataError(
            subject,
            wanted="memoized responses sealed with this key",
            got="some sealed with another",
            do="use the key that was made with them",
        )
    if of_owner != keyed(key, b"owner", owner):
        raise DataError(
            subject,
            wanted=f"the memoized responses of {owner!r}",
            got="those of somebody else",
            do="they are never shared: keep one file for each person",
        )


def _damaged(subject: str, got: str) -> DataError:
    return DataError(
        subject,
        wanted="memoized responses, whole and as they were written",
        got=got,
        do="restore them from a copy; a response drawn anew would tell more than the plan says",
    )


def _header(plan: MemoizedPlan, owner: str, key: bytes) -> bytes:
    version = SEALED_VERSION.to_bytes(2, "little")
    return _MAGIC + version + _fingerprint(plan) + _key_tag(key) + keyed(key, b"owner", owner)


def _fingerprint(plan: MemoizedPlan) -> bytes:
    return bytes.fromhex(fingerprint(plan))


def _key_tag(key: bytes) -> bytes:
    return keyed(key, b"key")[:_KEY_TAG_BYTES]


def _cipher(key: bytes) -> AESSIV:
    return AESSIV(hashlib.blake2b(b"", digest_size=64, key=key, person=b"seal").digest())
