"""Every planted bug is noticed by the comparison with the enumeration: a check that cannot fail
checks nothing. The first test shows that the same comparison passes without a bug."""

import math

import numpy as np
import pytest

from mixtally.errors import AccountingError
from mixtally.ground import tails
from mixtally.privacy.divergence import clear_shaped, clear_uniform, flip_blank
from mixtally.privacy.numerics.bracket import Bracket
from privacy import brute

BLANK_CASES = [case for case in brute.BLANK_CASES if case[0] == 2]
UNIFORM_CASES = [case for case in brute.UNIFORM_CASES if case[0] == 3]
SHAPED_CASES = [case for case in brute.SHAPED_CASES if case[0] == 2]


def all_hold(holds, cases):
    """Whether every comparison passes; a number that stops the work is noticed as well."""
    try:
        return all(holds(*case) for case in cases)
    except (AccountingError, IndexError, ValueError):
        return False


def blank_holds():
    return all_hold(brute.flip_blank_holds, BLANK_CASES)


def uniform_holds():
    return all_hold(brute.clear_uniform_holds, UNIFORM_CASES)


def shaped_holds():
    return all_hold(brute.clear_shaped_holds, SHAPED_CASES)


def test_without_a_bug_every_comparison_passes():
    assert blank_holds()
    assert uniform_holds()
    assert shaped_holds()


@pytest.mark.parametrize(
    "change",
    [
        lambda honest, fakes, threshold, epsilon: honest(fakes + 1, threshold, epsilon),
        lambda honest, fakes, threshold, epsilon: honest(max(fakes - 1, 0), threshold, epsilon),
        lambda honest, fakes, threshold, epsilon: honest(fakes, 2 * threshold, epsilon),
        lambda honest, fakes, threshold, epsilon: honest(
            fakes, threshold + (threshold >> 20), epsilon
        ),
        lambda honest, fakes, threshold, epsilon: honest(fakes, threshold, epsilon / 2),
        lambda honest, fakes, threshold, epsilon: honest(fakes, threshold, epsilon + 1e-6),
    ],
    ids=["a fake more", "a fake fewer", "2q", "q a hair larger", "half epsilon", "more epsilon"],
)
def test_flip_blank_with_a_wrong_argument_is_noticed(plant, change):
    plant(flip_blank, "delta", change)
    assert not blank_holds()


@pytest.mark.parametrize(
    "changes",
    [
        {"expm1": lambda _: 0.0},
        {"exp": lambda _: 1.0},
        {"exp": lambda x: math.exp(-x)},
        {"floor": lambda x: math.floor(x) + 1},
        {"log1p": lambda x: math.log1p(x) / 2},
    ],
    ids=["no rise", "no growth", "e^-eps", "a later start", "half the local promise"],
)
def test_flip_blank_with_a_wrong_limit_is_noticed(plant_in_math, changes):
    plant_in_math(flip_blank, **changes)
    assert not blank_holds()


@pytest.mark.parametrize(
    "change",
    [
        lambda honest, n, q, low, high: honest(n, 1.0 - q, low, high),
        lambda honest, n, q, low, high: honest(n + 1, q, low, high),
        lambda honest, n, q, low, high: np.roll(honest(n, q, low, high), 1),
        lambda honest, n, q, low, high: np.append(honest(n, q, low, high)[:-1], 0.0),
        lambda honest, n, q, low, high: honest(n, q, low, high) * (1.0 - 1e-8),
    ],
    ids=["p for q", "a trial more", "shifted", "last one lost", "eight digits"],
)
@pytest.mark.parametrize("holds", [blank_holds, uniform_holds])
def test_wrong_binomials_are_noticed(plant, holds, change):
    plant(tails, "pmf", change)
    assert not holds()


@pytest.mark.parametrize("holds", [blank_holds, uniform_holds])
def test_a_window_that_cuts_too_much_is_noticed(plant, holds):
    plant(tails, "window", lambda _honest, n, _q: tails.Window(0, max(1, n // 2)))
    assert not holds()


@pytest.mark.parametrize(
    "change",
    [
        lambda honest, fakes, bins, epsilon: honest(fakes, bins - 1, epsilon),
        lambda honest, fakes, bins, epsilon: honest(fakes, bins + 1, epsilon),
        lambda honest, fakes, bins, epsilon: honest(fakes + 1, bins, epsilon),
        lambda honest, fakes, bins, epsilon: honest(fakes, bins, epsilon + 1e-6),
    ],
    ids=["a bin fewer", "a bin more", "a fake more", "more epsilon"],
)
def test_clear_uniform_with_a_wrong_argument_is_noticed(plant, change):
    plant(clear_uniform, "delta", change)
    assert not uniform_holds()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("upper_half_tail", lambda honest, n, k: honest(n, k + 1)),
        ("upper_half_tail", lambda honest, n, k: honest(n, k) * (1.0 - 1e-7)),
        ("half_pmf", lambda honest, n, k: honest(n + 1, k)),
    ],
    ids=["beyond, not from", "seven digits", "a toss more"],
)
def test_clear_uniform_with_wrong_tosses_is_noticed(plant, name, change):
    plant(tails, name, change)
    assert not uniform_holds()


@pytest.mark.parametrize("changes", [{"expm1": math.exp}, {"exp": lambda x: math.exp(-x)}])
def test_clear_uniform_with_a_wrong_limit_is_noticed(plant_in_math, changes):
    plant_in_math(clear_uniform, **changes)
    assert not uniform_holds()


@pytest.mark.parametrize(
    "change",
    [
        lambda honest, weights, epsilon: honest((weights[-1], *weights[:-1]), epsilon),
        lambda honest, weights, epsilon: honest((*weights[1:], 0), epsilon),
        lambda honest, weights, epsilon: honest(weights[1:-1], epsilon),
        lambda honest, weights, epsilon: honest(weights, epsilon + 1e-6),
        lambda honest, weights, epsilon: honest(weights, epsilon * 0.99),
    ],
    ids=["rolled", "shifted", "ends lost", "more epsilon", "less epsilon"],
)
def test_clear_shaped_with_a_wrong_argument_is_noticed(plant, change):
    plant(clear_shaped, "delta", change)
    assert not shaped_holds()


@pytest.mark.parametrize(
    "change",
    [lambda *_: 1 << 128, lambda honest, epsilon: honest(-epsilon)],
    ids=["no growth", "e^-eps"],
)
def test_clear_shaped_with_a_wrong_factor_is_noticed(plant, change):
    plant(clear_shaped, "_exp_below", change)
    assert not shaped_holds()


def test_clear_shaped_with_pairs_counted_wrongly_is_noticed(plant):
    plant(clear_shaped, "bisect_left", lambda honest, ratios, x: max(honest(ratios, x) - 1, 0))
    assert not shaped_holds()


@pytest.mark.parametrize("share", [0.99, 1.01, 1.0 - 1e-8, 1.0 + 1e-8])
@pytest.mark.parametrize(
    ("module", "holds"),
    [(flip_blank, blank_holds), (clear_uniform, uniform_holds), (clear_shaped, shaped_holds)],
)
def test_a_number_that_is_a_hair_wrong_is_noticed(plant, module, holds, share):
    def scaled(honest, *args):
        ends = honest(*args)
        return Bracket(ends.lower * share, ends.upper * share)

    plant(module, "delta", scaled)
    assert not holds()


def test_a_bracket_too_wide_to_be_useful_is_noticed():
    truth = brute.flip_blank_delta(2, 3, 1 << 60, 1.0)
    ends = flip_blank.delta(3, 1 << 60, 1.0)
    assert brute.brackets(ends, truth)
    assert not brute.brackets(Bracket(0.0, 1.0), truth)
    assert not brute.brackets(Bracket(ends.lower, ends.upper * (1 + 1e-8)), truth)
