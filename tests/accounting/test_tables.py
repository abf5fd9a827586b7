"""Losses of a mix's table, composed: against enumeration in fractions, and against known numbers.

Known numbers are of the discrete Gaussian itself, cut at 0, to 40 digits; the table is that rounded
to integers over 2^64.
"""

import math
from collections import Counter, defaultdict
from functools import reduce
from itertools import pairwise, product

import pytest

from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.composition import tables
from mixtally.accounting.composition.convolve import LossSum
from mixtally.accounting.composition.tables import losses_of
from mixtally.accounting.divergence import clear_shaped
from mixtally.accounting.divergence.in_clear import usual_ratio
from mixtally.device.contract.shape import gaussian_weights, laplace_weights
from mixtally.model.mechanism import InClear, ShapedFakes
from mixtally.model.shape import LaplaceShape, ratio_of
from mixtally.primitives.fixed_point import SCALE
from oracle import both, brackets, exp_exactly, gains

KNOWN = [
    (36, 36, 1, 1.0, 8.95215453004368e-7),
    (143, 72, 4, 1.0, 9.84808211212883e-7),
    (1875, 241, 52, 1.0, 9.90891032774838e-7),
    (9, 8, 3, 2.0, 0.0153459084743885),
]
"""Variance, shift, collections, epsilon and delta."""
SMALL = {
    "bell": gaussian_weights(1, 2),
    "narrow bell at its end": gaussian_weights(1, 1),
    "wide bell": gaussian_weights(2, 3),
    "steep": laplace_weights(SCALE >> 6, 2),
    "fall": laplace_weights(SCALE // 20, 1),
}
EPSILONS = (0.0, 0.1, 0.7, 1.0, 1.5, 3.0, 6.0)


def composed(weights, times, epsilon):
    return LossSum([(losses_of(weights), times)]).delta(epsilon)


def of_two(ratio, shift, epsilon):
    """What is proved of two messages of a Laplace shape."""
    record = Record.of(InClear(bins=2, fakes=ShapedFakes(LaplaceShape(ratio, shift))))
    return Accountant().upper(record, epsilon, 2, 1e-10)


def truth(weights, times, epsilon):
    """sum of (P - e^epsilon Q)_+ over what ``times`` pairs of bins show, in fractions."""
    cells = list(pairwise((0, *weights, 0)))  # F(s-1), F(s)
    one = Counter((a * d, b * c) for (a, b), (c, d) in product(cells, repeat=2))
    return gains(reduce(both, [one] * times), [exp_exactly(epsilon)])[0]


@pytest.mark.parametrize("name", SMALL)
def test_once_it_is_the_enumerated_divergence(name):
    for epsilon in EPSILONS:
        true = truth(SMALL[name], 1, epsilon)
        assert brackets(clear_shaped.delta(SMALL[name], epsilon), true)
        assert true <= composed(SMALL[name], 1, epsilon) <= 1.02 * true, epsilon


@pytest.mark.parametrize("name", ["narrow bell at its end", "steep"])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_twice_it_is_the_enumerated_divergence(name, epsilon):
    true = truth(SMALL[name], 2, epsilon)
    assert true <= composed(SMALL[name], 2, epsilon) <= 1.01 * true


def least_holds(weights, times, epsilon):
    """Whether the lower bound is one, and near the truth wherever that is not tiny."""
    found, true = tables.lower_of(weights, times, epsilon), truth(weights, times, epsilon)
    return 0.0 <= found <= true and (found >= 0.8 * true or true < 1e-12)


LEAST = [(name, times) for name in SMALL for times in (1, 2) if times == 1 or "bell " not in name]


@pytest.mark.parametrize(("name", "times"), LEAST)
def test_the_lower_bound_is_near_the_enumerated_divergence(name, times):
    for epsilon in EPSILONS[1::2]:
        assert least_holds(SMALL[name], times, epsilon), epsilon


@pytest.mark.parametrize(("variance", "shift", "times", "epsilon", "known"), KNOWN)
def test_the_lower_bound_is_near_what_is_known(variance, shift, times, epsilon, known):
    """And planted: rounded losses that are not moved back lie above it."""
    weights = gaussian_weights(variance, shift)
    assert 0.88 * known <= tables.lower_of(weights, times, epsilon) <= known
    assert LossSum([(losses_of(weights), times)]).lower(epsilon) > known * (1.0 + 1e-5)


@pytest.mark.parametrize(("variance", "shift", "times", "epsilon", "known"), KNOWN)
def test_it_is_what_is_known_of_the_discrete_gaussian(variance, shift, times, epsilon, known):
    found = composed(gaussian_weights(variance, shift), times, epsilon)
    assert known * (1.0 - 1e-9) <= found <= known * 1.001


def lattice(variance, shift, times, epsilon, half=0.5, step=1.0, events=None):
    """The sum over the integer lattice of losses, of the ideal distribution, in floats.

    where
      half     what is taken off u - s, or s - u', for a loss in units of 1 / variance
      events   how many bins without fakes are counted
    """
    most = shift + 12 * math.isqrt(variance) + 12
    law = [math.exp(-((k - shift) ** 2) / (2 * variance)) for k in range(most)]
    law = [weight / sum(law) for weight in law]
    pair = defaultdict(float)
    for f, p in enumerate(law):
        for g, q in enumerate(law[1:], 1):
            pair[round((1 - 2 * half) + 1 + f - g)] += p * q
    total = {0: 1.0}
    for _ in range(times):
        more = defaultdict(float)
        for a, p in total.items():
            for b, q in pair.items():
                more[a + b] += p * q
        total = more
    empty = 1.0 - (1.0 - law[0]) ** (times if events is None else events)
    losses = ((step * n / variance, p) for n, p in total.items())
    return empty + math.fsum(p * -math.expm1(epsilon - x) for x, p in losses if x > epsilon)


def test_the_lattice_gives_the_same():
    assert lattice(9, 8, 3, 2.0) == pytest.approx(KNOWN[3][-1], rel=1e-12)
    assert composed(gaussian_weights(9, 8), 3, 2.0) == pytest.approx(
        lattice(9, 8, 3, 2.0), rel=1e-3
    )


MISTAKES = {
    "the second empty bin forgotten": {"events": 1},
    "u - s in place of u - s - 1/2": {"half": 0.0},
    "a step that is rounded": {"step": 9 * 0.1},
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_wrong_lattice_is_told_apart(name):
    wrong = lattice(9, 8, 3, 2.0, **MISTAKES[name])
    assert wrong != pytest.approx(composed(gaussian_weights(9, 8), 3, 2.0), rel=0.01)


def test_the_losing_bin_ends_at_no_fakes(monkeypatch):
    """The twin: both bins end at the top."""
    weights = gaussian_weights(9, 8)
    right, true = composed(weights, 3, 2.0), KNOWN[3][-1]
    assert right >= true
    rounded = tables._round_up_losses
    gained = list(pairwise((*weights, 0)))
    monkeypatch.setattr(tables, "_round_up_losses", lambda _, step: rounded(gained, step))
    assert composed(weights, 3, 2.0) < 0.99 * true


@pytest.mark.parametrize(("epsilon", "delta", "shift"), [
    (1.0, 1e-6, 25), (0.5, 1e-9, 75), (2.0, 1e-6, 14), (0.1, 1e-6, 203), (1.0, 1e-8, 35),
])  # fmt: skip
def test_the_least_laplace_shift_is_the_known_one(epsilon, delta, shift):
    """With one shift less, as when it is rounded down, the promise is broken."""
    ratio = usual_ratio(epsilon, 1)
    decay = epsilon / 2.0
    edge = math.exp(-decay)
    total = (1.0 - edge ** (shift + 1)) / (1.0 - edge) + edge / (1.0 - edge)
    found = clear_shaped.delta(laplace_weights(ratio, shift), epsilon)
    assert found.upper == pytest.approx(edge**shift / total, rel=1e-8)
    assert (
        found.upper <= delta < clear_shaped.delta(laplace_weights(ratio, shift - 1), epsilon).lower
    )


@pytest.mark.parametrize("times", [1, 2, 4])
def test_of_a_laplace_shape_it_is_what_basic_composition_says(times):
    """Losses of epsilon / t a pair: only what tells for certain counts."""
    weights = laplace_weights(usual_ratio(1.0, times), 25 * times)
    once = clear_shaped.delta(weights, 1.0 / times)
    assert composed(weights, times, 1.0) <= times * once.upper * (1.0 + 1e-7)
    assert composed(weights, times, 1.0) >= times * once.lower * (1.0 - 1e-5)


@pytest.mark.parametrize(("epsilon", "shift", "true"), [
    (2.68, 34, 8.260622e-11), (1.756, 51, 8.168606e-11),
])  # fmt: skip
def test_two_of_a_usual_decay_keep_a_small_delta(epsilon, shift, true):
    """Known from every outcome of both. The twin falls by an even share of epsilon to the last
    digit: what is proved of it is above by what its losses pass the share by.
    """
    found = of_two(usual_ratio(epsilon, 2), shift, epsilon)
    assert found == pytest.approx(true, rel=1e-6)
    assert of_two(ratio_of(epsilon / 4.0), shift, epsilon) > 5.0 * true


@pytest.mark.parametrize("weights", [(SCALE,), (0, 0, SCALE), (1, SCALE - 1)])
def test_a_table_of_one_number_tells_all(weights):
    assert composed(weights, 1, 1.0) == pytest.approx(1.0, rel=1e-9)


def test_slow_falls_have_a_coarse_lattice():
    """No finer than is needed, and nothing finite is lost."""
    found = losses_of(laplace_weights(SCALE - (SCALE >> 9), 50))
    assert found.step >= 2.0**-24
    assert 0.0 < found.infinite < 1.0
