"""Commands and their Python functions take the same parameters, but for those listed here."""

import inspect
from typing import Annotated

import pytest
import typer

import mixtally
from mixtally.api import checks
from mixtally.app.options import option
from mixtally.cli.app import COMMANDS, app
from mixtally.cli.grouped import grouped

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

PRINTED = {"json", "quiet", "help_all", "out", "out_format", "top"}
"""How a result is printed and into which files it goes: Python returns an object instead."""
FILES = {
    "data", "column", "columns", "as", "sheet", "delimiter", "encoding", "header_row", "skip_rows",
}  # fmt: skip
"""How a file becomes columns: Python takes ``values``, any frame or list, and ``kind``."""

DIFFERENT = {
    # kind: `--bits`, `--max-set` and others in a word. question: `--bins` or `--labels` by place.
    # explain: Plan.explanation. approval: Plan.save has it.
    "plan": ("explain approval", "kind question"),
    # group_by: of columns, for which a file has --columns. budget: an object in place of a file.
    # winner, keep_probability, example: mixtally.simulate_votes.
    "simulate": (
        "example keep_probability winner",
        "budget group_by kind name values",
    ),
    "simulate words": ("ignore_case other strip person several rows_are_people", "name values"),
    "simulate places": (
        "latitude longitude missing_values ignore_case other strip person several rows_are_people",
        "values",
    ),
    "simulate baskets": (
        "missing missing_values person several rows_are_people",
        "name values",
    ),
    # epochs: the column that --epoch-column names.
    "simulate epochs": (
        "bins change counts_only empty_sets epoch_column join leave ledger max_set number "
        "partial_epoch plan points separator several synthetic",
        "epochs name values",
    ),
    "simulate memoized": ("state person several rows_are_people", "name values"),
    # file: the path of a Budget, whose methods charge and show it.
    "budget open": ("file", "path"),
    "budget charge": ("file", ""),
    "budget show": ("file", ""),
    # target: a plan, its file or a protocol, by place.
    "check attack": ("plan", "target"),
    # agreed: a plan or contract. batch: what `mixtally.mix` returned, or shards.
    "batch tally": ("plan shards", "agreed batch"),
    # all and file: which files are written; column: what Python loads of them.
    "example": ("all file", "column"),
}
"""What a command has alone, and what its Python function has alone, with the reason where there is
one: names without a reason are missing.
"""


def named(options):
    """Return the name of an option as Python spells it."""
    return checks.worded_in_python(max(options, key=len))


def command_of(name):
    """Return the command of the parser that ``name`` calls."""
    root = typer.main.get_command(app)
    if name in COMMANDS:
        return root.get_command(None, name)
    first, second = name.split()
    return root.get_command(None, first).commands[second]


def differences(command, function):
    """Return the names that the command has alone, and those that the function has alone."""
    own = {named(one.opts) for one in command.params} - PRINTED - FILES
    ours = set(inspect.signature(function).parameters) - PRINTED - {"self"}
    return own - ours, ours - own


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_command_and_its_function_take_the_same(name):
    alone, python = DIFFERENT.get(name, ("", ""))
    found = differences(command_of(name), FUNCTIONS[name])
    assert found == (set(alone.split()), set(python.split()))


def test_an_option_that_python_lacks_is_seen():
    """The planted mistake: an option is added to the command alone."""

    @grouped
    def planned(
        users: Annotated[int | None, option("--users", "People.", "N")] = None,
        fresh: Annotated[int | None, option("--fresh", "New.", "N")] = None,
    ) -> None:
        """Do nothing."""

    one = typer.Typer(add_completion=False)
    one.command()(planned)
    alone, _ = differences(typer.main.get_command(one), mixtally.plan)
    assert alone == {"fresh"}
