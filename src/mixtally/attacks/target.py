"""What is attacked: a plan's protocol with its certificate, or parameters with a claim."""

import math
from dataclasses import dataclass, replace
from functools import lru_cache

from mixtally.errors import PlanError
from mixtally.privacy import price
from mixtally.privacy.composition.convolve import Sum
from mixtally.privacy.composition.pld import Curve, law_of
from mixtally.privacy.divergence import vectors
from mixtally.records.guarantee import LEAST_DELTA, Guarantee
from mixtally.records.mechanism import BitFlips, Shuffled
from mixtally.records.plan import Plan

_HALVINGS = 40
_MOST_EPSILON = 60.0


@dataclass(frozen=True, slots=True)
class Target:
    """A collection and what is promised about it.

    where
      epsilon, delta    the promise, for every dataset, against who receives all messages
      honest_fraction   share of the promised fakes that the promise counts on
      certified         whether the promise was computed by the exact law
    """

    mechanism: Shuffled
    users: int
    epsilon: float
    delta: float
    title: str
    honest_fraction: float = 1.0
    certified: bool = True

    def __post_init__(self) -> None:
        Guarantee(epsilon=self.epsilon, delta=self.delta)

    @property
    def crowd(self) -> int:
        """People whose own flips the promise counts on, the person among them."""
        return self.mechanism.crowd if isinstance(self.mechanism, BitFlips) else 0

    @property
    def others(self) -> int:
        """Other people in the batch: where their flips are counted on, only those who are sure."""
        return (self.crowd or self.users) - 1


def of_plan(plan: Plan, *, unverified: bool = False) -> Target:
    """The target that ``plan`` is.

    Raises PlanError for a plan whose certificate is false, unless it is to be attacked all the same
    with ``unverified``.
    """
    certified = True
    try:
        mechanism = price.verify(plan)
    except PlanError as error:
        mechanism = plan.mechanism
        if not unverified or mechanism.gain == 0.0:
            raise PlanError(
                "plan", wanted="one whose certificate holds", got=f"another ({error})",
                do="do not use it; add --unverified to attack it all the same",
            ) from error  # fmt: skip
        certified = False
    shown = plan.certificate
    return Target(
        mechanism, plan.users, shown.epsilon, max(LEAST_DELTA, shown.upper),
        f"{plan.protocol} for {plan.question.name!r}, {plan.users:,} users and "
        f"{plan.question.bins:,} bins",
        plan.honest_fraction, certified,
    )  # fmt: skip


@lru_cache(maxsize=64)
def left_among_fakes(mechanism: Shuffled, fakes: int, delta: float) -> float:
    """The least epsilon at ``delta`` when only ``fakes`` fakes hide a person; may be infinite."""
    if isinstance(mechanism, SingleBit) and fakes:  # one bit among blanks: a crowd of zeros
        return _least(
            lambda e: vectors.homogeneous(fakes + 1, 1, mechanism.threshold, e).upper,
            delta, mechanism.local_epsilon,
        )  # fmt: skip
    if isinstance(mechanism, SingleBit):
        return mechanism.local_epsilon
    if isinstance(mechanism, BitFlips) and mechanism.name == "flip":
        return mechanism.local_epsilon  # no fakes at all
    changes = {"crowd": 0} if isinstance(mechanism, BitFlips) else {}
    hidden = replace(mechanism, fakes=fakes, **changes)
    if fakes == 0:
        return hidden.local_epsilon
    return _least(lambda e: price.upper(hidden, e), delta, hidden.local_epsilon)


@lru_cache(maxsize=64)
def left_in_crowd(mechanism: BitFlips, crowd: int, fakes: int, delta: float) -> float:
    """The least epsilon at ``delta`` among so many people whose flips hide, and so many fakes."""
    hidden = replace(mechanism, crowd=crowd, fakes=fakes)
    return _least(lambda e: price.upper(hidden, e), delta, hidden.local_epsilon)


def finite(epsilon: float) -> float | None:
    """``epsilon``, or None where it promises nothing."""
    return epsilon if math.isfinite(epsilon) else None


@lru_cache(maxsize=64)
def left_after(mechanism: Shuffled, times: int, delta: float) -> float:
    """The least epsilon at ``delta`` of so many collections together, by the exact law."""
    law = law_of(lambda epsilon: price.upper(mechanism, epsilon), mechanism.local_epsilon)
    return _least(Sum([(law, times)]).delta, delta, times * mechanism.local_epsilon)


def _least(upper: Curve, delta: float, reach: float) -> float:
    """The least epsilon up to ``reach`` at which ``upper`` is at most ``delta``, upwards."""
    low, high = 0.0, min(reach, _MOST_EPSILON)
    if upper(high) > delta:
        return reach
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if upper(middle) <= delta else (middle, high)
        if high - low <= 1e-6 * max(high, 1e-3):
            break
    return math.nextafter(high, math.inf)
