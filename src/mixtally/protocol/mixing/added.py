"""What a mix adds to a stream by its recipe, written as every message of the stream is.

How many fakes of a shaped recipe fell in which bin is the mix's secret. How many it added in all is
not: whoever counts the messages knows that.
"""

import numpy as np

from mixtally.model.layout import Form, Layout
from mixtally.model.recipe import BlanksRecipe, Recipe, UniformRecipe
from mixtally.model.shape import Shape
from mixtally.primitives.bits import Rows, spans
from mixtally.primitives.capped import Flips, Held, flip_positions, flip_rows
from mixtally.primitives.chance import Chance
from mixtally.primitives.draw import below
from mixtally.primitives.memo import Memo
from mixtally.protocol.mixing.shaped import shaped_fakes

_SPAN_BYTES = 1 << 22
_MEMO_BYTES = 1_000_000
_NONE = np.zeros(0, dtype=np.int64)


def added(recipe: Recipe, layout: Layout, chance: Chance) -> Rows:
    """The messages that one mix adds, shape (messages, bytes), in no order to rely on.

    Raises ParameterError for a cap that hardly any blank keeps to.
    """
    if isinstance(recipe, Shape):
        return shaped_fakes(recipe.weights, layout, chance)
    if isinstance(recipe, BlanksRecipe):
        return _flipped_blanks(recipe, layout, chance)
    if isinstance(recipe, UniformRecipe):
        return layout.rows(below(chance, layout.bins, recipe.count))
    return layout.blank(0)


def _flipped_blanks(recipe: BlanksRecipe, layout: Layout, chance: Chance) -> Rows:
    """Spans of blanks, flipped one after the other: only the messages themselves are kept."""
    out, memo = layout.blank(recipe.count), Memo(_MEMO_BYTES)
    flips = Flips(layout.bins, recipe.threshold, layout.cap)
    few = layout.form is Form.POSITIONS
    size = flips.rows_at_once() if few else max(1, _SPAN_BYTES // layout.message_bytes)
    for span in spans(recipe.count, size):
        count = span.stop - span.start
        if few:
            ones = flip_positions(Held(_NONE, _NONE, count), flips, chance, memo)
            out[span] = layout.named(*ones, count)
        else:
            out[span] = flip_rows(out[span], flips, chance, memo)
    return out
