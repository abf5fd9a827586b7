"""Options that travel together: the fields of a class, declared once, handed over as one object."""

import inspect
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from mixtally.app.options import Option, is_group, made, parameters_of
from mixtally.cli.options import parsed
from mixtally.cli.texts import READERS, Reader
from mixtally.errors import InputError


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command, in place of each parameter that is a group, the options of its fields.

    Options whose type the parser does not know are taken as text and read by ``texts.READERS``. A
    refusal of what was read from a file names the file.
    """
    kinds = get_type_hints(command, include_extras=True)
    own = list(inspect.signature(command).parameters.values())
    readers: dict[str, Reader] = {}
    every = [
        option
        for one in own
        for option in _options(one.replace(annotation=kinds[one.name]), readers)
    ]

    @wraps(command)
    def called(**values: Any) -> None:
        files: dict[str, Path] = {}
        for name, reader in readers.items():
            if isinstance(values[name], Path):
                files[name] = values[name]
            if values[name] is not None:
                values[name] = reader.read(values[name])
        given = {
            one.name: made(kinds[one.name], values)
            if is_group(kinds[one.name])
            else values[one.name]
            for one in own
        }
        try:
            command(**given)
        except InputError as error:
            if (file := files.get(error.subject)) is not None:
                error.args = (f"{file}{str(error).removeprefix(error.subject)}",)
                error.subject = str(file)
            raise

    called.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
    called.__annotations__ = {option.name: option.annotation for option in every}
    return called


def described(
    title: str, lines: Iterable[str]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add a paragraph to what the help of a command says: a title, and lines one after another."""

    def told(command: Callable[..., None]) -> Callable[..., None]:
        command.__doc__ = f"{inspect.getdoc(command)}\n\n{title} {'; '.join(lines)}."
        return command

    return told


def _options(one: inspect.Parameter, readers: dict[str, Reader]) -> Iterator[inspect.Parameter]:
    """Yield a parameter as the parser knows it, or those of its group; note how they are read."""
    kind = one.annotation
    for option in parameters_of(kind, extras=True) if is_group(kind) else [one]:
        taken = option.annotation
        if get_origin(taken) is Annotated and isinstance(declared := get_args(taken)[1], Option):
            own = get_args(taken)[0]
            if own in READERS:
                readers[option.name] = READERS[own]
                own = READERS[own].taken
            taken = Annotated[own, parsed(declared)]
        yield option.replace(annotation=taken, kind=inspect.Parameter.KEYWORD_ONLY)
