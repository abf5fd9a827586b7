"""Commands and their Python functions take the same parameters, but for those listed here."""

import inspect
from typing import Annotated

import pytest
import typer

import mixtally
from mixtally.api import checks
from mixtally.app.options import option
from mixtally.cli.app import COMMANDS, app
from mixtally.cli.option_groups import with_option_groups

FUNCTIONS = {
    "plan": mixtally.plan,
    "simulate": mixtally.simulate,
    "simulate words": mixtally.simulate_words,
    "simulate places": mixtally.simulate_places,
    "simulate baskets": mixtally.simulate_baskets,
    "simulate epochs": mixtally.simulate_epochs,
    "simulate memoized": mixtally.simulate_memoized,
    "budget open": mixtally.Budget,
    "budget charge": mixtally.Budget.charge,
    "budget show": mixtally.Budget.show,
    "check delta": mixtally.delta,
    "check noise": mixtally.calibrate,
    "check attack": mixtally.attack,
    "batch tally": mixtally.conclude,
    "example": mixtally.example,
}
"""Commands that have a Python function. Roles of a network, and files, have none."""

PRINTED = {"json", "quiet", "help_all", "out", "out_format", "top", "all", "file"}
"""How a result is printed and into which files it goes: Python returns an object instead."""
FILES = {
    "data", "column", "columns", "as", "sheet", "delimiter", "encoding", "header_row", "skip_rows",
    "latitude", "longitude",
}  # fmt: skip
"""How a file becomes columns: Python takes ``values``, any frame or list, and ``kind``."""
PRINTS_TOP = {"simulate words"}
"""Commands whose ``--top`` is how many are looked for, not how many are printed."""
OTHERWISE = {
    "budget open": {"file": "path"},
    "budget charge": {"file": "self"},
    "budget show": {"file": "self"},
    "check attack": {"plan": "target", "matrix": "target"},
    "check delta": {"matrix": "protocol"},
    "batch tally": {"plan": "plan_or_contract", "shards": "batch"},
}
"""Arguments that Python takes by place, under the name of what they may be there."""
LACKING = {
    "plan": {"explain", "approval", "network"},
    "check delta": {"curve"},
}
"""Options that a function lacks: ``Plan.explanation``, ``Plan.save`` and ``curve`` have them."""
ROLES = {"check attack": {"network", "seconds"}}
"""Options that start real roles: roles of a network have no Python function."""
MORE = {
    # kind: `--bits`, `--max-set` and others in a word. question: `--bins` or `--labels` by place.
    "plan": {"kind", "question"},
    # group_by: of columns, for which a file has --columns. budget: an object in place of a file.
    "simulate": {"budget", "group_by", "kind"},
    "simulate epochs": {"kind"},
    "example": {"column"},
    # groups: of people with other matrices, for which the command has no second file.
    "check delta": {"groups"},
}
"""What a function has beside ``name`` and ``values``, and its command has not."""


def named(options):
    """Return the name of an option as Python spells it."""
    return checks.translate_options(max(options, key=len))


def command_of(name):
    """Return the command of the parser that ``name`` calls."""
    root = typer.main.get_command(app)
    if name in COMMANDS:
        return root.get_command(None, name)
    first, second = name.split()
    return root.get_command(None, first).commands[second]


def differences(name, command, function):
    """Return the names that the command has alone, and those that the function has alone."""
    printed = PRINTED - {"top"} if name in PRINTS_TOP else PRINTED
    otherwise = OTHERWISE.get(name, {})
    own = {named(one.opts) for one in command.params}
    if "file" not in otherwise:
        own -= printed
    own = {otherwise.get(one, one) for one in own - FILES - (printed - {"file"})}
    ours = set(inspect.signature(function).parameters)
    return own - ours, ours - own - {"self", "name", "values"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_command_and_its_function_take_the_same(name):
    found = differences(name, command_of(name), FUNCTIONS[name])
    lacking = LACKING.get(name, set()) | ROLES.get(name, set())
    assert found == (lacking, MORE.get(name, set()))


def test_python_lacks_next_to_nothing():
    assert sum(map(len, LACKING.values())) <= 4


def test_an_option_that_python_lacks_is_seen():
    """The planted mistake: an option is added to the command alone."""

    @with_option_groups
    def planned(
        users: Annotated[int | None, option("--users", "People.", "N")] = None,
        fresh: Annotated[int | None, option("--fresh", "New.", "N")] = None,
    ) -> None:
        """Do nothing."""

    one = typer.Typer(add_completion=False)
    one.command()(planned)
    alone, _ = differences("plan", typer.main.get_command(one), mixtally.plan)
    assert alone == {"fresh"}
