"""The direct test of P <= e^epsilon Q + delta is as sure as it says, and nearly the best."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from attacks.conftest import ERROR
from mixtally.lab.attacks import epsilon_proof, refute
from mixtally.lab.attacks.epsilon_proof import prove, prove_either
from mixtally.lab.attacks.multinomial import Binomials
from mixtally.lab.attacks.power import best_event, most_powerful, nearest_on_edge
from mixtally.lab.attacks.refute import EventCounts
from mixtally.lab.attacks.worlds import Worlds
from mixtally.lab.simulation.seeded import SeededChance

RUNS = 40


def power(p, q, runs, delta, error):
    """What half of all repetitions prove of each event with these chances; 0 where nothing."""
    each = zip(p[:, None], q[:, None], strict=True)
    return np.array([most_powerful(*one, runs, delta, error)[1] for one in each])


def alarm_rate(q, epsilon, delta, error, shown=None):
    """P[a promise that is kept, and tight, is refuted], every pair of counts weighed exactly."""
    p = math.exp(epsilon) * q + delta
    values = np.arange(RUNS + 1)
    in_u, in_v = stats.binom.pmf(values, RUNS, p), stats.binom.pmf(values, RUNS, q)
    return sum(
        in_u[x] * in_v[y]
        for x, y in product(range(RUNS + 1), repeat=2)
        if EventCounts(x, y, (RUNS, RUNS)).refutes(epsilon, delta, shown or error)
    )


TIGHT = [
    (0.5, 0.0, 0.0),
    (0.3, 0.5, 0.0),
    (0.05, 1.0, 0.01),
    (0.2, 0.2, 0.1),
    (0.45, 0.7, 0.0),
    (0.01, 2.0, 0.3),
]


@pytest.mark.parametrize(("q", "epsilon", "delta"), TIGHT)
@pytest.mark.parametrize("error", [0.3, 0.05])
def test_a_tight_promise_is_refuted_no_more_often_than_allowed(q, epsilon, delta, error):
    """By enumeration: no chance is involved."""
    assert alarm_rate(q, epsilon, delta, error) <= error


def test_twice_the_error_would_be_seen():
    """The twin: an alarm at ``error`` where half of it is due."""
    assert alarm_rate(0.5, 0.0, 0.0, 0.1) <= 0.1 < alarm_rate(0.5, 0.0, 0.0, 0.1, shown=0.2)


def test_the_conditional_distribution_is_fishers():
    counts = EventCounts(9, 4, (30, 25))
    for log_odds in (0.0, 0.7, 2.5):
        pmf = stats.nchypergeom_fisher(55, 30, 13, math.exp(log_odds))
        assert counts.tail(log_odds) == pytest.approx(pmf.sf(8), rel=1e-9)


def test_what_is_proved_is_where_the_test_turns():
    counts = EventCounts(300, 100, (1000, 900))
    found = counts.epsilon(1e-3, 1e-4)
    assert 0.5 < found < math.log(0.3 / 0.111)
    assert counts.refutes(found, 1e-3, 1e-4)
    assert not counts.refutes(found + 1e-5, 1e-3, 1e-4)
    assert EventCounts(0, 0, (100, 100)).epsilon(0.0, 0.1) == 0.0
    assert EventCounts(100, 0, (100, 100)).epsilon(1e-6, 1e-4) > 1.9


@pytest.mark.parametrize(
    ("hits", "alarms", "runs", "before", "now"),
    [(1238, 814, 14_338, 0.14, 0.22), (2951, 1449, 10**6, 0.51, 0.57)],
)
def test_the_same_counts_prove_more_than_two_intervals_did(hits, alarms, runs, before, now):
    """The best events of the demo's plan as often as they are due, at its share of the error."""
    error = 1e-4 / 14
    low = refute.clopper_pearson_lower(np.array(hits), runs, error / 2) - 1e-6
    high = refute.clopper_pearson_upper(np.array(alarms), runs, error / 2)
    assert math.log(low / high) == pytest.approx(before, abs=0.01)
    found = EventCounts(hits, alarms, (runs, runs)).epsilon(1e-6, error)
    assert found == pytest.approx(now, abs=0.01)
    best = power(np.array([hits / runs]), np.array([alarms / runs]), runs, 1e-6, error)[0]
    assert found <= best < found + 0.01


def test_no_test_of_an_event_does_better_than_its_power():
    """Half of all repetitions of the most powerful test, simulated: 2,000 at 3 in 1,000.

    The share that proves more than its power is one half within five standard errors.
    """
    p, q, runs, delta, error = 0.12, 0.05, 4000, 0.01, 0.003
    epsilon = float(power(np.array([p]), np.array([q]), runs, delta, error)[0])
    draw, trials = Binomials(SeededChance(1)), np.full(2000, runs)
    x, y = (draw(trials, probability) for probability in (p, q))
    more = np.mean([
        EventCounts(int(a), int(b), (runs, runs)).refutes(epsilon, delta, error)
        for a, b in zip(x, y, strict=True)
    ])  # fmt: skip
    assert 0.3 < more < 0.5 + 5 * 0.5 / math.sqrt(2000)


def uniform(chance, count):
    return (chance.words(count).astype(float) + 0.5) * 2.0**-64


@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.03])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 5.0])
def test_the_nearest_pair_of_the_edge_is_where_the_slope_of_the_distance_turns(epsilon, delta):
    """Small, middling and large chances, halving after halving."""
    chance, grow = SeededChance(9), math.exp(epsilon)
    p, q = (np.clip(10.0 ** (-6 * uniform(chance, 500)), 0.0, 1.0 - 1e-6) for _ in range(2))
    p, q = np.concatenate([p, 1.0 - p]), np.concatenate([q, 1.0 - q])
    some = p - delta > grow * q * (1.0 + 1e-6)
    p, q = p[some], q[some]
    low, high = q, (p - delta) / grow
    for _ in range(60):
        x = 0.5 * (low + high)
        edge = grow * x + delta
        slope = grow * (edge - p) / (edge * (1.0 - edge)) + (x - q) / (x * (1.0 - x))
        low, high = np.where(slope < 0.0, x, low), np.where(slope < 0.0, high, x)
    assert len(p) > 50
    assert nearest_on_edge(p, q, grow, delta) == pytest.approx(low, rel=1e-9)


def test_the_most_powerful_event_proves_most_of_all():
    """Whichever place it has, with an event beside it that comes as often in both worlds."""
    p, q = np.array([0.2, 0.5, 0.3, 0.01]), np.array([0.2, 0.4, 0.1, 0.001])
    every = power(p, q, 4000, 1e-3, 1e-4)
    assert every[0] == 0.0 < every[3]
    for places in ([0, 1, 2, 3], [2, 1, 0, 3], [3, 0, 1], [0, 0]):
        place, found = most_powerful(p[places], q[places], 4000, 1e-3, 1e-4)
        assert found == pytest.approx(every[places].max(), rel=1e-12)
        assert place == int(np.argmax(every[places]))


def normal(chance, count, mean):
    return stats.norm.ppf((chance.words(count).astype(float) + 0.5) * 2.0**-64) + mean


def two_normals(chance, count):
    """Worlds half a deviation apart, the statistic their log-likelihood ratio."""
    return Worlds(*(0.5 * normal(chance, count, mean) for mean in (0.25, -0.25)))


def test_the_distribution_chooses_the_event_and_every_run_is_counted():
    """The event is near the best of all by exact chances, in either direction."""
    chance = SeededChance(5)
    pilot, worlds = two_normals(chance, 100_000), two_normals(chance, 20_000)
    found = prove(worlds, 1e-6, 1e-4, pilot)
    assert found.trials == 20_000
    assert prove(worlds, 1e-6, 1e-4).trials == 15_000
    cuts = np.linspace(-2.0, 2.0, 200)
    in_u, in_v = (stats.norm.sf(2.0 * cuts - mean) for mean in (0.25, -0.25))
    exact = float(power(in_u, in_v, 20_000, 1e-6, 1e-4).max())
    assert found.best == pytest.approx(exact, rel=0.03)
    assert best_event(pilot, 20_000, 1e-6, 1e-4).epsilon == found.best
    assert 0.6 * exact < found.epsilon < 0.5 / 0.25


def test_code_of_another_distribution_is_told_by_its_own_runs():
    """The event that the distribution chooses never comes; a quarter of the runs chooses one that
    does.
    """
    chance = SeededChance(6)
    pilot = two_normals(chance, 20_000)
    far = Worlds(np.full(2000, -50.0), np.full(2000, -60.0))
    assert prove(far, 1e-6, 1e-4, pilot).epsilon == 0.0
    found = prove_either(far, 1e-6, 1e-4, pilot)
    assert found.epsilon > 4.0
    assert found.best == best_event(pilot, 2000, 1e-6, 1e-4).epsilon


def test_two_ways_to_choose_an_event_share_the_error(monkeypatch):
    """The alarm at the whole error in place of half of it, in both ways, would be seen here."""
    spent, right = [], epsilon_proof.prove

    def reported(worlds, delta, error, pilot=None):
        spent.append(error)
        return right(worlds, delta, error, pilot)

    monkeypatch.setattr(epsilon_proof, "prove", reported)
    epsilon_proof.prove_either(Worlds(np.ones(100), np.zeros(100)), 0.0, ERROR, Worlds(*np.eye(2)))
    assert sum(spent) == pytest.approx(ERROR)
    assert len(spent) == 2
