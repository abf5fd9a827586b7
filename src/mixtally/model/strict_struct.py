"""Records that people make by hand: what cannot be one is refused in the one error family."""

from functools import cache
from numbers import Integral, Real
from typing import Any, get_type_hints

import msgspec

from mixtally.errors import ParameterError, check_names

_MOST_BITS = 100
"""Of a whole number: more count nothing, and cannot even be shown."""


class StrictStructMeta(type(msgspec.Struct)):  # type: ignore[misc]
    """The class of such records: fields are checked by name and type before the record is made.

    What the record itself asks of its fields is raised as it is: an error there that is none of the
    family is a mistake of ours.
    """

    def __call__(cls, *args: Any, **given: Any) -> Any:
        """A record of these fields; ParameterError for others, and for values of other types."""
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
    """All fields, those that have no default, and the types of all."""
    fields = msgspec.structs.fields(cls)
    needed = [field.name for field in fields if field.required]
    return [field.name for field in fields], needed, get_type_hints(cls)


def _convert_field(cls: Any, name: str, expected: Any, value: Any) -> Any:
    """The value as a field of that type, a list as a tuple; ParameterError for another type."""
    try:
        return msgspec.convert(_to_python_number(value), expected)
    except (msgspec.ValidationError, TypeError, ValueError, OverflowError) as error:
        raise _construction_error(
            cls, "fields of the types that it has", f"{name}: {' '.join(str(error).split())[:120]}"
        ) from error


def _to_python_number(value: Any) -> Any:
    """A number of an array library as Python's own."""
    if isinstance(value, bool):
        return value
    if isinstance(value, Integral):
        if (whole := int(value)).bit_length() > _MOST_BITS:
            raise OverflowError(f"a number of {whole.bit_length():,} bits")
        return whole
    return float(value) if isinstance(value, Real) else value


def _construction_error(cls: Any, expected: str, got: str) -> ParameterError:
    do = f"see help(mixtally.{cls.__name__})"
    return ParameterError(cls.__name__, expected=expected, got=got, do=do)
