"""The commands and the one place where errors become a line and an exit status."""

import sys
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
from mixtally.errors import AccountingError, InputError
from mixtally.version import VERSION

app = typer.Typer(
    name="mixtally",
    help="Count how often things happen in a crowd without learning anything about anyone in it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(show: bool) -> None:
    if show:
        typer.echo(f"mixtally {VERSION}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and stop."
    ),
) -> None:
    """Count how often things happen in a crowd without learning anything about anyone in it."""


for command in (
    plan, delta, calibrate, audit, attack, reproduce, sufficient,
    simulate, vote, words, epochs, memory, demo,
):  # fmt: skip
    app.command()(command)
app.add_typer(ledger)


_Unusable = cast("type[Exception]", typer.BadParameter.__mro__[1])
"""The error of a command line that cannot be read; the parser that defines it has no fixed name."""


def run() -> None:
    """Run the command line; bad input exits with status 2, a broken privacy number with 3."""
    try:
        status = app(standalone_mode=False)
    except _Unusable as error:
        _refuse(error)
    except InputError as error:
        typer.echo(f"mixtally: {error}", err=True)
        sys.exit(2)
    except AccountingError as error:
        typer.echo(f"mixtally: {error}", err=True)
        sys.exit(3)
    else:
        if status:
            sys.exit(status)


def _refuse(error: Any) -> None:
    """One line as for every other bad input; a call without any argument is answered by help."""
    said = error.format_message()
    if "\n" in said:
        error.show()
    else:
        path = error.ctx.command_path if error.ctx else "mixtally"
        typer.echo(
            f"mixtally: {path.rpartition(' ')[2]}: wanted a call as --help describes it, got "
            f"another: {said.rstrip('.')}; see `{path} --help`",
            err=True,
        )
    sys.exit(2)
