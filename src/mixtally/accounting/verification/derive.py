"""The certificate of one message of one round, derived a second time.

Every part of a plan whose cover is fakes is priced again from the definition of delta, in
balls, by a program that shares nothing with the accountant.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial, reduce
from typing import NamedTuple

from mixtally.accounting.verification import blank, pairs, sets, shaped, two_outputs, uniform
from mixtally.accounting.verification.balls import (
    FIRST_NATS,
    Bounds,
    arb,
    compute_narrow,
    working_precision,
)
from mixtally.accounting.verification.binomials import Binomial
from mixtally.accounting.verification.caps import overflow_chance
from mixtally.accounting.verification.coins import average
from mixtally.accounting.verification.stream import Plain, Stream, promised_epsilon, streams
from mixtally.accounting.verification.two_outputs import TwoOutputs

Direction = Callable[[int, arb, float], Bounds]
"""Of the divergence, as a function of fakes, e^epsilon and nats."""
SHARE = 1e-8
"""Bounds for a number of fakes differ by less than this share, but those of a set in clear."""
_SCALE = 1 << 64
_DERIVED = "derived again from the definition, both directions, in balls"
_AVERAGED = ", averaged over the coins of {people:,} people"
_CAPPED = ", what the cap costs added"
_CROWD = "people's flips are counted on, for which no second derivation is known here"
_TILTED = "among flipped uniform fakes, whose weights count the ones of a message"
_MANY = "a set in clear among more fakes than are added up here"
_IN_CLEAR = "; of cells that differ, Poisson numbers of fakes bound the true ones from both sides"
_SETS = (
    "from below by two records of one bin each; of flipped sets only those of at most two of four "
    "bins or more are derived, and only among few flips"
)
_ABOVE = "from above, {how}; derived again from the definition, in balls"
_FEW_PLANES = (
    "over planes, where nobody but fakes hides the person: that bounds all crowds; derived again "
    "from the definition, in balls"
)
_PLANES = "as if no plane held two values: that bounds all pairs (Karamata)"
_REPLACED = "as if what others replace were known: that bounds all crowds"
_TWO_BINS = (
    "two bins in the worst crowd, from both sides; derived again from the definition, in balls"
)
_COINS_OF_TWO_BINS = (
    "from below by the crowd whose people all hold one bin, averaged over the coins of {people:,} "
    "people; from above as if what others replace were known: that bounds all crowds"
)
_MOST_PRIME = 200
"""Up to it the planes that hold both of two values are counted on."""
_MOST_TERMS = {False: 300_000, True: 4_000}
"""Of such a sum, some seconds; fewer where coins ask hundreds of times."""
_MOST_VALUES = {False: 3_000_000, True: 10_000}
"""Of a weight that are added up, some seconds; fewer where coins ask hundreds of times."""


class PartBracket(NamedTuple):
    """One message of a part at the plan's epsilon: lower <= delta <= upper.

    where
      protocol   of the part
      lower      None where nothing was derived
      upper      None where nothing was, or only from below
      least      what a proof of this kind cannot come below, caps included: to be compared with
                 what is stated; None without an upper end
      proved     what was derived, or why it was not
    """

    protocol: str
    lower: float | None
    upper: float | None
    least: float | None
    proved: str


def derive_parts(plan: Plain) -> list[PartBracket]:
    """What one message of each part of a plan is worth, in their order.

    where
      plan   as it stands in its file

    Raises PlanError for what is no plan, AccountingError for what cannot be right.
    """
    found: dict[Stream, PartBracket] = {}
    epsilon, parts = promised_epsilon(plan), streams(plan)
    for part in parts:
        if part not in found:
            with working_precision():
                found[part] = _bracket(part, epsilon)
    return [found[part] for part in parts]


def _bracket(part: Stream, epsilon: float) -> PartBracket:
    if (found := _bracket_two_bins(part, epsilon)) is not None:
        return found
    crowd = part.crowd and part.threshold is not None
    ways = [] if crowd else _directions(part)
    if not ways:
        why = _CROWD if crowd else _MANY if part.is_set_in_clear else _TILTED
        return PartBracket(part.protocol, None, None, None, why)
    free = reduce(Bounds.larger_of, [_average_over_coins(part, epsilon, way) for way in ways])
    free.to_floats()  # a sum that is no divergence stops here, before a cap could hide it
    cost = (1 + _grow(epsilon)) * _overflow_chance(part)
    lower, upper = free.widen(cost).to_floats()
    least, _ = free.raise_by(cost).to_floats()
    if part.has_two_bins:
        return PartBracket(part.protocol, None, upper, None, _ABOVE.format(how=_REPLACED))
    if _has_few_planes(part) and _is_plane_sum_short(part):
        return PartBracket(part.protocol, None, upper, least, _FEW_PLANES)
    if _has_few_planes(part):  # the stated delta may be less than that of so many bins
        return PartBracket(part.protocol, None, upper, None, _ABOVE.format(how=_PLANES))
    if part.planes or part.replaced:
        how = ", and ".join([_PLANES] * bool(part.planes) + [_REPLACED] * bool(part.replaced))
        return PartBracket(part.protocol, None, upper, least, _ABOVE.format(how=how))
    if not _covers_every_pair(part):
        return PartBracket(part.protocol, lower, None, None, _SETS)
    proved = _DERIVED + (_AVERAGED.format(people=part.people) if part.coin else "")
    proved += _CAPPED * bool(cost > 0) + _IN_CLEAR * (part.is_set_in_clear and part.shape is None)
    return PartBracket(part.protocol, lower, upper, least, proved)


def _bracket_two_bins(part: Stream, epsilon: float) -> PartBracket | None:
    """Return what is derived of replaced values of two bins; None for other parts.

    Of coins the worst crowd may depend on how many fakes come: an upper end is that of any bins.
    None as well where a sum is too long.
    """
    if not part.has_two_bins:
        return None
    people, chance = part.people if part.crowd else 1, Fraction(part.replaced, _SCALE)
    if TwoOutputs.of_bins(chance, people, part.most_fakes).places > two_outputs.MOST_PLACES:
        return None
    grow, sure = _grow(epsilon), sum(many for many, one in part.sent_fakes if one == 1)
    if not part.coin:
        lower, upper = two_outputs.worst_crowd(
            TwoOutputs.of_bins(chance, people, sure), grow
        ).to_floats()
        return PartBracket(part.protocol, lower, upper, lower, _TWO_BINS)

    def bounds_for_fakes(fakes: int, way: int) -> Bounds:
        return TwoOutputs.of_bins(chance, people, fakes).directional_bounds(0, 0, grow)[way]

    # The larger direction may depend on how many fakes come: the larger of two averages counts.
    laws = [Binomial(many, one) for many, one in part.sent_fakes if one < 1]
    both = [average(sure, laws, partial(bounds_for_fakes, way=way)) for way in (0, 1)]
    lower, _ = reduce(Bounds.larger_of, both).to_floats()
    (way,) = _directions(part)
    _, upper = _average_over_coins(part, epsilon, way).to_floats()
    how = _COINS_OF_TWO_BINS.format(people=part.people)
    return PartBracket(part.protocol, lower, upper, None, how)


def _average_over_coins(part: Stream, epsilon: float, way: Direction) -> Bounds:
    """One direction, over the coins of people if there are any.

    The larger direction may depend on K, but one who attacks chooses between two values before K is
    drawn: the larger of two averages, not the average of the larger.
    """

    def bounds_for_fakes(fakes: int) -> Bounds:
        return compute_narrow(lambda nats: way(fakes, _grow(epsilon), nats), SHARE)

    if part.is_set_in_clear:
        return compute_narrow(lambda nats: way(0, _grow(epsilon), nats), 1.0)
    sure = sum(many for many, chance in part.fakes if chance == 1)
    laws = [Binomial(many, chance) for many, chance in part.fakes if chance < 1]
    return average(sure, laws, bounds_for_fakes)


def _grow(epsilon: float) -> arb:
    """e^epsilon, with the bits in hand."""
    return arb(epsilon).exp()


def _directions(part: Stream) -> list[Direction]:
    """All that delta is the largest of: directions, or pairs of records that lie otherwise.

    None where they are not known here.
    """
    threshold, size = part.threshold, part.most_set or 1
    if part.shape is not None:
        shape = shaped.Shape(*part.shape)
        if size > 1:
            return [lambda _, grow, nats: shaped.bins_of_sets(shape, size, grow, nats)]
        return [lambda _, grow, __: shaped.one_bin(shape, grow)]
    if part.is_set_in_clear:
        apart = [(many, chance * 2 * size * part.cell) for many, chance in part.fakes]
        if sum(many * chance for many, chance in apart) > sets.MOST:
            return []
        return [lambda _, grow, nats: sets.disjoint_sets_bounds(size, apart, grow, nats)]
    if part.planes is not None and _has_few_planes(part) and _is_plane_sum_short(part):
        over = part.bins, part.planes
        return [lambda fakes, grow, nats: uniform.over_planes_delta(fakes, over, grow, nats)]
    if threshold is None:
        chance = Fraction(part.replaced, _SCALE)
        return [
            lambda fakes, grow, nats: uniform.one_bin_delta(fakes, part.bins, grow, nats, chance)
        ]
    if part.record == "uniform":
        return []
    if part.most_set is None:
        return [
            lambda fakes, grow, nats: blank.one_over_zero_delta(fakes, threshold, grow, nats),
            lambda fakes, grow, nats: blank.zero_over_one_delta(fakes, threshold, grow, nats),
        ]
    if part.most_set > 1 and _covers_every_pair(part):
        return [
            lambda fakes, grow, nats: pairs.disjoint_sets_delta(fakes, threshold, grow, nats),
            lambda fakes, grow, nats: pairs.overlapping_sets_delta(fakes, threshold, grow, nats),
        ]
    return [lambda fakes, grow, nats: blank.one_hot_delta(fakes, threshold, grow, nats)]


def _has_few_planes(part: Stream) -> bool:
    """Return whether values name planes of so small a prime that values often meet."""
    single = part.most_set == 1 and not part.replaced
    return single and part.planes is not None and part.bins <= _MOST_PRIME


def _is_plane_sum_short(part: Stream) -> bool:
    """Return whether the sum over planes that hold one of two values, or both, is short enough."""
    assert part.planes is not None
    terms = uniform.count_terms(part.most_fakes, (part.bins, part.planes), FIRST_NATS)
    return terms <= _MOST_TERMS[part.coin > 0]


def _covers_every_pair(part: Stream) -> bool:
    """Whether every two records that a part allows are looked at: of sets only small ones."""
    if part.most_set is None or part.most_set == 1 or part.threshold is None:
        return True
    if part.most_set > 2 or part.bins < 4:
        return False
    return pairs.count_values(part.most_fakes, part.threshold) <= _MOST_VALUES[part.coin > 0]


def _overflow_chance(part: Stream) -> arb:
    """The chances of being drawn again, added up over the person's message and all fakes."""
    if part.cap is None or part.threshold is None:
        return arb(0)
    chance = partial(overflow_chance, part.bins, threshold=part.threshold, cap=part.cap)
    largest = part.bins if part.most_set is None else part.most_set
    return chance(largest) + part.most_fakes * chance(0)
