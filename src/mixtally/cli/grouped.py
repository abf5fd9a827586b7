"""Options that travel together: the fields of a class, declared once, handed over as one object."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import wraps
from typing import Any, Protocol, get_type_hints


class Group(Protocol):
    """A dataclass whose fields are annotated with the options they come from."""

    __dataclass_fields__: Any


def takes(*groups: type[Group]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command, whose first parameters are of these classes, their options beside its own."""

    def give(command: Callable[..., None]) -> Callable[..., None]:
        own = list(inspect.signature(command).parameters.values())[len(groups) :]

        @wraps(command)
        def called(**values: Any) -> None:
            made = [
                group(**{field.name: values.pop(field.name) for field in fields(group)})
                for group in groups
            ]
            command(*made, **values)

        added = [parameter for group in groups for parameter in _parameters(group)]
        every = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own] + added
        called.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
        called.__annotations__ = {p.name: p.annotation for p in every}
        return called

    return give


def _parameters(group: type[Group]) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
    ]


def flags(group: Group) -> list[str]:
    """The options of ``group`` that were set to something else than their default."""
    return [
        "--" + field.name.replace("_", "-")
        for field in fields(group)
        if getattr(group, field.name) != field.default
    ]
