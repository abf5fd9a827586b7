"""Options that travel together: the fields of a class, declared once, handed over as one object."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import wraps
from typing import Any, ClassVar, Protocol, get_type_hints


class Group(Protocol):
    """A dataclass whose fields are annotated with the options they come from."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


def takes(*groups: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command, whose first parameters are of these classes, their options beside its own."""

    def give(command: Callable[..., None]) -> Callable[..., None]:
        own = list(inspect.signature(command).parameters.values())[len(groups) :]

        @wraps(command)
        def called(**values: Any) -> None:
            made = [_made(group, values) for group in groups]
            command(*made, **values)

        added = [parameter for group in groups for parameter in _parameters(group)]
        every = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own] + added
        called.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
        called.__annotations__ = {p.name: p.annotation for p in every}
        return called

    return give


def _made(group: Any, values: dict[str, Any]) -> Any:
    if isinstance(group, dict):
        return {name: values.pop(name) for name in group}
    return group(**{field.name: values.pop(field.name) for field in fields(group)})


def _parameters(group: Any) -> list[inspect.Parameter]:
    if isinstance(group, dict):
        return [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind
            )
            for name, (kind, default) in group.items()
        ]
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
