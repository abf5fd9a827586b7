"""Batches of messages: many people's reports, and the fakes that people add."""

import numpy as np
from numpy.typing import NDArray

from mixtally.ground.bits import Rows
from mixtally.ground.chance import Chance
from mixtally.ground.draw import below
from mixtally.protocols.base import Protocol
from mixtally.randomize.flips import flip
from mixtally.records.layout import Form


def reports(protocol: Protocol, codes: NDArray[np.int64], chance: Chance) -> Rows:
    """One randomized message for every person's bin number, shape (people, message bytes)."""
    return _randomized(protocol, protocol.layout.rows(codes), chance)


def fakes(protocol: Protocol, count: int, chance: Chance) -> Rows:
    """``count`` fakes as a person draws them: flipped blanks, or uniform bins in clear."""
    layout = protocol.layout
    if layout.form is Form.BITS:
        return _randomized(protocol, layout.blank(count), chance)
    return layout.rows(below(chance, layout.bins, count))


def _randomized(protocol: Protocol, rows: Rows, chance: Chance) -> Rows:
    threshold = protocol.flip_threshold
    if threshold is None:
        return rows
    return flip(rows, protocol.bins, threshold, chance)


def share_of_fakes(fakes: int, users: int, first: int, last: int) -> int:
    """How many of ``fakes`` fall to persons first..last-1 when ``users`` people share them evenly.

    Person i sends floor((i+1) fakes / users) - floor(i fakes / users): sums are exact.
    """
    return last * fakes // users - first * fakes // users
