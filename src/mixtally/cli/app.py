"""The commands, gathered, and what a call of them comes to."""

from importlib import import_module
from typing import Any, cast

import typer
from typer.core import TyperGroup

from mixtally.cli.common import with_quiet
from mixtally.errors import InputError
from mixtally.version import VERSION

COMMANDS = {
    "plan": "Find the plan of least error.",
    "contract": "Write, show and check what strangers agree on before they answer.",
    "mix": "Run one mix of a network: begin, sign, serve.",
    "collector": "Run the collector of a network: sign, propose, serve, publish.",
    "client": "Take part in a round from this device, and see what left it.",
    "delta": "State the exact delta of any parameters.",
    "calibrate": "Find the least noise for a guarantee.",
    "audit": "Hold a published formula against the exact delta.",
    "attack": "Attack a plan, or a claim.",
    "sufficient": "Describe the privacy ratio of shuffled bit vectors.",
    "simulate": "Play columns of real data.",
    "batch": "Messages of a crowd in files, larger than memory: drawn, then mixed.",
    "tally": "Count messages that lie in files, and conclude.",
    "vote": "Count a vote in two ways.",
    "places": "Count people in hexagons of a map.",
    "baskets": "Find items that people hold together, and rules between them.",
    "words": "Find the most frequent words of a column.",
    "epochs": "Ask again and again.",
    "memory": "Play answers that are randomized once and reported again.",
    "doctor": "Say how fast this machine is, and what a round would cost it.",
    "example": "Write a small made-up survey.",
    "demo": "Count real flights privately.",
    "ledger": "Charge every collection to a budget; refuse what would pass it.",
}
"""Every command, in the module of its name, and the first line of its help."""

_PURPOSE = (
    "Count how often things happen in a crowd, while what is learned about any one person's answer "
    "stays within a stated epsilon and delta."
)

_ENDS = (
    "Exit status: 0 done, 1 done and the answer is no, 2 something given cannot be used, "
    "3 a privacy number that cannot be right, 130 a key was pressed to stop, 141 output closed."
)


class Commands(TyperGroup):
    """The commands, each imported when it is called for, and none to list them.

    The parser's own types have no fixed names.
    """

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """What a word that was begun may become: no command is imported for its help."""
        ctx.command = TyperGroup(commands=dict(self.commands))
        return super().shell_complete(ctx, incomplete)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """The command of this name, None without one."""
        if cmd_name not in COMMANDS:
            return None
        module = vars(import_module(f"mixtally.cli.{cmd_name}"))
        if "app" in module:  # it has commands of its own
            return with_quiet(typer.main.get_command(module["app"]))
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command()(module[cmd_name])
        return with_quiet(typer.main.get_command(alone))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list, out of what stands for each command."""
        TyperGroup(commands=dict(self.commands)).format_commands(ctx, formatter)


app = typer.Typer(
    name="mixtally",
    cls=Commands,
    help=_PURPOSE,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=_ENDS,
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


def _named() -> None:
    """Stands for a command in the list of them."""


for name, line in COMMANDS.items():
    app.command(name, help=line)(_named)


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
            path.rpartition(" ")[2],
            wanted="a call as --help describes it",
            got=f"another: {said.rstrip('.')}",
            do=f"see `{path} --help`",
        ) from error
