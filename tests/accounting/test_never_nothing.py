"""An upper bound of zero is stated where nothing can be told, and nowhere else."""

import math

import numpy as np
import pytest

from accounting.by_name import certificate_of
from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.composition.convolve import LossSum
from mixtally.accounting.composition.losses import LossDistribution
from mixtally.accounting.divergence import flip_uniform
from mixtally.accounting.numerics.binomial_pairs import Pair, exchange_divergence, prepare_pair
from mixtally.model.mechanism import InClear, ShapedFakes
from mixtally.model.shape import LaplaceShape
from mixtally.primitives.fixed_point import SCALE

TINY = [
    ("clear-uniform", 20.0, {"fakes": 1100, "bins": 2}),
    ("clear-uniform", 3.0, {"fakes": 2000, "bins": 2}),
    ("clear-uniform", 1.0, {"fakes": 13_000, "bins": 2}),
    ("clear-uniform", 0.01, {"fakes": 10**9, "bins": 2}),
    ("clear-uniform", 1.0, {"fakes": 13_000, "bins": 2, "repeats": 3}),
    ("flip-blank", 1.0, {"fakes": 10**7, "threshold": SCALE // 3}),
    ("flip-blank", 1.0, {"fakes": 10**7, "threshold": SCALE // 3, "max_set": 2}),
    ("flip-uniform", 1.0, {"users": 9, "fakes": 10**7, "bins": 9, "threshold": SCALE // 3}),
    ("single-bit", 0.5, {"users": 10**6, "fakes": 0, "threshold": SCALE // 3}),
    ("single-bit", 0.5, {"users": 10**6, "fakes": 0, "threshold": SCALE // 3, "repeats": 2}),
]


@pytest.mark.parametrize(("name", "epsilon", "given"), TINY)
def test_no_delta_is_zero_below_the_largest_loss(name, epsilon, given):
    found = certificate_of(name, epsilon, **given)
    assert 0.0 < found.upper < 1e-15


def test_where_no_loss_is_as_large_delta_is_zero():
    assert certificate_of("flip-blank", 20.0, fakes=100, threshold=SCALE // 3).upper == 0.0


def flat(shift):
    """One of two bins in clear, among fakes that tell hardly anything but at their ends."""
    return LaplaceShape(19 * SCALE // 20, shift)


@pytest.mark.parametrize("shift", [1, 4, 50])
def test_what_every_collection_may_tell_for_certain_adds_up(shift):
    """A fake number tells all when it lies at an end, else nearly nothing."""
    shape, accountant = flat(shift), Accountant()
    record = Record.of(InClear(bins=2, fakes=ShapedFakes(shape)))
    first, last = shape.weights[0] / SCALE, shape.weights[-1] / SCALE
    once = first + last - first * last
    for collections in (1, 2, 3):
        true = 1.0 - (1.0 - once) ** collections
        upper = accountant.upper(record, 1.0, collections)
        assert true * (1.0 - 1e-12) <= upper <= 1.001 * collections * true


def curve(law, times, epsilon, step):
    """The divergence of a sum of independent losses, in steps, by their law."""
    total = {0: 1.0}
    for _ in range(times):
        more: dict[int, float] = {}
        for a, x in total.items():
            for b, y in law.items():
                more[a + b] = more.get(a + b, 0.0) + x * y
        total = more
    return math.fsum(
        chance * -math.expm1(epsilon - loss * step)
        for loss, chance in total.items()
        if loss * step > epsilon
    )


@pytest.mark.parametrize("rare", [1e-9, 1e-8, 2e-7])
@pytest.mark.parametrize("far", [650, 700, 900])
def test_rare_losses_beyond_the_transform_are_added(far, rare):
    step, near, epsilon = 2.0**-6, 0.2, 0.01
    law = {1: near, -1: near * math.exp(-step), far: rare, -far: rare * math.exp(-far * step)}
    law[0] = 1.0 - math.fsum(law.values())
    losses = LossDistribution(step, np.array([1, far]), np.array([near, rare]), law[0], 0.0)
    true = curve(law, 3, epsilon, step)
    assert true <= LossSum([(losses, 3)]).delta(epsilon) <= true * (1.0 + 1e-5)


def test_what_rounding_did_to_the_second_table_is_added():
    """Its chances are wrong by as much as it says, in the direction that hides most."""
    wrong, grow = 1e-6, 1.5
    p, q = np.array([0.2, 0.3, 0.5]), np.array([0.5, 0.3, 0.2])
    exact = prepare_pair(Pair(p, q, 0.0, 0.0))
    off = prepare_pair(Pair(p * (1.0 + wrong), q * (1.0 - wrong), 0.0, wrong))
    true = exchange_divergence(exact, exact, grow)
    for first, second in ((exact, off), (off, exact)):
        assert exchange_divergence(first, second, grow).upper >= true.lower


def test_the_window_of_other_bits_costs_next_to_nothing():
    assert flip_uniform._window_cut(20.0) < 1e-17


def test_a_delta_of_many_rounds_that_underflows_is_still_positive():
    """Only if all 50 losses are the rare one does their sum exceed epsilon: by 1e-800."""
    rare = LossDistribution(0.5, np.array([1]), np.array([1e-16]), 1.0 - 2e-16, 0.0)
    assert LossSum([(rare, 50)]).delta(24.9) > 0.0
    assert LossSum([(rare, 50)]).delta(25.0) == 0.0
