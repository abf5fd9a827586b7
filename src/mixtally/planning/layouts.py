"""The shortest layout of a message: dense bits or positions, with a cap for many bins.

The protocols' files of the planner call these functions to complete a ``Part``. A flipped record
has hardly more set bits than its expected number of flips. Hence a list of the positions of its set
bits is short. A cap gives all messages the same length. Messages that exceed the cap are drawn
again, and a share of delta pays for the effect on privacy (``accounting.plans.overflow``).
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
"""The least number of bins for which messages have a cap. Free bit vectors are always shorter."""
CAPS_DELTA_SHARE = 1e-3
"""The share of delta that pays for messages drawn again because of the cap."""
_TINY = 1e-300
"""The least probability for which the normal quantile is finite."""


def set_flip_threshold(found: Candidate, threshold: int) -> Candidate:
    """Return the candidate with another flip probability and with layouts that fit the flips.

    ``threshold`` is the flip probability times 2^64. The layouts do not change if the request has
    no limit of bytes and needs no proof.
    """
    request = found.request
    rare = (
        None
        if request.accept_probable and request.bytes_per_user is None
        else _allowed_redraw_chance(found)
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
    """Return the shorter of dense bits and positions for records of ``ones`` set bits.

    The cap is the least one that a message exceeds with probability at most ``rare``. ``threshold``
    is the flip probability, times 2^64.
    """
    if bins < CAPPED_FROM:
        return Layout(Form.BITS, bins)
    cap = least_cap(bins, ones, threshold, rare)
    if cap >= bins:
        return Layout(Form.BITS, bins)
    dense = Layout(Form.BITS, bins, cap=cap)
    # Positions have a limited cap, so dense bits are the only choice.
    if cap > MOST_CAP:
        return dense
    named = Layout(Form.POSITIONS, bins, cap=cap)
    return min(dense, named, key=lambda layout: layout.message_bytes)


def layout_without_flips(bins: int, ones: int) -> Layout:
    """Return the shortest layout of a record with ``ones`` set bits that are not flipped.

    The layouts of flipped records are at least as long.
    """
    dense = Layout(Form.BITS, bins)
    if bins < CAPPED_FROM or ones > MOST_CAP or ones >= bins:
        return dense
    named = Layout(Form.POSITIONS, bins, cap=ones)
    return min(dense, named, key=lambda layout: layout.message_bytes)


def least_cap(bins: int, ones: int, threshold: int, rare: float) -> int:
    """Return the least cap that a flipped record rarely exceeds.

    The search starts at the quantile of the normal approximation, and doubles its strides.

    Parameters
    ----------
    bins : int
        The number of bins.
    ones : int
        The number of bits that are set before the flips.
    threshold : int
        The flip probability times 2^64.
    rare : float
        The largest accepted probability that a record exceeds the cap.
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
    """Return the largest accepted probability that a message is drawn again because of its cap."""
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
    """Return a part with flipped bits and no fakes; the layout is dense bits.

    Parameters
    ----------
    bins : int
        The number of bins.
    most_set : int or None
        The maximum number of set bits of a record; None for free bits.
    threshold : int
        The flip probability times 2^64.
    """
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
    """Return one part without fakes for each question, whose messages name bins.

    No bundle of messages that name these bins is smaller.
    """
    half = SCALE // 2  # A part in clear must have fakes or replaced values; these add no bytes.
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
    """Return a part whose messages name bins, or planes of values.

    ``own`` are the fakes of a device, and ``recipe`` those of a mix. ``replaced`` is the
    probability, times 2^64, that a uniform bin replaces a value. ``most_set`` is above 1 for sets.
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
