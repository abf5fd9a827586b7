"""Which file computes the divergence of which mechanism."""

from mixtally.accounting.divergence import (
    Divergence,
    ObservedMessage,
    bit_flips,
    in_clear,
    kary_response,
)
from mixtally.model.mechanism import Shuffled

_FILES: tuple[Divergence, ...] = (bit_flips, in_clear, kary_response)
DIVERGENCES: dict[type[Shuffled], Divergence] = {one.MECHANISM: one for one in _FILES}


def divergence_of(message: ObservedMessage) -> Divergence:
    """The functions for the message's mechanism."""
    return DIVERGENCES[type(message.mechanism)]
