"""What every function of the door asks of its arguments, and how its refusals are worded."""

import math
import re
from collections.abc import Callable, Sequence
from functools import wraps
from numbers import Integral, Real
from typing import ParamSpec, TypeVar

from mixtally.errors import InputError, ParameterError

P = ParamSpec("P")
T = TypeVar("T")
_FLAG = re.compile(r"(`[^`]*`)|--([a-z][a-z-]*)")
_LONGEST = 60


def in_python(call: Callable[P, T]) -> Callable[P, T]:
    """``call``, whose refusals name arguments as Python does: max_set, not --max-set."""

    @wraps(call)
    def worded(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return call(*args, **kwargs)
        except InputError as error:
            error.args = (_FLAG.sub(_named, str(error)),)
            raise

    return worded


def _named(found: re.Match[str]) -> str:
    """An option as an argument; commands between backquotes stay as they are typed."""
    return found[1] or found[2].replace("-", "_")


def shown(value: object) -> str:
    """A value and its type, short enough for a line."""
    text = repr(value)
    text = text if len(text) <= _LONGEST else text[:_LONGEST] + ".."
    return f"{type(value).__name__} {text}"


def number(subject: str, value: object) -> float:
    """``value`` as a float; ParameterError for text, booleans, NaN and infinities."""
    plain = isinstance(value, Real) and not isinstance(value, bool)
    if not plain or not math.isfinite(value):  # type: ignore[arg-type]
        raise ParameterError(
            subject, wanted="a finite number", got=shown(value), do="give it as int or float"
        )
    return float(value)  # type: ignore[arg-type]


def whole(subject: str, value: object) -> int:
    """``value`` as an int, 1e5 included; ParameterError for text, booleans and fractions."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise ParameterError(subject, wanted="a whole number", got=shown(value), do="give it as an int")


def maybe_number(subject: str, value: object) -> float | None:
    """The same, None for what was left out."""
    return None if value is None else number(subject, value)


def maybe_whole(subject: str, value: object) -> int | None:
    """The same, None for what was left out."""
    return None if value is None else whole(subject, value)


def flag(subject: str, value: object) -> bool:
    """``value`` itself; ParameterError for anything but True and False."""
    if isinstance(value, bool):
        return value
    raise ParameterError(subject, wanted="True or False", got=shown(value), do="choose one")


def text(subject: str, value: object) -> str:
    """``value`` itself; ParameterError for anything but text."""
    if isinstance(value, str):
        return value
    raise ParameterError(subject, wanted="text", got=shown(value), do="give it as a str")


def chosen(subject: str, value: object, names: Sequence[str]) -> str:
    """``value`` itself; ParameterError for anything but one of ``names``."""
    if isinstance(value, str) and value in names:
        return value
    raise ParameterError(
        subject, wanted="one of " + ", ".join(names), got=shown(value), do="choose one"
    )


def maybe_chosen(subject: str, value: object, names: Sequence[str]) -> str | None:
    """The same, None for what was left out."""
    return None if value is None else chosen(subject, value, names)
