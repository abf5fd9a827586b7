"""What is left of a promise when less hides a person than it counts on: the least epsilon."""

import math
from collections.abc import Mapping

from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.composition.convolve import LossSum
from mixtally.accounting.composition.losses import LossDistribution
from mixtally.accounting.composition.pld import FINE, Curve
from mixtally.accounting.plans.honest_part import HonestPart
from mixtally.lab.attacks.senders import Senders
from mixtally.model.guarantee import LEAST_USERS
from mixtally.model.mechanism import Shuffled

_HALVINGS = 40
_MOST_EPSILON = 60.0
_UNLIKELY = 1e-3
"""Of delta: what crowds of coins may add that are not looked at closely."""


def remaining_epsilon(behind: Mapping[Senders, int], delta: float, accountant: Accountant) -> float:
    """The least epsilon at ``delta`` of all messages of a person among these; may be infinite."""
    local = sum(times * who.part.local_epsilon for who, times in behind.items())
    if not all(who.people or who.fakes or who.part.by_mixes for who in behind):
        return local
    total = sum(behind.values())
    negligible = _UNLIKELY * delta / total
    if total == 1:
        (who,) = behind
        return _least_epsilon(_delta_curve(who, negligible, accountant), delta, local)
    every = [
        (*_dominating_losses(who, negligible, accountant), times) for who, times in behind.items()
    ]
    return _least_epsilon(
        LossSum([(one, many * times) for one, many, times in every]).delta, delta, local
    )


def none_if_infinite(epsilon: float) -> float | None:
    """``epsilon``, or None where it promises nothing."""
    return epsilon if math.isfinite(epsilon) else None


def mechanism_of(who: Senders) -> Shuffled:
    """How a message of theirs is sent, among as many fakes as there are on average."""
    crowd = max(LEAST_USERS, who.people + 1) if who.people else int(who.part.replaced is not None)
    return who.part.mechanism(fakes=who.fakes, crowd=crowd, mixes=who.mixes)


def _delta_curve(who: Senders, negligible: float, accountant: Accountant) -> Curve:
    if (coins := _coin_part(who)) is not None:
        return coins.curve(accountant, negligible)
    record = Record.of(mechanism_of(who))
    return lambda epsilon: accountant.upper(record, epsilon)


def _dominating_losses(
    who: Senders, negligible: float, accountant: Accountant
) -> tuple[LossDistribution, int]:
    """Losses that dominate one message of theirs, and how many of these a record is."""
    if (coins := _coin_part(who)) is not None:
        return coins.losses(accountant, negligible, FINE), 1
    return accountant.losses(Record.of(mechanism_of(who)), FINE)


def _coin_part(who: Senders) -> HonestPart | None:
    """Where coins decide how many fakes there are: the price is averaged over them."""
    own = who.part.own
    return (
        HonestPart(who.part, who.honest, who.people > 0) if own is not None and own.coin else None
    )


def _least_epsilon(upper: Curve, delta: float, local: float) -> float:
    """The least epsilon up to ``local`` at which ``upper`` is at most ``delta``, upwards."""
    low, high = 0.0, min(local, _MOST_EPSILON)
    if upper(high) > delta:
        return local
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if upper(middle) <= delta else (middle, high)
        if high - low <= 1e-6 * max(high, 1e-3):
            break
    return math.nextafter(high, math.inf)
