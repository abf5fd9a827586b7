"""What is sent several times, or added by several mixes, is debiased as often."""

import math

import pytest

from helpers.named import clear_shaped, flip_bits
from mixtally.primitives.fixed_point import SCALE


@pytest.mark.parametrize("repeats", [1, 2, 7])
def test_people_who_repeat_their_record_are_counted_once(repeats):
    q, users, held = 0.2, 1000, 300
    mechanism = flip_bits(bins=3, threshold=int(q * SCALE), crowd=users, repeats=repeats)
    sent = repeats * users
    shown = repeats * (held * (1 - q) + (users - held) * q)
    assert (shown - mechanism.offset(sent)) / mechanism.gain == pytest.approx(held, rel=1e-12)
    spread = sent * q * (1 - q) / (repeats * (1 - 2 * q)) ** 2
    assert mechanism.variance(sent) == pytest.approx(spread, rel=1e-12)
    assert mechanism.standard_error(users) == pytest.approx(math.sqrt(spread), rel=1e-12)
    assert mechanism.local_epsilon == pytest.approx(repeats * 3 * math.log(4.0), rel=1e-12)


@pytest.mark.parametrize("mixes", [1, 2, 5])
def test_the_fakes_of_every_mix_are_taken_off(mixes):
    one = clear_shaped(bins=4, ratio=round(math.exp(-0.5) * SCALE), shift=9)
    several = clear_shaped(bins=4, ratio=one.fakes.shape.ratio, shift=9, mixes=mixes)
    mean = sum(k * w for k, w in enumerate(one.fakes.shape.weights)) / SCALE
    assert several.offset(0) == pytest.approx(mixes * mean, rel=1e-15)
    assert several.fakes_promised == round(4 * several.offset(0))
    assert several.variance(0) == pytest.approx(mixes * one.variance(0), rel=1e-12)
