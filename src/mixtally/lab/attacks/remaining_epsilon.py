"""The remaining epsilon: the guarantee if fewer people or fakes hide a person than planned.

The attacks ``n-1``, ``collusion``, ``difference`` and ``selection`` compare the epsilon that they
prove with the remaining epsilon.
"""

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

_HALVINGS, _MOST_EPSILON = 40, 60.0
"""The most steps of the bisection for epsilon, and the largest epsilon that it tries."""
_UNLIKELY = 1e-3
"""The fraction of delta that is reserved for improbable numbers of fakes from coins."""


def remaining_epsilon(
    sender_counts: Mapping[Senders, int], delta: float, accountant: Accountant
) -> float:
    """Return an upper bound of epsilon at ``delta`` for all messages of a person.

    ``sender_counts`` has the senders of each part, and how often a person sends the part. The
    result may be infinite.
    """
    local = sum(times * who.part.local_epsilon for who, times in sender_counts.items())
    # If nothing hides some part, only the randomization of the messages is left.
    if not all(who.people or who.fakes or who.part.by_mixes for who in sender_counts):
        return local
    total = sum(sender_counts.values())
    negligible = _UNLIKELY * delta / total
    if total == 1:
        (who,) = sender_counts
        return _least_epsilon(_delta_curve(who, negligible, accountant), delta, local)
    every = [
        (*_dominating_losses(who, negligible, accountant), times)
        for who, times in sender_counts.items()
    ]
    return _least_epsilon(
        LossSum([(one, many * times) for one, many, times in every]).delta, delta, local
    )


def none_if_infinite(epsilon: float) -> float | None:
    """Return ``epsilon``, or None if it is infinite and so guarantees nothing."""
    return epsilon if math.isfinite(epsilon) else None


def mechanism_of(senders: Senders) -> Shuffled:
    """Return the mechanism of the senders' part, with the mean number of their fakes."""
    crowd = (
        max(LEAST_USERS, senders.people + 1)
        if senders.people
        else int(senders.part.replaced is not None)
    )
    return senders.part.mechanism(fakes=senders.fakes, crowd=crowd, mixes=senders.mixes)


def _delta_curve(senders: Senders, negligible: float, accountant: Accountant) -> Curve:
    if (coins := _coin_part(senders)) is not None:
        return coins.curve(accountant, negligible)
    record = Record.of(mechanism_of(senders))
    return lambda epsilon: accountant.upper(record, epsilon)


def _dominating_losses(
    senders: Senders, negligible: float, accountant: Accountant
) -> tuple[LossDistribution, int]:
    """Return a loss distribution and a number k for the messages of one record.

    The sum of k independent losses from this distribution dominates the privacy loss of the record.
    A record is one part of a person's answer, which may be sent as several messages.
    """
    if (coins := _coin_part(senders)) is not None:
        return coins.losses(accountant, negligible, FINE), 1
    return accountant.losses(Record.of(mechanism_of(senders)), FINE)


def _coin_part(senders: Senders) -> HonestPart | None:
    """Return the part if coins decide its number of fakes; None otherwise."""
    own = senders.part.own
    return (
        HonestPart(senders.part, senders.honest, senders.people > 0)
        if own is not None and own.coin
        else None
    )


def _least_epsilon(upper: Curve, delta: float, local: float) -> float:
    """Return the least epsilon with ``upper(epsilon) <= delta``, rounded up; ``local`` if none.

    ``upper`` returns an upper bound of delta, and ``local`` is an epsilon that always applies.
    """
    low, high = 0.0, min(local, _MOST_EPSILON)
    if upper(high) > delta:
        return local
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if upper(middle) <= delta else (middle, high)
        if high - low <= 1e-6 * max(high, 1e-3):
            break
    # Rounded up, so that no attack exceeds the bound because of rounding.
    return math.nextafter(high, math.inf)
