"""Validation of structs that users construct, so that every mistake raises a MixtallyError."""

from functools import cache
from numbers import Integral, Real
from typing import Any, get_type_hints

import msgspec

from mixtally.errors import ParameterError, check_names

_MOST_BITS = 100
"""Maximum bits of an integer. No field is as large, and Python refuses to print very long ones."""


class StrictStructMeta(type(msgspec.Struct)):  # type: ignore[misc]
    """A metaclass that checks names and types of fields before a struct is constructed.

    Exceptions from the struct's ``__post_init__`` pass unchanged. If one of them is not a
    MixtallyError, it is a bug.
    """

    def __call__(cls, *args: Any, **given: Any) -> Any:
        """Construct a struct, or raise ParameterError for unknown, missing or mistyped fields."""
        known, needed, types = _describe_fields(cls)
        check_names(cls.__name__, given, known)
        if args:
            raise _construction_error(cls, "fields by their names", "fields without names")
        if missing := [name for name in needed if name not in given]:
            raise _construction_error(cls, "all fields that it needs", f"none named {missing[0]}")
        return super().__call__(
            **{name: _convert_field(cls, name, types[name], value) for name, value in given.items()}
        )


@cache
def _describe_fields(cls: Any) -> tuple[list[str], list[str], dict[str, Any]]:
    """Return the names of all fields, the names of the required fields, and the type of each."""
    fields = msgspec.structs.fields(cls)
    needed = [field.name for field in fields if field.required]
    return [field.name for field in fields], needed, get_type_hints(cls)


def _convert_field(cls: Any, name: str, expected: Any, value: Any) -> Any:
    """Return ``value`` converted to the field's type, or raise ParameterError."""
    try:
        return msgspec.convert(_to_python_number(value), expected)
    # The value may be any object, whose own methods can fail in any way.
    except Exception as error:
        raise _construction_error(
            cls, "fields of the types that it has", f"{name}: {' '.join(str(error).split())[:120]}"
        ) from error


def _to_python_number(value: Any) -> Any:
    """Return a number of an array library as a Python number."""
    if isinstance(value, bool):  # a bool is an Integral, but must stay a bool
        return value
    if isinstance(value, Integral):
        if (whole := int(value)).bit_length() > _MOST_BITS:
            raise OverflowError(f"a number of {whole.bit_length():,} bits")
        return whole
    return float(value) if isinstance(value, Real) else value


def _construction_error(cls: Any, expected: str, got: str) -> ParameterError:
    do = f"see help(mixtally.{cls.__name__})"
    return ParameterError(cls.__name__, expected=expected, got=got, do=do)
