"""What is promised, and against whom."""

import math
from enum import StrEnum

import msgspec

from mixtally.errors import ParameterError, in_range
from mixtally.model.strict_struct import StrictStructMeta
from mixtally.primitives.codec import convert_to_floats
from mixtally.primitives.fixed_point import to_fraction

LEAST_EPSILON, MOST_EPSILON = 0.01, 20.0
LEAST_DELTA, MOST_DELTA = 1e-15, 0.1
LEAST_FRACTION = 1e-12
LEAST_USERS, MOST_USERS = 2, 10_000_000_000


class Observer(StrEnum):
    """Who looks at the collection."""

    MESSAGES = "messages"
    """Sees every shuffled message whole: what a mix delivers to the collector."""
    SUMS = "sums"
    """Sees only how often each bit was set: somebody trusted added the messages up."""
    LINKED = "linked"
    """Sees every report with its sender: no mix is relied on."""


def check_epsilon(epsilon: float) -> float:
    """``epsilon`` itself when it lies in [0.01, 20]; raises ParameterError otherwise."""
    in_range(
        "epsilon",
        epsilon,
        LEAST_EPSILON,
        MOST_EPSILON,
        "1 is a common choice, smaller promises more",
    )
    return epsilon


def check_users(users: int) -> int:
    """``users`` itself when it lies in [2, 10^10]; raises ParameterError otherwise."""
    in_range("users", users, LEAST_USERS, MOST_USERS, "a crowd needs at least two people")
    return users


def check_fraction(fraction: float) -> float:
    """``fraction`` itself when it lies in [1e-12, 1]; raises ParameterError otherwise."""
    in_range(
        "honest share",
        fraction,
        LEAST_FRACTION,
        1.0,
        "it is the share of promised fakes that certainly arrive",
    )
    return fraction


def count_arriving(sent: int, fraction: float) -> int:
    """How many of ``sent`` fakes or people are counted on: floor(fraction x sent).

    Exact in the decimal as it is written: .7 of 90 are 63, and a third in sixteen digits of 3 is
    none.
    """
    return math.floor(to_fraction(fraction) * sent)


def count_promised(needed: int, fraction: float) -> int:
    """The fewest fakes of which ``needed`` arrive when only ``fraction`` of them is counted on."""
    return math.ceil(needed / to_fraction(fraction))


class Guarantee(
    msgspec.Struct,
    metaclass=StrictStructMeta,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
):
    """(epsilon, delta) differential privacy for one person's record, substituted, seen by observer.

    For every two datasets that differ in one person's record and every set of outcomes,
    P[outcome] <= exp(epsilon) P'[outcome] + delta, in both directions.
    Raises ParameterError for epsilon outside [0.01, 20], delta outside [1e-15, 0.1], or ``linked``.
    """

    epsilon: float
    delta: float
    observer: Observer = Observer.MESSAGES

    def __post_init__(self) -> None:
        convert_to_floats(self, "epsilon", "delta")
        check_epsilon(self.epsilon)
        if self.observer is Observer.LINKED:
            raise ParameterError(
                "observer",
                expected="messages or sums",
                got="linked",
                do="a collection through mixes promises nothing against who sees the senders",
            )
        if not LEAST_DELTA <= self.delta <= MOST_DELTA or math.isnan(self.delta):
            raise ParameterError(
                "delta",
                expected=f"a number in [{LEAST_DELTA}, {MOST_DELTA}]",
                got=self.delta,
                do="1e-6 is a common choice, well below 1 / users",
            )
