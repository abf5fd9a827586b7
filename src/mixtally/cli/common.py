"""The option that every command has."""

from typing import Any

import typer

from mixtally.cli.watching import be_quiet


def _spare(
    quiet: bool = typer.Option(
        False,
        "--quiet",
        "-q",
        callback=be_quiet,
        expose_value=False,
        help="Say nothing while it works; results and errors still are.",
    ),
) -> None:
    """Has the option that every command has."""


def with_quiet(command: Any) -> Any:
    """``command``, or all that it has, with ``--quiet``; the parser's types have no fixed names."""
    spare = typer.Typer(add_completion=False)
    spare.command()(_spare)
    for one in getattr(command, "commands", {"": command}).values():
        one.params += typer.main.get_command(spare).params
    return command
