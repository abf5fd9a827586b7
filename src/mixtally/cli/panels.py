"""The help of a command in panels: what most people need first, all else with ``--help-all``."""

from typing import Any

import typer
from typer.core import TyperCommand

PANELS = {
    "Data": (
        "--column --columns --as --set --max-set --number --labels --missing --person-column "
        "--epoch-column --synthetic --latitude --longitude --box --resolution --users --bins "
        "--bits --attributes --example --protocol --fakes --flip --formula"
    ),
    "Promise": "--epsilon --delta --plan --contract --reports",
    "Budget": "--messages-per-user --target-error --mix-fakes --hops --collections --ledger",
    "Output": "--seed --out --json --quiet --help --help-all",
}
"""What is on the first page, by what it is about; a new option is among the others until it is
named here.
"""
_OTHERS = "More options"
_SHORT = 30
"""A command with fewer options shows all of them."""
_ALL = "all options"


def _show_all(ctx: typer.Context, wanted: bool) -> None:
    if wanted:
        ctx.meta[_ALL] = True
        typer.echo(ctx.get_help())
        raise typer.Exit


def _any(
    everything: bool = typer.Option(
        False,
        "--help-all",
        callback=_show_all,
        is_eager=True,
        expose_value=False,
        help="Show every option and exit.",
    ),
) -> None:
    """Does nothing: it stands for the option that is added."""


class PaneledCommand(TyperCommand):
    """A command whose options stand in panels; the parser's own types have no fixed names."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its options, and the one that shows all of them."""
        return [*super().get_params(ctx), *_more.params]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then a panel after the other."""
        rows: dict[str, list[Any]] = {name: [] for name in ("Arguments", *PANELS, _OTHERS)}
        for one in self.get_params(ctx):
            row = one.get_help_record(ctx)
            if row is not None:
                rows[_panel(one)].append(row)
        shown = ctx.meta.get(_ALL) or sum(map(len, rows.values())) < _SHORT
        for name, records in rows.items():
            if records and (shown or name != _OTHERS):
                with formatter.section(name):
                    formatter.write_dl(records)


def _panel(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return "Arguments"
    names = set(parameter.opts)
    return next((name for name, said in PANELS.items() if names & {*said.split()}), _OTHERS)


def _made() -> Any:
    holder = typer.Typer(add_completion=False)
    holder.command()(_any)
    return typer.main.get_command(holder)


_more = _made()
