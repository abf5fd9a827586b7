"""Numbers that were computed independently, before this code was written.

All at (1, 1e-6) unless said. Printed digits are few; the tolerance is half of the last one, or
0.1 % and never below where the number is a promise.
"""

import math

import pytest

from accounting import by_name
from helpers import least, named
from mixtally.accounting.accountant import Accountant
from mixtally.accounting.divergence import (
    clear_shaped,
    clear_uniform,
    flip_blank,
    flip_uniform,
    k_hot,
    one_hot,
    single_bit,
    vectors,
)
from mixtally.accounting.numerics.flip_ratios import Orbit
from mixtally.accounting.numerics.search import find_least_meeting
from mixtally.model.guarantee import Observer
from mixtally.primitives.fixed_point import SCALE, threshold_of

DELTA = 1e-6
MILLION = 10**6
FAKES = MILLION - 1


def found(name, epsilon=1.0, delta=1e-6, **given):
    """The calibrated mechanism, having checked that it keeps the promise."""
    record = by_name.calibrated(name, epsilon, delta, **given)
    certificate = Accountant().certificate(record, epsilon)
    assert certificate.lower <= certificate.upper <= delta
    return record.message.mechanism


@pytest.mark.parametrize(
    ("epsilon", "flips"),
    [(0.1, 2.6204e-3), (0.5, 1.36040e-4), (1.0, 4.26490e-5), (2.0, 1.80856e-5)],
)
def test_the_least_flip_probability_with_a_fake_a_user(epsilon, flips):
    threshold = least.threshold(FAKES, epsilon, DELTA)
    assert threshold / SCALE == pytest.approx(flips, rel=1e-3)
    assert flip_blank.delta(FAKES, threshold, epsilon).upper <= DELTA
    smaller = threshold - threshold // 10**6
    assert flip_blank.delta(FAKES, smaller, epsilon).lower > DELTA


def test_flipped_blanks_leave_an_error_of_nine():
    mechanism = named.flip_blank(
        bins=1000, fakes=FAKES, threshold=least.threshold(FAKES, 1.0, DELTA)
    )
    assert mechanism.standard_error(MILLION) == pytest.approx(9.24, abs=0.01)


@pytest.mark.parametrize(("bins", "fakes"), [(10, 422), (100, 4261), (1000, 42650)])
def test_the_least_uniform_fakes(bins, fakes):
    assert least.uniform_fakes(bins, 1.0, DELTA) == fakes
    assert clear_uniform.delta(fakes, bins, 1.0).upper <= DELTA
    assert clear_uniform.delta(fakes - 1, bins, 1.0).lower > DELTA


def test_uniform_fakes_leave_an_error_of_six_and_a_half():
    mechanism = named.clear_uniform(bins=1000, fakes=42650)
    assert mechanism.standard_error(MILLION) == pytest.approx(6.53, abs=0.005)


def test_the_least_shape_is_nearly_the_central_noise():
    ratio, shift = least.shape(1.0, DELTA).values()
    mechanism = named.clear_shaped(bins=1000, ratio=ratio, shift=shift)
    central = math.sqrt(2 * math.exp(-0.5)) / (1 - math.exp(-0.5))  # discrete Laplace, eps / 2
    assert shift == 25
    assert central == pytest.approx(2.80, abs=0.005)
    assert 0.99 * central < mechanism.standard_error(MILLION) <= 2.86
    assert clear_shaped.delta(mechanism.fakes.shape.weights, 1.0).upper <= DELTA


@pytest.mark.parametrize(
    ("epsilon", "flips"), [(1.0, 34.067), (0.5, 90.13), (0.1, 1402.9), (2.0, 17.305)]
)
def test_flips_of_a_single_bit_in_the_worst_crowd(epsilon, flips):
    """Without fakes; the exact least n q, so a promise may not need less."""
    made = found("single-bit", epsilon, users=MILLION, fakes=0)
    nq = made.threshold / SCALE * MILLION
    assert flips * (1 - 5e-5) <= nq <= flips * 1.001


def test_a_crowd_of_zeros_is_nearly_the_worst():
    """A few ones cost a little more, by the lattice: below 0.05 % of q."""
    worst = found("single-bit", users=MILLION, fakes=0)
    zeros = found("single-bit", users=MILLION, fakes=0, ones=0)
    assert zeros.threshold <= worst.threshold <= 1.001 * zeros.threshold
    assert worst.standard_error(MILLION) == pytest.approx(5.84, abs=0.005)


def test_one_hot_without_fakes_in_a_crowd_of_a_million():
    made = found("flip", users=MILLION)
    assert made.threshold / SCALE == pytest.approx(6.45e-3, abs=5e-6)
    assert made.standard_error(MILLION) == pytest.approx(81, abs=0.5)


@pytest.mark.parametrize(("users", "apart"), [(MILLION, 0.01), (10**4, 0.04)])
def test_the_ends_for_one_hot_without_fakes_are_close_in_q(users, apart):
    """The least q that the upper bound allows, and the largest that the lower bound refuses."""
    safe = found("flip", users=users).threshold

    def lower(threshold):
        return one_hot.messages_delta(users, 0, threshold, 1.0).lower

    needed = find_least_meeting(lower, 1e-6, 1 << 24, 1 << 62, start=safe, tolerance=1e-6)
    assert safe * (1 - apart) <= needed <= safe * (1 + 1e-6)


@pytest.mark.parametrize(
    ("fakes", "q", "q_digit", "error", "error_digit"),
    [
        (10**4, 3.20e-3, 1e-5, 57, 1),
        (10**5, 4.24e-4, 1e-6, 21.6, 0.1),
        (10**6, 4.26e-5, 1e-7, 9.2, 0.1),
    ],
)
def test_one_hot_with_fakes_and_the_crowd_counted(fakes, q, q_digit, error, error_digit):
    made = found("flip-blank", users=MILLION, fakes=fakes, count_crowd=True)
    assert made.threshold / SCALE == pytest.approx(q, abs=0.6 * q_digit)
    assert made.standard_error(MILLION) == pytest.approx(error, abs=0.5 * error_digit)
    alone = found("flip-blank", users=MILLION, fakes=fakes)
    assert made.threshold <= alone.threshold


@pytest.mark.parametrize(
    ("epsilon", "delta", "cover"),
    [(1, 1e-6, 42.65), (1, 1e-9, 72.1), (0.5, 1e-6, 136), (2, 1e-6, 18.1), (0.1, 1e-6, 2640)],
)
def test_flips_of_ten_million_blanks(epsilon, delta, cover):
    made = found("flip-blank", epsilon, delta, fakes=10**7)
    assert made.threshold / SCALE * 10**7 == pytest.approx(cover, rel=2e-3)


def test_zeros_and_an_outlier_of_ones_are_not_the_worst():
    """L = 4, N = 1e6 with the person, epsilon = 2, q = 0.043 as it stands, everybody else 0000.

    1110 against 1111 gives 3.31e-6, which was printed as 3.1e-6 (q was rounded); 0000 against 1111
    in the same direction, v over u, 5.65e-7, which was printed as 5.3e-7.
    """
    threshold = threshold_of(0.043)
    near = vectors.orbit_delta(MILLION, Orbit(0, 1, 3), threshold, 2.0)
    antipodal = vectors.homogeneous_delta(MILLION, 4, threshold, 2.0)
    assert 3.30e-6 < near.lower <= near.upper < 3.32e-6
    assert 5.64e-7 < antipodal.lower <= antipodal.upper < 5.66e-7
    worst = vectors.worst_homogeneous_delta(MILLION, 4, threshold, 2.0)
    assert worst.upper == pytest.approx(near.upper, rel=1e-9)
    reverse = vectors.orbit_delta(MILLION, Orbit(1, 0, 3), threshold, 2.0)
    assert reverse.upper < 1e-12


def test_vectors_of_five_bits():
    """N = 5000, epsilon = 2: safe for any dataset from 0.199, unsafe for some below 0.150."""
    safe, unsafe = (
        [end(5000, 5, threshold_of(q), 2.0) for q in qs]
        for end, qs in (
            (vectors.any_dataset_delta, (0.1980, 0.1994)),
            (vectors.worst_homogeneous_delta, (0.1494, 0.1499)),
        )
    )
    assert safe[0].upper > 1e-6 >= safe[1].upper
    assert unsafe[0].lower > 1e-6 >= unsafe[1].lower


@pytest.mark.slow
def test_vectors_of_forty_bits():
    """N = 1e7, epsilon = 2: safe for any dataset from 0.382; both bounds take minutes."""
    unsafe, safe = (
        vectors.blanket_upper(10**7, 40, threshold_of(q), 2.0) for q in (0.3814, 0.3825)
    )
    assert unsafe > 1e-6 >= safe


def test_an_outlier_of_forty_ones():
    """N = 1e7, epsilon = 2: 1.03e-6 at q = 0.374, where a Gaussian says nothing."""
    ends = vectors.homogeneous_delta(10**7, 40, threshold_of(0.374), 2.0)
    assert ends.upper == pytest.approx(1.03e-6, abs=5e-9)


def test_flips_of_uniform_fakes_are_no_fewer_than_those_of_blanks():
    """K = 1e4: .00419 at a thousand bins times ten, .00395 at a thousand, blank .00421."""
    for bins, q in ((10**4, 0.00419), (10**3, 0.00395)):
        made = found("flip-uniform", users=MILLION, fakes=10**4, bins=bins)
        assert made.threshold / SCALE == pytest.approx(q, abs=6e-6)
        assert flip_uniform.messages_delta(10**4, bins, made.threshold, 1.0).upper <= 1e-6
    blank = found("flip-blank", fakes=10**4)
    assert blank.threshold / SCALE == pytest.approx(0.00421, abs=6e-6)


@pytest.mark.parametrize(
    ("repeats", "error"), [(1, 5.84), (2, 4.98), (5, 4.51), (10, 4.37), (100, 4.24)]
)
def test_repeats_of_a_single_bit_gain_a_little(repeats, error):
    """N = 1e5 with the person, everybody else a zero, no fakes; the limit is 4.22."""
    made = found("single-bit", users=10**5, fakes=0, ones=0, repeats=repeats)
    assert made.standard_error(10**5) == pytest.approx(error, abs=0.0055)
    assert made.standard_error(10**5) > 4.22


def test_repeats_of_a_single_bit_need_more_flipping():
    once_and_more = [
        found("single-bit", users=10**5, fakes=0, ones=0, repeats=repeats) for repeats in (1, 2, 5)
    ]
    assert once_and_more[0].threshold < once_and_more[1].threshold < once_and_more[2].threshold


def test_sums_need_a_hundredth_of_the_flips_that_messages_need():
    """No fakes: the same order as a single bit, as two bins differ."""
    made = found("flip", users=MILLION, bins=100, observer=Observer.SUMS)
    assert 34 < made.threshold / SCALE * MILLION < 100


def test_two_hot_records_among_blanks_cost_more_than_one_hot():
    threshold = threshold_of(4.3e-3)
    one = k_hot.delta_among_blanks(10**4, 1, threshold, 1.0)
    assert one.upper == pytest.approx(flip_blank.delta(10**4, threshold, 1.0).upper, rel=1e-3)
    assert k_hot.delta_among_blanks(10**4, 2, threshold, 1.0).lower > 100 * one.upper


CORNERS = [(e, d) for e in (0.01, 20.0) for d in (1e-15, 0.1)]
AT_THE_CORNERS = [
    ("flip-blank", {"fakes": 10**6}, CORNERS),
    ("flip-blank", {"fakes": 10**6, "users": 10**6, "count_crowd": True}, CORNERS),
    ("flip-blank", {"fakes": 10**6, "max_set": 2}, CORNERS[:2]),
    ("clear-uniform", {"bins": 100}, CORNERS),
    ("single-bit", {"users": 10**5, "fakes": 0, "ones": 0}, CORNERS),
    ("flip", {"users": 10**6}, CORNERS[:2]),
    ("flip", {"users": 10**6, "bits": 3}, CORNERS[:2]),
    ("flip-uniform", {"users": 10**6, "fakes": 10**6, "bins": 100}, CORNERS[:2]),
]


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("name", "given", "epsilon", "delta"),
    [(name, given, *corner) for name, given, corners in AT_THE_CORNERS for corner in corners],
)
def test_the_corners_of_the_ranges_can_be_promised(name, given, epsilon, delta):
    made = found(name, epsilon, delta, **given)
    assert math.isfinite(made.standard_error(given.get("users", 10**6)))
    threshold = made.flip_threshold
    if threshold is not None and threshold > 1 << 25:
        less = given | {"threshold": threshold - (threshold >> 6)}
        assert by_name.certificate_of(name, epsilon, **less).upper > delta


def test_a_corner_with_known_ones_can_be_promised():
    """Where q is tiny the divergence is next to nothing, yet it must be seen to fall."""
    given = {"users": 10**5, "fakes": 0, "ones": 7}
    made = found("single-bit", 20.0, 1e-15, **given)
    assert (
        by_name.certificate_of("single-bit", 20.0, threshold=made.threshold, **given).upper <= 1e-15
    )


def test_a_single_bit_among_fakes_alone_needs_one_direction_more():
    """Fakes alone hide a bit as a crowd of zeros of the same size does."""
    threshold = threshold_of(34.1e-6)
    fakes = single_bit.delta(2, MILLION - 1, threshold, 1.0)
    zeros = single_bit.delta(MILLION, 0, threshold, 1.0, 0)
    assert fakes == zeros
