"""One person's messages, written for reading: the same law as the batches, one bit at a time."""

import numpy as np

from mixtally.ground.bits import Rows
from mixtally.ground.chance import Chance
from mixtally.ground.draw import below
from mixtally.protocols.base import Protocol
from mixtally.randomize.bins import bin_numbers, held


def one_report(protocol: Protocol, code: int, chance: Chance) -> bytes:
    """The message of a person whose value falls in bin ``code``; raises MessageError for no bin."""
    return _sent(protocol, protocol.layout.rows(bin_numbers(held([code]), protocol.bins)), chance)


def one_fake(protocol: Protocol, chance: Chance) -> bytes:
    """One fake: a blank or a uniform record, flipped as a report is."""
    layout = protocol.layout
    if protocol.uniform_fakes:
        return _sent(protocol, layout.rows(below(chance, layout.bins, 1)), chance)
    return _sent(protocol, layout.blank(1), chance)


def _sent(protocol: Protocol, row: Rows, chance: Chance) -> bytes:
    threshold = protocol.flip_threshold
    if threshold is None:
        return row.tobytes()
    bits = np.unpackbits(row[0], count=protocol.bins, bitorder="little")
    flips = chance.words(protocol.bins) < np.uint64(threshold)
    return np.packbits(bits ^ flips, bitorder="little").tobytes()
