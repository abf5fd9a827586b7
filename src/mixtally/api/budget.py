"""Privacy budgets: a limit on the privacy loss of one person over all collections."""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from mixtally.accounting.accountant import Accountant
from mixtally.accounting.budget.ledger import certify_spending, remaining_budget
from mixtally.api import checks
from mixtally.api.files import file_at
from mixtally.api.planning import Plan
from mixtally.api.requests import guarantee_of
from mixtally.app.budget import (
    ChargeOptions,
    Statement,
    charge,
    check_continued,
    ledger_updater,
    load_ledger,
    open_or_read_ledger,
    statement,
)
from mixtally.errors import ParameterError, not_together, pluralize
from mixtally.model.certificate import Certificate
from mixtally.model.contract import Plan as Record
from mixtally.model.ledger import Charge, Ledger, new_ledger
from mixtally.primitives.files import resolve_target
from mixtally.report.numbers import at_most, printable


class Budget:
    """A limit on the privacy loss of one person, to which collections are charged.

    Several processes may share the file of a budget. A budget in memory belongs to the process that
    made it, because a forked copy would spend the budget a second time. Several threads may share a
    budget of either kind.

    Parameters
    ----------
    path : str, Path or None
        The file of the budget, created if it does not exist. None keeps the budget in memory.
    epsilon, delta : float or None
        The limit for all collections together. May be left out for an existing file.

    Raises
    ------
    DataError
        If the file cannot be read.
    ParameterError
        If a number is outside its range.
    PlanError
        If the file was altered, or states another limit.

    Examples
    --------
    >>> import mixtally
    >>> budget = mixtally.Budget(epsilon=2, delta=1e-6)
    >>> budget.charge(mixtally.plan(3, epsilon=1, delta=1e-7, users=10_000))
    >>> len(budget.charges)
    1
    """

    @checks.translate_errors
    def __init__(
        self,
        path: str | Path | None = None,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
    ) -> None:
        if isinstance(path, int | float):
            raise ParameterError(
                "Budget",
                expected="epsilon and delta as keyword arguments, or a path",
                got=checks.describe_value(path),
                do="write mixtally.Budget(epsilon=3, delta=1e-6), for example",
            )
        self._turn, self._owner, self._accountant = threading.RLock(), os.getpid(), Accountant()
        # The path is made absolute, so that a later change of the working directory has no effect.
        self._place = None if path is None else resolve_target(file_at(path)).resolve()
        if (epsilon is None) != (delta is None) or (path is None and epsilon is None):
            missing = ["epsilon=2"] * (epsilon is None) + ["delta=1e-6"] * (delta is None)
            raise ParameterError(
                "budget",
                expected="both epsilon and delta"
                + ", or neither of them for an existing file" * (path is not None),
                got="neither"
                if epsilon is delta
                else f"{'delta' if epsilon is None else 'epsilon'} alone",
                do=f"add {' and '.join(missing)}, for example",
            )
        if self._place is None:
            self._ledger = new_ledger(guarantee_of(epsilon, delta))
        elif epsilon is None:
            self._ledger = load_ledger(self._place)
        else:
            self._ledger = open_or_read_ledger(self._place, guarantee_of(epsilon, delta))

    @property
    def epsilon(self) -> float:
        """The epsilon of the limit: the largest privacy loss of all collections together."""
        return self._ledger.budget.epsilon

    @property
    def delta(self) -> float:
        """The delta of the limit, for all collections together."""
        return self._ledger.budget.delta

    @property
    def charges(self) -> tuple[Charge, ...]:
        """All charges, in the order in which they were made."""
        return self._current_ledger().charges

    @property
    def seal(self) -> str:
        """A hash of the limit and all charges.

        A copy of this hash, kept elsewhere, reveals whether the file was replaced.
        """
        return self._current_ledger().seal

    @property
    def spent(self) -> Certificate | None:
        """The proved delta of all charges together, at the budget's epsilon.

        None if nothing was charged.
        """
        return certify_spending(self._current_ledger(), self._accountant)

    @checks.translate_errors
    def charge(self, plan: Plan, times: int = 1, *, note: str = "") -> None:
        """Charge ``times`` collections under ``plan``; if they do not all fit, none is charged.

        Parameters
        ----------
        plan : Plan
            The plan that the person answers under.
        times : int
            The number of collections, 1 to 10^6.
        note : str
            A remark of one line.

        Raises
        ------
        DataError
            If the file cannot be read or written.
        InfeasibleError
            If the budget would be exceeded.
        ParameterError
            If ``times`` is outside its range.
        PlanError
            If the file was altered.

        Examples
        --------
        >>> import mixtally
        >>> budget = mixtally.Budget(epsilon=2, delta=1e-6)
        >>> budget.charge(mixtally.plan(3, epsilon=1, delta=1e-7, users=10_000), note="fruit")
        >>> budget.charges[0].note
        'fruit'
        """
        options = ChargeOptions(
            times=checks.check_whole("times", times), note=checks.check_text("note", note)
        )
        record = _record_of(plan)
        self.change(lambda ledger: charge(ledger, record, options, self._accountant))

    def change(self, how: Callable[[Ledger], Ledger]) -> Ledger:
        """Replace the ledger (the record of all charges) under an exclusive lock.

        Parameters
        ----------
        how : callable
            A function of the current ledger that returns the new one.

        Returns
        -------
        Ledger
            The new ledger.
        """
        with self._turn:
            if self._place is None:
                self._ledger = how(self._current_ledger())
            else:
                change_file = ledger_updater(self._place)
                self._ledger = change_file(lambda found: how(self._check_file(found)))
            return self._ledger

    @checks.translate_errors
    def times_left(self, plan: Plan) -> int:
        """Return how many further collections under ``plan`` fit into the budget.

        Parameters
        ----------
        plan : Plan
            The plan that may be charged.

        Returns
        -------
        int
            The number of collections.

        Raises
        ------
        DataError
            If the file cannot be read.
        PlanError
            If the file was altered, or if the guarantee of ``plan`` is false or has another
            observer.

        Examples
        --------
        >>> import mixtally
        >>> budget = mixtally.Budget(epsilon=2, delta=1e-6)
        >>> budget.times_left(mixtally.plan(3, epsilon=1, delta=1e-7, users=10_000))
        5
        """
        return remaining_budget(self._current_ledger(), _record_of(plan), self._accountant).times

    @checks.translate_errors
    def show(self, plan: Plan | None = None) -> Statement:
        """Compute what is spent and what is left, as ``mixtally budget show`` prints it.

        Parameters
        ----------
        plan : Plan or None
            A plan that may be charged next.

        Returns
        -------
        Statement
            The charges, their total, what is left, and how often ``plan`` still fits.

        Raises
        ------
        DataError
            If the file cannot be read.
        PlanError
            If the file was altered, or if the guarantee of ``plan`` is false or has another
            observer.

        Examples
        --------
        >>> import mixtally
        >>> budget = mixtally.Budget(epsilon=2, delta=1e-6)
        >>> budget.show().facts()["epsilon_left"]
        2.0
        """
        other = None if plan is None else _record_of(plan)
        return statement(self._current_ledger(), other, self._accountant)

    def __repr__(self) -> str:
        ledger, total = self._current_ledger(), self.spent
        used = "nothing" if total is None else f"delta <= {at_most(total.upper, 6)}"
        lines = [
            f"budget: epsilon = {at_most(self.epsilon, 6)}, delta = {at_most(self.delta, 6)}, "
            f"{'in memory' if self._place is None else self._place}",
            f"spent: {used} at that epsilon, {pluralize(len(ledger.charges), 'charge')}",
        ]
        return "\n".join(
            [*lines, *(f"{c.times:,} x {printable(c.plan.question.name)}" for c in ledger.charges)]
        )

    def __reduce__(self) -> NoReturn:
        raise ParameterError(
            "budget",
            expected="a single budget",
            got="a copy or a pickle, which would spend the budget again",
            do="keep the budget in a file and open it with mixtally.Budget(path)",
        )

    def _current_ledger(self) -> Ledger:
        """Return the current ledger, from the file or from memory.

        Raises
        ------
        ParameterError
            If a budget in memory was opened by another process.
        PlanError
            If the file no longer begins with the charges that this object has seen.
        """
        if self._place is not None:
            return self._check_file(load_ledger(self._place))
        if os.getpid() != self._owner:
            raise ParameterError(
                "budget",
                expected="the process that opened the budget",
                got="a forked process, which would spend the budget again",
                do="keep the budget in a file: mixtally.Budget(path, epsilon=.., delta=..)",
            )
        return self._ledger

    def _check_file(self, found: Ledger) -> Ledger:
        return check_continued(found, self._ledger, str(self._place))


def _record_of(plan: object) -> Record:
    """Return the fields of the plan to charge; raise ParameterError unless ``plan`` is a plan."""
    return (
        plan if isinstance(plan, Record) else checks.check_type("plan", plan, Plan, "plan").record
    )


def check_budget(budget: object, seed: object) -> None:
    """Raise ParameterError if a budget has another type or is combined with a seed."""
    if budget is None:
        return
    checks.check_type("budget", budget, Budget, "Budget")
    if seed is not None:
        raise not_together(
            "seed",
            "a seed",
            ["a budget"],
            "leave the seed out: a budget is not charged for noise that can be reproduced, because "
            "such noise protects nobody",
        )
