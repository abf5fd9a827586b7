"""Charges of epochs to a ledger: each epoch once, in order, and before its messages are sent.

A ledger lists the plans under which a person has sent messages, and adds up their privacy losses.
``app.epochs`` charges each epoch before its first message. The charge has the note "epoch <name>",
which tells a later run that the epoch was collected. Other charges in the ledger are composed with
those of epochs, and are not changed.
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
"""Prefix of the note of a charge. Ledgers on disk contain it."""


def list_charged_epochs(ledger: Ledger, question: Question) -> list[str]:
    """Return the epochs in which ``question`` was asked already, in the order of charges.

    Raises PlanError if another question of the same name was charged.
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
                got=f"{charge.note!r} of another question with {charge.plan.question.bins:,} bins",
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
    """Check that epochs can be charged in the given order, before anything is sent.

    ``order`` has the names of all epochs in order; None if the names can be sorted.

    Raises
    ------
    PlanError
        If an epoch occurs twice, or does not come after the last charged one.
    InfeasibleError
        If the epochs together exceed the budget.
    DataError
        If the given order lacks an epoch.
    """
    done = list_charged_epochs(ledger, plan.question)
    key = order_of([*done, *epochs], order)
    last = max(done, key=key, default=None)
    for name in epochs:
        if last is not None and key(name) <= key(last):
            # Two names can stand for the same moment, such as one in two time zones.
            again = name in done or key(name) == key(last)
            raise PlanError(
                f"epoch {name!r}",
                expected=f"an epoch after {last!r}, the last one collected",
                got="one that was collected already" if again else "an earlier one",
                do="leave the epoch out: asking again would spend privacy again",
            )
        last = name
    after = budget.charge(ledger, plan, len(epochs), accountant=accountant)
    for name in epochs:
        records.add_charge(after, plan, 1, note=_NOTE + name)  # raises if the note is invalid


def charge_epoch(
    ledger: Ledger,
    plan: Plan,
    epoch: str,
    accountant: Accountant | None = None,
    *,
    date: str = "",
    order: Sequence[str] | None = None,
) -> Ledger:
    """Return the ledger with the charge of one more epoch.

    ``date`` is the date of the charge. The parameter ``order`` and the errors are those of
    `check_series`.
    """
    # One accountant serves both calls, so that the composition is computed only once.
    own = accountant or Accountant()
    check_series(ledger, plan, [epoch], order, own)
    return budget.charge(ledger, plan, note=_NOTE + epoch, date=date, accountant=own)
