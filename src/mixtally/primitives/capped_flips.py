"""Flips of records whose messages may name so many bins at most: a draw with more is drawn again.

A message's contents stay, and all its bits are flipped anew, until it names no more than the cap.
So every message follows the distribution of free flips given that it has at most ``cap`` ones,
independently of all others. Few flips are drawn as positions: rows that are mostly zero are never
built.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import ParameterError
from mixtally.primitives.bits import Rows
from mixtally.primitives.chance import Chance
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.flips import flip
from mixtally.primitives.memo import Memo
from mixtally.primitives.rare_flips import draw_coin_positions

Integers = NDArray[np.int64]
_MOST_DRAWS = 256
"""Draws of one message. Where each passes the cap with a chance of 3/4 a batch of 10^10 messages
needs more with a chance below 10^-21; no terms with such a cap promise anything."""
_SPAN_POSITIONS = 1 << 18
"""Positions drawn together: their arrays fit the cache."""


@dataclass(frozen=True, slots=True, eq=False)
class SetBits:
    """Set bits of ``count`` rows: bit ``columns[i]`` of row ``rows[i]``, by row and then column."""

    rows: Integers
    columns: Integers
    count: int

    def select_rows(self, chosen: NDArray[np.bool_]) -> "SetBits":
        """Those of the ``chosen`` rows, numbered anew."""
        number = np.cumsum(chosen) - 1
        some = chosen[self.rows]
        return SetBits(number[self.rows[some]], self.columns[some], int(chosen.sum()))


class Flips(NamedTuple):
    """How bits are flipped.

    where
      columns     bits of a row
      threshold   the chance of a flip times 2^64, in [2^24, 2^63]
      cap         the most ones that a row is left with; None for any number
    """

    columns: int
    threshold: int
    cap: int | None

    def rows_at_once(self) -> int:
        """Rows of which about a span of positions is flipped."""
        expected = self.columns * self.threshold / SCALE
        return max(1, int(_SPAN_POSITIONS / (expected + 2.0)))


def flip_rows(rows: Rows, flips: Flips, chance: Chance, memo: Memo | None = None) -> Rows:
    """Packed ``rows`` flipped, again where one is left with more ones than the cap.

    Raises ParameterError for a cap that hardly any draw keeps to.
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
    """The ones of all rows after the flips: their rows, ascending, and columns.

    Has the distribution of ``flip_rows`` in memory for the ones alone; raises as it does.
    """
    numbers, left, done = np.arange(set_bits.count), set_bits, list[Integers]()
    for _ in range(_MOST_DRAWS):
        row, column = _split_places(
            _draw_flipped_positions(left, flips, chance, memo), flips.columns
        )
        over = np.bincount(row, minlength=left.count) > (flips.cap or flips.columns)
        if not done and not over.any():
            return row, column
        stays = ~over[row]
        done.append(numbers[row[stays]] * flips.columns + column[stays])
        if not over.any():
            every = done[0] if len(done) == 1 else np.sort(np.concatenate(done), kind="stable")
            return _split_places(every, flips.columns)
        numbers, left = numbers[over], left.select_rows(over)
    raise _cap_error(flips)


def _draw_flipped_positions(
    held: SetBits, flips: Flips, chance: Chance, memo: Memo | None
) -> Integers:
    """Places row * columns + column of the ones after one draw: flips XOR what was held."""
    places = draw_coin_positions(chance, flips.threshold, held.count * flips.columns, memo)
    if not len(held.rows):
        return places
    both = np.concatenate([places, held.rows * flips.columns + held.columns])
    both.sort(kind="stable")  # two ascending runs: merged
    alone = np.ones(len(both), dtype=bool)
    twice = both[1:] == both[:-1]
    alone[1:] &= ~twice
    alone[:-1] &= ~twice
    return both[alone]


def _split_places(places: Integers, columns: int) -> tuple[Integers, Integers]:
    """What ``divmod`` gives, in a quarter of its time."""
    row = places // columns
    return row, places - row * columns


def _count_ones(rows: Rows) -> Integers:
    return np.asarray(np.bitwise_count(rows).sum(axis=1, dtype=np.int64))


def _cap_error(flips: Flips) -> ParameterError:
    return ParameterError(
        "cap",
        expected="one that most messages keep to",
        got=f"{flips.cap} of {flips.columns:,} bins at a flip probability of "
        f"{flips.threshold / SCALE:.3g}: {_MOST_DRAWS} draws of a message passed it",
        do="make the contract again with a larger cap",
    )
