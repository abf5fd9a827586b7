"""Composition of messages whose privacy losses differ between the two orders of neighbors.

A message is *directed* if replacing answer 0 by 1 has another loss distribution than replacing 1 by
0. ``plans.terms`` composes such messages here. A person answers t questions of one collection, and
all answers are replaced. Suppose that a of them change in one direction and t - a in the other.
Then the two distributions of the observer are products of a pairs and of t - a exchanged pairs.

An answer that does not change reveals nothing, so it is the worst case that all t answers change.
Exchanging both datasets exchanges a and t - a. So the largest divergence over all a bounds both
orders.

All answers of a collection are given before anything is published. In a later collection the person
may choose answers after seeing earlier results, so the direction may depend on them. No fixed a
covers this case. So ``compose`` uses one loss distribution that dominates both directions.
"""

import math
from collections.abc import Sequence
from itertools import pairwise, product
from typing import NamedTuple

from mixtally.accounting.composition.convolve import LossSum
from mixtally.accounting.composition.losses import LossDistribution, combine_directions
from mixtally.accounting.composition.pld import Curve

_MAX_SPLITS = 12
"""Largest number of values of a, or of ranges of a, that are composed."""


class DirectedLosses(NamedTuple):
    """Privacy losses of a message for both orders of the two neighboring values.

    The third distribution dominates the distributions of both orders.
    """

    forward: LossDistribution
    backward: LossDistribution
    either: LossDistribution

    @classmethod
    def of(
        cls, forward: LossDistribution, backward: LossDistribution, either: LossDistribution
    ) -> "DirectedLosses":
        """Combine distributions that dominate the forward, the backward, and either direction."""
        return cls(
            combine_directions(forward, backward), combine_directions(backward, forward), either
        )


def worst_curve(parts: Sequence[tuple[LossDistribution | DirectedLosses, int]]) -> Curve:
    """Return an upper bound of the divergence of all messages, for all directions of the answers.

    ``parts`` has the losses of each kind of message and the number of such messages. If a of t
    directed messages change in one direction and t - a in the other, the worst a is used. If t is
    large, a whole range a..b is covered by one composition, in which b - a messages are dominated
    in both directions.
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
    """Return lists of losses that together cover every number of forward changes.

    Each list has pairs: a loss distribution, and the number of messages with these losses. A list
    covers the cases in which between a and b of ``times`` messages change in the forward direction.
    There are ``cells`` lists or, if ``times`` is smaller, one list for each number of forward
    changes. If the losses do not depend on the direction, there is a single list.
    """
    if isinstance(one, LossDistribution):
        return [[(one, times)]]
    ends = [round(times * i / cells) for i in range(cells + 1)] if cells <= times else []
    spans = list(pairwise(ends)) if ends else [(a, a) for a in range(times + 1)]
    found = [[(one.forward, a), (one.backward, times - b), (one.either, b - a)] for a, b in spans]
    return [[(losses, many) for losses, many in some if many] for some in found]
