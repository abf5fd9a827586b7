"""One person's messages, bit by bit, written for reading: distributed as the batches are."""

import numpy as np

from mixtally.ground.bits import Rows
from mixtally.ground.chance import Chance
from mixtally.ground.draw import below
from mixtally.randomize.bins import bin_numbers, held
from mixtally.records.mechanism import Shuffled


def one_report(mechanism: Shuffled, code: int, chance: Chance) -> bytes:
    """The message of a person whose value falls in bin ``code``; raises MessageError for no bin."""
    return _sent(
        mechanism, mechanism.layout.rows(bin_numbers(held([code]), mechanism.bins)), chance
    )


def one_fake(mechanism: Shuffled, chance: Chance) -> bytes:
    """One fake: a blank or a uniform record, flipped as a report is."""
    layout = mechanism.layout
    if mechanism.uniform_fakes:
        return _sent(mechanism, layout.rows(below(chance, layout.bins, 1)), chance)
    return _sent(mechanism, layout.blank(1), chance)


def _sent(mechanism: Shuffled, row: Rows, chance: Chance) -> bytes:
    threshold = mechanism.flip_threshold
    if threshold is None:
        return row.tobytes()
    bits = np.unpackbits(row[0], count=mechanism.bins, bitorder="little")
    flips = chance.words(mechanism.bins) < np.uint64(threshold)
    return np.packbits(bits ^ flips, bitorder="little").tobytes()
