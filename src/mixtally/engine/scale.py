"""What a round costs a hop, from a few measured rates, as ``mixtally batch doctor`` says it.

CPU seconds = envelopes * (open + order) + fakes * layers behind * seal
bytes       = envelopes * (message + layers * layer bytes)
closing     = CPU seconds / cores
"""

from typing import NamedTuple


class Rates(NamedTuple):
    """CPU seconds on one core, and what a disk does.

    where
      open    an envelope opened, one layer
      seal    a layer sealed
      order   a message ordered: its keyed hash, and its place
      sync    seconds by the clock until a disk has kept what is written
    """

    open: float
    seal: float
    order: float
    sync: float


class Round(NamedTuple):
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
      cpu         seconds of one core, to open, order and seal
      closing     seconds on all its cores
    """

    place: int
    envelopes: int
    bytes: int
    cpu: float
    closing: float


class Intake(NamedTuple):
    """What the first hop takes while the round is open.

    where
      posts   bundles a second
      share   of the disk's syncs that they need if each is synced alone; above 1 they are synced
              together
    """

    posts: float
    share: float


def hop_costs(rates: Rates, of: Round) -> list[HopCost]:
    """The cost of every hop and of the collector, in their order."""
    return [_hop(rates, of, place) for place in range(1, of.hops + 2)]


def _hop(rates: Rates, of: Round, place: int) -> HopCost:
    envelopes = of.envelopes + (place - 1) * of.fakes
    behind = of.hops + 1 - place
    size = of.message_bytes + (behind + 1) * of.layer_bytes
    mixes = behind > 0
    cpu = envelopes * (rates.open + (rates.order if mixes else 0.0))
    cpu += (of.fakes * (behind * rates.seal + rates.order)) if mixes else 0.0
    return HopCost(place, envelopes, envelopes * size, cpu, cpu / of.cores)


def intake(rates: Rates, of: Round) -> Intake:
    """What comes in while the round is open."""
    posts = of.envelopes / of.bundle / of.seconds
    return Intake(posts, posts * rates.sync)
