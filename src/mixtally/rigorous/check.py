"""The certificate of one message of one round, derived a second time.

Every part of a contract whose cover is fakes is priced again from the definition of delta, in
balls, by a program that shares nothing with the accountant.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from mixtally.rigorous import blank, shaped, uniform
from mixtally.rigorous.balls import Bounds, arb, settled, working
from mixtally.rigorous.caps import overflow
from mixtally.rigorous.coins import average
from mixtally.rigorous.stream import Plain, Stream, streams

SHARE = 1e-8
"""Bounds for a number of fakes differ by less than this share."""
_ALONE = "derived again from the definition, both directions, in balls"
_AVERAGED = ", averaged over the coins of {people:,} people"
_CAPPED = ", what the cap costs added"
_CROWD = "people's flips are counted on, for which no second derivation is known here"
_TILTED = "among flipped uniform fakes, whose weights count the ones of a message"
_SETS = (
    "from below by two records of one bin each; for sets of more no second derivation is known here"
)


class PartBracket(NamedTuple):
    """One message of a part at the terms' epsilon: lower <= delta <= upper.

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


def check(terms: Plain) -> list[PartBracket]:
    """What each part of a contract's terms is worth, in their order.

    where
      terms   the terms as they stand in the file

    Raises PlanError for what is no terms, AccountingError for what cannot be right.
    """
    found: dict[Stream, PartBracket] = {}
    epsilon = float(terms["guarantee"]["epsilon"])
    parts = streams(terms)
    for part in parts:
        if part not in found:
            with working():
                found[part] = _bracket(part, epsilon)
    return [found[part] for part in parts]


def _bracket(part: Stream, epsilon: float) -> PartBracket:
    if part.crowd:
        return PartBracket(part.protocol, None, None, None, _CROWD)
    given = _given(part, epsilon)
    if given is None:
        return PartBracket(part.protocol, None, None, None, _TILTED)
    if part.blanks is not None or part.shape is not None:
        free = given(part.blanks or 0)
    else:
        free = average(part.people, part.whole, part.coin, given)
    free.ends()  # a sum that is no divergence stops here, before a cap could hide it
    cost = (1 + arb(epsilon).exp()) * _overflows(part)
    lower, upper = free.give_or_take(cost).ends()
    least, _ = free.raised(cost).ends()
    if (part.most_set or 1) > 1:
        return PartBracket(part.protocol, lower, None, None, _SETS)
    proved = _ALONE + (_AVERAGED.format(people=part.people) if part.coin else "")
    return PartBracket(part.protocol, lower, upper, least, proved + _CAPPED * bool(cost > 0))


def _given(part: Stream, epsilon: float) -> Callable[[int], Bounds] | None:
    """Delta as a function of the number of fakes; None where it is not known here."""
    delta = _sum(part)
    if delta is None:
        return None

    def given(fakes: int) -> Bounds:
        return settled(lambda nats: delta(fakes, arb(epsilon).exp(), nats), SHARE)

    return given


def _sum(part: Stream) -> Callable[[int, arb, float], Bounds] | None:
    """Delta as a function of fakes, e^epsilon and nats; None where it is not known here."""
    if part.shape is not None:
        ratio, shift = part.shape
        return lambda _, grow, __: shaped.one_bin(ratio, shift, grow)
    threshold = part.threshold
    if threshold is None:
        return lambda fakes, grow, nats: uniform.one_bin(fakes, part.bins, grow, nats)
    if part.record == "uniform":
        return None
    flipped = blank.one_bit if part.most_set is None else blank.one_hot
    return lambda fakes, grow, nats: flipped(fakes, threshold, grow, nats)


def _overflows(part: Stream) -> arb:
    """The chances of being drawn again, added up over the person's message and all fakes."""
    if part.cap is None or part.threshold is None:
        return arb(0)
    chance = partial(overflow, part.bins, threshold=part.threshold, cap=part.cap)
    largest = part.bins if part.most_set is None else part.most_set
    return chance(largest) + part.most_fakes * chance(0)
