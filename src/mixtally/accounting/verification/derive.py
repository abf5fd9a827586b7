"""The second derivation of one message in one round, from the plain JSON of a plan.

Every part of a plan that is protected by fakes is derived again from the definition of delta, in
balls, without any code of the accountant. ``compare`` uses the result.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial, reduce
from typing import NamedTuple

from mixtally.accounting.verification import (
    blank,
    flipped,
    pairs,
    sets,
    shaped,
    two_outputs,
    uniform,
)
from mixtally.accounting.verification.balls import (
    FIRST_NATS,
    SCALE,
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
"""A divergence as a function of the number of fakes, of e^epsilon, and of nats: outcomes less
probable than e^-nats may be left out."""
SHARE = 1e-8
"""Relative distance of the bounds for a given number of fakes, except for sets in clear."""
_DERIVED = "derived again from the definition, both directions, in balls"
_AVERAGED = ", averaged over the coins of {people:,} people"
_CAPPED = ", what the cap costs added"
_SETS_IN_CROWD = (
    "flipped sets whose people's flips are counted on; only those of at most two of four bins or "
    "more are derived"
)
_AGAIN = "people's flips are counted on, and all messages of a record hide each other"
_EFFORT = "people's flips are counted on, but the sums are too long to be added up here"
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
_SLOTS = "as if the observer knew which slots were drawn"
_FLIPPED = "as if it were known whose flips show nothing: that bounds all crowds"
_UNIFORM_IN_CROWD = (
    "by the smaller of two bounds for all crowds: among the fakes alone, and as if it were known "
    "whose flips show nothing"
)
_TWO_BINS = (
    "two {what} in the worst crowd, from both sides; derived again from the definition, in balls"
)
_COINS_OF_BITS = "in the worst crowd, as if no coin showed a fake"
_COINS_OF_TWO_BINS = (
    "from below by the crowd whose people all hold one bin, averaged over the coins of {people:,} "
    "people; from above as if what others replace were known: that bounds all crowds"
)
_MOST_PRIME = 200
"""Largest prime for which planes that contain both values are considered."""
_MOST_TERMS = {False: 300_000, True: 4_000}
"""Maximum number of terms of a sum over planes, which takes some seconds.

The key is whether an average over coins evaluates the sum hundreds of times.
"""
_MOST_VALUES = {False: 3_000_000, True: 10_000}
"""Maximum number of values of a weight in a sum, which takes some seconds.

The key is whether an average over coins, or over other people's flips, evaluates the sum hundreds
of times.
"""
_MOST_FLIPS = 10_000
"""Longest window of the flips of all messages, if other people's flips evaluate it often."""
_MOST_PEOPLE, _MOST_BITS = 10**6, 64
"""Most people and bits for which a sum of free bits takes some seconds."""
_FEW_NODES, _FEW_EVALUATIONS = 1 << 13, 100
"""Points of a lattice, and evaluations, where coins average a sum over uniform fakes."""


class PartBracket(NamedTuple):
    """Bounds for one message of a part at the plan's epsilon: lower <= delta <= upper.

    A bound that was not derived is None. ``least`` is the least upper end that a proof of this kind
    can state, caps included; the stated delta is compared with it. ``proved`` says what was
    derived, or why nothing was.
    """

    protocol: str
    lower: float | None
    upper: float | None
    least: float | None
    proved: str


def derive_parts(plan: Plain) -> list[PartBracket]:
    """Return the derived bounds of each part of a plan, in their order.

    ``plan`` is the plain JSON. Raises PlanError if it is not a plan, and AccountingError if a
    number cannot be right.
    """
    found: dict[Stream, PartBracket] = {}
    epsilon, parts = promised_epsilon(plan), streams(plan)
    for part in parts:
        if part not in found:
            with working_precision():
                found[part] = _bracket(part, epsilon)
    return [found[part] for part in parts]


def _bracket(part: Stream, epsilon: float) -> PartBracket:
    if part.crowd and part.repeats > 1:
        return PartBracket(part.protocol, None, None, None, _AGAIN)
    if (found := _bracket_two_outputs(part, epsilon)) is not None:
        return found
    if why := _why_not_derived(part):
        return PartBracket(part.protocol, None, None, None, why)
    free = _free_bounds(part, epsilon)
    free.to_floats()  # raises for a sum that is no divergence, before a cap could hide it
    cost = (1 + _grow(epsilon)) * _overflow_chance(part)
    lower, upper = free.widen(cost).to_floats()
    least, _ = free.raise_by(cost).to_floats()
    if part.has_two_bins:
        return PartBracket(part.protocol, None, upper, None, _ABOVE.format(how=_REPLACED))
    if part.crowd and part.threshold is not None:
        if part.record == "uniform":
            return PartBracket(
                part.protocol, None, upper, None, _ABOVE.format(how=_UNIFORM_IN_CROWD)
            )
        return PartBracket(part.protocol, None, upper, least, _ABOVE.format(how=_FLIPPED))
    if _has_few_planes(part) and _is_plane_sum_short(part):
        return PartBracket(part.protocol, None, upper, least, _FEW_PLANES)
    if _has_few_planes(part):  # the stated delta may be below that of p bins
        return PartBracket(part.protocol, None, upper, None, _ABOVE.format(how=_PLANES))
    if part.planes or part.replaced:
        how = ", and ".join([_PLANES] * bool(part.planes) + [_REPLACED] * bool(part.replaced))
        return PartBracket(part.protocol, None, upper, least, _ABOVE.format(how=how))
    if part.slots > 1:
        return PartBracket(part.protocol, None, upper, least, _ABOVE.format(how=_SLOTS))
    if not _covers_every_pair(part):
        return PartBracket(part.protocol, lower, None, None, _SETS)
    proved = _DERIVED + (_AVERAGED.format(people=part.people) if part.coin else "")
    proved += _CAPPED * bool(cost > 0) + _IN_CLEAR * (part.is_set_in_clear and part.shape is None)
    return PartBracket(part.protocol, lower, upper, least, proved)


def _why_not_derived(part: Stream) -> str:
    """Return why nothing is derived for a part; an empty text if something is."""
    if part.is_set_in_clear:
        return "" if _directions(part) else _MANY
    if not part.crowd or part.threshold is None:
        return ""
    if part.most_set is None:
        return "" if part.people <= _MOST_PEOPLE and part.bins <= _MOST_BITS else _EFFORT
    if part.most_set > 1 and not _covers_every_pair(part):
        return _SETS_IN_CROWD
    low, high = Binomial(_most_hiding(part), Fraction(part.threshold, SCALE)).window(FIRST_NATS)
    return "" if high - low <= _MOST_FLIPS else _EFFORT


def _free_bounds(part: Stream, epsilon: float) -> Bounds:
    """Return the bounds of delta for messages without a cap."""
    grow, crowd = _grow(epsilon), part.crowd and part.threshold is not None
    if crowd and part.most_set is None:
        threshold = part.threshold or 0
        return flipped.free_bits_bounds(part.people, part.bins, threshold, grow, FIRST_NATS)
    if part.threshold is None or part.record != "uniform":
        ways = _directions(part)
        return reduce(Bounds.larger_of, [_average_over_coins(part, epsilon, way) for way in ways])
    among = _among_uniform_fakes(part, grow)
    if not crowd:
        return among
    flat = replace(part, record="blank", whole=0, coin=0)
    share = part.blank_share
    laws = [(many, chance * share) for many, chance in part.sent_fakes]
    (way,) = _directions(flat)
    every = [Binomial(many, chance) for many, chance in (*laws, (part.people - 1, share)) if many]
    above = average(0, every, lambda fakes: compute_narrow(partial(way, fakes, grow), SHARE))
    return Bounds(arb(0), among.upper.min(above.upper))


def _among_uniform_fakes(part: Stream, grow: arb) -> Bounds:
    """Return delta of a flipped value among flipped uniform fakes, averaged over coins."""
    assert part.threshold is not None
    bins, threshold, nodes = part.bins, part.threshold, _FEW_NODES if part.coin else None

    def bounds_for_fakes(fakes: int) -> Bounds:
        return flipped.value_among_values(fakes, bins, threshold, grow, FIRST_NATS, nodes)

    certain = sum(many for many, chance in part.sent_fakes if chance == 1)
    laws = [Binomial(many, chance) for many, chance in part.sent_fakes if chance < 1]
    return average(certain, laws, bounds_for_fakes, _FEW_EVALUATIONS)


def _bracket_two_outputs(part: Stream, epsilon: float) -> PartBracket | None:
    """Derive the bounds of delta for two bins with replaced values, or for a bit in a crowd.

    Return None for other parts, and for two bins if the sum has too many terms. If devices draw
    coins, the worst crowd may depend on the number of fakes. In this case the upper end for two
    bins is the one for any number of bins. The upper end for a bit counts only the fakes that are
    certain.
    """
    if not (part.has_two_bins or part.is_bit_in_crowd):
        return None
    grow, certain = _grow(epsilon), sum(many for many, one in part.sent_fakes if one == 1)
    people = part.people if part.crowd else 1
    if part.is_bit_in_crowd:
        message = TwoOutputs.of_bit(Fraction(part.threshold or 0, SCALE), people, certain)
        most = message
    else:
        chance = Fraction(part.replaced, SCALE)
        message, most = (TwoOutputs.of_bins(chance, people, n) for n in (certain, part.most_fakes))
    if most.places > two_outputs.MOST_PLACES:
        why = PartBracket(part.protocol, None, None, None, _EFFORT)
        return why if part.is_bit_in_crowd else None
    if not part.coin:
        lower, upper = two_outputs.worst_crowd(message, grow).to_floats()
        proved = _TWO_BINS.format(what="values of a bit" if part.is_bit_in_crowd else "bins")
        return PartBracket(part.protocol, lower, upper, lower, proved)
    if part.is_bit_in_crowd:
        _, upper = two_outputs.worst_crowd(message, grow).to_floats()
        return PartBracket(part.protocol, None, upper, None, _ABOVE.format(how=_COINS_OF_BITS))

    def bounds_for_fakes(fakes: int, way: int) -> Bounds:
        return TwoOutputs.of_bins(chance, people, fakes).directional_bounds(0, 0, grow)[way]

    # The attacker chooses the order before the fakes are drawn: take the larger average.
    laws = [Binomial(many, one) for many, one in part.sent_fakes if one < 1]
    both = [average(certain, laws, partial(bounds_for_fakes, way=way)) for way in (0, 1)]
    lower, _ = reduce(Bounds.larger_of, both).to_floats()
    (way,) = _directions(part)
    _, upper = _average_over_coins(part, epsilon, way).to_floats()
    how = _COINS_OF_TWO_BINS.format(people=part.people)
    return PartBracket(part.protocol, lower, upper, None, how)


def _average_over_coins(part: Stream, epsilon: float, way: Direction) -> Bounds:
    """Return delta for one order of the neighbors, averaged over the coins of people.

    The worse order may depend on K, but an attacker chooses the two values before K is drawn. So
    the larger of two averages is needed, not the average of the larger one.
    """

    def bounds_for_fakes(fakes: int) -> Bounds:
        return compute_narrow(lambda nats: way(fakes, _grow(epsilon), nats), SHARE)

    if part.is_set_in_clear:
        return compute_narrow(lambda nats: way(0, _grow(epsilon), nats), 1.0)
    certain = sum(many for many, chance in part.fakes if chance == 1)
    laws = [Binomial(many, chance) for many, chance in part.fakes if chance < 1]
    return average(certain, laws, bounds_for_fakes)


def _grow(epsilon: float) -> arb:
    """Return e^epsilon in the current precision."""
    return arb(epsilon).exp()


def _directions(part: Stream) -> list[Direction]:
    """Return functions whose largest value is delta.

    There is one function for each order of the neighbors, or for each kind of pair of records.

    The list is empty if this module cannot derive the part.
    """
    threshold, size = part.threshold, part.set_messages
    if part.shape is not None:
        shape = shaped.Shape(*part.shape)
        if size > 1:
            return [lambda _, grow, nats: shaped.bins_of_sets(shape, size, grow, nats)]
        return [lambda _, grow, __: shaped.one_bin(shape, grow)]
    if part.is_set_in_clear:
        uniform_messages = [(many, chance * 2 * size * part.cell) for many, chance in part.fakes]
        if sum(many * chance for many, chance in uniform_messages) > sets.MOST:
            return []
        return [lambda _, grow, nats: sets.disjoint_sets_bounds(size, uniform_messages, grow, nats)]
    if part.planes is not None and _has_few_planes(part) and _is_plane_sum_short(part):
        over = part.bins, part.planes
        return [lambda fakes, grow, nats: uniform.over_planes_delta(fakes, over, grow, nats)]
    if threshold is None:
        chance = Fraction(part.replaced, SCALE)
        return [
            lambda fakes, grow, nats: uniform.one_bin_delta(fakes, part.cells, grow, nats, chance)
        ]
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
    """Return whether values name planes, so few that two values often share a plane."""
    single = part.most_set == 1 and not part.replaced
    return single and part.planes is not None and part.bins <= _MOST_PRIME


def _is_plane_sum_short(part: Stream) -> bool:
    """Return whether ``uniform.over_planes_delta`` has few enough terms to be summed."""
    assert part.planes is not None
    terms = uniform.count_terms(part.most_fakes, (part.bins, part.planes), FIRST_NATS)
    return terms <= _MOST_TERMS[part.coin > 0]


def _covers_every_pair(part: Stream) -> bool:
    """Return whether the derivation covers every pair of records of the part.

    Of flipped sets, it covers those of at most two bins out of four or more, if the sums are short.
    """
    if part.most_set is None or part.most_set == 1 or part.threshold is None:
        return True
    if part.most_set > 2 or part.bins < 4:
        return False
    often = part.coin > 0 or part.crowd
    return pairs.count_values(_most_hiding(part), part.threshold) <= _MOST_VALUES[often]


def _most_hiding(part: Stream) -> int:
    """Estimate the largest number of messages that hide one message.

    These are the fakes, and the messages of other people that count as fakes.
    """
    if not part.crowd or part.people < 2:
        return max(1, part.most_fakes)
    share = part.blank_share
    return part.most_fakes + Binomial(part.people - 1, share).window(FIRST_NATS)[1]


def _overflow_chance(part: Stream) -> arb:
    """Return the sum of the redraw probabilities of all messages that the proof relies on."""
    if part.cap is None or part.threshold is None:
        return arb(0)
    chance = partial(overflow_chance, part.bins, threshold=part.threshold, cap=part.cap)
    largest = part.bins if part.most_set is None else part.most_set
    people = part.people if part.crowd else 1
    return people * chance(largest) + part.most_fakes * chance(int(part.record == "uniform"))
