"""What is attacked: a plan's mechanism with its certificate, or parameters with a claim."""

import math
from dataclasses import dataclass

from msgspec.structs import replace

from mixtally.errors import ParameterError, PlanError
from mixtally.privacy.accountant import Accountant, Record
from mixtally.privacy.composition.convolve import Sum
from mixtally.privacy.composition.pld import FINE, Curve
from mixtally.privacy.divergence import vectors
from mixtally.privacy.terms import verify
from mixtally.records.guarantee import LEAST_DELTA, Guarantee
from mixtally.records.mechanism import BitFlips, NoFakes, Parameter, Shuffled
from mixtally.records.plan import Plan

_HALVINGS = 40
_MOST_EPSILON = 60.0


@dataclass(frozen=True, slots=True)
class Target:
    """A collection and what is promised about it.

    where
      epsilon, delta    the promise, for every dataset, against who receives all messages
      honest_share   share of the promised fakes that the promise counts on
      certified         whether the promise was computed by the exact distribution

    Raises ParameterError for a record that is sent several times, unless its bits are free: no game
    here knows it.
    """

    mechanism: Shuffled
    users: int
    epsilon: float
    delta: float
    title: str
    honest_share: float = 1.0
    certified: bool = True

    def __post_init__(self) -> None:
        Guarantee(epsilon=self.epsilon, delta=self.delta)
        one = self.mechanism
        free_bits = isinstance(one, BitFlips) and one.max_set is None and not one.fakes.count
        if one.repeats > 1 and not free_bits:
            raise ParameterError(
                "repeats",
                wanted="free bits without fakes, the only records repeated here",
                got=f"{one.name} sent {one.repeats} times",
                do="attack it sent once",
            )

    @property
    def crowd(self) -> int:
        """People whose own flips the promise counts on, the person among them."""
        return self.mechanism.crowd if isinstance(self.mechanism, BitFlips) else 0

    @property
    def others(self) -> int:
        """Other people in the batch: where their flips are counted on, only those who are sure."""
        return (self.crowd or self.users) - 1


def of_plan(
    plan: Plan, *, unverified: bool = False, accountant: Accountant | None = None
) -> Target:
    """The target that ``plan`` is.

    Raises PlanError for a plan whose certificate is false, unless it is to be attacked all the same
    with ``unverified``.
    """
    certified = True
    try:
        mechanism = verify(plan, accountant)
    except PlanError as error:
        mechanism = plan.mechanism
        if not unverified or mechanism.gain == 0.0:
            raise PlanError(
                "plan",
                wanted="one whose certificate holds",
                got=f"another ({error})",
                do="do not use it; add --unverified to attack it all the same",
            ) from error
        certified = False
    certificate = plan.certificate
    return Target(
        mechanism,
        plan.users,
        certificate.epsilon,
        max(LEAST_DELTA, certificate.upper),
        f"{plan.protocol} for {plan.question.name!r}, {plan.users:,} users and "
        f"{plan.question.bins:,} bins",
        plan.honest_share,
        certified,
    )


def left_among_fakes(
    mechanism: Shuffled, fakes: int, delta: float, accountant: Accountant
) -> float:
    """The least epsilon at ``delta`` when only ``fakes`` fakes hide a person; may be infinite."""
    local = mechanism.local_epsilon
    if fakes == 0:
        return local
    hidden = mechanism.having(Parameter.FAKES, fakes)
    if not isinstance(hidden, BitFlips):
        return _least_of(hidden, delta, accountant)
    if hidden.max_set is not None:
        return _least_of(replace(hidden, crowd=0), delta, accountant)
    threshold = hidden.threshold  # one bit among blanks: a crowd of zeros
    return _least(
        lambda epsilon: vectors.homogeneous(fakes + 1, 1, threshold, epsilon).upper, delta, local
    )


def left_in_crowd(
    mechanism: BitFlips, crowd: int, fakes: int, delta: float, accountant: Accountant
) -> float:
    """The least epsilon at ``delta`` among so many people whose flips hide, and so many fakes."""
    hidden = replace(mechanism, crowd=crowd)
    if not isinstance(hidden.fakes, NoFakes):
        hidden = hidden.having(Parameter.FAKES, fakes)
    return _least_of(hidden, delta, accountant)


def left_after(mechanism: Shuffled, times: int, delta: float, accountant: Accountant) -> float:
    """The least epsilon at ``delta`` of so many collections together, by the exact distribution."""
    losses, several = accountant.losses(Record.of(mechanism), FINE)
    return _least(Sum([(losses, several * times)]).delta, delta, times * mechanism.local_epsilon)


def finite(epsilon: float) -> float | None:
    """``epsilon``, or None where it promises nothing."""
    return epsilon if math.isfinite(epsilon) else None


def _least_of(hidden: Shuffled, delta: float, accountant: Accountant) -> float:
    """What the accountant proves of ``hidden``."""
    record = Record.of(hidden)
    return _least(lambda e: accountant.upper(record, e), delta, hidden.local_epsilon)


def _least(upper: Curve, delta: float, local: float) -> float:
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
