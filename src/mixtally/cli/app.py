"""The list of all commands, and the function that runs the command of a command line.

The entry point ``main`` calls ``call``. The modules of commands are imported only when they run.
"""

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
    """The first line of a command's help, its module and the name of its function.

    If the name of the function is empty, the module has a parser ``app`` with several commands.
    """

    line: str
    module: str
    function: str = ""


COMMANDS = {
    "simulate": Command("Simulate a private collection on your data.", "simulate", "simulate"),
    "simulate words": Command("Find the most frequent words of a column.", "simulations", "words"),
    "simulate places": Command("Count people in hexagons of a map.", "simulations", "places"),
    "simulate baskets": Command(
        "Find items that occur together, and rules between them.", "simulations", "baskets"
    ),
    "simulate epochs": Command("Repeat a question over time.", "epochs", "epochs"),
    "simulate memoized": Command(
        "Simulate answers that are randomized once and reported repeatedly.", "memory", "memory"
    ),
    "plan": Command("Find the plan with the smallest error.", "plan", "plan"),
    "contract": Command("Write, show and check contracts between operators.", "contract"),
    "mix": Command("Run one mix of a network.", "mix"),
    "collector": Command("Run the collector of a network.", "collector"),
    "client": Command("Take part in a round, and list what this device sent.", "client"),
    "page": Command("Write the page on which people answer, and check one on a host.", "page"),
    "budget": Command("Charge collections to a privacy budget.", "budget"),
    "check delta": Command("Compute the exact delta of given parameters.", "check", "delta"),
    "check noise": Command("Find the smallest noise for a guarantee.", "check", "calibrate"),
    "check formula": Command(
        "Check a published formula against the exact delta.", "formulas", "audit"
    ),
    "check attack": Command("Attack a plan or a claim.", "attack", "attack"),
    "check round": Command(
        "Check a counted round from its exported files.", "check_round", "check"
    ),
    "check sufficient": Command(
        "Describe the privacy ratio of shuffled bit vectors.", "formulas", "sufficient"
    ),
    "batch randomize": Command(
        "Randomize the records of a crowd into shards.", "batch", "randomize"
    ),
    "batch mix": Command(
        "Shuffle shards into new ones, and add the fakes of mixes.", "batch", "mix"
    ),
    "batch tally": Command("Count messages in files, and estimate.", "batch", "tally"),
    "batch doctor": Command(
        "Measure this machine, and estimate the cost of a round.", "doctor", "doctor"
    ),
    "example": Command("Write a small made-up survey.", "example", "example"),
    "demo": Command("Count real flights privately.", "simulations", "demo"),
}
"""All commands by the words that a user types, such as "simulate words"."""

GROUPS = {
    "check": "Check a claim: by delta, noise, formula, attack or round.",
    "batch": "Randomize, mix and count crowds larger than memory.",
}
"""Help texts of first words that only begin commands, such as "check"."""

_PURPOSE = (
    "Count the answers of a crowd with differential privacy in the shuffle model: a proved epsilon "
    "and delta limit what anyone can learn about one person's answer.\n\nTo begin, type `mixtally "
    "example survey.csv`: it writes made-up data and prints a command to try."
)

_ENDS = (
    "Exit status: 0 success, 1 success with a negative answer, 2 unusable input, 3 a privacy "
    "number that cannot be right, 130 interrupted from the keyboard, 141 output closed."
)


def _subcommands(first: str) -> dict[str, str]:
    """Return the commands whose first word is ``first``.

    The result maps the second word of each command to its line of help.
    """
    begin = first + " "
    return {
        name.removeprefix(begin): command.line
        for name, command in COMMANDS.items()
        if name.startswith(begin)
    }


class Commands(TyperGroup):
    """A group of commands that imports a command only when it is called.

    The annotations are ``Any`` because the names of the parser's types depend on its version.
    """

    first = ""
    """The first word of these commands; empty for the top level."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is named by the first word or by the first two words."""
        # A command of two words is preferred: "simulate words" could also be the command "simulate"
        # with a file named "words".
        if " ".join(args[:2]) in COMMANDS and len(args) > 1:
            return super().resolve_command(ctx, [" ".join(args[:2]), *args[2:]])
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Return the completions of a word without importing a command."""
        ctx.command = TyperGroup(commands=dict(self.commands))
        return super().shell_complete(ctx, incomplete)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """Return the command of this name, or None."""
        name = f"{self.first} {cmd_name}".strip()
        if name in GROUPS:
            below = _subcommands(name)
            group = Commands(
                name=name,
                # Placeholders, so that no command of the group is imported.
                commands={word: TyperCommand(word, help=line) for word, line in below.items()},
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
        # The modules of groups such as contract and mix build their own parser.
        if not command.function:  # it has commands of its own
            return with_quiet(typer.main.get_command(module["app"]))
        words = ", ".join(_subcommands(name))
        last = f"Other questions, each with its own --help: {name} {words}." if words else None
        standalone = typer.Typer(add_completion=False, rich_markup_mode=None)
        standalone.command(cls=PaneledCommand, epilog=last)(module[command.function])
        made: Any = with_quiet(typer.main.get_command(standalone))
        made.params += parameters_of(help_all)
        return made

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands without importing their modules."""
        TyperGroup(commands=dict(self.commands)).format_commands(ctx, formatter)


app = typer.Typer(
    name="mixtally",
    cls=Commands,
    help=_PURPOSE,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=_ENDS,
    # Errors must reach main, which prints them as one line.
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
    """Accept the options that belong to no command."""


def _placeholder() -> None:
    """Do nothing: a placeholder for a command in the list of commands."""


for _name in dict.fromkeys(name.partition(" ")[0] for name in COMMANDS):  # first words
    app.command(_name, help=GROUPS.get(_name) or COMMANDS[_name].line)(_placeholder)


_PLAIN_FORMS = {"a valid float": "a number", "a valid int": "a whole number"}
"""The words of this package for the types in the parser's messages."""
_Unusable = cast("type[Exception]", typer.BadParameter.__mro__[1])
"""The parser's exception for an invalid command line.

It is not imported by name, because the module that defines it depends on the parser's version.
"""


def call() -> int:
    """Run the command that the command line names, and return its exit status.

    An empty command line prints the help.

    Raises
    ------
    InputError
        If the command line is invalid.
    """
    try:
        return app(standalone_mode=False, prog_name="mixtally") or 0
    except _Unusable as error:
        unusable: Any = error
        # The parser reports a missing subcommand by a whole help page, which is printed unchanged.
        if "\n" in unusable.format_message():
            unusable.show()
            return 2
        raise _refusal(unusable) from error


def _refusal(unusable: Any) -> InputError:
    """Return the error for an invalid command line; its advice suggests similar known words."""
    context = unusable.ctx
    path = context.command_path if context else "mixtally"
    said, kind = unusable.format_message().rstrip("."), type(unusable).__name__
    expected, got, known = "a valid command line", said, []
    # Classes are compared by name, because the module that defines them depends on the version.
    if kind == "NoSuchOption":
        expected, got = "an option of this command", unusable.option_name
        known = [one for each in context.command.params for one in each.opts]
    elif kind == "MissingParameter":
        name = unusable.param.opts[0] if unusable.param else "an argument"
        expected, got = (name if name.startswith("-") else name.upper()), "none"
    elif kind == "BadParameter" and unusable.param:
        name = unusable.param.opts[0]
        value, unfit, form = unusable.message.rstrip(".").partition(" is not ")
        value = value.removeprefix("Path ")
        form = _PLAIN_FORMS.get(form, form)
        expected = f"a value of {name} that is {form}" if unfit else f"another value of {name}"
        got = value
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
        do=_suggest(got, known) + f"See `{path} --help`",
    )


def _suggest(word: str, known: Iterable[str]) -> str:
    """Return the question "did you mean ..?" with the known words similar to ``word``.

    The text is empty if there are none. A known word is similar if its last part begins with
    ``word`` or has nearly the same spelling.
    """
    plain = word.replace("_", "-")
    whole = {name.rpartition(" ")[2]: name for name in known}
    begun = [last for last in whole if last.startswith(plain)]
    like = begun or difflib.get_close_matches(plain, whole, 1, 0.7)
    return f"did you mean {' or '.join(whole[last] for last in like[:3])}? " if like else ""
