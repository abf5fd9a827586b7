"""A person's privacy budget: functions that create a ledger, charge plans to it, and show it.

The command line keeps a ledger in a file. ``mixtally.Budget`` keeps one in a file or in memory.
Both use the functions here; ``accounting.budget.ledger`` decides whether a charge fits.
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
from mixtally.errors import DataError, PlanError
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
"""A function that replaces a ledger by the result of another function of the ledger.

It locks out other processes meanwhile, and returns the new ledger.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargeOptions:
    """The number of collections of a charge, and its note."""

    times: Annotated[
        int | None, o.whole_option("--times", "Collections with this plan, 1 to 10^6 (default 1).")
    ] = None
    note: Annotated[
        str, o.option("--note", "Note on the charge: one line, up to 200 characters.", "TEXT")
    ] = ""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Statement:
    """The privacy that the charges of a ledger have spent, and the remaining budget.

    Parameters
    ----------
    ledger : Ledger
        The budget and its charges.
    total : Certificate or None
        The proved privacy of all charges together at the budget's epsilon; None without charges.
    rest : RemainingBudget
        The spent and the remaining epsilon, and how often ``other`` still fits.
    other : Plan or None
        A plan that may be charged next; None if nobody asked about one.
    """

    ledger: Ledger
    total: Certificate | None
    rest: RemainingBudget
    other: Plan | None = None

    def promise(self) -> Promise:
        """Return the three lines of the guarantee of all charges together."""
        budget = self.ledger.budget
        what = "each person's answers in all collections that were charged"
        nothing = (
            f"epsilon = {at_most(budget.epsilon, 6)}, delta <= {at_most(budget.delta, 6)} may be "
            "spent. Nothing has been spent yet."
        )
        errors = [e.plan.standard_error for e in self.ledger.charges]
        if not errors:
            error = "Expected error of each count: none, because nothing was counted."
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
        """Return the budget, the spent and the remaining privacy, and all charges, as JSON."""
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
        """Return a line for every charge, then lines about the spent and the remaining privacy."""
        used = "more than 20" if self.rest.spent is None else at_most(self.rest.spent, 6)
        found = [_charge_line(number, entry) for number, entry in enumerate(self.ledger.charges, 1)]
        found += spent_lines(self.ledger, self.total)
        found.append(
            # The remaining epsilon is rounded down, and the spent epsilon is rounded up.
            f"left: epsilon {at_least(self.rest.epsilon, 6)} at delta "
            f"{at_most(self.ledger.budget.delta, 6)} ({used} is spent); composition costs less "
            "than the sum of the epsilons"
        )
        if self.other is not None:
            found.append(f"this plan still fits {self.rest.times:,} times")
        return found

    def __repr__(self) -> str:
        return "\n".join([*self.promise(), *self.lines()])


def open_ledger(path: Path, budget: Guarantee) -> Ledger:
    """Create a ledger without charges in a new file.

    Parameters
    ----------
    path : Path
        The file to create.
    budget : Guarantee
        The largest epsilon and delta of all charges together.

    Raises
    ------
    DataError
        If the file exists, or cannot be written.
    """
    ledger, place = new_ledger(budget), resolve_target(path)
    with exclusive_lock(place.parent, required=True):
        # Checked under the lock, so that two processes cannot both create the ledger.
        if path.exists():
            raise DataError(
                str(path),
                expected="a new file",
                got="an existing file",
                do="choose another name: a ledger is never reset",
            )
        write_ledger(place, ledger)
    return ledger


def open_or_read_ledger(path: Path, budget: Guarantee) -> Ledger:
    """Return the ledger in a file, which is created without charges if it does not exist.

    Parameters
    ----------
    path : Path
        The file of the ledger.
    budget : Guarantee
        The largest epsilon and delta of all charges together, which an existing ledger must state.

    Raises
    ------
    DataError
        If the file cannot be read or written.
    PlanError
        If the file is not a ledger, was altered, or has another budget.
    """
    place = resolve_target(path)
    # Locked, because two processes may create the file at the same time.
    with exclusive_lock(place.parent, required=True):
        if not place.exists():
            ledger = new_ledger(budget)
            write_ledger(place, ledger)
            return ledger
        found = load_ledger(place)
    if found.budget != budget:
        raise PlanError(
            "budget",
            expected=f"a file with epsilon {budget.epsilon:g} and delta {budget.delta:g}",
            got=f"one with epsilon {found.budget.epsilon:g} and delta {found.budget.delta:g}",
            do="leave out epsilon and delta, or choose another file: a file keeps its budget",
        )
    return found


def check_continued(found: Ledger, seen: Ledger, subject: str) -> Ledger:
    """Check that a ledger that was read again still has all earlier charges, and return it.

    Parameters
    ----------
    found : Ledger
        The ledger as it is now.
    seen : Ledger
        The same ledger as it was read before.
    subject : str
        The name of the file in messages.

    Raises
    ------
    PlanError
        If the budget differs, or if ``found`` does not begin with the charges of ``seen``.
    """
    # Charges are only appended. If an earlier charge is missing, the file was replaced.
    kept = found.charges[: len(seen.charges)] == seen.charges
    if found.budget != seen.budget or not kept:
        raise PlanError(
            subject,
            expected="all charges that were in the file before",
            got="fewer or other charges",
            do="restore the newest copy: the file was replaced by an older one",
        )
    return found


def ledger_updater(path: Path) -> Change:
    """Return a function that replaces the ledger in the file ``path`` under a lock.

    The function raises the errors of ``load_ledger``. Without the lock, one of two simultaneous
    charges would be lost, although both collections take place.
    """
    place = resolve_target(path)

    def change(how: Callable[[Ledger], Ledger]) -> Ledger:
        with exclusive_lock(place.parent, required=True):
            before = load_ledger(place)
            after = how(before)
            # A function that only checks the ledger returns the same object.
            if after is not before:
                write_ledger(place, after)
        return after

    return change


def charge(ledger: Ledger, plan: Plan, options: ChargeOptions, accountant: Accountant) -> Ledger:
    """Return the ledger with one more charge, which has the date of today.

    Parameters
    ----------
    ledger : Ledger
        The budget and its earlier charges.
    plan : Plan
        The plan under which the person answers.
    options : ChargeOptions
        The number of collections and the note.
    accountant : Accountant
        Computes the certificates, and caches them for later calls.

    Raises
    ------
    InfeasibleError
        If the budget would be exceeded.
    PlanError
        If the certificate of the plan is false, or is for another observer.
    ParameterError
        If the number of collections or the note is out of range.
    """
    return composed.charge(
        ledger,
        plan,
        1 if options.times is None else options.times,
        note=options.note,
        date=date.today().isoformat(),
        accountant=accountant,
    )


def statement(ledger: Ledger, other: Plan | None, accountant: Accountant) -> Statement:
    """Compute the spent and the remaining privacy, and how often another plan still fits.

    Parameters
    ----------
    ledger : Ledger
        The budget and its charges.
    other : Plan or None
        The plan for which the statement says how often it still fits; None for no plan.
    accountant : Accountant
        Computes the certificates, and caches them for later calls.

    Raises
    ------
    PlanError
        If the certificate of ``other`` is false, or is for another observer.
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
        If the file is not a ledger, or was altered.
    """
    try:
        data = read_whole(path)
    except OSError as error:
        raise DataError(
            str(path),
            expected="a ledger",
            got=error,
            do="create one with `mixtally budget open`, or with `mixtally.Budget`",
        ) from error
    return read_ledger(data, str(path))


def write_ledger(place: Path, ledger: Ledger) -> None:
    """Replace the ledger in a file.

    The caller must have the lock of the folder.

    Parameters
    ----------
    place : Path
        The path of the file, without symbolic links.
    ledger : Ledger
        The ledger to write.
    """
    write_atomically(place, canonical_bytes(ledger), what="the ledger")


def spent_lines(ledger: Ledger, total: Certificate | None) -> list[str]:
    """Return the lines that state the joint certificate of all charges, and the ledger's seal.

    The seal is a hash of the budget and all charges.

    Parameters
    ----------
    ledger : Ledger
        The budget and its charges.
    total : Certificate or None
        The joint certificate of all charges; None without charges.
    """
    budget = ledger.budget
    allowed = f"of {at_most(budget.delta, 6)} at epsilon {at_most(budget.epsilon, 6)}"
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
