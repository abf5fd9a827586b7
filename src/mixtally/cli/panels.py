"""Help of a command in panels: ``--help`` lists the usual options, ``--help-all`` all options."""

from typing import Any

import typer
from typer.core import TyperCommand

PANELS = {
    "Data": (
        "--column --columns --as --set --max-set --number --labels --missing --person-column "
        "--epoch-column --synthetic --latitude --longitude --box --resolution --users --bins "
        "--bits --attributes --protocol --fakes --flip --formula --network"
    ),
    "Promise": "--epsilon --delta --plan --reports",
    "Budget": "--messages-per-user --target-error --mix-fakes --hops --collections --ledger",
    "Output": "--seed --out --json --quiet --help --help-all",
}
"""Options that ``--help`` lists, by the title of their panel.

An option that is not named here appears with ``--help-all`` only.
"""
_PANEL = {option: name for name, options in PANELS.items() for option in options.split()}
_OTHERS = "More options"
_SHORT = 30
"""Number of options; a command with fewer options lists all of them in ``--help``."""
_ALL = "all options"


def _show_all(ctx: typer.Context, expected: bool) -> None:
    if expected:
        ctx.meta[_ALL] = True
        typer.echo(ctx.get_help())
        raise typer.Exit


def help_all(
    everything: bool = typer.Option(
        False,
        "--help-all",
        callback=_show_all,
        is_eager=True,
        expose_value=False,
        help="Show every option and exit.",
    ),
) -> None:
    """Do nothing: the signature declares the option ``--help-all``."""


class PaneledCommand(TyperCommand):
    """A command whose help lists options in panels.

    The annotations are ``Any`` because the names of the parser's types depend on its version.
    """

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then one panel after the other."""
        rows: dict[str, list[Any]] = {name: [] for name in ("Arguments", *PANELS, _OTHERS)}
        for one in self.get_params(ctx):
            row = one.get_help_record(ctx)
            if row is not None:
                rows[_panel_of(one)].append(row)
        shown = ctx.meta.get(_ALL) or sum(map(len, rows.values())) < _SHORT
        for name, records in rows.items():
            if records and (shown or name != _OTHERS):
                with formatter.section(name):
                    formatter.write_dl(records)


def _panel_of(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return "Arguments"
    named = next((_PANEL[name] for name in parameter.opts if name in _PANEL), _OTHERS)
    # An optional --protocol is rarely needed, because the planner chooses one.
    by_choice = "--protocol" in parameter.opts and not parameter.required
    return _OTHERS if by_choice else named
