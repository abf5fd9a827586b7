"""Options that travel together: in their place, made into one object, told when they were set."""

from dataclasses import dataclass, replace
from typing import Annotated

import typer
from typer.testing import CliRunner

from mixtally.app.options import list_used_flags
from mixtally.cli import options as o
from mixtally.cli.option_groups import with_option_groups


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    much: Annotated[float, o.option("--how-much", "How much.", "X")] = 0.5
    there: Annotated[bool, o.option("--there", "Whether it is there.")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Outer:
    name: Annotated[str, o.option("--name", "What it is called.")]
    inner: Inner
    count: Annotated[int | None, o.whole_option("--count", "How many.")] = None


INNER = Inner()
OUTER = Outer(name="a", inner=INNER)


def called(*arguments):
    """What a command with both kinds of parameters was given, and its help."""
    given = []

    @with_option_groups
    def command(
        first: Annotated[str, o.option("--first", "Before.")], outer: Outer, last: o.Json = False
    ) -> None:
        given.append((first, outer, last))

    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command()(command)
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    return given, done.output


def test_a_group_takes_its_place_among_the_options():
    _, told = called("--help")
    lines = told.split("Options:")[1].splitlines()
    names = [line.split()[0] for line in lines if line.startswith("  --")]
    assert names == ["--first", "--name", "--how-much", "--there", "--count", "--json", "--help"]


def test_a_command_is_given_objects():
    (((first, outer, last),), _) = called("--first", "f", "--name", "n", "--count", "1e3")
    assert (first, last) == ("f", False)
    assert outer == Outer(name="n", inner=INNER, count=1000)


def test_what_was_set_is_told_by_its_own_name():
    assert list_used_flags(INNER) == []
    assert list_used_flags(replace(INNER, much=0.0, there=True)) == ["--how-much", "--there"]
    assert list_used_flags(replace(OUTER, inner=replace(INNER, there=True), count=0)) == [
        "--name", "--there", "--count",
    ]  # fmt: skip


def test_some_are_told_in_the_order_asked_for():
    assert list_used_flags(replace(OUTER, count=3), "count", "name") == ["--count", "--name"]
    assert list_used_flags(OUTER, "count") == []
