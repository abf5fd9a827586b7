"""Rules of a diary, which are checked before a bundle is sealed."""

from collections.abc import Iterable, Sequence

from mixtally.device.client.net.entries import DiaryCharge, Entry
from mixtally.device.client.net.pins import Budget
from mixtally.device.client.net.trust import OpenRound, refusal
from mixtally.device.wire.rotation import KeyChanges, Rotation


def check_same(entry: Entry, given: OpenRound) -> None:
    """Raise RefusedError if the diary's bundle of a round cannot be sent in the round ``given``.

    It cannot if it was sealed for another sheet, or if it is no longer pending.
    """
    another = entry.sheet != given.digest.hex()
    if another and (entry.is_pending or entry.contract == given.contract.fingerprint):
        expected = f"the sheet {entry.sheet[:16]}.., under which this round was answered"
        got = f"{given.digest.hex()[:16]}.., signed by all as well"
        raise refusal("another-sheet", "round", expected, got, "tell others: somebody signed two")
    if not entry.is_pending:
        expected, got = "a round that was not answered yet", f"one that was: {entry.state.value}"
        raise refusal("round-answered", "round", expected, got, "wait for the next round")


def check_order(entries: Sequence[Entry], given: OpenRound) -> None:
    """Raise RefusedError if a round comes before one that was answered under the same name.

    ``entries`` are those of contracts with the name of the contract of ``given``. Both the serials
    of contracts and the numbers of rounds must not decrease. Two contracts with the same serial are
    refused as well.
    """
    contract, number = given.contract, given.sheet.round
    for entry in entries:
        if entry.serial > contract.serial:
            expected = f"serial {entry.serial} of {contract.name}, which ended those before"
            raise refusal("serial-ended", "contract", expected, contract.serial)
        if entry.serial == contract.serial and entry.contract != contract.fingerprint:
            expected = f"the contract {entry.contract[:16]}.., answered under this name and serial"
            got = f"{contract.fingerprint[:16]}.."
            raise refusal(
                "serial-twice", "contract", expected, got, "tell others: somebody signed two"
            )
        if entry.round > number:
            expected = f"a round after {entry.round}, the last that was answered"
            raise refusal("round-out-of-order", "round", expected, number)


def find_new_rotations(known: KeyChanges, followed: Iterable[Rotation]) -> tuple[Rotation, ...]:
    """Return those rotations in ``followed`` that the diary does not have yet.

    Raise RefusedError if the diary has another rotation of the same key. Only the first rotation of
    a key is followed, because a thief of the old key can sign a second one.
    """
    new = []
    for one in followed:
        before = known.get((one.role, one.old))
        if before not in (None, one.new):
            expected = f"the key of {one.role} that this device followed before"
            raise refusal("rotated-twice", "contract", expected, "another one")
        if before is None:
            new.append(one)
    return tuple(new)


def check_cost(
    charges: Iterable[DiaryCharge], new: DiaryCharge, budget: Budget | None, *, again: bool
) -> bool:
    """Return whether the charge ``new`` of a contract must be added to the diary's ``charges``.

    Return False if a contract with the same name and plan was already charged. Otherwise, raise
    RefusedError if the total of all charges would exceed the budget. Unless ``again``, also raise
    RefusedError if the same question was charged under another name.
    """
    before = list(charges)
    if any((one.name, one.plan) == (new.name, new.plan) for one in before):
        return False
    others = [one for one in before if one.question == new.question and one.name != new.name]
    if others and not again:
        expected = "a question that was not answered under another name"
        do = "do not take part, or allow it; the costs of both add up"
        raise refusal("question-under-another-name", "contract", expected, others[0].name, do)
    if budget is not None:
        for name, most in zip(Budget._fields, budget, strict=True):
            costs = [getattr(one, name) for one in (*before, new)]
            if is_sum_above(costs, most):
                do = "do not take part, or raise the budget of this device"
                expected = f"{name} of at most {most:g} in all"
                raise refusal("budget-passed", "budget", expected, f"{sum(costs):.6g}", do)
    return True


def is_sum_above(costs: Sequence[float], most: float) -> bool:
    """Return whether the exact sum of doubles exceeds ``most``."""
    ratios = [cost.as_integer_ratio() for cost in (*costs, most)]
    finest = max(of for _, of in ratios)  # denominators are powers of two: all divide the largest
    *each, allowed = (part * (finest // of) for part, of in ratios)
    return sum(each) > allowed
