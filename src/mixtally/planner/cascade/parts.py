"""Parts with the shortest layout that keeps the guarantee: dense bits or positions, with a cap."""

import math

from mixtally.privacy.overflow import overflow
from mixtally.records.contract import NoRecipe, OwnFakes, Part, Recipe
from mixtally.records.layout import MOST_CAP, Form, Layout
from mixtally.records.question import Kind, Question

_CAPPED_FROM = 65
"""Bins from which on a message is capped: fewer are as many free bits as may be sent."""


def in_clear(bins: int, own: OwnFakes | None, recipe: Recipe) -> Part:
    """A part whose messages are the numbers of bins."""
    return Part(
        bins=bins,
        most_set=1,
        threshold=None,
        own=own,
        recipe=recipe,
        layout=Layout(Form.INDEX, bins),
    )


def most_set(question: Question) -> int | None:
    """The most bins that a record sets; None for free bits."""
    return None if question.kind is Kind.BITS else question.max_set


def flipped(
    question: Question,
    threshold: int,
    *,
    own: OwnFakes | None = None,
    recipe: Recipe | None = None,
    rare: float,
) -> Part:
    """A part whose bits are flipped.

    where
      rare   the most that the chance of more ones than the cap may be, for any one message
    """
    return Part(
        bins=question.bins,
        most_set=most_set(question),
        threshold=threshold,
        own=own,
        recipe=recipe or NoRecipe(),
        layout=shortest(question.bins, question.max_set, threshold, rare),
    )


def shortest(bins: int, ones: int, threshold: int, rare: float) -> Layout:
    """The shorter of dense bits and positions, with the least cap that is passed so rarely."""
    if bins < _CAPPED_FROM:
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


def rarely(delta: float, epsilon: float, messages: int) -> float:
    """How rarely each of ``messages`` messages may be drawn again, for so much of delta in all."""
    return delta / ((1.0 + math.exp(epsilon)) * messages)
