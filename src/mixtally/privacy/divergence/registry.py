"""Which file computes the divergence of which mechanism."""

from mixtally.privacy.divergence import (
    Divergence,
    ObservedMessage,
    bit_flips,
    in_clear,
    kary_response,
)
from mixtally.records.mechanism import BitFlips, InClear, KaryResponse, Shuffled

DIVERGENCES: dict[type[Shuffled], Divergence] = {
    BitFlips: bit_flips,
    InClear: in_clear,
    KaryResponse: kary_response,
}


def divergence_of(message: ObservedMessage) -> Divergence:
    """The functions for the message's mechanism."""
    return DIVERGENCES[type(message.mechanism)]
