"""Groups of options: the fields of a dataclass become options of a command."""

import inspect
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from mixtally.app.options import Option, build_options, is_group, parameters_of
from mixtally.cli.options import make_typer_option
from mixtally.cli.texts import READERS, Reader
from mixtally.errors import InputError


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each parameter of ``command`` that is a group by one option for each of its fields.

    The functions in ``texts.READERS`` convert values whose type the parser does not know. If an
    error concerns a value that was read from a file, its message names the file.
    """
    kinds = get_type_hints(command, include_extras=True)
    own = list(inspect.signature(command).parameters.values())
    readers: dict[str, Reader] = {}
    every = [
        option
        for one in own
        for option in _expand_parameter(one.replace(annotation=kinds[one.name]), readers)
    ]

    @wraps(command)
    def run_with_groups(**values: Any) -> None:
        files: dict[str, Path] = {}
        for name, reader in readers.items():
            if isinstance(values[name], Path):
                files[name] = values[name]
            if values[name] is not None:
                values[name] = reader.read(values[name])
        given = {
            one.name: build_options(kinds[one.name], values)
            if is_group(kinds[one.name])
            else values[one.name]
            for one in own
        }
        try:
            command(**given)
        except InputError as error:
            # The code that refuses a value does not know which file it was read from.
            if (file := files.get(error.subject)) is not None:
                error.args = (f"{file}{str(error).removeprefix(error.subject)}",)
                error.subject = str(file)
            raise

    # The parser derives options from the signature and the annotations.
    run_with_groups.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
    run_with_groups.__annotations__ = {option.name: option.annotation for option in every}
    return run_with_groups


def with_help_paragraph(
    title: str, lines: Iterable[str]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that appends a title and a list of phrases to a command's help."""

    def append_paragraph(command: Callable[..., None]) -> Callable[..., None]:
        command.__doc__ = f"{inspect.getdoc(command)}\n\n{title} {'; '.join(lines)}."
        return command

    return append_paragraph


def _expand_parameter(
    one: inspect.Parameter, readers: dict[str, Reader]
) -> Iterator[inspect.Parameter]:
    """Yield a parameter as it is or, if it is a group, one parameter for each option.

    The annotations of the yielded parameters are those that the parser understands. If the parser
    does not know the type of an option, the function that converts its value is added to
    ``readers``.
    """
    kind = one.annotation
    for option in parameters_of(kind, extras=True) if is_group(kind) else [one]:
        taken = option.annotation
        if get_origin(taken) is Annotated and isinstance(declared := get_args(taken)[1], Option):
            own = get_args(taken)[0]
            if own in READERS:
                readers[option.name] = READERS[own]
                own = READERS[own].parser_type
            taken = Annotated[own, make_typer_option(declared)]
        yield option.replace(annotation=taken, kind=inspect.Parameter.KEYWORD_ONLY)
