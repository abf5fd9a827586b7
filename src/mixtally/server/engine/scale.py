"""Prediction of the cost of a round for each hop, from a few measured rates.

closing     = (envelopes * (open + order) + fakes * (later roles * seal + order)) / cores
CPU seconds = closing * cores, and at the first mix also envelopes / bundle * post for receiving
bytes       = envelopes * (message bytes + layers * layer bytes)

Here *closing* is the time in seconds in which a hop processes its batch after the window, and
*bytes* is the size of the batch on disk. The collector adds no fakes and sorts nothing, so the term
with ``open`` is the only one. ``open``, ``order``, ``seal`` and ``post`` are fields of ``Rates``.
*Envelopes* are those that a hop receives, with the fakes (dummy messages) of earlier hops. *Layers*
are the layers of encryption of such an envelope. *Later roles* are the hops after this one and the
collector. The other names are fields of ``PlannedRound``.

The command ``mixtally batch doctor`` shows the result.
"""

from typing import NamedTuple


class Rates(NamedTuple):
    """CPU time of each kind of work on one core, and time of a sync; all in seconds."""

    open: float
    """Opening one layer of an envelope, while all cores do so and slow each other down."""
    seal: float
    """Sealing one layer."""
    order: float
    """Computing the keyed hash of a message, and sorting it."""
    sync: float
    """Elapsed time until written data is on disk."""
    post: float = 0.0
    """Receiving a bundle at the first mix, including HTTP; 0 if not measured."""


class PlannedRound(NamedTuple):
    """Size of a planned round."""

    envelopes: int
    """Number of envelopes from people."""
    fakes: int
    """Number of messages that each hop adds."""
    hops: int
    """Number of mixes before the collector."""
    message_bytes: int
    """Length of a message that is counted."""
    layer_bytes: int
    """Bytes that each layer of encryption adds."""
    bundle: int
    """Number of messages that a person sends at once."""
    seconds: float
    """Duration of the round's window."""
    cores: int
    """Number of cores of each hop."""


class HopCost(NamedTuple):
    """Cost of a round for one hop, or for the collector as the last one."""

    place: int
    envelopes: int
    """Number of envelopes received, with the fakes of earlier hops."""
    bytes: int
    """Size of these envelopes on disk."""
    cpu: float
    """CPU seconds to open, sort and seal, and at the first mix also to receive bundles."""
    closing: float
    """Seconds to open, sort and seal on all its cores."""


class IntakeLoad(NamedTuple):
    """Load of the first hop during the window of a round."""

    posts: float
    """Bundles per second."""
    cores: float
    """Number of cores used to receive them."""
    share: float
    """The syncs per second that are needed if each bundle has its own sync, divided by those that
    the disk can do. Above 1, several bundles must share a sync."""


def hop_costs(rates: Rates, planned_round: PlannedRound) -> list[HopCost]:
    """Return the cost of a round for each hop and for the collector, in this order."""
    return [_hop_cost(rates, planned_round, place) for place in range(1, planned_round.hops + 2)]


def _hop_cost(rates: Rates, planned_round: PlannedRound, place: int) -> HopCost:
    envelopes = planned_round.envelopes + (place - 1) * planned_round.fakes
    behind = planned_round.hops + 1 - place
    size = planned_round.message_bytes + (behind + 1) * planned_round.layer_bytes
    mixes = behind > 0
    cpu = envelopes * (rates.open + (rates.order if mixes else 0.0))
    cpu += (planned_round.fakes * (behind * rates.seal + rates.order)) if mixes else 0.0
    taking = planned_round.envelopes / planned_round.bundle * rates.post if place == 1 else 0.0
    return HopCost(place, envelopes, envelopes * size, cpu + taking, cpu / planned_round.cores)


def compute_intake(rates: Rates, planned_round: PlannedRound) -> IntakeLoad:
    """Return the load of the first hop during the window of a round."""
    posts = planned_round.envelopes / planned_round.bundle / planned_round.seconds
    return IntakeLoad(posts, posts * rates.post, posts * rates.sync)
