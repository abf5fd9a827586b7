"""A record in clear among fakes that one mix draws for every bin, in integers.

``derive`` uses this module. Let F be the distribution of the fakes in a bin. Two bins show s and t
messages with probability F(s-1) F(t) if the person is in the first, and F(s) F(t-1) if in the
second, so

    delta = sum over s, t of (F(s-1) F(t) - e^eps F(s) F(t-1))_+.

A pair counts exactly if F(s-1)/F(s) > e^eps F(t-1)/F(t). With both ratios sorted, the t that count
for one s also count for all later ones, so one pass suffices. Exchanging s and t exchanges the
orders of the neighbors.

If the fakes of two bins are *paired*, they add up to 2 s, where s is the shift. The number of all
messages is fixed, so the observer sees only the count of one bin. It has F(k-1) or F(k) of showing
k, so delta is the larger of the sums of (F(k-1) - e^eps F(k))_+ and of (F(k) - e^eps F(k-1))_+.

For a set of k bins, each with separate fakes, at most 2k such bins differ: see ``lattice``.

Source: docs/explanation/accounting.md, "clear-shaped".
"""

from fractions import Fraction
from typing import NamedTuple

from mixtally.accounting.verification.balls import SCALE, Bounds, UndecidedError, arb, exact_ball
from mixtally.accounting.verification.lattice import compose_cells

_BITS = 320
"""Precision of ratios. Two ratios of integers below 2^64 differ by 2^-128 or more, so it suffices.
"""
_MOST_ABOVE = 100_000


class Shape(NamedTuple):
    """How the probability of fakes falls on both sides of ``shift``.

    At a distance j from ``shift``, the probability is proportional to exp(-j^2 / (2 first)) if
    ``gaussian``, and otherwise to (first / 2^64)^j. If ``paired``, the table ends at twice the
    shift.
    """

    gaussian: bool
    first: int
    shift: int
    paired: bool = False


def table(shape: Shape) -> list[int]:
    """Return F times 2^64 for k = 0, 1, ..., rounded down except for the middle.

    Raises UndecidedError if a number is too close to an integer to be rounded.
    """
    falls: list[arb] = []
    for j in range(1, (shape.shift if shape.paired else _MOST_ABOVE) + 1):
        fall = _fall(shape, j)
        if fall * SCALE < 1:
            break
        if not fall * SCALE >= 1:
            raise UndecidedError("rigorous check: the end of a table is too close to call")
        falls.append(fall)
    total = 1 + sum(falls, arb(0)) + sum(falls[: shape.shift], arb(0))
    side = []
    for fall in falls:
        whole = (fall * SCALE / total).floor().unique_fmpz()
        if whole is None:
            raise UndecidedError("rigorous check: a chance too close to an integer over 2^64")
        side.append(int(whole))
    # The middle absorbs the rounding, so that the table sums to 2^64.
    below = [*side, *[0] * shape.shift][: shape.shift]
    side = below if shape.paired else side
    return [*reversed(below), SCALE - sum(side) - sum(below), *side]


def _fall(shape: Shape, j: int) -> arb:
    """Return F(s + j) / F(s) before it is rounded."""
    if shape.gaussian:
        return exact_ball(Fraction(-j * j, 2 * shape.first)).exp()
    return exact_ball(Fraction(shape.first, SCALE)) ** j


def one_bin(shape: Shape, grow: arb) -> Bounds:
    """Return delta of one record; ``grow`` is e^eps. May raise UndecidedError."""
    weights = table(shape)
    return of_one_count(weights, grow) if shape.paired else of_table(weights, grow)


def of_one_count(weights: list[int], grow: arb) -> Bounds:
    """Return delta if one count alone is seen, with k fakes with probability weights[k] / 2^64."""
    pairs = list(zip([0, *weights], [*weights, 0], strict=True))
    ways = [
        sum(((p - grow * q).max(arb(0)) for p, q in way), arb(0)) / SCALE
        for way in (
            [(arb(one), other) for one, other in pairs],
            [(arb(other), one) for one, other in pairs],
        )
    ]
    value = ways[0].max(ways[1])
    return Bounds(value, value)


def bins_of_sets(shape: Shape, size: int, grow: arb, nats: float) -> Bounds:
    """Return delta of two disjoint sets of ``size`` bins. May raise UndecidedError."""
    weights = table(shape)
    before, here = [0, *weights], [*weights, 0]
    more, less = (
        [
            (exact_ball(Fraction(other, one)), exact_ball(Fraction(one, SCALE)))
            for one, other in zip(ours, theirs, strict=True)
            if one
        ]
        for ours, theirs in ((before, here), (here, before))
    )
    return compose_cells(size, more, less, grow, nats)


def of_table(weights: list[int], grow: arb) -> Bounds:
    """Return delta if a bin gets k fakes with probability weights[k] / 2^64.

    Raises UndecidedError if balls overlap.
    """
    cells = [
        cell for cell in zip([0, *weights], [*weights, 0], strict=True) if cell != (0, 0)
    ]  # F(k-1) and F(k)
    cells.sort(key=_ratio)
    total, gains, losses, taken = arb(0), 0, 0, 0
    for before, here in cells:
        while taken < len(cells) and _is_counted(before, here, *cells[taken], grow):
            losses += cells[taken][0]
            gains += cells[taken][1]
            taken += 1
        total += arb(before * gains) - grow * (here * losses)
    value = total / SCALE / SCALE
    return Bounds(value, value)


def _ratio(cell: tuple[int, int]) -> int:
    before, here = cell
    return (before << _BITS) // here if here else 1 << (2 * _BITS)


def _is_counted(before: int, here: int, other: int, above: int, grow: arb) -> bool:
    """Return whether F(s-1) F(t) > e^eps F(s) F(t-1), with F(t-1) = other and F(t) = above."""
    gain, loss = before * above, here * other
    if not loss or not gain:
        return gain > 0
    limit = grow * loss
    if limit < gain:
        return True
    if limit > gain:
        return False
    raise UndecidedError("rigorous check: two chances too close to compare")
