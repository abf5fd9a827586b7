"""The work of one mix: add the fakes of its recipe to a batch and shuffle all messages.

The simulation and the mix server call these functions. A fake is a dummy message, which carries no
answer. After a uniform shuffle the position of a message says nothing about its sender. Fakes have
the same format as every other message.

A *shaped* recipe draws a random number of fakes for every bin. These numbers are the secret of the
mix, because the collector could subtract them. The sum of these numbers is not secret: anyone who
counts the messages knows it. A *paired* recipe fixes this sum for two bins, so the mix draws only
the number of the first bin.
"""

from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import ParameterError, pluralize
from mixtally.model.layout import Form, Layout
from mixtally.model.recipe import BlanksRecipe, Recipe, UniformRecipe
from mixtally.model.shape import Shape
from mixtally.primitives.bits import Rows, spans
from mixtally.primitives.capped_flips import Flips, SetBits, flip_positions, flip_rows
from mixtally.primitives.chance import Chance
from mixtally.primitives.draw import draw_from_table, draw_permutation
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.memo import Memo
from mixtally.primitives.wide import draw_numbers

# Bytes of messages that are flipped at a time, so that temporary arrays stay small.
_SPAN_BYTES = 1 << 22
# The maximum size in bytes of the tables that all spans of a recipe share.
_MEMO_BYTES = 1_000_000
_NONE = np.zeros(0, dtype=np.int64)


def draw_recipe_messages(recipe: Recipe, layout: Layout, chance: Chance) -> Rows:
    """Draw the messages that one mix adds by its recipe, shape (messages, bytes).

    Callers must shuffle the messages: their order is not random. Raises ParameterError if the cap
    of the layout is so low that nearly every flipped blank has more bits set.

    Parameters
    ----------
    recipe : Recipe
        The fakes that a mix adds.
    layout : Layout
        The format of the messages.
    chance : Chance
        The source of randomness.
    """
    if isinstance(recipe, Shape):
        return draw_shaped_fakes(recipe.weights, layout, chance, paired=recipe.paired)
    if isinstance(recipe, BlanksRecipe):
        return _draw_flipped_blanks(recipe, layout, chance)
    if isinstance(recipe, UniformRecipe):
        return layout.rows(draw_numbers(chance, layout.bins, recipe.count))
    return layout.blank_rows(0)


def _draw_flipped_blanks(recipe: BlanksRecipe, layout: Layout, chance: Chance) -> Rows:
    """Draw flipped blanks span by span, so that memory contains little more than the messages."""
    out, memo = layout.blank_rows(recipe.count), Memo(_MEMO_BYTES)
    flips = Flips(layout.bins, recipe.threshold, layout.cap)
    few = layout.form is Form.POSITIONS
    size = flips.rows_at_once() if few else max(1, _SPAN_BYTES // layout.message_bytes)
    for span in spans(recipe.count, size):
        count = span.stop - span.start
        if few:
            ones = flip_positions(SetBits(_NONE, _NONE, count), flips, chance, memo)
            out[span] = layout.write_positions(*ones, count)
        else:
            out[span] = flip_rows(out[span], flips, chance, memo)
    return out


def draw_shaped_fakes(
    weights: tuple[int, ...], layout: Layout, chance: Chance, *, paired: bool = False
) -> Rows:
    """Draw fakes in clear. A bin receives k fakes with probability weights[k] / 2^64.

    The number of fakes in each bin is the secret of the mix, which the collector must not learn. If
    ``paired``, the fakes of each pair of bins have a fixed sum, as in ``draw_fake_counts``.
    """
    counts = draw_fake_counts(weights, layout.bins, chance, paired=paired)
    return layout.rows(np.repeat(np.arange(layout.bins), counts))


def draw_fake_counts(
    weights: tuple[int, ...], bins: int, chance: Chance, *, paired: bool = False
) -> NDArray[np.int64]:
    """Draw the number of fakes of each bin, shape (bins,).

    Parameters
    ----------
    weights : tuple of int
        The probabilities of 0, 1, 2, .. fakes in a bin, times 2^64.
    bins : int
        The number of bins. If ``paired``, it must be an even number.
    chance : Chance
        The source of randomness. One word is drawn for each bin or, if ``paired``, for each pair.
    paired : bool
        Whether the fakes of bins 0 and 1, of bins 2 and 3, and so on, always add up to the same
        number: the largest number of fakes in the table. A part has one such pair.
    """
    # A paired table may end with zeros. The running sum is 2^64 already before these.
    sums = [one for one in accumulate(weights[:-1]) if one < SCALE]
    cumulative = np.array(sums, dtype=np.uint64)
    if not paired:
        return draw_from_table(chance, cumulative, bins)
    first = draw_from_table(chance, cumulative, bins // 2)
    return np.stack([first, len(weights) - 1 - first], axis=1).ravel()


def shuffle(batch: Rows, chance: Chance) -> Rows:
    """Return the messages in ``batch``, shape (messages, bytes), in a uniformly random order."""
    return np.take(batch, draw_permutation(chance, len(batch)), axis=0)


def check_shuffle_memory(messages: int, message_bytes: int, most_bytes: int) -> None:
    """Raise ParameterError if a batch and its shuffled copy would exceed the memory.

    Parameters
    ----------
    messages : int
        The number of messages.
    message_bytes : int
        The length of each message in bytes.
    most_bytes : int
        The memory limit in bytes.
    """
    # The second term is the size of the arrays from which the permutation is drawn.
    needed = 2 * messages * message_bytes + 32 * messages
    if needed > most_bytes:
        raise ParameterError(
            "batch",
            expected=f"at most {most_bytes / 1e9:.1f} GB to shuffle it in memory",
            got=f"{needed / 1e9:.1f} GB for {messages:,} messages of "
            f"{pluralize(message_bytes, 'byte')}",
            do="use fewer users, bins or fakes",
        )
