"""A mechanism as a part of a plan, and collections under it played message by message."""

import numpy as np

from mixtally.model.contract import FakeRecord, NoRecipe, OwnFakes, Part
from mixtally.model.layout import Form, Layout
from mixtally.model.mechanism import NoFakes, ShapedFakes, UniformFakes
from mixtally.protocol.mixing import draw_recipe_messages
from mixtally.protocol.randomize import draw_part_fakes, randomize_records
from mixtally.protocol.tally.fold import tally_messages


def part_of(mechanism):
    """The part in which as many devices as it has fakes add one each."""
    fakes, own, recipe = mechanism.fakes, None, NoRecipe()
    if isinstance(fakes, ShapedFakes):
        recipe = fakes.shape
    elif not isinstance(fakes, NoFakes):
        uniform = isinstance(fakes, UniformFakes)
        own = OwnFakes(FakeRecord.UNIFORM if uniform else FakeRecord.BLANK, 1, 0)
    clear = mechanism.flip_threshold is None
    return Part(
        bins=mechanism.bins,
        most_set=mechanism.most_set if clear else mechanism.max_set,
        threshold=mechanism.flip_threshold,
        own=own,
        recipe=recipe,
        layout=mechanism.layout if clear else Layout(Form.BITS, mechanism.bins),
        repeats=mechanism.repeats,
        replaced=getattr(mechanism, "replaced", None),
        planes=mechanism.planes if clear else None,
    )


def messages(mechanism, records, chance):
    """Everybody's reports, and the fakes of people or mixes."""
    part = part_of(mechanism)
    rows = [randomize_records(part, records, chance)]
    if mechanism.shaped_fakes is not None:
        rows += [
            draw_recipe_messages(part.recipe, part.layout, chance)
            for _ in range(mechanism.shaped_fakes.mixes)
        ]
    else:
        rows.append(draw_part_fakes(part, mechanism.fakes.count, chance)[0])
    return np.concatenate(rows)


def play(mechanism, records, chance, *, pairs=False):
    """The tally of a collection whose every message was drawn."""
    return tally_messages(
        part_of(mechanism).layout, messages(mechanism, records, chance), pairs=pairs
    )
