"""Contracts as JSON that every language reads in the same way.

Many JSON parsers read numbers as doubles, so integers above 2^53 are written as decimal strings.
"""

import json
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from mixtally.device.contract.fields import MOST_PLAIN, MOST_TEXT_BYTES, parse_json
from mixtally.errors import MixtallyError, PlanError, RefusedError

T = TypeVar("T", bound=msgspec.Struct)
_MOST_SHOWN = 200


def encode_record(record: msgspec.Struct) -> bytes:
    """Return the JSON of ``record`` as ASCII: fields in order, one per line, with a final newline.

    Raise PlanError if the JSON is longer than the limit that roles and devices accept.
    """
    written = json.dumps(
        stringify_large_integers(msgspec.to_builtins(record)), indent=1, allow_nan=False
    )
    text = written.encode("ascii") + b"\n"
    if len(text) > MOST_TEXT_BYTES:
        raise PlanError(
            "contract",
            expected=f"at most {MOST_TEXT_BYTES:,} bytes, the limit of roles and devices",
            got=f"{len(text):,}",
            do="ask for fewer or shorter labels",
        )
    return text


def stringify_large_integers(value: Any) -> Any:
    """Return ``value`` with every integer above 2^53 as a decimal string."""
    if isinstance(value, dict):
        return {name: stringify_large_integers(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [stringify_large_integers(one) for one in value]
    # A bool is an int, but must stay a bool.
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > MOST_PLAIN:
        return str(value)
    return value


def check_readable(
    read: Callable[[Any], object],
    record: msgspec.Struct,
    of: str = " of the contract",
    do: str = "make the contract again",
) -> None:
    """Raise PlanError if ``read``, the parser of a device, refuses ``record``.

    ``of`` is appended to the name of the field in the message. ``do`` is the advice in it.
    """
    # This calls the parser that devices use, so that no plan is made which a device refuses.
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
    """Return the record of class ``kind`` in ``text``, after a device's parser ``read`` accepts it.

    Raise PlanError if the parser refuses the text. ``subject`` and ``what`` describe the text in
    the message.
    """
    try:
        parsed = parse_json(text)
        read(parsed)
        return msgspec.convert(parsed, kind, strict=False)  # not strict: strings may be integers
    except (ValueError, MixtallyError) as error:
        why = error.problem if isinstance(error, RefusedError) else str(error)
        raise PlanError(
            subject,
            expected=f"a {what} that this version reads",
            got=f"something else ({ascii(why)[1:-1][:_MOST_SHOWN]})",
            do="use the file as it was published, or make it again",
        ) from error
