"""``mixtally mix``: the commands of a mix.

The command ``intake`` is loaded without any code that can read a private key.
"""

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from typer.core import TyperGroup

from mixtally.cli.common import command_group, with_quiet
from mixtally.cli.log_option import LogAs, log_of
from mixtally.server.mix.intake_processes import IntakeOptions, check_first_mix, serve_intake
from mixtally.server.mix.intake_watch import release_intake

Place = Annotated[Path, typer.Argument(help="The folder of the role.", metavar="FOLDER")]
Number = Annotated[
    int, typer.Option("--number", help="Number of this process, from 1; each has its own.")
]
Host = Annotated[str, typer.Option("--host", help="Host on which it listens.", metavar="HOST")]
Port = Annotated[
    int, typer.Option("--port", help="Port on which it listens, known to a proxy (0: any).")
]


class MixCommands(TyperGroup):
    """The commands of a mix; all except ``intake`` are imported when one of them is called.

    The annotations are ``Any`` because the names of the parser's types depend on its version.
    """

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of this name, or None."""
        return super().get_command(ctx, cmd_name) or _role_commands().get_command(ctx, cmd_name)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return [*_role_commands().list_commands(ctx), *super().list_commands(ctx)]


app = command_group("mix", "Run one mix of a network.", cls=MixCommands)


@app.callback()
def options() -> None:
    """Run one mix of a network."""


@app.command()
def intake(
    folder: Place, number: Number, port: Port, host: Host = "127.0.0.1", log: LogAs = "text"
) -> None:
    """Accept bundles for the first mix until a signal ends the process; no key is needed."""
    taking = IntakeOptions(
        number, host, port, lambda at: typer.echo(f"accepting bundles at {at}"), log=log_of(log)
    )
    serve_intake(folder, taking)


@app.command("release-intake")
def release(folder: Place, number: Number) -> None:
    """End an intake process that hangs, so that the mix counts what it has acknowledged."""
    check_first_mix(folder)
    process = release_intake(folder, number)
    ended = f"ended process {process}" if process else f"no process of number {number} runs"
    typer.echo(f"{ended}; the mix counts the bundles that it acknowledged")


def _role_commands() -> TyperGroup:
    others = import_module("mixtally.cli.mix_role").app
    return cast("TyperGroup", with_quiet(typer.main.get_command(others)))
