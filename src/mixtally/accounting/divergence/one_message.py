"""Shared functions of mechanisms whose record is one message with one exact formula.

The file of such a mechanism imports the functions that apply to it, and defines the others.
"""

from mixtally.accounting.divergence import Bound, ObservedMessage


def choose_bound(message: ObservedMessage, bound: Bound) -> Bound:  # noqa: ARG001
    """Return the exact bound, as no other one is faster."""
    return Bound.EXACT


def directional_upper(*_: object) -> None:
    """Return None, as both orders of the neighbors have the same curve."""


def observed_unit(message: ObservedMessage) -> tuple[ObservedMessage, int]:
    """Return the message itself, which is observed as a whole."""
    return message, 1


def handles_repeats(message: ObservedMessage) -> bool:  # noqa: ARG001
    """Return False: several rounds are composed, because no formula covers them together."""
    return False
