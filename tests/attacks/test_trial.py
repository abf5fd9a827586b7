"""Lower bounds on epsilon are as sure as they say."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import special

from mixtally.errors import ParameterError
from mixtally.lab.attacks.epsilon_proof import prove
from mixtally.lab.attacks.outcome import AttackLab, Hypothesis, Verdict, conclude_game
from mixtally.lab.attacks.refute import clopper_pearson_lower, clopper_pearson_upper
from mixtally.lab.attacks.worlds import Worlds, power_at, roc
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.primitives.draw import draw_permutation


def coins(chance, probability, count):
    return (chance.words(count).astype(np.float64) * 2.0**-64 < probability).astype(np.float64)


@pytest.mark.parametrize("trials", [1, 7, 300])
@pytest.mark.parametrize("error", [0.3, 1e-6])
def test_clopper_pearson_bounds_are_where_the_tail_is_the_error(trials, error):
    hits = np.arange(trials + 1)
    low, high = (f(hits, trials, error) for f in (clopper_pearson_lower, clopper_pearson_upper))
    for k in hits[1:]:  # P(Bin >= k) at the lower bound
        assert special.bdtrc(k - 1, trials, low[k]) == pytest.approx(error, rel=1e-7)
    for k in hits[:-1]:
        assert special.bdtr(k, trials, high[k]) == pytest.approx(error, rel=1e-7)
    assert low[0] == 0.0
    assert high[-1] == 1.0


def false_alarms(seed, repeats, error, delta):
    """How often more than the true epsilon is proved of a coin and its opposite."""
    chance, alarms = SeededChance(seed), 0
    truth = math.log((0.3 - delta) / 0.1)
    for _ in range(repeats):
        worlds = Worlds(coins(chance, 0.3, 400), coins(chance, 0.1, 400))
        alarms += prove(worlds, delta, error).epsilon > truth
    return alarms


def test_more_than_the_truth_is_seldom_proved():
    """At most 0.2 of 300: above 90 has a chance of 3e-5. In truth it is far rarer."""
    assert false_alarms(1, 300, 0.2, 0.01) <= 90


def test_the_bound_comes_close_with_many_runs():
    """Fails with chance below 1e-6: the standard error of the logarithm is 0.015."""
    chance = SeededChance(2)
    worlds = Worlds(coins(chance, 0.3, 200_000), coins(chance, 0.1, 200_000))
    found = prove(worlds, 0.0, 1e-4)
    assert 0.9 * math.log(3.0) < found.epsilon < math.log(3.0)
    swapped = prove(Worlds(-worlds.v, -worlds.u), 0.0, 1e-4)
    assert swapped.epsilon == pytest.approx(found.epsilon, abs=0.05)


def test_delta_is_taken_from_the_favored_world():
    chance = SeededChance(3)
    worlds = Worlds(coins(chance, 0.05, 20_000), np.zeros(20_000))
    assert prove(worlds, 0.0, 1e-4).epsilon > 3.0
    assert prove(worlds, 0.06, 1e-4).epsilon == 0.0


def test_no_event_is_chosen_that_delta_allows():
    """The top twentieth of u never comes in v, yet proves nothing: 60 % against 20 % does."""
    ranks = (np.arange(20_000) + 0.5) / 20_000
    ranks = ranks[draw_permutation(SeededChance(6), len(ranks))]
    worlds = Worlds(1.0 * (ranks < 0.6) + (ranks < 0.05), 1.0 * (ranks < 0.2))
    assert prove(worlds, 0.06, 1e-4).epsilon == pytest.approx(math.log(0.54 / 0.2), abs=0.2)


@pytest.mark.parametrize(
    ("promised", "verdict"), [(0.95, Verdict.VIOLATED), (1.1, Verdict.CONSISTENT)]
)
def test_a_promise_is_violated_as_soon_as_more_is_proved(promised, verdict):
    """60 % against 20 % are ln 3 = 1.0986, of which more than 0.95 is proved."""
    ranks = (draw_permutation(SeededChance(7), 40_000) + 0.5) / 40_000
    worlds = Worlds(1.0 * (ranks < 0.6), 1.0 * (ranks < 0.2))
    hypothesis = Hypothesis("attack", "a case", promised, 0.0, "a coin")
    lab = AttackLab(SeededChance(1), 1e-4)
    found = conclude_game(hypothesis, worlds, lab, played="nothing")
    assert 0.95 < found.attacked < math.log(3.0)
    assert found.verdict is verdict


def test_infinite_evidence_is_counted():
    found = prove(Worlds(np.full(2000, np.inf), np.full(2000, -np.inf)), 1e-6, 1e-4)
    assert found.epsilon > 4.0
    assert found.alarms == 0


def test_nothing_is_proved_of_equal_worlds():
    """A false alarm has chance 1e-4."""
    chance = SeededChance(4)
    noise = [chance.words(4000).astype(np.float64) for _ in range(2)]
    assert prove(Worlds(*noise), 0.0, 1e-4).epsilon < 0.2


@pytest.mark.parametrize("u", [np.zeros(99), np.zeros(120), np.full(100, np.nan)])
def test_what_cannot_be_tested_is_refused(u):
    with pytest.raises(ParameterError):
        prove(Worlds(u, np.zeros(100 if len(u) != 99 else 99)), 0.0, 0.1)


def test_roc_goes_from_nothing_to_everything_and_rises():
    chance = SeededChance(5)
    u, v = chance.words(5000) % np.uint64(50), chance.words(5000) % np.uint64(40)
    points = roc(Worlds(u.astype(float), v.astype(float)))
    assert points[-1] == (1.0, 1.0)
    assert all(a <= c and b <= d for (a, b), (c, d) in pairwise(points))
    assert points[0][1] == pytest.approx(0.2, abs=0.05)  # the ten values that v never takes
    assert power_at(Worlds(u.astype(float), v.astype(float)), 0.0) == points[0][1]
