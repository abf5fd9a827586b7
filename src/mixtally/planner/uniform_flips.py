"""What flip-uniform has to offer: fakes that cover the bins nearly as they would in clear.

With x = q d, a record that shows its own bit is hidden by about K q / (1 - e^-x) messages. Where
bins are many, x is large: uniform fakes hide like blank ones, and their variance of K / d is for
nothing. Where K / d is nearly what records in clear need, few flips are left to add. From about
half of those fakes on that errs less than blank fakes do (docs/accounting.md has the numbers); with
all of them records in clear err as little, in shorter messages.
"""

import math

from mixtally.planner.answer import Misfit
from mixtally.planner.build import offer
from mixtally.planner.offers import (
    COINS,
    Result,
    capped,
    counted,
    fewest,
    lacks,
    least_threshold,
    uniform_fakes,
)
from mixtally.planner.ways import Way
from mixtally.planner.wish import Wish
from mixtally.privacy.laws import Ask
from mixtally.protocols.flip_uniform import FlipUniform
from mixtally.records.layout import Form, Layout
from mixtally.records.question import Kind, Question

_LEAST_SHARE = 0.5
"""Of the fakes that records in clear need: with fewer, blank fakes err less or hardly more."""


def flip_uniform(wish: Wish, way: Way) -> Result:
    """As many fakes as are affordable, up to those that suffice in clear, and the least flips.

    Unless it is asked for by name, None also where nothing is to be gained.
    """
    if any(part.kind is not Kind.ONE for part in way.parts):
        return None
    needs = [uniform_fakes(wish, way, part.bins) for part in way.parts]
    sizes = [Layout(Form.BITS, part.bins).message_bytes for part in way.parts]
    most = wish.most_fakes(len(sizes), sum(sizes) / len(sizes))
    if wish.protocol is None and not _gains(wish, needs, most):
        return None
    if most < 0:
        return lacks(FlipUniform.name, wish, way, sum(sizes))
    built = [
        _built(wish, way, part, min(most, need))
        for part, need in zip(way.parts, needs, strict=True)
    ]
    protocols = [protocol for protocol in built if protocol is not None]
    if len(protocols) < len(built):
        return Misfit(FlipUniform.name, COINS)
    return offer(wish, list(zip(way.parts, protocols, strict=True)))


def _gains(wish: Wish, needs: list[int], most: int) -> bool:
    """Whether nothing else is likely to err as little."""
    if wish.mix_fakes or wish.local_epsilon is not None or len(needs) * wish.collections > 1:
        return False
    return _LEAST_SHARE * needs[0] <= most < needs[0]


def _built(wish: Wish, way: Way, part: Question, fakes: int) -> FlipUniform | None:
    """The protocol of one message with ``fakes`` fakes at most; None for fair coins."""
    crowd = counted(wish)
    ask = Ask(
        fakes=math.floor(wish.sure_fraction * fakes),
        bins=part.bins,
        users=crowd or wish.users,
        count_crowd=crowd > 0,
    )
    threshold = least_threshold(wish, way, FlipUniform.name, ask)
    if threshold is None:
        return None
    floor = capped(wish, 2 * len(way.parts))
    if floor > threshold:
        threshold, fakes = floor, fewest(wish, way, FlipUniform.name, ask, floor, fakes)
    return FlipUniform(bins=part.bins, fakes=fakes, threshold=threshold, crowd=crowd)
