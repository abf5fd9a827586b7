"""Canonical JSON: exactly one encoding of each value.

Plans and contracts are hashed and signed in this form, so equal values must have equal bytes. The
encoding is JSON with sorted keys, no spaces, no NaN, no repeated field, and shortest numbers. The
decoder of canonical bytes accepts nothing else.
"""

import hashlib
import json
from typing import Any, TypeVar

import msgspec

from mixtally.errors import MixtallyError, PlanError

T = TypeVar("T", bound=msgspec.Struct)


def convert_to_floats(record: msgspec.Struct, *fields: str) -> None:
    """Convert integers in ``fields`` to floats in place, so that 1 and 1.0 have one encoding."""
    for field in fields:
        value = getattr(record, field)
        if isinstance(value, int | float):
            msgspec.structs.force_setattr(record, field, float(value) + 0.0)  # -0.0 becomes 0.0


def canonical_bytes(record: msgspec.Struct) -> bytes:
    """Return the canonical JSON of ``record`` as ASCII bytes."""
    plain = msgspec.to_builtins(record)
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii")


def fingerprint(record: msgspec.Struct) -> str:
    """Return the SHA-256 of the canonical bytes as 64 hexadecimal digits."""
    return hashlib.sha256(canonical_bytes(record)).hexdigest()


def from_canonical(data: bytes, kind: type[T], subject: str) -> T:
    """Decode a record from its canonical bytes.

    Raise PlanError for all other bytes.

    Parameters
    ----------
    data : bytes
        The canonical JSON.
    kind : type
        The class of the record.
    subject : str
        The name of the input in messages.
    """
    record = from_json(data, kind, subject)
    if canonical_bytes(record) != data:
        raise PlanError(
            subject,
            expected="canonical bytes (sorted keys, no spaces, shortest numbers)",
            got="another spelling of the same record",
            do="read it as JSON and write it again",
        )
    return record


def from_json(data: bytes, kind: type[T], subject: str) -> T:
    """Decode a record from JSON, with any order of fields and any spaces.

    Raise PlanError for truncated text, repeated, unknown or missing fields, and impossible values.

    Parameters
    ----------
    data : bytes
        The JSON.
    kind : type
        The class of the record.
    subject : str
        The name of the input in messages.
    """
    try:
        plain = json.loads(
            data, object_pairs_hook=reject_duplicate_keys, parse_constant=reject_constant
        )
        return msgspec.convert(plain, kind, strict=True)
    except (ValueError, RecursionError, MixtallyError) as error:  # RecursionError: deep nesting
        raise PlanError(
            subject,
            expected=f"the JSON of a {kind.__name__.lower()} written by this version",
            got=f"something else ({error})",
            do="make it again with `mixtally plan ... --out FILE`",
        ) from error


def reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the fields of a JSON object, or raise ValueError if one occurs twice."""
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a field stands twice")
    return fields


def reject_constant(name: str) -> None:
    """Raise ValueError for ``name``, which is NaN or an infinity: these are not numbers."""
    raise ValueError(f"{name} is not a number")
