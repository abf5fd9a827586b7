"""Contracts as JSON that every language reads alike: integers above 2^53 are decimal strings."""

import json
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from mixtally.device.contract.fields import MOST_PLAIN, MOST_TEXT_BYTES, parse_json
from mixtally.errors import MixtallyError, PlanError, RefusedError

T = TypeVar("T", bound=msgspec.Struct)
_MOST_SHOWN = 200


def encode_record(record: msgspec.Struct) -> bytes:
    """The JSON of ``record``: fields in their order, a line each, ASCII, a newline at the end.

    Raises PlanError where it is longer than roles and devices read.
    """
    written = json.dumps(
        stringify_large_integers(msgspec.to_builtins(record)), indent=1, allow_nan=False
    )
    text = written.encode("ascii") + b"\n"
    if len(text) > MOST_TEXT_BYTES:
        raise PlanError(
            "contract",
            expected=f"at most {MOST_TEXT_BYTES:,} bytes, as roles and devices read",
            got=f"{len(text):,}",
            do="ask for fewer or shorter labels",
        )
    return text


def stringify_large_integers(value: Any) -> Any:
    """``value`` with every integer above 2^53 written as a decimal string."""
    if isinstance(value, dict):
        return {name: stringify_large_integers(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [stringify_large_integers(one) for one in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > MOST_PLAIN:
        return str(value)
    return value


def check_readable(
    read: Callable[[Any], object],
    record: msgspec.Struct,
    of: str = " of the contract",
    do: str = "make the contract again",
) -> None:
    """Raises PlanError for a ``record`` that a device would refuse to ``read``."""
    try:
        read(stringify_large_integers(msgspec.to_builtins(record)))
    except RefusedError as error:
        raise PlanError(
            error.subject + of, expected=error.expected, got=error.got, do=do
        ) from error


def decode_record(
    text: bytes,
    kind: type[T],
    read: Callable[[Any], object],
    subject: str,
    what: str = "contract",
) -> T:
    """The record of ``kind``, called ``what``, that ``text`` writes, as a device would ``read`` it.

    Raises PlanError for all that it refuses.
    """
    try:
        held = parse_json(text)
        read(held)
        return msgspec.convert(held, kind, strict=False)  # where a decimal string is an integer
    except (ValueError, MixtallyError) as error:
        why = error.problem if isinstance(error, RefusedError) else str(error)
        raise PlanError(
            subject,
            expected=f"a {what} that this version reads",
            got=f"something else ({ascii(why)[1:-1][:_MOST_SHOWN]})",
            do="take the file as it was published, or make it again",
        ) from error
