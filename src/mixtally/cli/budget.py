"""``mixtally budget``: the privacy budget of a person, its charges, and the remaining privacy."""

from pathlib import Path
from typing import Annotated

import typer

from mixtally.accounting.accountant import Accountant
from mixtally.accounting.budget.ledger import certify_spending
from mixtally.app import budget as use
from mixtally.cli import options as o
from mixtally.cli.common import command_group
from mixtally.cli.option_groups import with_option_groups
from mixtally.cli.output import print_lines, print_outcome, show_elapsed_time
from mixtally.cli.plan_files import read_plan

app = command_group("budget", "Charge collections to a privacy budget.")

File = Annotated[Path, typer.Argument(help="The ledger.", metavar="FILE", show_default=False)]
PlanFile = Annotated[
    Path, typer.Argument(help="A plan from `mixtally plan --out`, or a contract.", metavar="PLAN")
]
OtherPlan = Annotated[
    Path | None, o.option("--plan", "Print how often this plan still fits.", "PLAN")
]


@app.command("open")
@with_option_groups
def open_(file: File, budget: o.Promise) -> None:
    """Create a ledger with a budget; an existing file is never changed."""
    ledger = use.open_ledger(file, budget.guarantee())
    typer.echo(f"opened {file}: epsilon {budget.epsilon:.12g}, delta {budget.delta:.12g}")
    typer.echo(f"seal: {ledger.seal}")


@app.command()
@with_option_groups
def charge(file: File, plan: PlanFile, options: use.ChargeOptions) -> None:
    """Charge a plan, unless the charge would exceed the budget."""
    own, charged = Accountant(), read_plan(plan)
    with show_elapsed_time("composing"):
        after = use.ledger_updater(file)(lambda old: use.charge(old, charged, options, own))
    last = after.charges[-1]
    typer.echo(f"charged {last.times:,} x {last.fingerprint[:16]} to {file}")
    print_lines(use.spent_lines(after, certify_spending(after, own)))


@app.command()
@with_option_groups
def show(file: File, plan: OtherPlan = None, json: o.Json = False) -> None:
    """Show the budget, every charge, and what is spent and left."""
    ledger = use.load_ledger(file)
    with show_elapsed_time("composing"):
        report = use.statement(ledger, None if plan is None else read_plan(plan), Accountant())
    print_outcome(report.promise(), report.facts(), report.lines(), json=json)
