"""The privacy guarantee: epsilon, delta and the observer."""

import math
from enum import StrEnum

import msgspec

from mixtally.errors import ParameterError, in_range
from mixtally.model.strict_struct import StrictStructMeta
from mixtally.primitives.codec import convert_to_floats
from mixtally.primitives.fixed_point import to_fraction

# The ranges for which the bounds of delta are proved; others raise ParameterError.
LEAST_EPSILON, MOST_EPSILON = 0.01, 20.0
LEAST_DELTA, MOST_DELTA = 1e-15, 0.1
LEAST_FRACTION = 1e-12
LEAST_USERS, MOST_USERS = 2, 10_000_000_000


class Observer(StrEnum):
    """What an adversary sees of a collection."""

    MESSAGES = "messages"
    """Every shuffled message: the output of a mix."""
    SUMS = "sums"
    """Only how often each bit was set, because a trusted party adds the messages."""
    LINKED = "linked"
    """Every report together with its sender: no mix is trusted."""


def check_epsilon(epsilon: float) -> float:
    """Return ``epsilon``, or raise ParameterError if it is not in [0.01, 20]."""
    in_range(
        "epsilon",
        epsilon,
        LEAST_EPSILON,
        MOST_EPSILON,
        "1 is a common choice; a smaller epsilon protects more",
    )
    return epsilon


def check_users(users: int) -> int:
    """Return ``users``, or raise ParameterError if it is not in [2, 10^10]."""
    in_range("users", users, LEAST_USERS, MOST_USERS, "a crowd needs at least two people")
    return users


def check_fraction(fraction: float) -> float:
    """Return ``fraction``, or raise ParameterError if it is not in [1e-12, 1]."""
    in_range(
        "honest share",
        fraction,
        LEAST_FRACTION,
        1.0,
        "it is the share of people who follow the protocol and whose messages arrive",
    )
    return fraction


def count_arriving(sent: int, fraction: float) -> int:
    """Return the number of fakes or people on which the guarantee relies.

    The result is ``fraction`` times ``sent``, rounded down. The product uses the exact value of the
    decimal form of ``fraction``: 0.7 of 90 is 63. A third written with sixteen digits is below 1/3,
    so the result for 3 people is 0.

    Parameters
    ----------
    sent : int
        The number of fakes or people.
    fraction : float
        The share of them that is honest and arrives, in [1e-12, 1].
    """
    return math.floor(to_fraction(fraction) * sent)


def count_promised(needed: int, fraction: float) -> int:
    """Return the number of fakes that must be sent so that enough of them count.

    Parameters
    ----------
    needed : int
        The number of fakes that the guarantee needs.
    fraction : float
        The share of fakes that is honest and arrives, in [1e-12, 1].
    """
    # Rounded up from an exact fraction: a quotient of doubles could be one too small.
    return math.ceil(needed / to_fraction(fraction))


class Guarantee(
    msgspec.Struct,
    metaclass=StrictStructMeta,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
):
    """(epsilon, delta)-differential privacy of one substituted record, against an observer.

    For every two datasets that differ in one person's record, and for every set of outcomes,
    P[outcome] <= exp(epsilon) P'[outcome] + delta. The inequality holds for both orders of the two
    datasets.

    Parameters
    ----------
    epsilon : float
        The largest privacy loss, in nats, in [0.01, 20].
    delta : float
        The additive term, in [1e-15, 0.1].
    observer : Observer
        What the adversary sees: all shuffled messages, or their sums only.

    Raises
    ------
    ParameterError
        If a number is outside its range, or if the observer is ``linked``.

    Examples
    --------
    >>> import mixtally
    >>> mixtally.Guarantee(epsilon=1, delta=1e-6).observer.value
    'messages'
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
                do="choose one of the two: mixes cannot protect reports whose senders are seen",
            )
        if not LEAST_DELTA <= self.delta <= MOST_DELTA or math.isnan(self.delta):
            raise ParameterError(
                "delta",
                expected=f"a number in [{LEAST_DELTA}, {MOST_DELTA}]",
                got=self.delta,
                do="1e-6 is a common choice, well below 1 / users",
            )
