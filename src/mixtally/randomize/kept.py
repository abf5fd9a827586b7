"""A memory: the response kept for every value seen, and the sealed bytes in which it survives.

Bytes of a memory, little-endian:

    16  "mixtally memory" and a newline
     2  version
    32  fingerprint of the plan
     8  tag of the key
    16  tag of the owner, under the key
    16  synthetic nonce, which authenticates all of this and
     n  encrypted: the number of responses in 8 bytes, then each response's tag (16) and bits

A tag is a keyed hash: of the owner, or of a person and a value. Neither stands there in plain. The
seal is AES-SIV: it needs no nonce that a restored copy could use twice.

Source: RFC 5297 (AES-SIV), RFC 7693 (BLAKE2b with key and personalization).
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from mixtally.errors import DataError, PlanError
from mixtally.ground.bits import Rows
from mixtally.ground.chance import Chance
from mixtally.ground.codec import fingerprint
from mixtally.protocols.two_level import TwoLevel
from mixtally.randomize.memory import permanent_response

MEMORY_VERSION = 1
KEY_BYTES = 32
_MAGIC = b"mixtally memory\n"
_TAG_BYTES = 16
_KEY_TAG_BYTES = 8
_HEADER_BYTES = len(_MAGIC) + 2 + 32 + _KEY_TAG_BYTES + _TAG_BYTES
_SHOWN_DIGITS = 16
_LEAST_BYTES = _HEADER_BYTES + 16 + 8


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """What ``owner`` keeps under ``plan``.

    where
      owner       a person, or a crowd in the lab
      responses   packed bits by ``value_tag``
    """

    plan: TwoLevel
    owner: str
    responses: Mapping[bytes, bytes]


def new_key(chance: Chance) -> bytes:
    """A key for tags and seals, 32 bytes."""
    return chance.words(KEY_BYTES // 8).astype("<u8", copy=False).tobytes()


def value_tag(key: bytes, person: str, value: str) -> bytes:
    """What stands for a person's value in a memory."""
    return _keyed(key, b"value", person, value)


def cohort_of(key: bytes, plan: TwoLevel, person: str) -> int:
    """The cohort of a person: uniform for a random key, the same for all their values and reports.

    A person in two cohorts would keep two responses of one value.
    """
    return int.from_bytes(_keyed(key, b"cohort", person), "little") % plan.cohorts


def recall(
    memory: Memory, tags: Sequence[bytes], records: Rows, chance: Chance
) -> tuple[Memory, Rows]:
    """The kept response of every tag, drawn now for tags never seen, and the memory that holds all.

    ``records`` are the true records, shape (tags, row bytes). What comes back is to be stored
    before a report is drawn from it. The memory itself comes back when nothing was new.
    """
    places = {tag: place for place, tag in enumerate(tags) if tag not in memory.responses}
    if places:
        drawn = permanent_response(memory.plan, records[list(places.values())], chance)
        fresh = {tag: row.tobytes() for tag, row in zip(places, drawn, strict=True)}
        memory = replace(memory, responses={**memory.responses, **fresh})
    kept = b"".join(memory.responses[tag] for tag in tags)
    return memory, np.frombuffer(kept, dtype=np.uint8).reshape(records.shape)


def seal(memory: Memory, key: bytes) -> bytes:
    """The bytes of ``memory``; the same for the same memory and key."""
    header = _header(memory.plan, memory.owner, key)
    parts = [tag + memory.responses[tag] for tag in sorted(memory.responses)]
    plain = len(parts).to_bytes(8, "little") + b"".join(parts)
    return header + _cipher(key).encrypt(plain, [header])


def unseal(data: bytes, plan: TwoLevel, owner: str, key: bytes, subject: str) -> Memory:
    """The memory in ``data``, called ``subject``.

    Raises PlanError for the memory of another plan or version, DataError for that of another owner
    or key and for bytes that are truncated, edited or something else.
    """
    _check_header(data, plan, owner, key, subject)
    try:
        plain = _cipher(key).decrypt(data[_HEADER_BYTES:], [data[:_HEADER_BYTES]])
    except InvalidTag:
        raise _damaged(subject, "bytes that were cut short or edited") from None
    size = _TAG_BYTES + plan.layout.message_bytes
    if len(plain) != 8 + size * int.from_bytes(plain[:8], "little"):
        raise _damaged(subject, "responses of another length")
    entries = (plain[start : start + size] for start in range(8, len(plain), size))
    responses = {entry[:_TAG_BYTES]: entry[_TAG_BYTES:] for entry in entries}
    return Memory(plan, owner, responses)


def is_memory(data: bytes) -> bool:
    """Whether ``data`` begins as every memory does."""
    return data.startswith(_MAGIC)


def _check_header(data: bytes, plan: TwoLevel, owner: str, key: bytes, subject: str) -> None:
    if not is_memory(data) or len(data) < _LEAST_BYTES:
        raise _damaged(subject, f"{len(data):,} other bytes")
    fields, start = [], len(_MAGIC)
    for size in (2, 32, _KEY_TAG_BYTES, _TAG_BYTES):
        fields.append(data[start : start + size])
        start += size
    version, of_plan, of_key, of_owner = fields
    if int.from_bytes(version, "little") != MEMORY_VERSION:
        raise PlanError(
            subject, wanted=f"a memory of version {MEMORY_VERSION}",
            got=f"version {int.from_bytes(version, 'little')}",
            do="use the version that wrote it",
        )  # fmt: skip
    shown = _SHOWN_DIGITS // 2
    if of_plan != _fingerprint(plan) and of_plan[:shown] == _fingerprint(plan)[:shown]:
        raise _damaged(subject, "a plan's fingerprint of which a part was edited")
    if of_plan != _fingerprint(plan):
        raise PlanError(
            subject, wanted=f"the memory of plan {fingerprint(plan)[:_SHOWN_DIGITS]}",
            got=f"that of plan {of_plan.hex()[:_SHOWN_DIGITS]}",
            do="keep one memory a plan; a response is not valid under other parameters or bins",
        )  # fmt: skip
    if of_key != _key_tag(key):
        raise DataError(
            subject, wanted="a memory sealed with this key", got="one sealed with another",
            do="use the key that was made with it",
        )  # fmt: skip
    if of_owner != _keyed(key, b"owner", owner):
        raise DataError(
            subject, wanted=f"the memory of {owner!r}", got="that of somebody else",
            do="a memory is never shared: keep one for each person",
        )  # fmt: skip


def _damaged(subject: str, got: str) -> DataError:
    return DataError(
        subject, wanted="a memory, whole and as it was written", got=got,
        do="restore it from a copy; a response drawn anew would tell more than the plan says",
    )  # fmt: skip


def _header(plan: TwoLevel, owner: str, key: bytes) -> bytes:
    version = MEMORY_VERSION.to_bytes(2, "little")
    return _MAGIC + version + _fingerprint(plan) + _key_tag(key) + _keyed(key, b"owner", owner)


def _fingerprint(plan: TwoLevel) -> bytes:
    return bytes.fromhex(fingerprint(plan))


def _key_tag(key: bytes) -> bytes:
    return _keyed(key, b"key")[:_KEY_TAG_BYTES]


def _keyed(key: bytes, purpose: bytes, *texts: str) -> bytes:
    """A keyed hash of ``texts``, each with its length, that serves one purpose only."""
    parts = [text.encode("utf-8", "surrogatepass") for text in texts]
    message = b"".join(len(part).to_bytes(8, "little") + part for part in parts)
    return hashlib.blake2b(message, digest_size=_TAG_BYTES, key=key, person=purpose).digest()


def _cipher(key: bytes) -> AESSIV:
    return AESSIV(hashlib.blake2b(b"", digest_size=64, key=key, person=b"seal").digest())
