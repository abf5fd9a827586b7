"""Which file computes the divergence of which mechanism."""

from mixtally.privacy.divergence import Divergence, ObservedMessage, bit_flips, in_clear
from mixtally.records.mechanism import BitFlips, InClear, Shuffled

DIVERGENCES: dict[type[Shuffled], Divergence] = {
    BitFlips: bit_flips,
    InClear: in_clear,
}


def divergence_of(message: ObservedMessage) -> Divergence:
    """The functions for the message's mechanism."""
    return DIVERGENCES[type(message.mechanism)]
