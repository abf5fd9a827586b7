"""A series of epochs in a ledger: charged before it is sent, in order, no epoch twice.

The charge of an epoch carries the note "epoch <name>"; that is how a later run knows what was asked
already. Other charges of the ledger are composed with it and otherwise left alone.
"""

from collections.abc import Sequence

from mixtally.accounting.accountant import Accountant
from mixtally.accounting.budget import ledger as budget
from mixtally.errors import PlanError
from mixtally.lab.data.epoch_names import order_of
from mixtally.model import ledger as records
from mixtally.model.contract import Plan
from mixtally.model.ledger import Ledger
from mixtally.model.question import Question

_NOTE = "epoch "


def list_charged_epochs(ledger: Ledger, question: Question) -> list[str]:
    """Epochs in which ``question`` was asked already, as they were charged.

    Raises PlanError when another question of that name was.
    """
    ours = [
        charge
        for charge in ledger.charges
        if charge.note.startswith(_NOTE) and charge.plan.question.name == question.name
    ]
    for charge in ours:
        if charge.plan.question != question:
            raise PlanError(
                "ledger",
                expected=f"epochs of the question {question.name!r} with its {question.bins:,} "
                f"bins",
                got=f"{charge.note!r} of another one with {charge.plan.question.bins:,} bins",
                do="keep the labels of the first epoch, or give the new question a new name",
            )
    return [charge.note.removeprefix(_NOTE) for charge in ours]


def check_series(
    ledger: Ledger,
    plan: Plan,
    epochs: Sequence[str],
    order: Sequence[str] | None = None,
    accountant: Accountant | None = None,
) -> None:
    """Raises unless all ``epochs`` can be charged in this order: nothing needs to be sent to know.

    PlanError for an epoch that comes twice or before one that was charged already, InfeasibleError
    when they do not all fit the budget, DataError for an epoch outside the given order.
    """
    done = list_charged_epochs(ledger, plan.question)
    key = order_of([*done, *epochs], order)
    last = max(done, key=key, default=None)
    for name in epochs:
        if last is not None and key(name) <= key(last):
            again = name in done or key(name) == key(last)
            raise PlanError(
                f"epoch {name!r}",
                expected=f"one that comes after {last!r}, the last that was collected",
                got="one that was collected already" if again else "an earlier one",
                do="leave it out: asking again would spend again",
            )
        last = name
    after = budget.charge(ledger, plan, len(epochs), accountant=accountant)
    for name in epochs:
        records.add_charge(after, plan, 1, note=_NOTE + name)  # refuses what is no note


def charge_epoch(
    ledger: Ledger,
    plan: Plan,
    epoch: str,
    accountant: Accountant | None = None,
    *,
    date: str = "",
    order: Sequence[str] | None = None,
) -> Ledger:
    """``ledger`` after one epoch more; errors as ``checked_series``."""
    own = accountant or Accountant()
    check_series(ledger, plan, [epoch], order, own)
    return budget.charge(ledger, plan, note=_NOTE + epoch, date=date, accountant=own)
