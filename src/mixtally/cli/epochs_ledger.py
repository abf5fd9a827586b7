"""The ledger of a series of epochs: each is charged before its first message is sent."""

from collections.abc import Callable
from datetime import date
from pathlib import Path

from mixtally.cli.ledger import read, write
from mixtally.data.cells import quiet
from mixtally.data.timeline import Timeline
from mixtally.privacy.accountant import Accountant
from mixtally.records.plan import Plan
from mixtally.simulate.epoch_ledger import charge_epoch, checked_series
from mixtally.store.files import the_file
from mixtally.store.lock import alone


def charging(
    ledger: Path | None,
    plan: Plan,
    timeline: Timeline,
    order: tuple[str, ...] | None,
    accountant: Accountant,
) -> Callable[[str], None]:
    """What charges an epoch before it is sent; raises at once when all of them do not fit.

    where
      order   of all epochs, None where their names tell it

    Errors as ``simulate.epoch_ledger.checked_series``.
    """
    if ledger is None:
        return quiet
    place = the_file(ledger)
    with alone(place.parent, required=True):
        checked_series(read(place), plan, timeline.epochs, order, accountant)

    def charge(epoch: str) -> None:
        with alone(place.parent, required=True):
            before, today = read(place), date.today().isoformat()
            after = charge_epoch(before, plan, epoch, accountant, date=today, order=order)
            write(place, after)

    return charge
