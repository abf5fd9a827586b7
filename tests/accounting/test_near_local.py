"""Just below the epsilon that flips keep by themselves there is a delta, from there on none."""

import math
from fractions import Fraction

import pytest

from helpers.named import flip_blank
from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.divergence import ObservedMessage, bit_flips, k_hot
from mixtally.model.mechanism import BitFlips, BlankFakes, NoFakes, UniformFakes
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.memo import Memo
from oracle import exp_exactly, truth_of

NEAR = [10.0**-k for k in range(1, 16)]
CASES = [
    (most, threshold)
    for most in (1, 2, 3)
    for threshold in (SCALE // 5, SCALE // 3, SCALE // 2 - (SCALE >> 7))
]


def local_epsilon(most, threshold):
    return 2 * most * math.log1p((SCALE - 2 * threshold) / threshold)


def below_the_truth(most, threshold):
    """Epsilons at which the bound of one record alone is too low.

    All of its bits kept and all of the other's flipped is what tells most, alone near the end.
    """
    q, local = Fraction(threshold, SCALE), local_epsilon(most, threshold)
    for epsilon in (local * (1.0 - share) for share in NEAR):
        truth = (1 - q) ** (2 * most) - exp_exactly(epsilon) * q ** (2 * most)
        if truth > k_hot.delta_among_blanks(0, most, threshold, epsilon, 2 * most).upper:
            yield epsilon


@pytest.mark.parametrize(("most", "threshold"), CASES)
def test_just_below_the_local_epsilon_no_bound_is_below_the_truth(most, threshold):
    assert list(below_the_truth(most, threshold)) == []
    above = local_epsilon(most, threshold) * (1.0 + 1e-9)
    assert k_hot.delta_among_blanks(0, most, threshold, above, 2 * most).upper == 0.0


@pytest.mark.parametrize("contrast", [1 << 30, 1 << 40, 1 << 50])
def test_flips_near_one_half_are_pure_from_their_own_epsilon_on(contrast):
    threshold = (SCALE - contrast) // 2
    local = 2.0 * math.log1p(contrast / threshold)
    upper, record = Accountant().upper, Record.of(flip_blank(bins=2, fakes=0, threshold=threshold))
    assert upper(record, local * (1.0 + 1e-9)) == 0.0
    assert upper(record, local * (1.0 - 1e-9)) > 1e-30


@pytest.mark.parametrize("share", NEAR[3:13])
@pytest.mark.parametrize("numerator", [7, 31, 57])
@pytest.mark.parametrize(
    ("bins", "most", "fakes", "crowd"),
    [(2, 1, UniformFakes(2), 0), (2, None, NoFakes(), 3), (4, 2, BlankFakes(1), 0)],
)
def test_just_below_the_local_epsilon_no_lower_end_is_above_the_truth(
    bins, most, fakes, crowd, numerator, share
):
    threshold = numerator * SCALE // 128
    one = BitFlips(bins=bins, threshold=threshold, max_set=most, fakes=fakes, crowd=crowd)
    epsilon = local_epsilon(1, threshold) * (1 if most == 1 else bins / 2) * (1.0 - share)
    ends = bit_flips.delta(ObservedMessage(one), epsilon, Memo(1 << 20)).bounds
    assert ends.lower <= truth_of(one, epsilon) <= ends.upper
