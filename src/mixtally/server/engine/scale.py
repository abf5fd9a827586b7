"""What a round costs a hop, from a few measured rates, as ``mixtally batch doctor`` says it.

closing     = (envelopes * (open + order) + fakes * (layers behind * seal + order)) / cores
CPU seconds = closing * cores, and at the first mix envelopes / bundle * post while people send
bytes       = envelopes * (message + layers * layer bytes)
"""

from typing import NamedTuple


class Rates(NamedTuple):
    """CPU seconds on one core, and what a disk does.

    where
      open    an envelope opened, one layer, while all cores do that, which is slower on each
      seal    a layer sealed
      order   a message ordered: its keyed hash, and its place
      sync    seconds by the clock until a disk has kept what is written
      post    a bundle taken by the first mix, HTTP included; 0 where it was not measured
    """

    open: float
    seal: float
    order: float
    sync: float
    post: float = 0.0


class PlannedRound(NamedTuple):
    """A round as it is planned.

    where
      envelopes       that people send
      fakes           messages that every hop adds
      hops            mixes before the collector
      message_bytes   of what is counted
      layer_bytes     that a layer adds
      bundle          messages that a person sends at once
      seconds         that the round is open
      cores           of each hop
    """

    envelopes: int
    fakes: int
    hops: int
    message_bytes: int
    layer_bytes: int
    bundle: int
    seconds: float
    cores: int


class HopCost(NamedTuple):
    """What one hop, or the collector as the last, spends on a round.

    where
      envelopes   that reach it, with the fakes of hops before
      bytes       that they take on its disk
      cpu         seconds of one core, to open, order and seal, and at the first mix to take bundles
      closing     seconds on all its cores
    """

    place: int
    envelopes: int
    bytes: int
    cpu: float
    closing: float


class IntakeLoad(NamedTuple):
    """What the first hop takes while the round is open.

    where
      posts   bundles a second
      cores   that these keep busy
      share   of the disk's syncs that they need if each is synced alone; above 1 they are synced
              together
    """

    posts: float
    cores: float
    share: float


def hop_costs(rates: Rates, planned_round: PlannedRound) -> list[HopCost]:
    """The cost of every hop and of the collector, in their order."""
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
    """What comes in while the round is open."""
    posts = planned_round.envelopes / planned_round.bundle / planned_round.seconds
    return IntakeLoad(posts, posts * rates.post, posts * rates.sync)
