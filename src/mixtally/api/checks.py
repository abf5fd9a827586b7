"""What every function of the door asks of its arguments, and how its refusals are worded."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import wraps
from inspect import Parameter, Signature, signature
from numbers import Integral, Real
from types import TracebackType
from typing import Any, ParamSpec, TypeVar, get_args

from mixtally.api.docstrings import document_options
from mixtally.app import options
from mixtally.errors import DataError, InputError, ParameterError, check_names, not_one_of

P = ParamSpec("P")
T = TypeVar("T")
_FLAG = re.compile(r"(`[^`]*`)|--([a-z][a-z-]*)(?: (drop|LABEL|';'))?")
_LONGEST, _MOST, _LARGEST = 60, 120, 10**30
_HERE = "mixtally.api"
_BY_NAME = Parameter.KEYWORD_ONLY
Readers = Mapping[Any, Callable[[str, object], object]]
"""By type, how a value is read: given what an error calls it, and the value."""
RENAMED = {
    "set": "separator", "person-column": "person", "epoch-column": "epochs", "epoch-order": "order",
    "ledger": "budget", "open": "open_domain",
}  # fmt: skip
"""Options whose arguments have another name: Python has a use of its own for theirs, or a column
in place of its name.
"""


def translate_errors(call: Callable[P, T]) -> Callable[P, T]:
    """``call``, from which nothing but the error family comes for what its arguments are.

    Refusals name arguments as Python does: max_set, not --max-set. An argument that there is not is
    named, with the nearest that there is. Another error becomes a DataError where an argument
    raised it: in a frame outside of the package that this room called. One that arises in a frame
    of the package is a mistake of ours and stays what it is; ``reading`` and ``listed`` guard the
    lines that do with an argument what it may not bear.
    """
    every = [
        one
        for kind in getattr(call, "takes", ())
        for one in options.parameters_of(kind, extras=True)
    ]
    taken = _expand_keywords(signature(call), every)
    call.__doc__ = document_options(
        call.__doc__ or "", taken, {one.name: one for one in every}, translate_options
    )
    name = call.__qualname__.removesuffix(".__init__")

    @wraps(call)
    def call_translated(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            _check_call(name, taken, args, kwargs)
            return call(*args, **kwargs)
        except InputError as error:
            error.args = (translate_options(str(error)),)
            raise
        except Exception as error:
            if not _is_callers_error(error.__traceback__):
                raise
            raise DataError(
                name,
                expected="arguments that can be read",
                got=_describe_error(error),
                do=f"see help(mixtally.{name})",
            ) from error

    call_translated.__signature__ = taken  # type: ignore[attr-defined]
    return call_translated


def accept_options(*kinds: type) -> Callable[[T], T]:
    """Says of a function that its further keywords are the fields of these classes of options."""

    def attach_options(call: T) -> T:
        call.takes = kinds  # type: ignore[attr-defined]
        return call

    return attach_options


def read_options(kind: type[T], given: Mapping[str, object], readers: Readers | None = None) -> T:
    """The options of a class, and of those inside it, out of keywords of the same names.

    None is what was left out, where an option may be. ``readers`` are for types that are no
    numbers, truth values or text. Raises ParameterError for a value of another type.
    """
    ways = {
        float: check_number,
        int: check_whole,
        bool: check_flag,
        str: check_text,
        Any: _as_given,
        **(readers or {}),
    }
    return options.build_options(
        kind,
        {
            one.name: ways[_type_of(one.annotation)](one.name.replace("_", " "), given[one.name])
            for one in options.parameters_of(kind, extras=False)
            if one.name in given and (given[one.name] is not None or one.default is Parameter.empty)
        },
    )


def _as_given(_: str, value: object) -> object:
    """Return a value that is read elsewhere."""
    return value


def _type_of(hint: Any) -> Any:
    """The type of what is not None."""
    (kind,) = [one for one in get_args(hint) if one is not type(None)] or [hint]
    return kind


def _expand_keywords(taken: Signature, every: Sequence[Parameter]) -> Signature:
    """Return a signature in which the options replace the parameter for further keywords.

    Help and editors show this signature. A parameter that the function has itself stays.
    """
    found: list[Parameter] = []
    for one in taken.parameters.values():
        if one.kind is Parameter.VAR_KEYWORD:
            found += [
                option.replace(annotation=_without_option(option.annotation))
                for option in every
                if option.name not in taken.parameters
            ]
        else:
            found.append(one)
    return taken.replace(parameters=found)


def _without_option(annotation: Any) -> Any:
    """Return a type without the option that annotates it."""
    return get_args(annotation)[0] if hasattr(annotation, "__metadata__") else annotation


@contextmanager
def guard_reading(subject: str) -> Iterator[None]:
    """Raises DataError for whatever an argument raises while it is read."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        raise DataError(
            subject,
            expected="what can be read",
            got=_describe_error(error),
            do="look at what is given",
        ) from error


def read_list(subject: str, values: Iterable[T]) -> list[T]:
    """``values`` as a list; DataError for whatever they raise."""
    with guard_reading(subject):
        return list(values)


def _describe_error(error: Exception) -> str:
    with suppress(Exception):  # somebody else's error may have no text
        return f"{type(error).__name__}: {' '.join(str(error).split())[:_MOST]}"
    return type(error).__name__


def _check_call(
    name: str, taken: Signature, args: Sequence[object], given: Mapping[str, object]
) -> None:
    """Raises ParameterError for an argument that there is not, is missing, or comes twice."""
    check_names(name, given, _names(taken))
    try:
        taken.bind(*args, **given)
    except TypeError as error:
        raise ParameterError(
            name,
            expected=f"a call as help(mixtally.{name}) has it",
            got=f"one with {error}",
            do=_named_call(name, taken, args, given) or "look at its arguments",
        ) from error


def _named_call(
    name: str, taken: Signature, args: Sequence[object], given: Mapping[str, object]
) -> str | None:
    """Return the call with names for arguments that may not be given by place; None for others.

    Numbers in the place of a path are taken for the arguments that follow the path.
    """
    own = [one for one in taken.parameters.values() if one.name not in ("self", "cls")]
    values = [*args[len(taken.parameters) - len(own) :]]
    if own and own[0].name == "path" and values and isinstance(values[0], Real):
        own = own[1:]
    free = [one for one in own if one.name not in given]
    if not values or len(values) > len(free) or free[len(values) - 1].kind is not _BY_NAME:
        return None
    parts = [
        f"{one.name}={_format_brief(value)}" if one.kind is _BY_NAME else _format_brief(value)
        for one, value in zip(free, values, strict=False)
    ]
    parts += [f"{one}={_format_brief(value)}" for one, value in given.items()]
    return f"give names: mixtally.{name}({', '.join(parts)})"


def _format_brief(value: object) -> str:
    """A number, a text or a truth value as it is typed; anything else as dots."""
    if isinstance(value, bool | int | float | str):
        with suppress(ValueError):  # a number of more digits than Python writes
            typed = repr(value)
            return typed if len(typed) <= _LONGEST else ".."
    return ".."


def _names(taken: Signature) -> list[str]:
    """The arguments that can be given by name."""
    return [
        one.name
        for one in taken.parameters.values()
        if one.kind is not Parameter.POSITIONAL_ONLY and one.name not in ("self", "cls")
    ]


def _is_callers_error(trace: TracebackType | None) -> bool:
    """Whether an error arose outside of this package, where this room called what is not ours."""
    room, last = "", ""
    while trace is not None:
        last = str(trace.tb_frame.f_globals.get("__name__", ""))
        room = last if last.startswith("mixtally.") else room
        trace = trace.tb_next
    return room.startswith(_HERE) and room != last


def translate_options(text: str) -> str:
    """``text`` with arguments in the place of options."""
    return _FLAG.sub(_option_to_argument, text)


def _option_to_argument(found: re.Match[str]) -> str:
    """An option as an argument; commands between backquotes stay as they are typed."""
    if found[1]:
        return found[1]
    name = RENAMED.get(found[2], found[2]).replace("-", "_")
    value = (found[3] or "").strip("'")
    return f'{name}="{value}"' if value else name


def describe_value(value: object) -> str:
    """A value and its type, short enough for a line."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # an object of somebody else's
        text = "that cannot be shown"
    text = text if len(text) <= _LONGEST else text[:_LONGEST] + ".."
    return f"{type(value).__name__} {text}"


def check_number(subject: str, value: object) -> float:
    """``value`` as a float; ParameterError for text, booleans, NaN and infinities."""
    if isinstance(value, Real) and not isinstance(value, bool):
        with suppress(OverflowError):  # a whole number above all floats
            if math.isfinite(found := float(value)):
                return found
    raise ParameterError(
        subject, expected="a finite number", got=describe_value(value), do="give it as int or float"
    )


def check_whole(subject: str, value: object) -> int:
    """``value`` as an int, 1e5 included; ParameterError for text, booleans and fractions.

    So is a number of more than 30 digits, which counts nothing and takes long to write.
    """
    if isinstance(value, Integral) and not isinstance(value, bool):
        if abs(count := int(value)) < _LARGEST:
            return count
        raise ParameterError(
            subject,
            expected="a whole number of at most 30 digits",
            got=f"one of {count.bit_length():,} bits",
            do="give a smaller one",
        )
    if isinstance(value, float) and value.is_integer() and abs(value) < _LARGEST:
        return int(value)
    raise ParameterError(
        subject, expected="a whole number", got=describe_value(value), do="give it as an int"
    )


def check_optional_number(subject: str, value: object) -> float | None:
    """The same, None for what was left out."""
    return None if value is None else check_number(subject, value)


def check_optional_whole(subject: str, value: object) -> int | None:
    """The same, None for what was left out."""
    return None if value is None else check_whole(subject, value)


def check_type(subject: str, value: object, kind: type[T], make: str) -> T:
    """Return ``value``; raise ParameterError for anything but what ``make`` makes."""
    if isinstance(value, kind):
        return value
    raise ParameterError(
        subject,
        expected=f"a mixtally.{kind.__name__}",
        got=describe_value(value),
        do=f"make one with mixtally.{make}",
    )


def check_flag(subject: str, value: object) -> bool:
    """``value`` itself; ParameterError for anything but True and False."""
    if isinstance(value, bool):
        return value
    raise ParameterError(
        subject, expected="True or False", got=describe_value(value), do="choose one"
    )


def check_text(subject: str, value: object) -> str:
    """``value`` as plain text; ParameterError for anything but text."""
    if isinstance(value, str):
        return str.__str__(value)  # of a type of its own no record can be written
    raise ParameterError(subject, expected="text", got=describe_value(value), do="give it as a str")


def check_optional_text(subject: str, value: object) -> str | None:
    """The same, None for what was left out."""
    return None if value is None else check_text(subject, value)


def check_choice(subject: str, value: object, names: Sequence[str]) -> str:
    """``value`` itself; ParameterError for anything but one of ``names``."""
    if isinstance(value, str) and value in names:
        return value
    raise not_one_of(subject, value if isinstance(value, str) else describe_value(value), names)


def check_optional_choice(subject: str, value: object, names: Sequence[str]) -> str | None:
    """The same, None for what was left out."""
    return None if value is None else check_choice(subject, value, names)
