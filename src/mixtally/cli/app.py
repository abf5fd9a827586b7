"""The commands, gathered, and what a call of them comes to."""

from typing import Any, cast

import typer

from mixtally.cli.attack import attack
from mixtally.cli.audit import audit
from mixtally.cli.calibrate import calibrate
from mixtally.cli.delta import delta
from mixtally.cli.demo import demo
from mixtally.cli.epochs import epochs
from mixtally.cli.ledger import app as ledger
from mixtally.cli.memory import memory
from mixtally.cli.plan import plan
from mixtally.cli.reproduce import reproduce
from mixtally.cli.simulate import simulate
from mixtally.cli.sufficient import sufficient
from mixtally.cli.vote import vote
from mixtally.cli.words import words
from mixtally.errors import InputError
from mixtally.version import VERSION

_PURPOSE = (
    "Count how often things happen in a crowd, while what is learned about any one person's answer "
    "stays within a stated epsilon and delta."
)

app = typer.Typer(
    name="mixtally",
    help=_PURPOSE,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(show: bool) -> None:
    if show:
        typer.echo(f"mixtally {VERSION}")
        raise typer.Exit


@app.callback(help=_PURPOSE)
def options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and stop."
    ),
) -> None:
    """Options that belong to no command."""


for command in (
    plan, delta, calibrate, audit, attack, reproduce, sufficient,
    simulate, vote, words, epochs, memory, demo,
):  # fmt: skip
    app.command()(command)
app.add_typer(ledger)


_Unusable = cast("type[Exception]", typer.BadParameter.__mro__[1])
"""The error of a command line that cannot be read; the parser that defines it has no fixed name."""


def call() -> int:
    """Do what the command line asks; the exit status.

    Raises InputError for a command line that cannot be read; one that is empty is answered by help.
    """
    try:
        return app(standalone_mode=False, prog_name="mixtally") or 0
    except _Unusable as error:
        unusable: Any = error
        said = unusable.format_message()
        if "\n" in said:
            unusable.show()
            return 2
        path = unusable.ctx.command_path if unusable.ctx else "mixtally"
        raise InputError(
            path.rpartition(" ")[2], wanted="a call as --help describes it",
            got=f"another: {said.rstrip('.')}", do=f"see `{path} --help`",
        ) from error  # fmt: skip
