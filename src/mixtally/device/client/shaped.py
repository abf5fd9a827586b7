"""The delta of shaped fakes, derived again on the device: integers alone, from the recipe's table.

Every bin gets k fakes with probability F(k). Of two collections that differ in one answer, one
shows s and t in the two bins with probability F(s-1) F(t), the other with F(s) F(t-1), so that

    delta = sum over s and t of max(0, F(s-1) F(t) - e^epsilon F(s) F(t-1))

Pairs are taken where F(s-1) / F(s) exceeds e^epsilon F(t-1) / F(t). e^epsilon is rounded down,
which makes delta larger by less than 2^-100; a pair left out makes it smaller.

Source: Notes 2020 (004), section 5.1, with a shaped distribution.
"""

from mixtally.device.contract.shape import SCALE_BITS

_GUARD_BITS, _GROW_BITS = 256, 128


def exp_below(epsilon: float) -> int:
    """e^epsilon times 2^128, rounded down: the sum of epsilon^k / k!, every term rounded down."""
    up, down = epsilon.as_integer_ratio()
    term, total, k = 1 << _GROW_BITS, 0, 0
    while term:
        total, k = total + term, k + 1
        term = term * up // (down * k)
    return total


def delta(table: tuple[int, ...], epsilon: float) -> tuple[int, int]:
    """The delta as a fraction: numerator and denominator; F(k) is ``table[k]`` / 2^64."""
    grow = exp_below(epsilon)
    cells = [(a, b) for a, b in zip([0, *table], [*table, 0], strict=True) if a or b]
    cells.sort(key=_ratio)
    total, place, with_record, without = 0, 0, 0, 0
    for a, b in cells:  # those t whose ratio is small enough are the first ones, more and more
        while place < len(cells) and a * cells[place][1] << _GROW_BITS > grow * b * cells[place][0]:
            with_record, without = with_record + cells[place][1], without + cells[place][0]
            place += 1
        total += (a * with_record << _GROW_BITS) - grow * b * without
    return total, 1 << 2 * SCALE_BITS + _GROW_BITS


def _ratio(cell: tuple[int, int]) -> int:
    """F(s-1) / F(s) in fixed point, above all others where F(s) is 0."""
    a, b = cell
    return (a << _GUARD_BITS) // b if b else 1 << 2 * _GUARD_BITS
