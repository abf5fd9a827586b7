"""What every mechanism says about itself, by calculation from the chances of its messages."""

import math
from fractions import Fraction

import pytest

from helpers.named import clear_shaped, clear_uniform, flip_blank, flip_uniform
from mixtally.errors import ParameterError
from mixtally.model.layout import Form
from mixtally.model.mechanism import FakeSource
from mixtally.primitives.fixed_point import SCALE

USERS = 1000
SHAPE = {"ratio": round(math.exp(-0.5) * SCALE), "shift": 27}


def coin_moments(chances):
    """Mean and variance of a sum of independent coins, each [chance, how many]."""
    mean = sum(Fraction(p) * many for p, many in chances)
    variance = sum(Fraction(p) * (1 - Fraction(p)) * many for p, many in chances)
    return float(mean), float(variance)


@pytest.mark.parametrize("fakes", [0, 1, 5000])
@pytest.mark.parametrize("threshold", [1 << 24, 1 << 50, 1 << 60, (1 << 62) + 12345])
def test_flipped_blanks_are_debiased_by_the_moments_of_their_coins(fakes, threshold):
    mechanism = flip_blank(bins=7, fakes=fakes, threshold=threshold)
    q = Fraction(threshold, SCALE)
    mean, variance = coin_moments([(q, USERS + fakes)])
    full, _ = coin_moments([(q, fakes), (1 - q, USERS)])
    assert mechanism.offset(USERS + fakes) == pytest.approx(mean, rel=1e-12)
    assert mechanism.gain == pytest.approx((full - mean) / USERS, rel=1e-12)
    expected = variance / float(1 - 2 * q) ** 2
    assert mechanism.variance(USERS + fakes) == pytest.approx(expected, rel=1e-12)
    assert mechanism.standard_error(USERS) == pytest.approx(math.sqrt(expected), rel=1e-12)


@pytest.mark.parametrize("fakes", [0, 1, 5000])
@pytest.mark.parametrize("bins", [2, 7, 10**7])
def test_uniform_fakes_are_debiased_by_the_moments_of_their_coins(fakes, bins):
    mechanism = clear_uniform(bins=bins, fakes=fakes)
    mean, variance = coin_moments([(Fraction(1, bins), fakes)])
    assert mechanism.offset(USERS + fakes) == pytest.approx(mean, rel=1e-12)
    assert mechanism.variance(USERS + fakes) == pytest.approx(variance, rel=1e-12)
    assert mechanism.standard_error(USERS) == pytest.approx(math.sqrt(variance), rel=1e-12)
    assert mechanism.gain == 1.0


@pytest.mark.parametrize("fakes", [0, 1, 5000])
@pytest.mark.parametrize("bins", [2, 7, 10**7])
@pytest.mark.parametrize("threshold", [1 << 24, 1 << 50, 1 << 60, (1 << 62) + 12345])
def test_flipped_uniform_fakes_are_debiased_by_the_moments_of_their_coins(threshold, bins, fakes):
    """A fake's bit holds a one with chance 1/d, and is then flipped as a person's."""
    mechanism = flip_uniform(bins=bins, fakes=fakes, threshold=threshold)
    q, share = Fraction(threshold, SCALE), Fraction(1, bins)
    shown = share * (1 - q) + (1 - share) * q
    mean, variance = coin_moments([(q, USERS), (shown, fakes)])
    full, _ = coin_moments([(1 - q, USERS), (shown, fakes)])
    assert mechanism.offset(USERS + fakes) == pytest.approx(mean, rel=1e-12)
    assert mechanism.gain == pytest.approx((full - mean) / USERS, rel=1e-12)
    expected = variance / float(1 - 2 * q) ** 2
    assert mechanism.variance(USERS + fakes) == pytest.approx(expected, rel=1e-12)
    assert mechanism.standard_error(USERS) == pytest.approx(math.sqrt(expected), rel=1e-12)
    blank = flip_blank(bins=bins, fakes=fakes, threshold=threshold).variance(USERS + fakes)
    split = blank + fakes / bins * (1 - 1 / bins)
    assert mechanism.variance(USERS + fakes) == pytest.approx(split, rel=1e-12)


@pytest.mark.parametrize("shift", [1, 2, 27, 300])
@pytest.mark.parametrize("ratio", [1, 1 << 40, SHAPE["ratio"], 15 << 60])
def test_shaped_fakes_are_debiased_by_the_moments_of_their_law(shift, ratio):
    mechanism = clear_shaped(bins=7, ratio=ratio, shift=shift)
    law = [Fraction(w, SCALE) for w in mechanism.fakes.shape.weights]
    mean = sum(k * p for k, p in enumerate(law))
    variance = sum(k * k * p for k, p in enumerate(law)) - mean**2
    assert mechanism.offset(USERS) == float(mean)
    assert mechanism.variance(USERS) == pytest.approx(float(variance), rel=1e-12)
    assert mechanism.standard_error(USERS) == pytest.approx(math.sqrt(variance), rel=1e-12)
    assert mechanism.gain == 1.0
    assert mechanism.fakes_promised == round(7 * mean)


def test_half_flips_tell_nothing():
    for kind in (flip_blank, flip_uniform):
        mechanism = kind(bins=2, fakes=10, threshold=1 << 63)
        assert mechanism.gain == 0.0
        assert mechanism.variance(20) == math.inf
        assert mechanism.local_epsilon == 0.0


@pytest.mark.parametrize("threshold", [1 << 24, 1 << 60, 1 << 62])
def test_the_local_promise_is_the_largest_ratio_of_two_one_hot_records(threshold):
    q = Fraction(threshold, SCALE)
    for kind in (flip_blank, flip_uniform):
        local = kind(bins=9, fakes=3, threshold=threshold).local_epsilon
        assert math.exp(local) == pytest.approx(float(((1 - q) / q) ** 2), rel=1e-12)


@pytest.mark.parametrize("above", [1, 1 << 22, 1 << 40, 1 << 60])
def test_the_local_promise_of_nearly_half_flips_keeps_its_digits(above):
    """2 ln((1 - q) / q) is 4 x + 4 x^3 / 3 + .. for x = 1 - 2 q."""
    x = Fraction(2 * above, SCALE)
    true = sum(4 * x**power / power for power in range(1, 40, 2))
    local = flip_blank(bins=9, fakes=3, threshold=(1 << 63) - above).local_epsilon
    assert local == pytest.approx(float(true), rel=1e-14, abs=0.0)


def test_a_record_in_clear_has_no_local_promise():
    assert clear_uniform(bins=9, fakes=3).local_epsilon == math.inf
    assert clear_shaped(bins=9, **SHAPE).local_epsilon == math.inf


def test_the_form_and_the_flips_of_every_protocol():
    blank = flip_blank(bins=105, fakes=1, threshold=1 << 60)
    assert (blank.layout.form, blank.layout.message_bytes) == (Form.BITS, 14)
    assert blank.flip_threshold == 1 << 60
    assert blank.flip_probability == 1 / 16
    for clear in (clear_uniform(bins=257, fakes=3), clear_shaped(bins=257, **SHAPE)):
        assert (clear.layout.form, clear.layout.message_bytes) == (Form.INDEX, 2)
        assert clear.flip_threshold is None


@pytest.mark.parametrize(("share", "left"), [(1.0, 101), (0.5, 50), (0.001, 0), (0.999, 100)])
def test_only_the_fakes_of_honest_people_certainly_arrive(share, left):
    blank = flip_blank(bins=3, fakes=101, threshold=1 << 60)
    assert blank.with_honest(share) == flip_blank(bins=3, fakes=left, threshold=1 << 60)
    assert clear_uniform(bins=3, fakes=101).with_honest(share).fakes.count == left


def test_a_mix_draws_all_its_fakes_itself():
    shaped = clear_shaped(bins=3, **SHAPE)
    assert shaped.fake_source is FakeSource.MIX
    assert shaped.with_honest(0.1) == shaped


@pytest.mark.parametrize("bins", [0, 1, 10**7 + 1])
def test_impossible_bins_are_refused(bins):
    with pytest.raises(ParameterError, match="bins"):
        flip_blank(bins=bins, fakes=1, threshold=1 << 60)
    with pytest.raises(ParameterError, match="bins"):
        clear_uniform(bins=bins, fakes=1)
    with pytest.raises(ParameterError, match="bins"):
        clear_shaped(bins=bins, **SHAPE)


@pytest.mark.parametrize("fakes", [-1, 10**13 + 1])
def test_impossible_fakes_are_refused(fakes):
    with pytest.raises(ParameterError, match="fakes"):
        clear_uniform(bins=3, fakes=fakes)
