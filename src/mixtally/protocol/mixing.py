"""The work of a mix: shuffle a batch and add the fakes of the recipe, as the plan asks.

After a uniform shuffle the place of a message says nothing about its sender. Fakes are written as
every other message of the stream.

How many fakes of a shaped recipe fell in which bin is the mix's secret. How many it added in all is
not: whoever counts the messages knows that.
"""

from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import ParameterError
from mixtally.model.layout import Form, Layout
from mixtally.model.recipe import BlanksRecipe, Recipe, UniformRecipe
from mixtally.model.shape import Shape
from mixtally.primitives.bits import Rows, spans
from mixtally.primitives.capped_flips import Flips, SetBits, flip_positions, flip_rows
from mixtally.primitives.chance import Chance
from mixtally.primitives.draw import draw_below, draw_from_table, draw_permutation
from mixtally.primitives.memo import Memo

_SPAN_BYTES = 1 << 22
_MEMO_BYTES = 1_000_000
_NONE = np.zeros(0, dtype=np.int64)


def draw_recipe_messages(recipe: Recipe, layout: Layout, chance: Chance) -> Rows:
    """The messages that one mix adds, shape (messages, bytes), in no order to rely on.

    Raises ParameterError for a cap that hardly any blank keeps to.
    """
    if isinstance(recipe, Shape):
        return draw_shaped_fakes(recipe.weights, layout, chance)
    if isinstance(recipe, BlanksRecipe):
        return _draw_flipped_blanks(recipe, layout, chance)
    if isinstance(recipe, UniformRecipe):
        return layout.rows(draw_below(chance, layout.bins, recipe.count))
    return layout.blank_rows(0)


def _draw_flipped_blanks(recipe: BlanksRecipe, layout: Layout, chance: Chance) -> Rows:
    """Spans of blanks, flipped one after the other: only the messages themselves are kept."""
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


def draw_shaped_fakes(weights: tuple[int, ...], layout: Layout, chance: Chance) -> Rows:
    """Fakes in clear, k of them in a bin with probability weights[k] / 2^64, bins independent.

    How many fell in which bin is the mix's secret: it must not be told to the collector.
    """
    return layout.rows(
        np.repeat(np.arange(layout.bins), draw_fake_counts(weights, layout.bins, chance))
    )


def draw_fake_counts(weights: tuple[int, ...], bins: int, chance: Chance) -> NDArray[np.int64]:
    """How many fakes fall in each bin, shape (bins,)."""
    cumulative = np.array(list(accumulate(weights[:-1])), dtype=np.uint64)
    return draw_from_table(chance, cumulative, bins)


def shuffle(batch: Rows, chance: Chance) -> Rows:
    """The messages of ``batch``, shape (messages, bytes), in a uniformly random order."""
    return np.take(batch, draw_permutation(chance, len(batch)), axis=0)


def check_shuffle_memory(messages: int, message_bytes: int, most_bytes: int) -> None:
    """Raises ParameterError when a batch and its shuffled copy would exceed ``most_bytes``."""
    needed = 2 * messages * message_bytes + 32 * messages
    if needed > most_bytes:
        raise ParameterError(
            "batch",
            expected=f"at most {most_bytes / 1e9:.1f} GB to shuffle it in memory",
            got=f"{needed / 1e9:.1f} GB for {messages:,} messages of {message_bytes:,} bytes",
            do="use fewer users, bins or fakes",
        )
