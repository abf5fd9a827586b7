"""Options that travel together: the fields of a class, declared once, handed over as one object."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Annotated, Any, ClassVar, Protocol, get_args, get_origin, get_type_hints

from mixtally.app.options import Option
from mixtally.cli.options import parsed

_NONE = inspect.Parameter.empty


class Group(Protocol):
    """A dataclass whose fields are annotated with the options they come from, or are groups."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command, in place of each parameter that is a group, the options of its fields."""
    kinds = get_type_hints(command, include_extras=True)
    own = list(inspect.signature(command).parameters.values())

    @wraps(command)
    def called(**values: Any) -> None:
        command(**{one.name: _made(one.name, kinds[one.name], values) for one in own})

    every = [option for one in own for option in _options(one.name, kinds[one.name], one.default)]
    called.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
    called.__annotations__ = {option.name: option.annotation for option in every}
    return called


def _options(name: str, kind: Any, default: Any) -> Iterator[inspect.Parameter]:
    if not is_dataclass(kind):
        if get_origin(kind) is Annotated and isinstance(declared := get_args(kind)[1], Option):
            kind = Annotated[get_args(kind)[0], parsed(declared)]
        yield inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind
        )
        return
    kinds = get_type_hints(kind, include_extras=True)
    for field in fields(kind):
        usual = _NONE if field.default is MISSING else field.default
        yield from _options(field.name, kinds[field.name], usual)


def _made(name: str, kind: Any, values: dict[str, Any]) -> Any:
    if not isinstance(kind, type) or not is_dataclass(kind):
        return values[name]
    kinds = get_type_hints(kind, include_extras=True)
    return kind(**{one.name: _made(one.name, kinds[one.name], values) for one in fields(kind)})


def values(group: Group) -> dict[str, Any]:
    """What every option of ``group`` came to, by the name of its field, in the order of options."""
    found: dict[str, Any] = {}
    for field in fields(group):
        value: Any = getattr(group, field.name)
        group_inside = is_dataclass(value) and not isinstance(value, type)
        found |= values(value) if group_inside else {field.name: value}
    return found


def flags(group: Group, *names: str) -> list[str]:
    """The options of ``group``, or those of ``names``, that were set to something unusual."""
    kinds = get_type_hints(type(group), include_extras=True)
    usual = {field.name: field.default for field in fields(group)}
    found = []
    for name in names or usual:
        value = getattr(group, name)
        if is_dataclass(kinds[name]):
            found += flags(value)
        elif value != usual[name]:
            _, option = get_args(kinds[name])
            found.append(option.default)  # where an annotation has the first name of an option
    return found
