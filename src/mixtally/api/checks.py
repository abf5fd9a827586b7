"""Checks of arguments, and the wording of errors as Python users see it."""

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
# Text between backquotes is a command, in which options keep the form of the command line. The
# third group matches a value that advice may contain after an option.
_FLAG = re.compile(r"(`[^`]*`)|--([a-z][a-z-]*)(?: (drop|LABEL|first\b|set\b|';'|\d[\d.e-]*))?")
# Python's message for a call that lacks an argument.
_MISSING = re.compile(r"missing a required (?:keyword-only )?argument: '(.*)'")
# Characters of a value, and of another library's error, that fit into a message of one line.
_LONGEST, _MOST = 60, 120
_LARGEST = 10**30
"""The smallest integer that is refused. No count is so large, and Python takes long to print it."""
_HERE = "mixtally.api"
_BY_NAME = Parameter.KEYWORD_ONLY
Readers = Mapping[Any, Callable[[str, object], object]]
"""For each type, a function that checks and converts a value.

Its arguments are the name of the argument, for messages, and the value.
"""
RENAMED = {
    "set": "separator", "person-column": "person", "epoch-column": "epochs", "epoch-order": "order",
    "ledger": "budget", "open": "open_domain",
}  # fmt: skip
"""The names of arguments that differ from the names of the command line's options.

They differ if the option's name is already used in Python, or if the argument accepts a column of
values and not only the column's name.
"""


def translate_errors(call: Callable[P, T]) -> Callable[P, T]:
    """Make ``call`` raise only errors of ``mixtally.errors`` for invalid arguments.

    Messages have the names of Python arguments: max_set, not --max-set. For an unknown argument,
    the message names the most similar known argument.

    Another exception becomes a DataError if an argument caused it. This is assumed if the exception
    was raised outside of this package, in code that ``mixtally.api`` called. An exception that was
    raised in this package is a defect of the package and is not changed. Lines that call methods of
    an argument use ``guard_reading`` or ``read_list``, whose DataError names the argument.

    The docstring of ``call`` gets an entry for every option.
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
            # The exception is changed in place, so that its type, attributes and traceback remain.
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
    """Return a decorator that declares the classes of options that a function accepts."""

    def attach_options(call: T) -> T:
        call.takes = kinds  # type: ignore[attr-defined]
        return call

    return attach_options


def read_options(kind: type[T], given: Mapping[str, object], readers: Readers | None = None) -> T:
    """Return an instance of a class of options from keyword arguments.

    A field of the class can be another class of options, whose fields are read as well.

    Parameters
    ----------
    kind : type
        A class of options, whose fields have the names of the keyword arguments.
    given : Mapping of str to object
        The keyword arguments by name. None means that an optional one was left out.
    readers : Mapping or None
        Functions that check and convert values whose type is not a number, truth value or text.

    Returns
    -------
    object
        The instance of ``kind``.

    Raises
    ------
    ParameterError
        If a value does not have the type of its field.
    """
    ways = {
        float: check_number,
        int: check_whole,
        bool: check_flag,
        str: check_text,
        Any: lambda _, value: value,  # checked elsewhere
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


def _type_of(hint: Any) -> Any:
    """Return the type of an annotation, without None."""
    (kind,) = [one for one in get_args(hint) if one is not type(None)] or [hint]
    return kind


def _expand_keywords(taken: Signature, every: Sequence[Parameter]) -> Signature:
    """Return a signature in which the options replace ``**options``.

    Help and editors show this signature. A parameter that the function itself declares is kept.
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
    """Return the type in an annotation, without the option that ``Annotated`` adds to it."""
    return get_args(annotation)[0] if hasattr(annotation, "__metadata__") else annotation


@contextmanager
def guard_reading(subject: str) -> Iterator[None]:
    """Raise DataError in place of any exception that an argument raises while it is read."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        raise DataError(
            subject,
            expected="values that can be read",
            got=_describe_error(error),
            do="check the argument",
        ) from error


def read_list(subject: str, values: Iterable[T]) -> list[T]:
    """Return ``values`` as a list, or raise DataError if they cannot be iterated."""
    with guard_reading(subject):
        return list(values)


def _describe_error(error: Exception) -> str:
    with suppress(Exception):  # another library's exception may fail to print
        return f"{type(error).__name__}: {' '.join(str(error).split())[:_MOST]}"
    return type(error).__name__


def _check_call(
    name: str, taken: Signature, args: Sequence[object], given: Mapping[str, object]
) -> None:
    """Raise ParameterError for an argument that is unknown, missing or given twice."""
    kinds = {one.name: one.kind for one in taken.parameters.values()}
    named = [one for one in kinds if kinds[one] is not Parameter.POSITIONAL_ONLY]
    known = [one for one in named if one not in ("self", "cls")]
    for strange in (one for one in given if one not in known):
        option = strange.replace("_", "-")  # of the command line
        do = f"did you mean {RENAMED[option]}?" if RENAMED.get(option) in known else ""
        if option in ("column", "columns") and "values" in known:
            do = 'give the column as the values, frame["city"] for example'
        if do:
            raise ParameterError(name, expected="the name of an argument", got=repr(strange), do=do)
    check_names(name, given, known)
    try:
        taken.bind(*args, **given)
    except TypeError as error:
        missing = _MISSING.fullmatch(str(error))
        raise ParameterError(
            name,
            expected=f"arguments as help(mixtally.{name}) lists them",
            got=f"a call without {missing[1]}" if missing else f"a call with {error}",
            do=f"add {missing[1]}"
            if missing
            else _named_call(name, taken, args, given) or "look at the list of arguments",
        ) from error


def _named_call(
    name: str, taken: Signature, args: Sequence[object], given: Mapping[str, object]
) -> str | None:
    """Return advice that shows the call with names for keyword-only arguments.

    Return None if no such argument was passed by position, or if there are too many arguments. If
    the first parameter is a path but the first argument is a number, the path is assumed to be
    missing. The arguments are then assigned to the parameters after the path.
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
    return f"name the arguments: mixtally.{name}({', '.join(parts)})"


def _format_brief(value: object) -> str:
    """Return the Python literal of a number, a text or a truth value, and dots for other values."""
    if isinstance(value, bool | int | float | str):
        with suppress(ValueError):  # Python refuses to print integers of too many digits
            typed = repr(value)
            return typed if len(typed) <= _LONGEST else ".."
    return ".."


def _is_callers_error(trace: TracebackType | None) -> bool:
    """Return whether code outside of this package raised the error, called by ``mixtally.api``."""
    # Only the innermost frame of this package matters, not the frames of libraries below it.
    innermost, last = "", ""
    while trace is not None:
        last = str(trace.tb_frame.f_globals.get("__name__", ""))
        innermost = last if last.startswith("mixtally.") else innermost
        trace = trace.tb_next
    return innermost.startswith(_HERE) and innermost != last


def translate_options(text: str) -> str:
    """Return ``text`` with the names of arguments in place of the names of options."""
    return _FLAG.sub(_option_to_argument, text)


def _option_to_argument(found: re.Match[str]) -> str:
    """Return the argument for a matched option; a command between backquotes stays unchanged."""
    if found[1]:
        return found[1]
    name = RENAMED.get(found[2], found[2]).replace("-", "_")
    value = (found[3] or "").strip("'")
    if value[:1].isdigit():
        return f"{name}={value}"
    return f'{name}="{value}"' if value else name


def describe_value(value: object) -> str:
    """Return the type and the value as text, short enough for one line."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # the __repr__ of a caller's object may raise anything
        text = "that cannot be shown"
    text = text if len(text) <= _LONGEST else text[:_LONGEST] + ".."
    return f"{type(value).__name__} {text}"


def check_number(subject: str, value: object) -> float:
    """Return ``value`` as a finite float, or raise ParameterError for other types and values."""
    if isinstance(value, Real) and not isinstance(value, bool):
        with suppress(OverflowError):  # an integer may exceed all floats
            if math.isfinite(found := float(value)):
                return found
    raise ParameterError(
        subject, expected="a finite number", got=describe_value(value), do="give it as int or float"
    )


def check_whole(subject: str, value: object) -> int:
    """Return a whole number as an int; a float without a fraction, such as 1e5, is accepted.

    Raises
    ------
    ParameterError
        For text, booleans, fractions, and numbers of more than 30 digits, which take long to print.
    """
    if isinstance(value, Integral) and not isinstance(value, bool):
        if abs(count := int(value)) < _LARGEST:
            return count
        raise ParameterError(
            subject,
            expected="a whole number of at most 30 digits",
            got=f"a number of {count.bit_length():,} bits",
            do="give a smaller number",
        )
    if isinstance(value, float) and value.is_integer() and abs(value) < _LARGEST:
        return int(value)
    raise ParameterError(
        subject, expected="a whole number", got=describe_value(value), do="give it as an int"
    )


def check_optional_number(subject: str, value: object) -> float | None:
    """Return ``value`` as a float, or None for an argument that was left out."""
    return None if value is None else check_number(subject, value)


def check_optional_whole(subject: str, value: object) -> int | None:
    """Return ``value`` as an int, or None for an argument that was left out."""
    return None if value is None else check_whole(subject, value)


def check_type(subject: str, value: object, kind: type[T], make: str) -> T:
    """Return ``value`` if it has the type ``kind``, or raise ParameterError.

    The message advises to call ``make``, the function of ``mixtally`` that returns such objects.
    """
    if isinstance(value, kind):
        return value
    raise ParameterError(
        subject,
        expected=f"a mixtally.{kind.__name__}",
        got=describe_value(value),
        do=f"make one with mixtally.{make}",
    )


def check_flag(subject: str, value: object) -> bool:
    """Return ``value`` if it is True or False, or raise ParameterError."""
    if isinstance(value, bool):
        return value
    raise ParameterError(
        subject, expected="True or False", got=describe_value(value), do="choose one"
    )


def check_text(subject: str, value: object) -> str:
    """Return ``value`` as a plain str, or raise ParameterError."""
    if isinstance(value, str):
        return str.__str__(value)  # records cannot be written with a subclass of str
    raise ParameterError(subject, expected="text", got=describe_value(value), do="give it as a str")


def check_optional_text(subject: str, value: object) -> str | None:
    """Return ``value`` as a plain str, or None for an argument that was left out."""
    return None if value is None else check_text(subject, value)


def check_choice(subject: str, value: object, names: Sequence[str]) -> str:
    """Return ``value`` if it is one of ``names``, or raise ParameterError."""
    if isinstance(value, str) and value in names:
        return value
    raise wrong_choice(subject, value, names)


def wrong_choice(subject: str, value: object, names: Sequence[str]) -> ParameterError:
    """Return the error for a value, of any type, that is not one of ``names``."""
    shown = "" if isinstance(value, str) else describe_value(value)
    return not_one_of(subject, shown or value, names, shown=shown)


def check_optional_choice(subject: str, value: object, names: Sequence[str]) -> str | None:
    """Return ``value`` if it is one of ``names``, or None for an argument that was left out."""
    return None if value is None else check_choice(subject, value, names)
