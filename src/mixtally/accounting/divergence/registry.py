"""The map from each mechanism to the file that computes its divergence."""

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
    """Return the functions for the mechanism of ``message``."""
    return DIVERGENCES[type(message.mechanism)]
