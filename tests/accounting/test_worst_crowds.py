"""The worst crowds of bits and bins against all of them, and the cells of blanks."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from helpers.exact_distributions import sums
from helpers.sampled import among, rows
from mixtally.accounting.divergence import one_hot, single_bit, two_outputs
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.memo import Memo

MILLION = 10**6


def exact_bit(ones, zeros, q, grow):
    """Both directions of one bit in a known crowd, in fractions."""
    one, zero = sums(ones + 1, zeros, q), sums(ones, zeros + 1, q)
    ways = ((one, zero), (zero, one))
    return max(sum(max(a - grow * b, 0) for a, b in zip(*way, strict=True)) for way in ways)


@pytest.mark.parametrize("fakes", among([0, 5, 20], [0, 5]))
@pytest.mark.parametrize(
    ("epsilon", "flip"), rows([(0.1, 0.2), (0.5, 0.05), (0.5, 0.3), (2.0, 0.1)], 2)
)
def test_the_worst_crowd_of_a_bit_is_that_of_fractions(fakes, epsilon, flip):
    users, threshold = 16, round(flip * SCALE)
    q, grow = Fraction(threshold, SCALE), Fraction(math.exp(epsilon))
    truth = max(exact_bit(m, users - 1 - m + fakes, q, grow) for m in range(users))
    ends = single_bit.delta(users, fakes, threshold, epsilon, count_crowd=True)
    assert ends.lower <= truth <= ends.upper <= 1.0011 * truth + 2e-18


def every_crowd(users, fakes, threshold, epsilon):
    return max(
        single_bit.delta(users, fakes, threshold, epsilon, ones).lower for ones in range(users)
    )


WORST_BITS = [
    (1000, 0, 5.48, 1.0),  # a few ones are worse by a twentieth
    (1000, 0, 69.1, 1.0),
    (1000, 300, 12.0, 1.0),
    (700, 2000, 30.0, 0.5),
    (1500, 0, 260.0, 0.1),
    (400, 0, 18.0, 3.0),
]


@pytest.mark.parametrize(("users", "fakes", "cover", "epsilon"), rows(WORST_BITS, 2))
def test_no_crowd_of_a_bit_is_worse_than_the_upper_end(users, fakes, cover, epsilon):
    threshold = round(cover / (users + fakes) * SCALE)
    found = every_crowd(users, fakes, threshold, epsilon)
    ends = single_bit.delta(users, fakes, threshold, epsilon, count_crowd=True)
    assert ends.lower <= found * (1 + 1e-8)
    assert found <= ends.upper <= 1.0011 * found + 2e-18
    assert single_bit.expected_upper(users, fakes, threshold, epsilon) == ends.upper


@pytest.mark.parametrize(("epsilon", "cover"), [(0.1, 1402.9), (0.5, 90.13), (1.0, 34.07)])
def test_what_a_search_may_expect_falls_and_is_proved_at_its_end(epsilon, cover):
    thresholds = [round(cover * (1 + step) / MILLION * SCALE) for step in (0, 1e-6, 1e-4, 1e-2)]
    expected = [single_bit.expected_upper(MILLION, 0, t, epsilon) for t in thresholds]
    assert all(later < earlier for earlier, later in itertools.pairwise(expected))
    ends = single_bit.delta(MILLION, 0, thresholds[0], epsilon, count_crowd=True)
    assert ends.upper == expected[0] == pytest.approx(1e-6, rel=2e-2)


def test_the_worst_of_a_million_crowds_takes_few_looks(watch):
    looks = watch(two_outputs, "_directions")
    single_bit.delta(MILLION, 0, round(34.07e-6 * SCALE), 1.0, count_crowd=True)
    assert len(looks) < 80


@pytest.mark.seconds
def test_more_flips_never_hurt_in_a_known_crowd():
    """Flipping the bits that were seen once more is post-processing, whoever held what."""
    for ones, zeros in ((0, 5), (3, 2), (1, 12), (7, 9)):
        for grow in (Fraction(11, 10), Fraction(3), Fraction(500)):
            deltas = [exact_bit(ones, zeros, Fraction(k, 80), grow) for k in range(1, 41)]
            assert deltas == sorted(deltas, reverse=True)
    for epsilon in (1.0, 20.0):
        uppers = [
            single_bit.delta(10**5, 0, round(2.0**x), epsilon, 7).upper
            for x in np.linspace(24, 40, 200)
        ]
        assert all(b <= a * (1 + 4e-9) for a, b in itertools.pairwise(uppers))


def every_two_bins(others, threshold, epsilons):
    """The lower ends of all datasets."""
    price, every = one_hot._two_bins(others, threshold, epsilons, Memo(10**6)), np.arange(10)
    points = [((a, a), (b, b)) for a in range(others + 1) for b in range(others + 1 - a)]
    return [price(point, every[: len(epsilons)]).lower.tolist() for point in points]


@pytest.mark.parametrize(
    ("users", "fakes", "cover", "epsilon"),
    [(40, 0, 8.0, 0.5), (41, 0, 14.0, 0.2), (25, 15, 6.0, 1.0), (30, 0, 5.0, 2.0)],
)
def test_no_two_bins_are_worse_than_the_upper_end(users, fakes, cover, epsilon):
    others = users - 1 + fakes
    threshold = round(cover / (users + fakes) * SCALE)
    found = max(every_two_bins(others, threshold, [epsilon]))[0]
    ends = one_hot.sums_delta(users, fakes, threshold, epsilon)
    assert ends.lower <= found * (1 + 1e-8)
    assert found <= ends.upper <= 1.0021 * found
    assert one_hot.expected_upper_of_sums(users, fakes, threshold, epsilon) >= found


BLANKS = [(MILLION, 10**4, 3.2e-3), (MILLION, 10**6, 4.26e-5), (10**4, 100, 0.045)]


@pytest.mark.parametrize(("users", "fakes", "flip"), BLANKS)
def test_few_cells_of_a_crowd_lose_little_and_on_the_safe_side(users, fakes, flip):
    given = (users, fakes, round(flip * SCALE), 1.0)
    coarse = one_hot._lower_without_common_bit(*given)
    fine = one_hot._lower_without_common_bit(*given, cells=10**5)
    assert 0.97 * fine <= coarse <= fine <= one_hot.blanket_upper(*given)


@pytest.mark.parametrize("length", [1, 2, 5, 31, 33, 1000])
def test_cells_share_out_a_distribution_without_gap_or_overlap(length):
    pmf = np.exp(-0.5 * np.linspace(-12, 12, length) ** 2)
    cells = list(one_hot._cells(pmf))
    assert [i for cell in cells for i in range(cell.start, cell.stop)] == list(range(length))
    assert len(cells) <= 32
    assert all(cell.stop > cell.start for cell in cells)
