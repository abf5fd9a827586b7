"""Numbers computed elsewhere, twice and independently: the project's mathematics, sections 4, 8."""

import math

import pytest

from helpers import least
from mixtally.errors import ParameterError
from mixtally.ground.fixed import SCALE
from mixtally.privacy.divergence import clear_shaped, clear_uniform, flip_blank
from mixtally.records.mechanism import ShapedFakes, named

DELTA = 1e-6
USERS = 1_000_000
FAKES = 999_999


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


@pytest.mark.parametrize(
    ("fakes", "epsilon", "delta", "cover"),
    [
        (10**7, 1.0, 1e-6, 42.65),
        (10**7, 1.0, 1e-9, 72.1),
        (10**7, 0.5, 1e-6, 136.0),
        (10**7, 2.0, 1e-6, 18.1),
        (10**7, 0.1, 1e-6, 2640.0),
    ],
)
def test_the_cover_a_bin_needs_is_one_constant(fakes, epsilon, delta, cover):
    threshold = least.threshold(fakes, epsilon, delta)
    assert fakes * threshold / SCALE == pytest.approx(cover, rel=2e-3)


def test_flipped_blanks_leave_an_error_of_nine():
    mechanism = named.flip_blank(
        bins=1000, fakes=FAKES, threshold=least.threshold(FAKES, 1.0, DELTA)
    )
    assert mechanism.standard_error(USERS) == pytest.approx(9.24, abs=0.01)


@pytest.mark.parametrize(("bins", "fakes"), [(10, 422), (100, 4261), (1000, 42650)])
def test_the_least_uniform_fakes(bins, fakes):
    assert least.uniform_fakes(bins, 1.0, DELTA) == fakes
    assert clear_uniform.delta(fakes, bins, 1.0).upper <= DELTA
    assert clear_uniform.delta(fakes - 1, bins, 1.0).lower > DELTA


def test_uniform_fakes_leave_an_error_of_six_and_a_half():
    mechanism = named.clear_uniform(bins=1000, fakes=42650)
    assert mechanism.standard_error(USERS) == pytest.approx(6.53, abs=0.005)


def test_the_least_shape_is_nearly_the_central_noise():
    ratio, shift = least.shape(1.0, DELTA).values()
    mechanism = named.clear_shaped(bins=1000, ratio=ratio, shift=shift)
    central = math.sqrt(2 * math.exp(-0.5)) / (1 - math.exp(-0.5))  # discrete Laplace, eps / 2
    assert shift <= 28
    assert central == pytest.approx(2.80, abs=0.005)
    assert 0.99 * central < mechanism.standard_error(USERS) <= 2.86
    assert clear_shaped.delta(mechanism.fakes.weights, 1.0).upper <= DELTA


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("delta", [0.1, 1e-6, 1e-12])
def test_a_shape_with_one_fake_fewer_a_bin_fails(epsilon, delta):
    ratio, shift = least.shape(epsilon, delta).values()
    assert clear_shaped.delta(ShapedFakes(ratio, shift).weights, epsilon).upper <= delta
    if shift > 1:
        assert clear_shaped.delta(ShapedFakes(ratio, shift - 1).weights, epsilon).lower > delta


@pytest.mark.parametrize("threshold", [SCALE // 10**6, SCALE // 1000, SCALE // 20])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.5, 1e-9), (3.0, 1e-3)])
def test_the_least_blank_fakes(threshold, epsilon, delta):
    fakes = least.blank_fakes(threshold, epsilon, delta)
    assert flip_blank.delta(fakes, threshold, epsilon).upper <= delta
    assert flip_blank.delta(fakes - 1, threshold, epsilon).upper > delta


def test_flips_that_suffice_alone_need_no_fakes():
    assert least.blank_fakes(1 << 63, 1.0, DELTA) == 0
    assert least.blank_fakes(round(0.4 * SCALE), 1.0, DELTA) == 0


def test_flips_too_rare_for_any_fakes_are_refused():
    with pytest.raises(ParameterError, match="some fakes can protect"):
        least.blank_fakes(1 << 24, 0.01, 1e-15)


def test_fewer_fakes_ask_for_more_flips_up_to_the_local_promise():
    covers = [least.threshold(fakes, 1.0, DELTA) for fakes in (0, 1, 100, 10**4, 10**6)]
    assert covers == sorted(covers, reverse=True)
    assert covers[0] / SCALE == pytest.approx(1 / (1 + math.exp(0.5)), rel=1e-5)
