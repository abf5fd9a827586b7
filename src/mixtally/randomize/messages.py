"""Batches of messages: many people's reports, and the fakes that people add."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mixtally.errors import MessageError
from mixtally.ground.bits import Rows
from mixtally.ground.chance import Chance
from mixtally.ground.draw import below
from mixtally.ground.flips import flip
from mixtally.ground.memo import Memo
from mixtally.randomize.bins import bin_numbers, held
from mixtally.records.layout import Form
from mixtally.records.mechanism import Shuffled

Records = NDArray[np.int64] | Rows
"""Bin numbers, shape (people,), or packed bits, shape (people, row bytes) and dtype uint8."""


def reports(
    mechanism: Shuffled, records: Records | ArrayLike, chance: Chance, memo: Memo | None = None
) -> Rows:
    """Randomized messages for every person's record, shape (people * repeats, message bytes).

    ``records`` may also be a list or a data frame's column of bin numbers. A record sent several
    times is randomized afresh every time; its messages stand together. What batches of one
    collection have in common stays in ``memo``. Raises MessageError for numbers that are no bins
    and for bits that the protocol cannot hold or hide.
    """
    rows = written(mechanism, records)
    if mechanism.repeats > 1:
        rows = np.repeat(rows, mechanism.repeats, axis=0)
    return _randomized(mechanism, rows, chance, memo)


def fakes(mechanism: Shuffled, count: int, chance: Chance, memo: Memo | None = None) -> Rows:
    """``count`` fakes as a person draws them: blanks or uniform records, flipped as reports are."""
    layout = mechanism.layout
    if mechanism.uniform_fakes:
        rows = layout.rows(below(chance, layout.bins, count))
    else:
        rows = layout.blank(count)
    return _randomized(mechanism, rows, chance, memo)


def written(mechanism: Shuffled, records: Records | ArrayLike) -> Rows:
    """One message a record, before any flip; errors as ``reports`` has them."""
    layout, given = mechanism.layout, held(records)
    if given.ndim != 2:
        return layout.rows(bin_numbers(given, layout.bins))
    if layout.form is not Form.BITS or given.dtype != np.uint8:
        raise MessageError(
            "records",
            wanted="bin numbers, one a person"
            + " or packed bits, uint8" * (layout.form is Form.BITS),
            got=f"{given.dtype} rows of shape {given.shape}",
            do="send bits with a protocol that flips bits, packed as mixtally.encode.bits does",
        )
    rows = layout.checked(given.astype(np.uint8, copy=False))
    largest = int(np.bitwise_count(rows).sum(axis=1, dtype=np.int64).max(initial=0))
    if largest > mechanism.most_set:  # the promise covers no more
        raise MessageError(
            "records",
            wanted=f"at most {mechanism.most_set} bits set in each",
            got=f"{largest}",
            do="plan with a larger --max-set, or send fewer of them",
        )
    return rows


def _randomized(mechanism: Shuffled, rows: Rows, chance: Chance, memo: Memo | None) -> Rows:
    threshold = mechanism.flip_threshold
    if threshold is None:
        return rows
    return flip(rows, mechanism.bins, threshold, chance, memo)


def share_of_fakes(fakes: int, users: int, first: int, last: int) -> int:
    """How many of ``fakes`` fall to persons first..last-1 when ``users`` people share them evenly.

    Person i sends floor((i+1) fakes / users) - floor(i fakes / users): sums are exact.
    """
    return last * fakes // users - first * fakes // users
