"""What is the same for most mechanisms whose record is one message, priced by one exact sum.

A mechanism's file imports those of these functions that hold for it, and writes the others.
"""

from mixtally.accounting.divergence import Bound, ObservedMessage


def choose_bound(message: ObservedMessage, bound: Bound) -> Bound:  # noqa: ARG001
    """Return the exact bound: no other one is quicker."""
    return Bound.EXACT


def directional_upper(*_: object) -> None:
    """Return None: both directions have one curve."""


def observed_unit(message: ObservedMessage) -> tuple[ObservedMessage, int]:
    """Return the message itself, which is seen whole."""
    return message, 1


def handles_repeats(message: ObservedMessage) -> bool:  # noqa: ARG001
    """Return False: rounds are composed."""
    return False
