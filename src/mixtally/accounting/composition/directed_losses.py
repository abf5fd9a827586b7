"""Messages whose two directions differ, composed: the worst number of answers that went either way.

The person's answers to t questions of one collection are replaced. Where a of them go one way and
t - a the other, the observer's distributions are a product of a pairs and t - a pairs exchanged; an
answer that stays tells nothing, so a + (t - a) = t is the worst. Exchanging both worlds exchanges a
and t - a, so the largest divergence over all a bounds both directions.

All of them are given before anything is seen. In a later collection the person may answer as
earlier results suggest, and which way the answer goes then depends on what was seen: that is more
than any a has, and one curve for both directions covers it (``compose``).
"""

import math
from collections.abc import Sequence
from itertools import pairwise, product
from typing import NamedTuple

from mixtally.accounting.composition.convolve import LossSum
from mixtally.accounting.composition.losses import LossDistribution, combine_directions
from mixtally.accounting.composition.pld import Curve

_MAX_SPLITS = 12
"""How many numbers of messages that went one way are looked at, or cells of them."""


class DirectedLosses(NamedTuple):
    """A message whose directions differ, and what dominates it in both."""

    forward: LossDistribution
    backward: LossDistribution
    either: LossDistribution

    @classmethod
    def of(
        cls, forward: LossDistribution, backward: LossDistribution, either: LossDistribution
    ) -> "DirectedLosses":
        """From what dominates one direction alone."""
        return cls(
            combine_directions(forward, backward), combine_directions(backward, forward), either
        )


def worst_curve(parts: Sequence[tuple[LossDistribution | DirectedLosses, int]]) -> Curve:
    """An upper bound of the divergence of all messages, whichever way the answers of each changed.

    Of t messages whose directions differ a go one way and t - a the other: the worst a is looked
    for. Where they are many, neighbors a..b are one: of these, b - a go either way.
    """
    both = sum(isinstance(one, DirectedLosses) for one, _ in parts)
    cells = _MAX_SPLITS if both == 1 else math.floor(_MAX_SPLITS ** (1.0 / max(both, 1)))
    chosen = [_split_directions(one, times, max(1, cells)) for one, times in parts]
    sums = [LossSum([two for some in way for two in some]) for way in product(*chosen)]
    return lambda epsilon: max(one.delta(epsilon) for one in sums)


_LossCounts = list[tuple[LossDistribution, int]]


def _split_directions(
    one: LossDistribution | DirectedLosses, times: int, cells: int
) -> list[_LossCounts]:
    """What dominates ``times`` of a message, for every number of them that go forward."""
    if isinstance(one, LossDistribution):
        return [[(one, times)]]
    ends = [round(times * i / cells) for i in range(cells + 1)] if cells <= times else []
    spans = list(pairwise(ends)) if ends else [(a, a) for a in range(times + 1)]
    found = [[(one.forward, a), (one.backward, times - b), (one.either, b - a)] for a, b in spans]
    return [[(losses, many) for losses, many in some if many] for some in found]
