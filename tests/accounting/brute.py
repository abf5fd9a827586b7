"""Divergences by enumeration of every outcome, in exact integers, from the definition alone.

A record's distribution is a dict from what it adds to the collection, a vector of counts, to an
integer weight; what an observer of the shuffled messages sees is the sum of these vectors.
"""

from collections.abc import Callable, Iterable
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache

from mixtally.accounting.divergence import clear_shaped, clear_uniform, flip_blank
from mixtally.accounting.numerics.bracket import Bracket
from mixtally.model.shape import LaplaceShape
from mixtally.primitives.fixed_point import SCALE

Distribution = dict[tuple[int, ...], int]

BLANK_CASES = [
    (bins, fakes, threshold, epsilon)
    for bins in (2, 3)
    for fakes in (0, 1, 2, 5)
    for threshold in (1 << 24, SCALE // 100, SCALE // 5, (1 << 63) - (1 << 59))
    for epsilon in (0.01, 0.3, 1.0, 5.0)
]
UNIFORM_CASES = [
    (bins, fakes, epsilon) for bins in (2, 3) for fakes in range(6) for epsilon in (0.01, 0.3, 1, 5)
]
SHAPED_CASES = [
    (bins, ratio, shift, epsilon)
    for bins in (2, 3)
    for ratio in (1 << 40, SCALE // 20, SCALE >> 7)
    for shift in (1, 2)
    for epsilon in (0.01, 0.3, 1.0, 5.0)
]


def exp_exactly(epsilon: float) -> Fraction:
    """e^epsilon to 60 digits."""
    return Fraction(Context(prec=60).exp(Decimal(epsilon)))


def sum_of(distributions: Iterable[Distribution]) -> Distribution:
    """The distribution of the sum of independent vectors."""
    total: Distribution | None = None
    for pmf in distributions:
        if total is None:
            total = pmf
            continue
        wider: Distribution = {}
        for seen, weight in total.items():
            for added, chance in pmf.items():
                both = tuple(map(int.__add__, seen, added))
                wider[both] = wider.get(both, 0) + weight * chance
        total = wider
    assert total is not None
    return total


def one_way(one: Distribution, other: Distribution, epsilon: float) -> Fraction:
    """sum of (P - e^epsilon Q)_+ over all outcomes."""
    grow = exp_exactly(epsilon)
    all_one, all_other = sum(one.values()), sum(other.values())
    above = grow.denominator * all_other
    below = grow.numerator * all_one
    gains = (above * weight - below * other.get(seen, 0) for seen, weight in one.items())
    return Fraction(sum(gain for gain in gains if gain > 0), above * all_one)


def divergence(
    hiding: Distribution, one: Distribution, other: Distribution, epsilon: float
) -> Fraction:
    """delta(epsilon) of the person whose record's distribution is ``one`` or ``other``, the worse
    way.
    """
    with_one, with_other = sum_of([one, hiding]), sum_of([other, hiding])
    return max(one_way(with_one, with_other, epsilon), one_way(with_other, with_one, epsilon))


def flipped(bins: int, true_bits: int, threshold: int) -> Distribution:
    """A record of ``bins`` bits, each flipped with threshold / 2^64: which string is added."""
    strings = range(1 << bins)
    pmf = {}
    for string in strings:
        flips = (string ^ true_bits).bit_count()
        vector = tuple(int(other == string) for other in strings)
        pmf[vector] = threshold**flips * (SCALE - threshold) ** (bins - flips)
    return pmf


def in_clear(bins: int, position: int) -> Distribution:
    """A record in clear."""
    return {tuple(int(b == position) for b in range(bins)): 1}


def uniform(bins: int) -> Distribution:
    """A fake that falls uniformly."""
    return {vector: 1 for b in range(bins) for vector in in_clear(bins, b)}


def shaped(bins: int, position: int, weights: tuple[int, ...]) -> Distribution:
    """The fakes of one bin."""
    return {
        tuple(k * int(b == position) for b in range(bins)): weight
        for k, weight in enumerate(weights)
    }


@lru_cache(maxsize=256)
def _blanks(
    bins: int, fakes: int, threshold: int, others: tuple[int, ...]
) -> tuple[Distribution, Distribution]:
    """The whole collection when the person holds bin 0 and when they hold bin 1."""
    others_distributions = [flipped(bins, 1 << value, threshold) for value in others]
    hiding = [flipped(bins, 0, threshold)] * fakes + others_distributions
    one, other = (sum_of([*hiding, flipped(bins, bit, threshold)]) for bit in (1, 2))
    return one, other


def flip_blank_delta(
    bins: int, fakes: int, threshold: int, epsilon: float, others: tuple[int, ...] = ()
) -> Fraction:
    """The truth of flip-blank, further people holding ``others``."""
    one, other = _blanks(bins, fakes, threshold, others)
    return max(one_way(one, other, epsilon), one_way(other, one, epsilon))


def clear_uniform_delta(
    bins: int, fakes: int, epsilon: float, others: tuple[int, ...] = ()
) -> Fraction:
    """The truth of clear-uniform, further people holding ``others``."""
    nobody = {(0,) * bins: 1}
    hiding = sum_of([nobody, *[uniform(bins)] * fakes, *(in_clear(bins, b) for b in others)])
    return divergence(hiding, in_clear(bins, 0), in_clear(bins, 1), epsilon)


def clear_shaped_delta(
    bins: int, weights: tuple[int, ...], epsilon: float, others: tuple[int, ...] = ()
) -> Fraction:
    """The truth of clear-shaped, further people holding ``others``."""
    fakes = (shaped(bins, b, weights) for b in range(bins))
    hiding = sum_of([*fakes, *(in_clear(bins, b) for b in others)])
    return divergence(hiding, in_clear(bins, 0), in_clear(bins, 1), epsilon)


def brackets(ends: Bracket, truth: Fraction) -> bool:
    """Whether the ends hold the truth between them, and closely."""
    near = abs(Fraction(ends.upper) - truth) <= Fraction(1e-12) + Fraction(2e-9) * truth
    return ends.lower <= truth <= ends.upper and near


Delta = Callable[..., Bracket]


def flip_blank_holds(
    bins: int, fakes: int, threshold: int, epsilon: float, delta: Delta = flip_blank.delta
) -> bool:
    """Whether the number for flip-blank, the module's or another, is the truth."""
    truth = flip_blank_delta(bins, fakes, threshold, epsilon)
    return brackets(delta(fakes, threshold, epsilon), truth)


def clear_uniform_holds(
    bins: int, fakes: int, epsilon: float, delta: Delta = clear_uniform.delta
) -> bool:
    """Whether the number for clear-uniform, the module's or another, is the truth."""
    truth = clear_uniform_delta(bins, fakes, epsilon)
    return brackets(delta(fakes, bins, epsilon), truth)


def clear_shaped_holds(
    bins: int, ratio: int, shift: int, epsilon: float, delta: Delta = clear_shaped.delta
) -> bool:
    """Whether the number for clear-shaped, the module's or another, is the truth."""
    weights = LaplaceShape(ratio, shift).weights
    truth = clear_shaped_delta(bins, weights, epsilon)
    return brackets(delta(weights, epsilon), truth)
