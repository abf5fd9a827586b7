"""What a diary refuses before anything is sealed: all that only this device can know."""

from collections.abc import Iterable, Sequence

from mixtally.device.client.net.entries import DiaryCharge, Entry
from mixtally.device.client.net.pins import Budget
from mixtally.device.client.net.trust import OpenRound
from mixtally.errors import RefusedError


def check_same(entry: Entry, given: OpenRound) -> None:
    """Raises RefusedError where a round cannot go on with the bundle that is there already."""
    another = entry.sheet != given.digest.hex()
    if another and (entry.is_pending or entry.contract == given.contract.fingerprint):
        expected = f"the sheet {entry.sheet[:16]}.., under which this round was answered"
        got = f"{given.digest.hex()[:16]}.., signed by all as well"
        raise _refusal("another-sheet", "round", expected, got, "tell others: somebody signed two")
    if not entry.is_pending:
        expected, got = "a round that was not answered yet", f"one that was: {entry.state.value}"
        raise _refusal("round-answered", "round", expected, got, "wait for the next round")


def check_order(entries: Sequence[Entry], given: OpenRound) -> None:
    """Raises RefusedError for rounds and serials of a name that do not come one after another."""
    contract, number = given.contract, given.sheet.round
    for entry in entries:
        if entry.serial > contract.serial:
            expected = f"serial {entry.serial} of {contract.name}, which ended those before"
            raise _refusal("serial-ended", "contract", expected, contract.serial)
        if entry.serial == contract.serial and entry.contract != contract.fingerprint:
            expected = f"the contract {entry.contract[:16]}.., answered under this name and serial"
            got = f"{contract.fingerprint[:16]}.."
            raise _refusal(
                "serial-twice", "contract", expected, got, "tell others: somebody signed two"
            )
        if entry.round > number:
            expected = f"a round after {entry.round}, the last that was answered"
            raise _refusal("round-out-of-order", "round", expected, number)


def check_cost(
    charges: Iterable[DiaryCharge], new: DiaryCharge, budget: Budget | None, *, again: bool
) -> bool:
    """Whether ``new`` is to be charged, which it is once for the plan of a name.

    Raises RefusedError for a question that was charged under another name, unless ``again``, and
    for what would exceed the budget.
    """
    before = list(charges)
    if any((one.name, one.plan) == (new.name, new.plan) for one in before):
        return False
    others = [one for one in before if one.question == new.question and one.name != new.name]
    if others and not again:
        expected = "a question that was not answered under another name"
        do = "take no part, or allow it: what both cost adds up"
        raise _refusal("question-under-another-name", "contract", expected, others[0].name, do)
    if budget is not None:
        for name, most in zip(Budget._fields, budget, strict=True):
            costs = [getattr(one, name) for one in (*before, new)]
            if is_sum_above(costs, most):
                do = "take no part, or allow more on this device"
                expected = f"{name} of at most {most:g} in all"
                raise _refusal("budget-passed", "budget", expected, f"{sum(costs):.6g}", do)
    return True


def is_sum_above(costs: Sequence[float], most: float) -> bool:
    """Whether doubles add up to more than ``most``, exactly."""
    ratios = [cost.as_integer_ratio() for cost in (*costs, most)]
    finest = max(of for _, of in ratios)  # powers of two
    *each, allowed = (part * (finest // of) for part, of in ratios)
    return sum(each) > allowed


def _refusal(
    reason: str, subject: str, expected: str, got: object, do: str = "take no part"
) -> RefusedError:
    return RefusedError(reason, subject, expected=expected, got=got, do=do)
