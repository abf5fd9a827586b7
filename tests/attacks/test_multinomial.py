"""Counts that are drawn from their distribution have it."""

import numpy as np
import pytest
from scipy import stats

from mixtally.lab.attacks.multinomial import Binomials
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.primitives.memo import Memo

RUNS = 100_000


def p_value(drawn, trials, probability):
    """Chi-square over values that are expected at least twenty times, the rest together."""
    seen = np.bincount(drawn, minlength=trials + 1)
    due = len(drawn) * stats.binom.pmf(np.arange(trials + 1), trials, probability)
    some = due >= 20.0
    groups = [np.append(x[some], x[~some].sum()) for x in (seen, due)]
    if groups[1][-1] < 1.0:
        groups = [x[:-1] for x in groups]
    return stats.chisquare(groups[0], groups[1] * groups[0].sum() / groups[1].sum()).pvalue


@pytest.mark.parametrize(
    ("trials", "probability"), [(1, 0.3), (40, 0.99), (1000, 0.002), (4097, 0.5), (5000, 1e-4)]
)
def test_binomials_have_their_distribution(trials, probability):
    """Each of five tests fails by chance with probability 1e-4."""
    drawn = Binomials(SeededChance(1))(np.full(RUNS, trials), probability)
    assert p_value(drawn, trials, probability) > 1e-4


def halves(trials):
    """Numbers of trials that differ: what is over is drawn digit by digit."""
    return trials - np.arange(RUNS) % 2 * 37


def test_binomials_of_many_sizes_have_their_distributions():
    """Two tests at 1e-4; the first half is drawn in two parts, the second in one."""
    trials = halves(300)
    drawn = Binomials(SeededChance(2))(trials, 0.2)
    for size in (300, 263):
        assert p_value(drawn[trials == size], size, 0.2) > 1e-4


def test_certain_and_impossible_things():
    draw, trials = Binomials(SeededChance(3)), np.array([0, 5, 9])
    assert draw(trials, 0.0).tolist() == [0, 0, 0]
    assert draw(trials, 1.0).tolist() == [0, 5, 9]
    assert draw.draw_multinomial(7, np.array([0.0, 1.0, 0.0]), 2).tolist() == [[0, 7, 0]] * 2
    assert draw.draw_multinomial(0, np.array([0.5, 0.5]), 2).tolist() == [[0, 0]] * 2


def test_kinds_add_up_and_have_their_shares():
    """Means of three kinds within five standard errors, chance 2e-6; covariance -n p_i p_j."""
    pmf = np.array([1e-3, 0.9, 0.099])
    counts = Binomials(SeededChance(4)).draw_multinomial(1000, pmf, RUNS)
    assert (counts.sum(axis=1) == 1000).all()
    errors = np.sqrt(1000 * pmf * (1 - pmf) / RUNS)
    assert (np.abs(counts.mean(axis=0) - 1000 * pmf) < 5.0 * errors).all()
    assert np.cov(counts.T)[1, 2] == pytest.approx(-1000 * pmf[1] * pmf[2], rel=0.05)


def test_tables_that_are_forgotten_are_made_again_alike():
    """A memory of no bytes keeps one table; the draws are the same."""
    trials, pmf = np.arange(2000) % 500, np.array([0.2, 0.5, 0.3])
    for draws in (lambda b: b(trials, 0.3), lambda b: b.draw_multinomial(900, pmf, 50)):
        kept, forgot = (draws(Binomials(SeededChance(5), Memo(most))) for most in (1 << 25, 0))
        assert (kept == forgot).all()
