"""Groups of commands, and the option ``--quiet`` that every command has."""

import sys
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import typer
from typer.core import TyperGroup

_quiet = ContextVar("quiet", default=False)


def set_quiet(expected: bool) -> None:
    """Set whether progress is hidden; results, warnings and errors are always printed."""
    _quiet.set(expected)


def is_quiet() -> bool:
    """Return whether progress is hidden."""
    return _quiet.get()


def is_watched() -> bool:
    """Return whether progress is displayed: on a terminal, unless --quiet is set."""
    return sys.stderr.isatty() and not is_quiet()


def _quiet_option(
    quiet: bool = typer.Option(
        False,
        "--quiet",
        "-q",
        callback=set_quiet,
        expose_value=False,
        help="Show no progress; results, warnings and errors are still printed.",
    ),
) -> None:
    """Do nothing: the signature declares the option ``--quiet``."""


def command_group(name: str, text: str, *, cls: type[TyperGroup] = TyperGroup) -> typer.Typer:
    """Return a group of commands with a name and a help text."""
    return typer.Typer(
        name=name,
        cls=cls,
        help=text,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
    )


def with_quiet(command: Any) -> Any:
    """Add ``--quiet`` to a command, or to each command of a group, and return it.

    The annotation is ``Any`` because the names of the parser's types depend on its version.
    """
    for one in getattr(command, "commands", {"": command}).values():
        one.params += parameters_of(_quiet_option)
    return command


def parameters_of(declared: Callable[..., None]) -> list[Any]:
    """Return the options that the signature of a function declares."""
    holder = typer.Typer(add_completion=False)
    holder.command()(declared)
    return list(typer.main.get_command(holder).params)
