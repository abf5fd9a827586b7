"""The commands, gathered, and what a call of them comes to."""

import difflib
from collections.abc import Iterable
from importlib import import_module
from typing import Any, NamedTuple, cast

import typer
from typer.core import TyperCommand, TyperGroup

from mixtally.cli.common import parameters_of, with_quiet
from mixtally.cli.panels import PaneledCommand, help_all
from mixtally.errors import InputError
from mixtally.version import VERSION


class Command(NamedTuple):
    """The first line of a command's help, and where it is: a module of the command line, and its
    function there; without one the module has an ``app`` of several commands.
    """

    line: str
    module: str
    function: str = ""


COMMANDS = {
    "simulate": Command("Simulate a private collection on your data.", "simulate", "simulate"),
    "simulate words": Command("Find the most frequent words of a column.", "words", "words"),
    "simulate places": Command("Count people in hexagons of a map.", "places", "places"),
    "simulate baskets": Command(
        "Find items that people hold together, and rules between them.", "baskets", "baskets"
    ),
    "simulate epochs": Command("Repeat a question over time.", "epochs", "epochs"),
    "simulate memoized": Command(
        "Play answers that are randomized once and reported again.", "memory", "memory"
    ),
    "plan": Command("Find the plan of least error.", "plan", "plan"),
    "contract": Command("Write, show and check what strangers agree on.", "contract"),
    "mix": Command("Run one mix of a network.", "mix"),
    "collector": Command("Run the collector of a network.", "collector"),
    "client": Command("Take part in a round, and see what left this device.", "client"),
    "budget": Command("Charge collections to a budget that none may exceed.", "budget"),
    "check delta": Command("Compute the exact delta of given parameters.", "delta", "delta"),
    "check noise": Command("Find the least noise for a guarantee.", "calibrate", "calibrate"),
    "check formula": Command(
        "Check a published formula against the exact delta.", "audit", "audit"
    ),
    "check attack": Command("Attack a plan, or a claim.", "attack", "attack"),
    "check sufficient": Command(
        "Describe the privacy ratio of shuffled bit vectors.", "sufficient", "sufficient"
    ),
    "batch randomize": Command("Draw everybody's messages into shards.", "batch", "randomize"),
    "batch mix": Command(
        "Shuffle shards into others, with the fakes that mixes add.", "batch", "mix"
    ),
    "batch tally": Command("Count messages that lie in files, and conclude.", "tally", "tally"),
    "batch doctor": Command(
        "Say how fast this machine is, and what a round would cost it.", "doctor", "doctor"
    ),
    "example": Command("Write a small made-up survey.", "example", "example"),
    "demo": Command("Count real flights privately.", "demo", "demo"),
}
"""Every command, by what is typed for it."""

GROUPS = {
    "check": "Check a claim: by delta, noise, formula or attack.",
    "batch": "Draw, mix and count crowds larger than memory.",
}
"""First words that are no command of their own."""

_PURPOSE = (
    "Count how often things happen in a crowd, while what is learned about any one person's answer "
    "stays within a stated epsilon and delta."
)

_ENDS = (
    "Exit status: 0 done, 1 done and the answer is no, 2 something given cannot be used, "
    "3 a privacy number that cannot be right, 130 a key was pressed to stop, 141 output closed."
)


def _subcommands(first: str) -> dict[str, str]:
    """The second words that follow ``first``, with their commands' first lines."""
    begin = first + " "
    return {
        name.removeprefix(begin): command.line
        for name, command in COMMANDS.items()
        if name.startswith(begin)
    }


def _placeholder_commands(lines: dict[str, str]) -> dict[str, Any]:
    """What stands for each command in a list: nothing is imported for it."""
    return {name: TyperCommand(name, help=line) for name, line in lines.items()}


class Commands(TyperGroup):
    """The commands, each imported when it is called for, and none to list them.

    The parser's own types have no fixed names.
    """

    first = ""
    """The word before these, if any."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """What is called, by a word or by two."""
        if " ".join(args[:2]) in COMMANDS and len(args) > 1:
            return super().resolve_command(ctx, [" ".join(args[:2]), *args[2:]])
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """What a word that was begun may become: no command is imported for its help."""
        ctx.command = TyperGroup(commands=dict(self.commands))
        return super().shell_complete(ctx, incomplete)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """The command of this name, None without one."""
        name = f"{self.first} {cmd_name}".strip()
        if name in GROUPS:
            group = Commands(
                name=name,
                commands=_placeholder_commands(_subcommands(name)),
                help=GROUPS[name],
                no_args_is_help=True,
                rich_markup_mode=None,
            )
            group.first = name
            return group
        if name not in COMMANDS:
            return None
        command = COMMANDS[name]
        module = vars(import_module(f"mixtally.cli.{command.module}"))
        if not command.function:  # it has commands of its own
            return with_quiet(typer.main.get_command(module["app"]))
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(cls=PaneledCommand, epilog=_subcommand_epilog(name))(module[command.function])
        made: Any = with_quiet(typer.main.get_command(alone))
        made.params += parameters_of(help_all)
        return made

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list, out of what stands for each command."""
        TyperGroup(commands=dict(self.commands)).format_commands(ctx, formatter)


def _subcommand_epilog(name: str) -> str | None:
    """The last line of the help of a command that others follow."""
    words = ", ".join(_subcommands(name))
    return f"Other questions, each with its own --help: {name} {words}." if words else None


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


def _placeholder() -> None:
    """Stands for a command in the list of them."""


for _name in dict.fromkeys(name.partition(" ")[0] for name in COMMANDS):  # first words
    app.command(_name, help=GROUPS.get(_name) or COMMANDS[_name].line)(_placeholder)


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
        if "\n" in unusable.format_message():
            unusable.show()
            return 2
        raise _refusal(unusable) from error


def _refusal(unusable: Any) -> InputError:
    """What is wrong with a command line, and which word was most likely meant."""
    context = unusable.ctx
    path = context.command_path if context else "mixtally"
    said, kind = unusable.format_message().rstrip("."), type(unusable).__name__
    expected, got, known = "a call that can be read", said, []
    if kind == "NoSuchOption":
        expected, got = "an option of this command", unusable.option_name
        known = [one for each in context.command.params for one in each.opts]
    elif kind == "MissingParameter":
        name = unusable.param.opts[0] if unusable.param else "an argument"
        expected, got = (name if name.startswith("-") else name.upper()), "none"
    elif kind == "BadParameter" and unusable.param:
        name = unusable.param.opts[0]
        expected, got = f"another value of {name}", unusable.message.rstrip(".")
    elif said.startswith("Got unexpected extra argument"):
        expected, got = "no further argument", said.partition(" (")[2][:-1]
    elif kind == "BadOptionUsage":
        bare = "not take" in said
        expected = f"{unusable.option_name} {'without' if bare else 'with'} a value"
        got = "one" if bare else "none"
    elif said.startswith("No such command"):
        got = said.split("'")[1]
        expected = "one of the commands"
        known = list(COMMANDS)
    return InputError(
        path.rpartition(" ")[2],
        expected=expected,
        got=got,
        do=_suggest(got, known) + f"see `{path} --help`",
    )


def _suggest(word: str, known: Iterable[str]) -> str:
    """What may be meant by ``word``: what ends in a word that begins so, or is like it."""
    plain = word.replace("_", "-")
    whole = {name.rpartition(" ")[2]: name for name in known}
    begun = [last for last in whole if last.startswith(plain)]
    like = begun or difflib.get_close_matches(plain, whole, 1, 0.7)
    return f"{' or '.join(whole[last] for last in like[:3])}? " if like else ""
