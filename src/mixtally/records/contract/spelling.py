"""Contracts as JSON that every language reads alike: integers above 2^53 are decimal strings."""

import json
from typing import Any, TypeVar

import msgspec

from mixtally.errors import MixtallyError, PlanError
from mixtally.ground.codec import no_constant, no_repeats

T = TypeVar("T", bound=msgspec.Struct)
MOST_PLAIN = 1 << 53
MOST_BYTES = (1 << 24) - (1 << 16)
"""Of a contract's text: roles and devices read notes of 2^24 bytes, and signatures need room."""
_MOST_SHOWN = 200


def spelled(record: msgspec.Struct) -> bytes:
    """The JSON of ``record``: fields in their order, a line each, ASCII, a newline at the end."""
    text = json.dumps(plain(msgspec.to_builtins(record)), indent=1, allow_nan=False)
    return _checked(text.encode("ascii") + b"\n", "contract")


def _checked(text: bytes, subject: str) -> bytes:
    if len(text) > MOST_BYTES:
        raise PlanError(
            subject,
            wanted=f"at most {MOST_BYTES:,} bytes, as roles and devices read",
            got=f"{len(text):,}",
            do="ask for fewer or shorter labels",
        )
    return text


def plain(value: Any) -> Any:
    """``value`` with every integer above 2^53 written as a decimal string."""
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > MOST_PLAIN:
        return str(value)
    return value


def unspelled(text: bytes, kind: type[T], subject: str) -> T:
    """The record of ``kind`` that ``text`` writes.

    Raises PlanError for text that is no such JSON: a field that is missing, unknown or stands
    twice, a number that is a string or a string that is a number where the rule says otherwise.
    """
    _checked(text, subject)
    try:
        written = text.decode("utf-8")  # no other encoding is guessed
        read = json.loads(written, object_pairs_hook=no_repeats, parse_constant=no_constant)
        record = msgspec.convert(read, kind, strict=False)
        _check_same(plain(msgspec.to_builtins(record)), read, "")
    except (ValueError, RecursionError, MixtallyError) as error:
        raise PlanError(
            subject,
            wanted="a contract that this version reads",
            got=f"something else ({ascii(str(error))[1:-1][:_MOST_SHOWN]})",
            do="take the file as it was published, or make it again",
        ) from error
    return record


def _check_same(ours: Any, theirs: Any, place: str) -> None:
    """Raises ValueError where what was read is not what would be written."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for name in (*ours, *theirs):
            if name not in ours or name not in theirs:
                raise ValueError(
                    f"field {place}{name} is {'unknown' * (name in theirs) or 'not there'}"
                )
            _check_same(ours[name], theirs[name], f"{place}{name}.")
    elif isinstance(ours, list) and isinstance(theirs, list):
        for number, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            _check_same(one, other, f"{place}{number}.")
    else:
        alike = type(ours) is type(theirs) or {type(ours), type(theirs)} == {int, float}
        if not alike or ours != theirs or (type(ours) is int and type(theirs) is float):
            raise ValueError(f"{place.rstrip('.')} is written {theirs!r} in place of {ours!r}")
