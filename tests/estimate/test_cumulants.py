"""Cumulants of the noise are those of the exact distribution, moment by moment."""

import numpy as np
import pytest

from helpers.named import clear_shaped, clear_uniform, flip_bits, flip_blank, flip_uniform
from mixtally.model.shape import ratio_of
from mixtally.primitives.fixed_point import threshold_of
from mixtally.protocol.estimate.cumulants import cumulants
from mixtally.protocol.estimate.noise import noise_distribution

MESSAGES, COUNT = 6000, 1000
CASES = {
    "flips": (flip_blank(bins=4, fakes=3000, threshold=threshold_of(0.05)), 1e-9),
    "flips sent twice": (
        flip_bits(bins=4, threshold=threshold_of(0.1), crowd=3000, repeats=2), 1e-9,
    ),
    "shaped fakes": (clear_shaped(bins=4, ratio=ratio_of(0.3), shift=30), 1e-9),
    "shaped fakes of two mixes": (
        clear_shaped(bins=4, ratio=ratio_of(0.3), shift=30, mixes=2), 1e-9,
    ),
    # A product of Poisson laws stands for the multinomial of uniform fakes: off by about 3 / bins.
    "uniform fakes": (clear_uniform(bins=1000, fakes=5000), 0.01),
    "flips, uniform fakes": (
        flip_uniform(bins=1000, fakes=5000, threshold=threshold_of(0.004)), 0.01,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_second_to_the_fourth_are_those_of_the_law(name):
    mechanism, near = CASES[name]
    law = noise_distribution(mechanism, MESSAGES, COUNT)
    off = law.first + np.arange(len(law.pmf))
    off = (off - law.pmf @ off) / mechanism.gain
    second, third, fourth = (float(law.pmf @ off**r) for r in (2, 3, 4))
    found = cumulants(mechanism, MESSAGES, np.full(mechanism.bins, float(COUNT)))
    assert found.variance == pytest.approx(second, rel=near)
    assert found.third == pytest.approx(np.full(mechanism.bins, third), rel=near, abs=1e-6)
    assert found.fourth == pytest.approx(fourth - 3.0 * second**2, rel=10 * near, abs=1e-6)
