"""The balls hold what listing every multiset gives; planted mistakes are found by it."""

import pytest

from mixtally.accounting.verification import blank, coins, derive, shaped, uniform
from mixtally.accounting.verification.balls import NOTHING, arb
from mixtally.accounting.verification.binomials import Binomial
from mixtally.errors import AccountingError
from verification.small import EPSILONS, SMALL, holds


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("name", SMALL)
def test_every_multiset(name, epsilon):
    assert holds(name, epsilon)


def all_hold():
    try:
        return all(holds(name, epsilon) for name in SMALL for epsilon in EPSILONS)
    except (AccountingError, ValueError):
        return False


def fewer(sums):
    """One record too few."""
    return lambda fakes, *others: sums(max(fakes - 1, 0), *others)


def drawn_from(low):
    return lambda shape: [low, *shaped_table(shape)[1:]]


shaped_table = shaped.table
one_hot, one_bin = blank.one_hot_delta, uniform.one_bin_delta
one_over_zero, zero_over_one = blank.one_over_zero_delta, blank.zero_over_one_delta
MISTAKES = {
    "a coin always shows a fake": (
        derive,
        "average",
        lambda sure, laws, delta: delta(sure + sum(law.trials for law in laws)),
    ),
    "a coin never shows one": (
        derive,
        "average",
        lambda sure, _, delta: delta(sure),
    ),
    "the mean of the coins": (
        derive,
        "average",
        lambda sure, laws, delta: delta(sure + sum(int(law.trials * law.chance) for law in laws)),
    ),
    "what a cap costs": (derive, "_overflow_chance", lambda _: arb(0)),
    "e^epsilon too small": (derive, "_grow", lambda epsilon: arb(epsilon).exp() * (1 - arb(1e-9))),
    "e^epsilon too large": (derive, "_grow", lambda epsilon: arb(epsilon).exp() * (1 + arb(1e-9))),
    "the first direction alone": (blank, "zero_over_one_delta", lambda *_: NOTHING),
    "the second direction alone": (blank, "one_over_zero_delta", lambda *_: NOTHING),
    "blanks but one": (blank, "one_hot_delta", fewer(one_hot)),
    "zeros but one": (blank, "one_over_zero_delta", fewer(one_over_zero)),
    "zeros but one, turned": (blank, "zero_over_one_delta", fewer(zero_over_one)),
    "uniform fakes but one": (uniform, "one_bin_delta", fewer(one_bin)),
    "a chance of the table": (shaped, "table", drawn_from(1)),
    "one more than the limit": (
        uniform,
        "least_integer_above",
        lambda ball: blank.least_integer_above(ball) + 1,
    ),
    "one fewer than the limit": (
        blank,
        "least_integer_above",
        lambda ball: uniform.least_integer_above(ball) - 1,
    ),
    "tails": (Binomial, "at_least", lambda law, k: law.point(k)),
    "runs that overlap": (
        coins.Coins,
        "chance",
        lambda self, run: self._sums[run.last + 1] - self._sums[max(run.first - 1, 0)],
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_planted_mistake_is_found(monkeypatch, name):
    where, what, wrong = MISTAKES[name]
    monkeypatch.setattr(where, what, wrong)
    assert not all_hold()
