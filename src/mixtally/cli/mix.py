"""``mixtally mix``: the commands of a mix; ``intake`` is loaded without what can read a key."""

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from typer.core import TyperGroup

from mixtally.cli.common import command_group, with_quiet
from mixtally.cli.log_option import LogAs, log_of
from mixtally.server.mix.intake_processes import IntakeOptions, serve_intake

Place = Annotated[Path, typer.Argument(help="The folder of the role.", metavar="FOLDER")]
Number = Annotated[
    int, typer.Option("--number", help="Of this process, from 1: two have not the same.")
]
Host = Annotated[str, typer.Option("--host", help="Where it listens.", metavar="HOST")]
Port = Annotated[int, typer.Option("--port", help="Its port, which a proxy knows (0: any).")]


class MixCommands(TyperGroup):
    """All but ``intake`` are in a file that is imported when one of them is called for.

    The parser's own types have no fixed names.
    """

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of this name, None without one."""
        return super().get_command(ctx, cmd_name) or _role_commands().get_command(ctx, cmd_name)

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of all."""
        return [*_role_commands().list_commands(ctx), *super().list_commands(ctx)]


app = command_group("mix", "Run one mix of a network.", cls=MixCommands)


@app.callback()
def options() -> None:
    """Run one mix of a network."""


@app.command()
def intake(
    folder: Place, number: Number, port: Port, host: Host = "127.0.0.1", log: LogAs = "text"
) -> None:
    """Take bundles beside the first mix, until a signal ends it; it needs no key."""
    taking = IntakeOptions(
        number, host, port, lambda at: typer.echo(f"taking at {at}"), log=log_of(log)
    )
    serve_intake(folder, taking)


def _role_commands() -> TyperGroup:
    others = import_module("mixtally.cli.mix_role").app
    return cast("TyperGroup", with_quiet(typer.main.get_command(others)))
