"""The shortest layout of messages: dense bits or positions, with a cap where bins are many.

Of a record whose bits are flipped hardly more are set than flips set on average, so that their
positions are short. A cap makes all messages as long; what is drawn again for it is paid for.
"""

import math
from dataclasses import replace

from msgspec import structs

from mixtally.planner.options import Candidate
from mixtally.privacy.overflow import overflow
from mixtally.records.layout import MOST_CAP, Form, Layout
from mixtally.records.part import Part
from mixtally.records.plan import Cover
from mixtally.records.recipe import BlanksRecipe, NoRecipe

CAPPED_FROM = 65
"""Bins from which on a message is capped: fewer are as many free bits as may be sent."""
FOR_CAPS = 1e-3
"""Of delta, for drawing again what has more ones than the cap."""


def flipped_at(found: Candidate, threshold: int) -> Candidate:
    """``found`` with another flip probability, times 2^64, and layouts that suit it."""
    rare = _rarely(found)
    return replace(found, parts=tuple(_at(part, threshold, rare) for part in found.parts))


def _at(part: Part, threshold: int, rare: float) -> Part:
    recipe = part.recipe
    if isinstance(recipe, BlanksRecipe):
        recipe = BlanksRecipe(recipe.count, threshold)
    layout = shortest(part.bins, part.most_set or part.bins, threshold, rare)
    return structs.replace(part, threshold=threshold, recipe=recipe, layout=layout)


def shortest(bins: int, ones: int, threshold: int, rare: float) -> Layout:
    """The shorter of dense bits and positions, with the least cap that is passed so rarely."""
    if bins < CAPPED_FROM:
        return Layout(Form.BITS, bins)
    cap = least_cap(bins, ones, threshold, rare)
    if cap >= bins:
        return Layout(Form.BITS, bins)
    dense = Layout(Form.BITS, bins, cap=cap)
    if cap > MOST_CAP:
        return dense
    named = Layout(Form.POSITIONS, bins, cap=cap)
    return min(dense, named, key=lambda layout: layout.message_bytes)


def least_cap(bins: int, ones: int, threshold: int, rare: float) -> int:
    """The least cap that a record of ``ones`` bins passes with a chance of at most ``rare``."""
    low, high = max(0, ones - 1), bins  # the first is passed too often, the last never
    while high - low > 1:
        middle = (low + high) // 2
        if overflow(bins, ones, threshold, middle) <= rare:
            high = middle
        else:
            low = middle
    return high


def _rarely(found: Candidate) -> float:
    """How rarely each message that the proof counts may be drawn again."""
    request, part = found.request, found.parts[0]
    if found.cover is Cover.MIXES:
        messages = part.drawn + 1
    else:
        people, fakes = request.people or 0, part.most - part.repeats
        counted = fakes + part.repeats * found.count_flips
        messages = people * counted + fakes + part.repeats
    every = messages * len(found.parts) * request.collections
    guarantee = request.guarantee
    return FOR_CAPS * guarantee.delta / ((1.0 + math.exp(guarantee.epsilon)) * every)


def plain(bins: int, most_set: int | None, threshold: int) -> Part:
    """A part whose bits are flipped, without fakes, in the layout that every message fits."""
    return Part(
        bins=bins,
        most_set=most_set,
        threshold=threshold,
        own=None,
        recipe=NoRecipe(),
        layout=Layout(Form.BITS, bins),
        repeats=1,
    )
