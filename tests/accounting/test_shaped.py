"""The divergence of shaped fakes by ranks, against its definition pair by pair, in fractions."""

import random
from fractions import Fraction

import pytest

from mixtally.accounting.divergence.clear_shaped import delta, exp_rounded_down
from mixtally.device.contract.shape import laplace_weights
from mixtally.model.shape import GaussianShape, LaplaceShape
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.memo import Memo
from oracle import brackets

SHAPES = [
    *(LaplaceShape(*one) for one in (
        (1, 1), (2, 1), (SCALE >> 20, 2), (SCALE >> 1, 1), (SCALE >> 1, 9),
        *((random.Random(shift).randrange(1, SCALE >> 1), shift) for shift in range(2, 8)),
    )),
    *(GaussianShape(*one) for one in ((1, 1), (1, 9), (9, 8), (36, 5))),
]  # fmt: skip


def by_pairs(weights, epsilon):
    """Sum of (P - e^eps Q)_+ over all pairs, with the factor that the product rounds down."""
    grow = Fraction(exp_rounded_down(epsilon), 1 << 128)
    one, other = (0, *weights), (*weights, 0)  # F(s-1) and F(s)
    pairs = [(s, t) for s in range(len(one)) for t in range(len(one))]
    gains = (one[s] * other[t] - grow * other[s] * one[t] for s, t in pairs)
    return sum(gain for gain in gains if gain > 0) / SCALE**2


@pytest.mark.parametrize("shape", SHAPES)
def test_ranks_come_to_what_pairs_do(shape):
    weights = shape.weights
    memo = Memo(1 << 20)
    for epsilon in (0.0, 1e-9, 0.01, 0.3, 0.7, 1.0, 1.4, 5.0, 20.0, 100.0, 500.0):
        assert brackets(delta(weights, epsilon, memo), by_pairs(weights, epsilon)), epsilon


def test_it_falls_as_epsilon_grows():
    weights, memo = laplace_weights(SCALE >> 1, 30), Memo(1 << 20)
    deltas = [delta(weights, epsilon / 50, memo).upper for epsilon in range(200)]
    assert deltas == sorted(deltas, reverse=True)
    assert deltas[0] > 0.1 > 1e-9 > deltas[-1] > 0.0
