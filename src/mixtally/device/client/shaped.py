"""The delta of shaped fakes, derived again on the device with integers only.

A fake is a dummy message. Every bin receives k fakes with probability F(k), independently. Consider
two collections that differ in one person's answer: one bin in the first, another bin in the second.
An observer who subtracts all other people's answers sees the counts s and t of these two bins. They
have the probability F(s-1) F(t) in the first collection, and F(s) F(t-1) in the second. So

    delta = sum over s and t of max(0, F(s-1) F(t) - e^epsilon F(s) F(t-1))

A pair (s, t) has a positive term if F(s-1) / F(s) exceeds e^epsilon F(t-1) / F(t). Rounding
e^epsilon down increases the computed delta by less than 2^-100. Omitting a pair decreases it.

*Paired* fakes of two bins have a fixed total, so the count s of one bin determines the other. It
has the probability F(s-1) or F(s), so delta is the larger of the two sums

    sum over s of max(0, F(s-1) - e^epsilon F(s)),    sum over s of max(0, F(s) - e^epsilon F(s-1)).

Source: Notes 2020 (004), section 5.1, with a shaped distribution.
"""

from mixtally.device.contract.shape import SCALE_BITS

# Fractional bits of the ratios that are sorted, and of e^epsilon.
_GUARD_BITS, _GROW_BITS = 256, 128


def exp_below(epsilon: float) -> int:
    """Return e^epsilon times 2^128, as the sum of epsilon^k / k! with each term rounded down."""
    up, down = epsilon.as_integer_ratio()
    term, total, k = 1 << _GROW_BITS, 0, 0
    while term:
        total, k = total + term, k + 1
        term = term * up // (down * k)
    return total


def delta(table: tuple[int, ...], epsilon: float) -> tuple[int, int]:
    """Return delta as a fraction (numerator, denominator), for F(k) = ``table[k]`` / 2^64."""
    grow = exp_below(epsilon)
    cells = [(a, b) for a, b in zip([0, *table], [*table, 0], strict=True) if a or b]
    cells.sort(key=_ratio)
    total, place, with_record, without = 0, 0, 0, 0
    # The values of s and t are sorted by the ratio. So every t with a positive term for one s also
    # has one for all later s. The double sum is computed in one pass, with running sums over t.
    for a, b in cells:
        while place < len(cells) and a * cells[place][1] << _GROW_BITS > grow * b * cells[place][0]:
            with_record, without = with_record + cells[place][1], without + cells[place][0]
            place += 1
        total += (a * with_record << _GROW_BITS) - grow * b * without
    return total, 1 << 2 * SCALE_BITS + _GROW_BITS


def paired_delta(table: tuple[int, ...], epsilon: float) -> tuple[int, int]:
    """Return delta as a fraction, for paired fakes with F(k) = ``table[k]`` / 2^64."""
    grow = exp_below(epsilon)
    before, here = (0, *table), (*table, 0)
    total = max(
        sum(max(0, (a << _GROW_BITS) - grow * b) for a, b in zip(one, other, strict=True))
        for one, other in ((before, here), (here, before))
    )
    return total, 1 << SCALE_BITS + _GROW_BITS


def _ratio(cell: tuple[int, int]) -> int:
    """Return the ratio F(s-1) / F(s) of ``cell``, the pair (F(s-1), F(s)), in fixed point.

    If F(s) is 0, return a number above all other ratios.
    """
    a, b = cell
    return (a << _GUARD_BITS) // b if b else 1 << 2 * _GUARD_BITS
