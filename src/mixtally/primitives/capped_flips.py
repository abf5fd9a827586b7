"""Random bit flips of records, limited to a maximum number of set bits.

A message has space for the numbers of at most ``cap`` set bits. If more bits are set after
flipping, all bits of the original record are flipped again. So every message has the distribution
of free flips conditioned on at most ``cap`` ones, independently of all other messages. Rare flips
are drawn as positions, so that mostly zero rows are never built.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import ParameterError
from mixtally.primitives.bits import Rows
from mixtally.primitives.chance import Chance
from mixtally.primitives.draw import Integers
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.flips import flip
from mixtally.primitives.memo import Memo
from mixtally.primitives.rare_flips import draw_coin_positions

# Maximum number of draws of one message. If each draw exceeds the cap with probability 3/4, a batch
# of 10^10 messages needs more draws with probability below 10^-21. Plans with such a cap cannot
# promise privacy.
_MOST_DRAWS = 256
# Number of positions drawn at once, so that their arrays fit the processor's cache.
_SPAN_POSITIONS = 1 << 18


@dataclass(frozen=True, slots=True, eq=False)
class SetBits:
    """The positions of the set bits in ``count`` rows: bit ``columns[i]`` of row ``rows[i]``.

    The positions are sorted by row, and within a row by column.
    """

    rows: Integers
    columns: Integers
    count: int

    def select_rows(self, chosen: NDArray[np.bool_]) -> "SetBits":
        """Return the set bits of the ``chosen`` rows, which are renumbered from 0."""
        number = np.cumsum(chosen) - 1
        some = chosen[self.rows]
        return SetBits(number[self.rows[some]], self.columns[some], int(chosen.sum()))


class Flips(NamedTuple):
    """The parameters of a random flip of every bit.

    Attributes
    ----------
    columns : int
        The number of bits in a row.
    threshold : int
        The flip probability times 2^64, in [2^24, 2^63].
    cap : int or None
        The maximum number of ones in a flipped row. None means no limit.
    """

    columns: int
    threshold: int
    cap: int | None

    def rows_at_once(self) -> int:
        """Return the number of rows that together have about ``_SPAN_POSITIONS`` flips."""
        expected = self.columns * self.threshold / SCALE
        return max(1, int(_SPAN_POSITIONS / (expected + 2.0)))


def flip_rows(rows: Rows, flips: Flips, chance: Chance, memo: Memo | None = None) -> Rows:
    """Return a copy of packed ``rows`` with random flips, redrawn until each row is within the cap.

    Parameters
    ----------
    rows : array of uint8, shape (rows, row bytes)
        Packed rows of ``flips.columns`` bits.
    flips : Flips
        The flip probability and the cap.
    chance : Chance
        The source of random words.
    memo : Memo, optional
        A cache of tables for repeated calls.

    Raises
    ------
    ParameterError
        If a row exceeds the cap in each of ``_MOST_DRAWS`` draws.
    """
    flipped = flip(rows, flips.columns, flips.threshold, chance, memo)
    if flips.cap is None or flips.cap >= flips.columns:
        return flipped
    over = np.flatnonzero(_count_ones(flipped) > flips.cap)
    for _ in range(_MOST_DRAWS):
        if not over.size:
            return flipped
        flipped[over] = flip(rows[over], flips.columns, flips.threshold, chance, memo)
        over = over[_count_ones(flipped[over]) > flips.cap]
    raise _cap_error(flips)


def flip_positions(
    set_bits: SetBits, flips: Flips, chance: Chance, memo: Memo | None = None
) -> tuple[Integers, Integers]:
    """Flip the rows of ``set_bits``, and return the row and the column of every resulting one.

    The result is ordered by row. It has the same distribution as the result of ``flip_rows``, but
    whole rows are never in memory. Raises ParameterError as ``flip_rows`` does.

    Parameters
    ----------
    set_bits : SetBits
        The set bits of the rows.
    flips : Flips
        The flip probability and the cap.
    chance : Chance
        The source of randomness.
    memo : Memo or None
        A cache of tables that calls may share.
    """
    numbers, remaining, done = np.arange(set_bits.count), set_bits, list[Integers]()
    for _ in range(_MOST_DRAWS):
        row, column = _split_places(
            _draw_flipped_positions(remaining, flips, chance, memo), flips.columns
        )
        over = np.bincount(row, minlength=remaining.count) > (flips.cap or flips.columns)
        if not done and not over.any():
            return row, column
        stays = ~over[row]
        done.append(numbers[row[stays]] * flips.columns + column[stays])
        if not over.any():
            every = done[0] if len(done) == 1 else np.sort(np.concatenate(done), kind="stable")
            return _split_places(every, flips.columns)
        numbers, remaining = numbers[over], remaining.select_rows(over)
    raise _cap_error(flips)


def _draw_flipped_positions(
    set_bits: SetBits, flips: Flips, chance: Chance, memo: Memo | None
) -> Integers:
    """Flip once, and return the resulting ones as places row * columns + column."""
    places = draw_coin_positions(chance, flips.threshold, set_bits.count * flips.columns, memo)
    if not len(set_bits.rows):
        return places
    both = np.concatenate([places, set_bits.rows * flips.columns + set_bits.columns])
    both.sort(kind="stable")  # for two ascending runs this is a merge, in linear time
    # A place that occurs twice is a set bit that was flipped: it becomes zero.
    is_unique = np.ones(len(both), dtype=bool)
    twice = both[1:] == both[:-1]
    is_unique[1:] &= ~twice
    is_unique[:-1] &= ~twice
    return both[is_unique]


def _split_places(places: Integers, columns: int) -> tuple[Integers, Integers]:
    """Return row and column of each place. This takes a quarter of the time of ``np.divmod``."""
    row = places // columns
    return row, places - row * columns


def _count_ones(rows: Rows) -> Integers:
    return np.asarray(np.bitwise_count(rows).sum(axis=1, dtype=np.int64))


def _cap_error(flips: Flips) -> ParameterError:
    return ParameterError(
        "cap",
        expected="a number of bins that most messages do not exceed",
        got=f"{flips.cap} of {flips.columns:,} bins at a flip probability of "
        f"{flips.threshold / SCALE:.3g}: {_MOST_DRAWS} draws of a message exceeded the cap",
        do="make the contract again with a larger cap",
    )
