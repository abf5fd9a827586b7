"""The shortest layout of messages: dense bits or positions, with a cap where bins are many.

Of a record whose bits are flipped hardly more are set than flips set on average, so that their
positions are short. A cap makes all messages as long; what is drawn again for it is paid for.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist

from msgspec import structs

from mixtally.accounting.plans.overflow import overflow_chance
from mixtally.model.layout import MOST_CAP, Form, Layout
from mixtally.model.part import OwnFakes, Part
from mixtally.model.plan import Cover
from mixtally.model.planes import Planes
from mixtally.model.question import Question
from mixtally.model.recipe import BlanksRecipe, NoRecipe, Recipe
from mixtally.planning.options import Candidate
from mixtally.primitives.fixed_point import SCALE

CAPPED_FROM = 65
"""Bins from which on a message is capped: fewer are as many free bits as may be sent."""
CAPS_DELTA_SHARE = 1e-3
"""Of delta, for drawing again what has more ones than the cap."""
_TINY = 1e-300


def set_flip_threshold(found: Candidate, threshold: int) -> Candidate:
    """``found`` with another flip probability, times 2^64, and layouts that suit it.

    Where it is enough to know whether there is one, and no bytes are counted, these stay.
    """
    request = found.request
    rare = (
        None if request.likely and request.bytes_per_user is None else _allowed_redraw_chance(found)
    )
    return replace(
        found, parts=tuple(_set_part_threshold(part, threshold, rare) for part in found.parts)
    )


def _set_part_threshold(part: Part, threshold: int, rare: float | None) -> Part:
    recipe, layout = part.recipe, part.layout
    if isinstance(recipe, BlanksRecipe):
        recipe = BlanksRecipe(recipe.count, threshold)
    if rare is not None:
        layout = shortest_layout(part.bins, part.most_set or part.bins, threshold, rare)
    return structs.replace(part, threshold=threshold, recipe=recipe, layout=layout)


def shortest_layout(bins: int, ones: int, threshold: int, rare: float) -> Layout:
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


def layout_without_flips(bins: int, ones: int) -> Layout:
    """Return the shortest layout of a record of ``ones`` bins: none is shorter with flips."""
    dense = Layout(Form.BITS, bins)
    if bins < CAPPED_FROM or ones > MOST_CAP or ones >= bins:
        return dense
    named = Layout(Form.POSITIONS, bins, cap=ones)
    return min(dense, named, key=lambda layout: layout.message_bytes)


def least_cap(bins: int, ones: int, threshold: int, rare: float) -> int:
    """The least cap that a record of ``ones`` bins passes with a chance of at most ``rare``.

    Looked for by strides from where it would be if the number of flips were normal.
    """

    def is_rare_enough(cap: int) -> bool:
        return overflow_chance(bins, ones, threshold, cap) <= rare

    least, q = max(0, ones - 1), threshold / SCALE
    spread = math.sqrt(bins * q * (1.0 - q))
    usual = math.ceil(ones + bins * q - NormalDist().inv_cdf(max(rare, _TINY)) * spread)
    low = high = min(max(usual, least), bins)
    stride = max(1, math.floor(spread / 8.0))
    while low > least and is_rare_enough(low):
        low, high, stride = max(least, low - stride), low, 2 * stride
    while not is_rare_enough(high):
        low, high, stride = high, min(bins, high + stride), 2 * stride
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_rare_enough(middle) else (middle, high)
    return high


def _allowed_redraw_chance(found: Candidate) -> float:
    """How rarely each message that the proof counts may be drawn again."""
    request, part = found.request, found.parts[0]
    if found.cover is Cover.MIXES:
        messages = part.mean_added + 1
    else:
        people, fakes = request.people or 0, part.most - part.record_messages
        counted = fakes + part.repeats * found.count_flips
        messages = people * counted + fakes + part.record_messages
    every = messages * len(found.parts) * request.collections
    guarantee = request.guarantee
    return CAPS_DELTA_SHARE * guarantee.delta / ((1.0 + math.exp(guarantee.epsilon)) * every)


def plain_part(bins: int, most_set: int | None, threshold: int) -> Part:
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


def parts_without_fakes(questions: Sequence[Question], most_set: int) -> tuple[Part, ...]:
    """Return parts in clear that need no fakes: no bundle of messages that name bins is smaller."""
    half = SCALE // 2  # replaced values need none
    return tuple(
        part_in_clear(one.bins, None, NoRecipe(), replaced=half, most_set=most_set)
        for one in questions
    )


def part_in_clear(
    bins: int,
    own: OwnFakes | None,
    recipe: Recipe,
    planes: Planes | None = None,
    *,
    replaced: int | None = None,
    most_set: int = 1,
) -> Part:
    """A part whose values, or sets of at most ``most_set``, travel as the numbers of their bins, or
    of planes that hold them, some of them ``replaced``.
    """
    named = bins + (most_set if most_set > 1 else 0)
    return Part(
        bins=bins,
        most_set=most_set,
        threshold=None,
        planes=planes,
        own=own,
        recipe=recipe,
        layout=Layout(Form.INDEX, named if planes is None else planes.messages),
        repeats=1,
        replaced=replaced,
    )
