"""Options that are added to commands: the one that every command has, and how any is."""

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperGroup

from mixtally.cli.terminal import set_quiet


def _quiet_option(
    quiet: bool = typer.Option(
        False,
        "--quiet",
        "-q",
        callback=set_quiet,
        expose_value=False,
        help="Show no progress; results, warnings and errors are still said.",
    ),
) -> None:
    """Does nothing: it stands for the option that every command has."""


def command_group(name: str, text: str, *, cls: type[TyperGroup] = TyperGroup) -> typer.Typer:
    """A command that has commands of its own, with what its help says."""
    return typer.Typer(
        name=name,
        cls=cls,
        help=text,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
    )


def with_quiet(command: Any) -> Any:
    """``command``, or all that it has, with ``--quiet``; the parser's types have no fixed names."""
    for one in getattr(command, "commands", {"": command}).values():
        one.params += parameters_of(_quiet_option)
    return command


def parameters_of(declared: Callable[..., None]) -> list[Any]:
    """The options that a function declares, to be added to a command."""
    holder = typer.Typer(add_completion=False)
    holder.command()(declared)
    return list(typer.main.get_command(holder).params)
