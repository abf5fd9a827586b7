"""Options that travel together: declared once, handed to a command as one dictionary."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

Options = Mapping[str, tuple[Any, Any]]
"""Annotated type and default of each option; ``inspect.Parameter.empty`` for required ones."""


def takes(options: Options) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command, whose first parameter is a dictionary, these options beside its own."""

    def give(command: Callable[..., None]) -> Callable[..., None]:
        own = list(inspect.signature(command).parameters.values())[1:]

        @wraps(command)
        def called(**values: Any) -> None:
            group = {name: values.pop(name) for name in options}
            command(group, **values)

        added = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind
            )
            for name, (kind, default) in options.items()
        ]
        every = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own] + added
        called.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
        called.__annotations__ = {p.name: p.annotation for p in every}
        return called

    return give
