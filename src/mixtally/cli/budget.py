"""``mixtally budget``: what a person may spend, what they spent, what is left."""

from datetime import date
from pathlib import Path
from typing import Annotated, Any

import typer

from mixtally.cli import options as o
from mixtally.cli.common import several
from mixtally.cli.grouped import grouped
from mixtally.cli.output import print_lines, print_told, sign_of_life
from mixtally.cli.plan_files import read_plan
from mixtally.errors import DataError
from mixtally.ground.codec import canonical
from mixtally.privacy.accountant import Accountant
from mixtally.privacy.composition.ledger import Left, left, spent
from mixtally.privacy.composition.ledger import charge as charge_to
from mixtally.records.certificate import Certificate
from mixtally.records.contract import Plan
from mixtally.records.guarantee import Guarantee
from mixtally.records.ledger import Charge, Ledger, opened, read_ledger
from mixtally.report.document import Promise
from mixtally.report.numbers import at_least, at_most, error_text, printable
from mixtally.report.promise import expected, protects, stated
from mixtally.store.files import read_whole, the_file, write_whole
from mixtally.store.lock import alone

app = several("budget", "Charge collections to a budget that none may exceed.")

File = Annotated[Path, typer.Argument(help="The ledger.", metavar="FILE", show_default=False)]
PlanFile = Annotated[
    Path, typer.Argument(help="A plan from `mixtally plan --out`, or a contract.", metavar="PLAN")
]
Times = Annotated[
    int | None, o.whole_option("--times", "Collections under this plan, 1 to 10^6 (default 1).")
]
Note = Annotated[
    str, o.option("--note", "One line to remember it by, up to 200 characters.", "TEXT")
]
OtherPlan = Annotated[
    Path | None, o.option("--plan", "Say how often this plan still fits.", "PLAN")
]


@app.command("open")
@grouped
def open_(file: File, epsilon: o.Epsilon, delta: o.Delta) -> None:
    """Open a ledger with a budget; an existing file is left alone."""
    ledger, place = opened(Guarantee(epsilon=epsilon, delta=delta)), the_file(file)
    with alone(place.parent, required=False):
        if file.exists():
            raise DataError(
                str(file),
                wanted="a new file",
                got="one that is there already",
                do="choose another name: a ledger is never started over",
            )
        write(place, ledger)
    typer.echo(f"opened {file}: epsilon {epsilon:.12g}, delta {delta:.12g}")
    typer.echo(f"seal: {ledger.seal}")


@app.command()
@grouped
def charge(file: File, plan: PlanFile, times: Times = None, note: Note = "") -> None:
    """Charge a plan, unless the budget would be exceeded."""
    place, own = the_file(file), Accountant()
    with alone(place.parent, required=False):
        before = read(place)
        today = date.today().isoformat()
        times = 1 if times is None else times
        with sign_of_life("composing"):
            after = charge_to(before, read_plan(plan), times, note=note, date=today, accountant=own)
        write(place, after)
    typer.echo(f"charged {times:,} x {after.charges[-1].fingerprint[:16]} to {file}")
    print_lines(_spent_lines(after, spent(after, own)))


@app.command()
@grouped
def show(file: File, plan: OtherPlan = None, json: o.Json = False) -> None:
    """Show the budget, every charge, what is spent and what is left."""
    ledger = read(file)
    other = None if plan is None else read_plan(plan)
    own = Accountant()
    with sign_of_life("composing"):
        total, rest = spent(ledger, own), left(ledger, other, own)
    charged = [_charged(number, entry) for number, entry in enumerate(ledger.charges, 1)]
    lines = [*charged, *_spent_lines(ledger, total), *_left_lines(ledger, rest, other)]
    facts = _facts(ledger, total, rest, other)
    print_told(_promise(ledger, total), facts, lines, json=json)


def _charged(number: int, entry: Charge) -> str:
    promised = entry.plan.guarantee
    return (
        f"{number:>3}  {entry.date:10}  {entry.times:,} x {entry.fingerprint[:16]}  "
        f"{printable(entry.plan.question.name)}: {entry.plan.protocol}, "
        f"epsilon {at_most(promised.epsilon, 6)}, delta {at_most(promised.delta, 6)}"
        + (f"  ({entry.note})" if entry.note else "")
    )


def _promise(ledger: Ledger, total: Certificate | None) -> Promise:
    """What all charges together hide from whom, and the errors of their counts."""
    budget = ledger.budget
    what = "each person's answers in all collections that were charged"
    nothing = (
        f"epsilon = {at_most(budget.epsilon, 6)}, delta <= {at_most(budget.delta, 6)} may be "
        "spent; nothing is yet."
    )
    errors = [e.plan.standard_error for e in ledger.charges]
    if not errors:
        error = "Expected error of each count: none, as nothing was counted."
    elif max(errors) == min(errors):
        error = expected(errors[0])
    else:
        low, high = error_text(min(errors)), error_text(max(errors))
        error = f"Expected error of each count: {low} to {high} by collection, standard errors."
    return protects(budget.observer, what), nothing if total is None else stated(total), error


def _facts(
    ledger: Ledger, total: Certificate | None, rest: Left, other: Plan | None
) -> dict[str, Any]:
    return {
        "epsilon": ledger.budget.epsilon,
        "delta_target": ledger.budget.delta,
        "delta": total.upper if total else 0.0,
        "delta_lower": total.lower if total else 0.0,
        "observer": ledger.budget.observer,
        "status": total.status if total else None,
        "source": total.source if total else None,
        "assumption": total.assumption if total else None,
        "epsilon_spent": rest.spent,
        "epsilon_left": rest.epsilon,
        "times_left": None if other is None else rest.times,
        "charges": [
            {
                "plan": entry.fingerprint,
                "question": entry.plan.question.name,
                "protocol": entry.plan.protocol,
                "epsilon": entry.plan.guarantee.epsilon,
                "delta": entry.plan.guarantee.delta,
                "times": entry.times,
                "date": entry.date,
                "note": entry.note,
            }
            for entry in ledger.charges
        ],
        "seal": ledger.seal,
    }


def _spent_lines(ledger: Ledger, total: Certificate | None) -> list[str]:
    budget = ledger.budget
    allowed = f"of {budget.delta:.6g} at epsilon {budget.epsilon:.6g}"
    if total is None:
        return [f"spent: nothing {allowed}", f"seal: {ledger.seal}"]
    return [
        f"spent: delta <= {at_most(total.upper, 6)} {allowed}, observer: {total.observer}",
        f"status: {total.status}; source: {total.source}",
        f"assumption: {total.assumption}",
        f"seal: {ledger.seal}",
    ]


def _left_lines(ledger: Ledger, rest: Left, other: Plan | None) -> list[str]:
    used = "more than 20" if rest.spent is None else at_most(rest.spent, 6)
    lines = [
        f"left: epsilon {at_least(rest.epsilon, 6)} at delta {ledger.budget.delta:.6g} "
        f"({used} is spent); losses add up to less than their sum"
    ]
    if other is not None:
        lines.append(f"this plan still fits {rest.times:,} times")
    return lines


def read(file: Path) -> Ledger:
    """The ledger in a file; raises DataError without one, PlanError for a foreign or edited one."""
    try:
        data = read_whole(file)
    except OSError as error:
        raise DataError(
            str(file),
            wanted="a ledger",
            got=error.strerror or str(error),
            do="start one: `mixtally budget open`",
        ) from error
    return read_ledger(data, str(file))


def write(place: Path, ledger: Ledger) -> None:
    """Replace the ledger at ``place``, which is ``the_file``, by one who is alone there."""
    write_whole(place, canonical(ledger), what="the ledger")
