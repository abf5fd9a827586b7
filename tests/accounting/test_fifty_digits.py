"""Moderate collections at 50 digits, summed from the definition of the divergence.

For flip-blank and clear-uniform only the counts of the two bins in question tell the two datasets
apart, so delta = sum over their values (s, t) of (P(s, t) - e^eps Q(s, t))_+, here term by term.
"""

import math
from fractions import Fraction

import mpmath as mp
import pytest

from helpers.named import clear_uniform as clear_uniform_of
from helpers.named import flip_blank as flip_blank_of
from helpers.sampled import among, rows
from mixtally.accounting.divergence import clear_shaped, clear_uniform, flip_blank
from mixtally.model.shape import LaplaceShape, ratio_of
from mixtally.primitives.fixed_point import SCALE
from oracle import exp_exactly, truth_of

DIGITS = 50


@pytest.fixture(autouse=True)
def fifty_digits():
    with mp.workdps(DIGITS):
        yield


def binomial(trials, chance, most):
    """P(X = 0..most), by the ratio of neighbours."""
    plan = [(1 - chance) ** trials]
    odds = chance / (1 - chance)
    for k in range(most):
        plan.append(plan[-1] * (trials - k) / (k + 1) * odds)
    return plan


def furthest(mean, trials):
    """Past here the tail is below 1e-30 of the mass; the deltas compared are above 1e-15."""
    return min(trials, math.ceil(mean + 13 * math.sqrt(mean) + 60))


def flip_blank_by_definition(fakes, threshold, epsilon):
    q = mp.mpf(threshold) / SCALE
    most = furthest(fakes * float(q), fakes) + 1
    blanks = [*binomial(fakes, q, min(most, fakes)), mp.mpf(0)][: most + 1]
    set_bit = [blanks[s] * q + (blanks[s - 1] * (1 - q) if s else 0) for s in range(len(blanks))]
    no_bit = [blanks[s] * (1 - q) + (blanks[s - 1] * q if s else 0) for s in range(len(blanks))]
    grow = mp.exp(mp.mpf(epsilon))
    total = mp.mpf(0)
    for up, down in zip(set_bit, no_bit, strict=True):
        for low, high in zip(no_bit, set_bit, strict=True):
            total += max(up * low - grow * down * high, 0)
    return total


def clear_uniform_by_definition(fakes, bins, epsilon):
    share = mp.mpf(1) / bins
    most = furthest(fakes / bins, fakes)
    pairs = {}  # P(s fakes in the one bin, t in the other)
    for s, chance in enumerate(binomial(fakes, share, most)):
        left = fakes - s
        if bins == 2:
            pairs[s, left] = chance
            continue
        for t, given_s in enumerate(binomial(left, share / (1 - share), min(most, left))):
            pairs[s, t] = chance * given_s
    grow, none = mp.exp(mp.mpf(epsilon)), mp.mpf(0)
    with_the_record = ((s + 1, t) for s, t in pairs)
    return sum(
        max(pairs[s - 1, t] - grow * pairs.get((s, t - 1), none), 0) for s, t in with_the_record
    )


def agrees(ends, truth):
    middle = mp.mpf(ends.lower) / 2 + mp.mpf(ends.upper) / 2
    return ends.lower <= truth <= ends.upper and abs(middle / truth - 1) < 1e-10


@pytest.mark.parametrize(
    ("fakes", "cover"), rows([(49, 5), (50, 8), (199, 20), (500, 30), (1999, 8), (1999, 35)], 2)
)
@pytest.mark.parametrize("epsilon", among([0.05, 0.5, 1.0, 2.0], [0.05, 2.0]))
def test_flip_blank_has_ten_digits(fakes, cover, epsilon):
    threshold = cover * SCALE // fakes + 12345
    truth = flip_blank_by_definition(fakes, threshold, epsilon)
    assert truth > 1e-15
    assert agrees(flip_blank.delta(fakes, threshold, epsilon), truth)


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("fakes", "bins"), [(100, 2), (50, 3), (99, 10), (450, 10), (1999, 45), (1999, 300)]
)
@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0])
def test_clear_uniform_has_ten_digits(fakes, bins, epsilon):
    truth = clear_uniform_by_definition(fakes, bins, epsilon)
    assert truth > 1e-15
    assert agrees(clear_uniform.delta(fakes, bins, epsilon), truth)


@pytest.mark.parametrize(("decay", "shift"), [(0.5, 27), (0.05, 40), (0.6, 20), (1.0, 12)])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 2.0])
def test_clear_shaped_has_ten_digits(decay, shift, epsilon):
    """In fractions, from the same definition: no digits are lost at all."""
    weights = LaplaceShape(ratio_of(decay), shift).weights
    more, fewer = (0, *weights), (*weights, 0)
    grow = exp_exactly(epsilon)
    gains = (
        grow.denominator * one * low - grow.numerator * other * high
        for one, other in zip(more, fewer, strict=True)
        for high, low in zip(more, fewer, strict=True)
    )
    truth = Fraction(sum(gain for gain in gains if gain > 0), grow.denominator * SCALE**2)
    assert agrees(clear_shaped.delta(weights, epsilon), mp.mpf(truth.numerator) / truth.denominator)


def test_the_definition_agrees_with_the_enumeration():
    few = flip_blank_of(bins=3, fakes=4, threshold=SCALE // 5)
    blank = float(flip_blank_by_definition(4, SCALE // 5, 0.5))
    assert blank == pytest.approx(float(truth_of(few, 0.5)), rel=1e-15)
    uniform = float(clear_uniform_by_definition(5, 3, 0.5))
    assert uniform == pytest.approx(
        float(truth_of(clear_uniform_of(bins=3, fakes=5), 0.5)), rel=1e-15
    )
