"""The delta of shaped fakes, derived again on the device with integers only.

Every bin receives k fakes (dummy messages) with probability F(k). Consider two collections that
differ in one answer, and the two bins of this answer. The first collection shows the counts s and t
with probability F(s-1) F(t), the second with F(s) F(t-1). So

    delta = sum over s and t of max(0, F(s-1) F(t) - e^epsilon F(s) F(t-1))

A pair (s, t) has a positive term if F(s-1) / F(s) exceeds e^epsilon F(t-1) / F(t). Rounding
e^epsilon down increases delta by less than 2^-100. Leaving out a pair decreases delta.

*Paired* fakes of two bins have a fixed total. The collection then shows the count s of one bin,
with probability F(s-1) or F(s), so delta is the larger of the two sums

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
    # Both ratios ascend, so the values t that count for one s also count for the next ones. The
    # double sum is computed in one pass, with running sums over t.
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
    """Return F(s-1) / F(s) in fixed point. If F(s) is 0, return a number above all other ratios."""
    a, b = cell
    return (a << _GUARD_BITS) // b if b else 1 << 2 * _GUARD_BITS
