"""The worst records for a game: the record of the crowd, and the two records of the person.

``games`` calls ``worst_records`` for flipped records. The *kind* of a position states which of the
three records set it. The divergence depends only on the number of positions of each kind. All
possible combinations of these numbers are ranked by Chernoff's bound on their divergence. The
divergences of the first few, or of all if the records are short, are then bounded from below, and
the combination with the largest bound is selected. A suboptimal choice makes the attack weaker, but
never makes a proof false.
"""

import math
from collections.abc import Iterator
from itertools import product

import numpy as np

from mixtally.accounting.divergence import vectors
from mixtally.accounting.numerics.flip_ratios import Orbit, flip_distribution
from mixtally.accounting.numerics.saddle_point import ceiling, saddle_point_bounds
from mixtally.lab.attacks.senders import Bits
from mixtally.model.contract import Part
from mixtally.primitives.bits import Counts, Rows
from mixtally.primitives.fixed_point import SCALE

_FEW, _SHORT, _PRICED = 6, 8, 6
"""Limits of the search. All sizes of sets are tried if sets have at most ``_FEW`` bins. If the
first-ranked records differ in at most ``_SHORT`` positions, all divergences are computed, and
otherwise only ``_PRICED`` of them.
"""
_KINDS = ((0, 1, 0), (0, 0, 1), (0, 1, 1), (1, 0, 0), (1, 0, 1))
"""The kinds of positions: the bits of the crowd's record x and of the records u and v there."""

PositionCounts = tuple[int, ...]
"""The number of positions of each of ``_KINDS``."""


def worst_records(part: Part, people: int, fakes: int, epsilon: float) -> tuple[Bits, Bits, Bits]:
    """Return the record of everyone else and the two records of the person.

    They have only the positions that one of the three records sets.
    """
    hiding = max(2, people + 1, fakes + 1)
    q, grow = (part.threshold or 0) / SCALE, math.exp(epsilon)

    candidates = {
        _to_orbit(positions): positions for positions in _iterate_position_counts(part, people)
    }
    distributions = {orbit: flip_distribution(orbit, q, grow) for orbit in candidates}
    ranked = sorted(distributions, key=lambda orbit: -ceiling(distributions[orbit], hiding))
    few = sum(ranked[0]) > _SHORT
    worst = max(
        ranked[:_PRICED] if few else ranked,
        key=lambda o: saddle_point_bounds(distributions[o], hiding).lower,
    )
    positions = candidates[worst]
    kinds = [kind for kind, count in zip(_KINDS, positions, strict=True) for _ in range(count)]
    x, u, v = zip(*kinds, strict=True)
    return x, u, v


def records_in_clear(part: Part, codes: Counts) -> Counts | Rows:
    """Return records in clear with the bins ``codes``, in the form that the randomizer expects.

    If every record of the part has exactly k bins, a record also has the next k - 1 bins.
    """
    if not part.is_full:
        return codes
    bits = np.zeros((len(codes), part.bins), dtype=np.uint8)
    np.put_along_axis(bits, cells_in_clear(part, codes), 1, axis=1)
    return np.packbits(bits, axis=1, bitorder="little")


def cells_in_clear(part: Part, codes: Counts) -> Counts:
    """Return the cells of ``records_in_clear``, shape (records, cells of a record)."""
    places = np.arange(part.most_set or 1)
    if part.is_full:
        return (codes[:, None] + places) % part.bins
    return np.where(places, part.bins + places - 1, codes[:, None])


def _to_orbit(position_counts: PositionCounts) -> Orbit:
    """Return how many positions differ from the crowd's record only in u, only in v, or in both."""
    only_u, only_v, both, crowd, shared = position_counts
    return Orbit(only_u + shared, only_v, both + crowd)


def _iterate_position_counts(part: Part, people: int) -> Iterator[PositionCounts]:
    """Yield the possible numbers of positions of each kind.

    If sets are large, only those sizes are tried that were the worst in some known case.
    """
    if part.most_set is None:  # Records are vectors of independent bits; the crowd sets no bit.
        yield from ((o.only_u, o.only_v, o.both, 0, 0) for o in vectors.list_orbits(part.bins))
        return
    most, bins = part.most_set, part.bins
    sizes = set(range(most + 1))
    if most > _FEW:
        sizes = {0, 1, 2, most // 2, most - 1, most, min(most, bins // 2), min(most, bins // 3)}
    crowd = sizes if people else {0}
    for positions in product(sizes, sizes, sizes, crowd, (0, 1) if people else (0,)):
        only_u, only_v, both, only_crowd, shared = positions
        sets = [only_u + both, only_v + both + shared, *([only_crowd + shared] if people else [])]
        one_value = most > 1 or all(count == 1 for count in sets)
        if (
            max(sets) <= most
            and one_value
            and sum(positions) <= bins
            and sum(positions) > both + only_crowd
        ):
            yield positions
