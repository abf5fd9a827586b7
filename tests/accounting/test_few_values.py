"""Many values by few: no smaller or no larger for every convex function, and hardly another."""

import math

import numpy as np
import pytest

from mixtally.accounting.divergence import flip_uniform
from mixtally.accounting.numerics.saddle_point import ROUGH
from mixtally.accounting.numerics.small_support import Distribution, coarsen_above, coarsen_below
from mixtally.primitives.fixed_point import threshold_of

WEIGHTS = np.exp(-0.5 * np.linspace(-6.0, 6.0, 900) ** 2)
CASES = {
    "even": Distribution(np.linspace(-3.0, 5.0, 900), WEIGHTS / WEIGHTS.sum()),
    "steep": Distribution(np.exp(np.linspace(-9.0, 9.0, 900)), WEIGHTS / WEIGHTS.sum()),
    "falling": Distribution(-(np.linspace(1.0, 2.0, 900) ** 3), WEIGHTS / WEIGHTS.sum()),
    "twice": Distribution(np.repeat(np.linspace(-1.0, 1.0, 450), 2), WEIGHTS / WEIGHTS.sum()),
}


def hinges(one, at):
    """E[(W - x)_+] at every x: with the mean they say all of the convex order."""
    return (one.probabilities * np.maximum(one.values - at[:, None], 0.0)).sum(axis=1)


def ordered(case, above, below):
    """Whether few values lie on their sides, at the same mass and mean."""
    at = np.linspace(case.values.min() - 1.0, case.values.max() + 1.0, 400)
    true, high, low = (hinges(one, at) for one in (case, above, below))
    room = 1e-12 * (1.0 + np.abs(true))
    sums = [
        [one.probabilities.sum(), (one.probabilities * one.values).sum()]
        for one in (case, above, below)
    ]
    assert sums[1] == pytest.approx(sums[0], rel=1e-9)
    assert sums[2] == pytest.approx(sums[0], rel=1e-9)
    return bool(np.all(high >= true - room) and np.all(low <= true + room))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("most", [2, 3, 10, 64, 512])
def test_few_values_lie_on_their_sides(name, most):
    case = CASES[name]
    above, below = coarsen_above(case, most), coarsen_below(case, most)
    assert len(above.values) <= most or most >= 450
    assert ordered(case, above, below)


def test_few_values_are_left_as_they_are():
    case = CASES["even"]
    assert coarsen_above(case, 900) is case
    assert coarsen_below(case, 900) is case


@pytest.mark.parametrize(("bins", "fakes", "flip", "epsilon"), [
    (20_000, 300, 0.1, 0.4), (300_000, 4000, 0.01, 0.3), (5000, 900, 0.3, 0.1),
])  # fmt: skip
def test_a_divergence_by_few_values_is_that_of_all(bins, fakes, flip, epsilon):
    given = (fakes, bins, threshold_of(flip), epsilon)
    few, upper = flip_uniform.messages_delta(*given), flip_uniform.upper(*given)
    rough = flip_uniform.upper(*given, ROUGH, few=True)
    every = flip_uniform.messages_delta(*given, 10**9)
    assert every.lower <= few.upper <= every.upper * (1 + 1e-6)
    assert every.lower * (1 - 1e-5) <= few.lower <= every.upper
    assert upper == pytest.approx(few.upper, rel=1e-9)
    assert upper * (1 - 2e-3) <= rough <= upper * 1.05
    assert math.isfinite(rough)
