"""The shapes of a mix's fakes: tables of integers over 2^64, computed with integers only.

A fake is a dummy message. Each bin receives k fakes with a probability F(k) that decreases on both
sides of its mode s, the *shift*:

    Laplace    F(k) ~ (ratio / 2^64)^|k - s|
    Gaussian   F(k) ~ exp(-(k - s)^2 / (2 variance))

for k = 0, 1, .., truncated below 0. A table has the integers F(k) 2^64. It ends with the last k
whose integer is not 0, at most 100,000 above s. The accountant computes delta from these integers,
so delta includes the truncation at both ends exactly.

A *paired* table is for two bins whose numbers of fakes always add up to 2 s: k in the first bin,
and 2 s - k in the second. The table ends at 2 s, so it is symmetric.

Source: Ghosh, Roughgarden, Sundararajan, Universally Utility-maximizing Privacy Mechanisms (2009);
Canonne, Kamath, Steinke, The Discrete Gaussian for Differential Privacy (2020).
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial

SCALE_BITS = 64
MOST_SHIFT = 100_000
MOST_VARIANCE = 1_000_000_000
_MOST_ABOVE = 100_000
# Bits of intermediate results: enough that rounding does not affect the 64 bits of an entry.
_GUARD_BITS = 256


def laplace_weights(ratio: int, shift: int, *, paired: bool = False) -> tuple[int, ...]:
    """Return the table of a discrete Laplace distribution: F(k) times 2^64 for k = 0, 1, ..

    The entries are integers with the sum 2^64. The last entry is above 0, except in a paired table,
    which always ends at twice the shift.

    Parameters
    ----------
    ratio : int
        The factor between neighboring probabilities, times 2^64.
    shift : int
        The mode s.
    paired : bool
        Whether the table is paired, as the docstring of the module defines.
    """
    return _build_table(_laplace_falls(ratio), shift, paired=paired)


def gaussian_weights(variance: int, shift: int, *, paired: bool = False) -> tuple[int, ...]:
    """Return the table of a discrete Gaussian distribution: F(k) times 2^64 for k = 0, 1, ..

    The form of the table is that of ``laplace_weights``.

    Parameters
    ----------
    variance : int
        The variance of the distribution before truncation.
    shift : int
        The mode s.
    paired : bool
        Whether the table is paired, as the docstring of the module defines.
    """
    return _build_table(_gaussian_falls(variance), shift, paired=paired)


PAIRED: dict[str, Callable[[int, int], tuple[int, ...]]] = {
    "paired": partial(laplace_weights, paired=True),
    "paired-gaussian": partial(gaussian_weights, paired=True),
}
"""For each kind of paired recipe, the function from its two integers to its table."""
SHAPES: dict[str, Callable[[int, int], tuple[int, ...]]] = {
    "shaped": laplace_weights,
    "gaussian": gaussian_weights,
    **PAIRED,
}
"""For each kind of shaped recipe, the function from its two integers to its table."""


def _build_table(falls: Iterable[int], shift: int, *, paired: bool) -> tuple[int, ...]:
    """Return a table of probabilities that decrease on both sides of the shift.

    ``falls`` yields the ratio F(s + j) / F(s) for the distances j = 1, 2, .., times 2^256. All
    entries of the table are rounded down, except the entry at the shift, which is increased so that
    the sum is 2^64.
    """
    above: list[int] = []
    most = shift if paired else _MOST_ABOVE
    for fall in falls:
        if not fall >> _GUARD_BITS - SCALE_BITS or len(above) == most:
            break
        above.append(fall)
    total = (1 << _GUARD_BITS) + sum(above) + sum(above[:shift])
    side = [(fall << SCALE_BITS) // total for fall in above]
    while side and not side[-1]:
        side.pop()
    below = side[:shift] + [0] * (shift - len(side))
    if paired:
        side = below
    peak = (1 << SCALE_BITS) - sum(side) - sum(below)
    return (*reversed(below), peak, *side)


def _laplace_falls(ratio: int) -> Iterator[int]:
    """Yield (ratio / 2^64)^j times 2^256 for j = 1, 2, .., each rounded down."""
    power = 1 << _GUARD_BITS
    while True:
        power = power * ratio >> SCALE_BITS
        yield power


def _gaussian_falls(variance: int) -> Iterator[int]:
    """Yield exp(-j^2 / (2 variance)) times 2^256 for j = 1, 2, ..

    Let g = exp(-1 / (2 variance)). Each result is the previous one times g^(2j - 1). The inverse of
    g is computed by the exponential series, with each term rounded down.
    """
    one = 1 << _GUARD_BITS
    term, series, k = one, 0, 0
    while term:
        series, k = series + term, k + 1
        term //= 2 * variance * k
    step = (one << _GUARD_BITS) // series
    square, power = step * step >> _GUARD_BITS, one
    while True:
        power = power * step >> _GUARD_BITS
        yield power
        step = step * square >> _GUARD_BITS
