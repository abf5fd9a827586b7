"""The corners of the ranges, the directions in which privacy must move, and failing closed."""

import itertools
import math
from itertools import product

import numpy as np
import pytest

from helpers import least
from helpers.named import clear_shaped as clear_shaped_of
from helpers.named import clear_uniform as clear_uniform_of
from helpers.named import flip_blank as flip_blank_of
from helpers.sampled import covering
from mixtally.accounting.divergence import clear_shaped, clear_uniform, flip_blank
from mixtally.accounting.divergence.flip_blank import delta_among_blanks
from mixtally.errors import AccountingError, ParameterError
from mixtally.model.shape import LaplaceShape
from mixtally.primitives import tails
from mixtally.primitives.fixed_point import SCALE
from oracle import truth_of

EPSILONS = [0.01, 0.1, 1.0, 5.0, 20.0]
DELTAS = [0.1, 1e-6, 1e-15]
CROWDS = [0, 1, 100, 10**6, 10**9, 10**10 - 1]
HALF = 1 << 63
NONE = (math.nan, math.inf)
LEAST = 1 << 24


def thresholds(steps=12):
    """From 2^-40 to 1/2, evenly in the logarithm, and some just below 1/2."""
    logs = np.linspace(24, 63, steps)
    return [round(2.0**x) for x in logs[:-1]] + [HALF - (HALF >> 10), HALF - (HALF >> 40), HALF]


def falls(brackets):
    """Whether no end is certainly above one that came before it."""
    return all(later.lower <= earlier.upper for earlier, later in itertools.pairwise(brackets))


@pytest.mark.parametrize(
    ("epsilon", "delta", "fakes"),
    covering(product(EPSILONS, DELTAS, CROWDS), lambda _epsilon, _delta, fakes: fakes <= 100),
)
def test_the_least_threshold_keeps_the_promise_and_a_smaller_one_does_not(epsilon, delta, fakes):
    found = least.threshold(fakes, epsilon, delta)
    assert LEAST <= found <= HALF
    assert flip_blank.delta(fakes, found, epsilon).upper <= delta
    smaller = found - max(1, found // 10**11)
    assert flip_blank.delta(fakes, smaller, epsilon).upper > delta


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("bins", [2, 3, 1000, 10**7])
def test_the_least_uniform_fakes_keep_the_promise_and_fewer_do_not(epsilon, delta, bins):
    found = least.uniform_fakes(bins, epsilon, delta)
    assert clear_uniform.delta(found, bins, epsilon).upper <= delta
    assert clear_uniform.delta(found - 1, bins, epsilon).upper > delta


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", DELTAS)
def test_the_least_shape_keeps_the_promise_and_one_with_a_fake_fewer_does_not(epsilon, delta):
    ratio, shift = least.shape(epsilon, delta).values()
    assert clear_shaped.delta(LaplaceShape(ratio, shift).weights, epsilon).upper <= delta
    if shift > 1:
        assert clear_shaped.delta(LaplaceShape(ratio, shift - 1).weights, epsilon).lower > delta


@pytest.mark.parametrize("threshold", [SCALE // 10**6, SCALE // 1000, SCALE // 20])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.5, 1e-9), (3.0, 1e-3)])
def test_the_least_blank_fakes(threshold, epsilon, delta):
    fakes = least.blank_fakes(threshold, epsilon, delta)
    assert flip_blank.delta(fakes, threshold, epsilon).upper <= delta
    assert flip_blank.delta(fakes - 1, threshold, epsilon).upper > delta


def test_flips_that_suffice_alone_need_no_fakes():
    assert least.blank_fakes(HALF, 1.0, 1e-6) == 0
    assert least.blank_fakes(round(0.4 * SCALE), 1.0, 1e-6) == 0


def test_flips_too_rare_for_any_fakes_are_refused():
    with pytest.raises(ParameterError, match="some fakes satisfies the guarantee"):
        least.blank_fakes(LEAST, 0.01, 1e-15)


def test_fewer_fakes_ask_for_more_flips_up_to_the_local_promise():
    covers = [least.threshold(fakes, 1.0, 1e-6) for fakes in (0, 1, 100, 10**4, 10**6)]
    assert covers == sorted(covers, reverse=True)
    assert covers[0] / SCALE == pytest.approx(1 / (1 + math.exp(0.5)), rel=1e-5)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("threshold", thresholds())
def test_more_blanks_never_hurt(epsilon, threshold):
    crowds = [0, 1, 2, 3, 10, 100, 1000, 10**5, 10**7, 10**10 - 1]
    assert falls([flip_blank.delta(fakes, threshold, epsilon) for fakes in crowds])


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("fakes", CROWDS)
def test_more_flips_never_hurt(epsilon, fakes):
    ends = [flip_blank.delta(fakes, threshold, epsilon) for threshold in thresholds()]
    assert falls(ends)
    # Hardly any flips and hardly any crowd: almost everything is told.
    assert ends[0].lower > 0.9 or fakes >= 10**9 or epsilon == 20.0


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("bins", [2, 3, 100, 10**7])
def test_more_uniform_fakes_never_hurt(epsilon, bins):
    crowds = [0, 1, 2, 3, 10, 100, 1000, 10**5, 10**7]
    ends = [clear_uniform.delta(fakes, bins, epsilon) for fakes in crowds]
    assert falls(ends)
    assert ends[0].upper == 1.0


def test_a_higher_epsilon_never_has_a_higher_delta():
    epsilons = [0.01, 0.02, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0]
    for fakes, threshold in itertools.product([0, 3, 1000, 10**9], thresholds()):
        assert falls([flip_blank.delta(fakes, threshold, epsilon) for epsilon in epsilons])
    for fakes, bins in itertools.product([0, 3, 1000, 10**5], [2, 3, 1000]):
        assert falls([clear_uniform.delta(fakes, bins, epsilon) for epsilon in epsilons])
    for ratio, shift in itertools.product([1 << 40, 1 << 63, 15 << 60], [1, 5, 50]):
        weights = LaplaceShape(ratio, shift).weights
        assert falls([clear_shaped.delta(weights, epsilon) for epsilon in epsilons])


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("fakes", CROWDS)
def test_half_flips_tell_nothing_at_all(epsilon, fakes):
    assert flip_blank.delta(fakes, HALF, epsilon) == (0.0, 0.0)


@pytest.mark.parametrize("threshold", [LEAST, SCALE // 1000, SCALE // 5])
@pytest.mark.parametrize("fakes", CROWDS)
def test_above_the_local_promise_nothing_is_left(threshold, fakes):
    local = 2 * math.log((SCALE - threshold) / threshold)
    assert flip_blank.delta(fakes, threshold, local * 1.001) == (0.0, 0.0)
    if fakes <= 1:
        assert flip_blank.delta(fakes, threshold, local * 0.999).lower > 0.0


@pytest.mark.parametrize("fakes", [0, 1, 4])
def test_delta_tends_to_the_total_variation_as_epsilon_tends_to_zero(fakes):
    """delta falls by at most epsilon e^epsilon between 0 and epsilon."""
    tiny = 1e-9
    for threshold in (SCALE // 100, SCALE // 5, SCALE // 2 - SCALE // 50):
        distance = float(truth_of(flip_blank_of(bins=2, fakes=fakes, threshold=threshold), 0.0))
        assert flip_blank.delta(fakes, threshold, tiny).upper == pytest.approx(distance, abs=3e-9)
    distance = float(truth_of(clear_uniform_of(bins=3, fakes=fakes), 0.0))
    assert clear_uniform.delta(fakes, 3, tiny).upper == pytest.approx(distance, abs=3e-9)
    weights = LaplaceShape(SCALE // 3, 2).weights
    distance = float(truth_of(clear_shaped_of(bins=2, ratio=SCALE // 3, shift=2), 0.0))
    assert clear_shaped.delta(weights, tiny).upper == pytest.approx(distance, abs=3e-9)


def test_total_variation_of_large_crowds_is_that_of_two_gaussians():
    """Two counts swap one unit: distance 1 / sqrt(pi v), v their variance, to first order."""
    cover, fakes = 10_000, 10**8
    expected = 1 / math.sqrt(math.pi * cover)
    blank = flip_blank.delta(fakes, cover * SCALE // fakes, 1e-9)
    uniform = clear_uniform.delta(fakes, fakes // cover, 1e-9)
    assert blank.upper == pytest.approx(expected, rel=1e-3)
    assert uniform.upper == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0, 5.0, 10.0])
@pytest.mark.parametrize("bins", [2, 3, 10, 1000])
def test_far_more_uniform_fakes_than_needed_still_have_a_price(epsilon, bins):
    """Out there chances are below the least normal double, where their ratios are coarse."""
    for fakes in (10, 1000, 3000, 10_000, 30_000, 10**5, 10**6):
        assert clear_uniform.delta(fakes, bins, epsilon).upper >= 0.0


@pytest.mark.parametrize(
    ("name", "factor"),
    [
        *((name, none) for name in ("pmf", "half_pmf", "upper_half_tail") for none in NONE),
        ("pmf", -1.0),
        ("upper_half_tail", 3.0),
    ],
)
def test_spoiled_chances_of_uniform_fakes_never_become_a_promise(plant, name, factor):
    plant(tails, name, lambda honest, *args: factor * honest(*args))
    with pytest.raises(AccountingError), np.errstate(invalid="ignore"):
        clear_uniform.delta(100, 3, 1.0)


@pytest.mark.parametrize("which", [slice(None), slice(1), slice(-1, None)], ids=str)
@pytest.mark.parametrize("factor", [-1.0, *NONE])
def test_negative_chances_never_become_a_promise(which, factor):
    """Nor do those that are no numbers."""
    chances = tails.pmf(101, 0.2, *tails.window(101, 0.2))
    chances[which] *= factor
    with pytest.raises(AccountingError), np.errstate(invalid="ignore"):
        delta_among_blanks(101, SCALE // 5, 1.0, rise=0.0, pmf=chances)


def test_a_spoiled_chance_stops_the_calibration_too(monkeypatch):
    monkeypatch.setattr(tails, "pmf", lambda _n, _q, low, high: np.full(high - low + 1, math.nan))
    for search in (
        lambda: least.threshold(1000, 1.0, 1e-6),
        lambda: least.blank_fakes(SCALE // 1000, 1.0, 1e-6),
        lambda: least.uniform_fakes(10, 1.0, 1e-6),
    ):
        with pytest.raises(AccountingError):
            search()
