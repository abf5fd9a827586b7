"""A person's budget: opened, charged by plans, and shown.

The command line keeps a ledger in a file. ``mixtally.Budget`` keeps one in a file or in memory.
Both charge and state it with the functions here; ``accounting.budget.ledger`` decides whether a
charge fits.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any

from mixtally.accounting.accountant import Accountant
from mixtally.accounting.budget import ledger as composed
from mixtally.accounting.budget.ledger import RemainingBudget, certify_spending, remaining_budget
from mixtally.app import options as o
from mixtally.errors import DataError
from mixtally.model.certificate import Certificate
from mixtally.model.contract import Plan
from mixtally.model.guarantee import Guarantee
from mixtally.model.ledger import Charge, Ledger, new_ledger, read_ledger
from mixtally.primitives.codec import canonical_bytes
from mixtally.primitives.files import read_whole, resolve_target, write_atomically
from mixtally.primitives.lock import exclusive_lock
from mixtally.report.document import Promise
from mixtally.report.numbers import at_least, at_most, error_text, printable
from mixtally.report.promise import certificate_line, error_line, protection_line

Change = Callable[[Callable[[Ledger], Ledger]], Ledger]
"""Replaces a ledger by what a function makes of it, while nobody else changes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargeOptions:
    """How often a plan is charged, and what the charge is remembered by."""

    times: Annotated[
        int | None, o.whole_option("--times", "Collections under this plan, 1 to 10^6 (default 1).")
    ] = None
    note: Annotated[
        str, o.option("--note", "One line to remember it by, up to 200 characters.", "TEXT")
    ] = ""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Statement:
    """What a ledger's charges spent of its budget, and what is left.

    Parameters
    ----------
    ledger : Ledger
        The budget and its charges.
    total : Certificate or None
        The proved privacy of all charges together at the budget's epsilon; None without charges.
    rest : Left
        The epsilon that is spent and left, and how often ``other`` still fits.
    other : Plan or None
        A plan that may be charged next.
    """

    ledger: Ledger
    total: Certificate | None
    rest: RemainingBudget
    other: Plan | None = None

    def promise(self) -> Promise:
        """Return what all charges together hide from whom, and the errors of their counts."""
        budget = self.ledger.budget
        what = "each person's answers in all collections that were charged"
        nothing = (
            f"epsilon = {at_most(budget.epsilon, 6)}, delta <= {at_most(budget.delta, 6)} may be "
            "spent; nothing is yet."
        )
        errors = [e.plan.standard_error for e in self.ledger.charges]
        if not errors:
            error = "Expected error of each count: none, as nothing was counted."
        elif max(errors) == min(errors):
            error = error_line(errors[0])
        else:
            low, high = error_text(min(errors)), error_text(max(errors))
            error = f"Expected error of each count: {low} to {high} by collection, standard errors."
        total = self.total
        return (
            protection_line(budget.observer, what),
            nothing if total is None else certificate_line(total),
            error,
        )

    def facts(self) -> dict[str, Any]:
        """Return the budget, what is spent and left, and every charge, as JSON has them."""
        budget, total, rest = self.ledger.budget, self.total, self.rest
        return {
            "epsilon": budget.epsilon,
            "delta_target": budget.delta,
            "delta": total.upper if total else 0.0,
            "delta_lower": total.lower if total else 0.0,
            "observer": budget.observer,
            "status": total.status if total else None,
            "source": total.source if total else None,
            "assumption": total.assumption if total else None,
            "epsilon_spent": rest.spent,
            "epsilon_left": rest.epsilon,
            "times_left": None if self.other is None else rest.times,
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
                for entry in self.ledger.charges
            ],
            "seal": self.ledger.seal,
        }

    def lines(self) -> list[str]:
        """Return a line for every charge, then what is spent and left."""
        used = "more than 20" if self.rest.spent is None else at_most(self.rest.spent, 6)
        found = [_charge_line(number, entry) for number, entry in enumerate(self.ledger.charges, 1)]
        found += spent_lines(self.ledger, self.total)
        found.append(
            f"left: epsilon {at_least(self.rest.epsilon, 6)} at delta "
            f"{self.ledger.budget.delta:.6g} ({used} is spent); losses add up to less than their "
            "sum"
        )
        if self.other is not None:
            found.append(f"this plan still fits {self.rest.times:,} times")
        return found

    def __repr__(self) -> str:
        return "\n".join([*self.promise(), *self.lines()])


def open_ledger(path: Path, budget: Guarantee) -> Ledger:
    """Write a ledger without charges into a new file.

    Raises
    ------
    DataError
        If the file exists, or cannot be written.
    """
    ledger, place = new_ledger(budget), resolve_target(path)
    with exclusive_lock(place.parent, required=True):
        if path.exists():
            raise DataError(
                str(path),
                expected="a new file",
                got="one that is there already",
                do="choose another name: a ledger is never started over",
            )
        write_ledger(place, ledger)
    return ledger


def charge_ledger(path: Path, plan: Plan, options: ChargeOptions, accountant: Accountant) -> Ledger:
    """Charge a plan to the ledger in a file, and return the new ledger.

    Raises
    ------
    InfeasibleError
        If the budget would be exceeded; the file stays as it was.
    DataError
        If the file cannot be read or written.
    PlanError
        If the file is no ledger or was altered, or the plan's promise is false.
    ParameterError
        For a number of times or a note that is out of range.
    """
    return ledger_updater(path)(lambda ledger: charge(ledger, plan, options, accountant))


def ledger_updater(path: Path) -> Change:
    """Return what replaces the ledger in a file; it raises as ``ledger_at`` does.

    Two processes that charge at once would spend what one of them loses, so a lock is required.
    """
    place = resolve_target(path)

    def change(how: Callable[[Ledger], Ledger]) -> Ledger:
        with exclusive_lock(place.parent, required=True):
            before = load_ledger(place)
            after = how(before)
            if after is not before:
                write_ledger(place, after)
        return after

    return change


def charge(ledger: Ledger, plan: Plan, options: ChargeOptions, accountant: Accountant) -> Ledger:
    """Return ``ledger`` with a charge of today; raise as ``charge_ledger`` does."""
    return composed.charge(
        ledger,
        plan,
        1 if options.times is None else options.times,
        note=options.note,
        date=date.today().isoformat(),
        accountant=accountant,
    )


def statement(ledger: Ledger, other: Plan | None, accountant: Accountant) -> Statement:
    """Compute what is spent and what is left, for ``other`` as well if there is one.

    Raises
    ------
    PlanError
        If the promise of ``other`` is false, or made against another observer.
    """
    return Statement(
        ledger,
        certify_spending(ledger, accountant),
        remaining_budget(ledger, other, accountant),
        other,
    )


def load_ledger(path: Path) -> Ledger:
    """Return the ledger in a file.

    Raises
    ------
    DataError
        If the file cannot be read.
    PlanError
        If the file is no ledger, or was altered.
    """
    try:
        data = read_whole(path)
    except OSError as error:
        raise DataError(
            str(path),
            expected="a ledger",
            got=error.strerror or str(error),
            do="start one: `mixtally budget open`, or `mixtally.Budget` with epsilon and delta",
        ) from error
    return read_ledger(data, str(path))


def write_ledger(place: Path, ledger: Ledger) -> None:
    """Replace the ledger at ``place``, which is ``the_file``; the caller is alone there."""
    write_atomically(place, canonical_bytes(ledger), what="the ledger")


def spent_lines(ledger: Ledger, total: Certificate | None) -> list[str]:
    """Return the lines that state the charges' common certificate and the seal."""
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


def _charge_line(number: int, entry: Charge) -> str:
    promised = entry.plan.guarantee
    return (
        f"{number:>3}  {entry.date:10}  {entry.times:,} x {entry.fingerprint[:16]}  "
        f"{printable(entry.plan.question.name)}: {entry.plan.protocol}, "
        f"epsilon {at_most(promised.epsilon, 6)}, delta {at_most(promised.delta, 6)}"
        + (f"  ({entry.note})" if entry.note else "")
    )
