"""The band around an attack's curve holds the true curve, so that chance is no violation."""

from itertools import pairwise
from math import exp, inf

import numpy as np
from scipy.stats import norm

from mixtally.lab.attacks import worlds as room
from mixtally.lab.attacks.outcome import roc_chart
from mixtally.lab.attacks.worlds import Worlds, roc_band
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.report.curves import draw

RUNS, SEEDS, ERROR = 400, 40, 1e-8
"""The bands of all seeds together miss a true curve with a chance of at most 40 x 10^-8."""
RATES = np.geomspace(1e-4, 1.0, 80)


def uniforms(seed):
    words = SeededChance(seed).words(2 * RUNS).astype(np.float64)
    return ((words + 0.5) * 2.0**-64).reshape(2, RUNS)


def normal(seed):
    """Return a statistic that is normal, with a mean of 1 in world u and 0 in world v."""
    draws = norm.ppf(uniforms(seed))
    return Worlds(draws[0] + 1.0, draws[1])


def tied(seed, honest):
    """Return a statistic of two values, the larger of which comes with ``honest`` in world u."""
    draws = uniforms(seed)
    return Worlds((draws[0] < honest) * 1.0, (draws[1] > honest) * 1.0)


def at(staircase, rate, *, upper):
    """Return the end of a band at one rate; at a step the end that is further inside."""
    found = inf if upper else -inf
    for (start, low), (stop, high) in pairwise(staircase):
        if start <= rate <= stop:
            found = min(found, high) if upper else max(found, low)
    return found


def holds(band):
    """Return whether a band holds the true curve of the normal statistic."""
    power = norm.cdf(norm.ppf(RATES) + 1.0)
    low = [at(band[0], rate, upper=False) for rate in RATES]
    high = [at(band[1], rate, upper=True) for rate in RATES]
    return bool(np.all(low <= power + 1e-12) and np.all(power <= np.array(high) + 1e-12))


def test_the_band_holds_the_true_curve():
    assert all(holds(roc_band(normal(seed), ERROR)) for seed in range(SEEDS))


def test_the_twin_whose_bounds_are_no_bounds_is_caught(monkeypatch):
    """Planted: every bound fails with a chance of one half."""
    for name in ("clopper_pearson_lower", "clopper_pearson_upper"):
        plain = getattr(room, name)
        monkeypatch.setattr(room, name, lambda k, n, _, plain=plain: plain(k, n, 0.5))
    assert not any(holds(roc_band(normal(seed), ERROR)) for seed in range(10))


def test_the_band_holds_the_only_event_of_two_values():
    """All runs with one value are tied: the corner (1/4, 3/4) is in the band nevertheless."""
    for seed in range(SEEDS):
        lower, upper = roc_band(tied(seed, 0.75), ERROR)
        assert at(lower, 0.25, upper=False) <= 0.75 <= at(upper, 0.25, upper=True)
        before = [power for rate, power in lower if rate < 0.25]
        assert max(before, default=0.0) <= 0.75


def test_a_curve_above_the_promise_by_chance_has_a_band_that_reaches_below_it():
    """Randomized response at the promise itself: in half of all games its curve is above."""
    epsilon, above = 1.0, 0
    honest = exp(epsilon) / (1.0 + exp(epsilon))
    for seed in range(SEEDS):
        chart = roc_chart("", tied(seed, honest), epsilon, 0.0, ERROR)
        (seen, _, most), (band,) = (curve.points for curve in chart.curves), chart.bands
        above += any(power > exp(epsilon) * rate for rate, power in seen if rate < 0.5)
        assert all(at(band.lower, rate, upper=False) <= power for rate, power in most)
    assert above > SEEDS // 4


def test_the_band_is_drawn_behind_the_curves_and_named():
    picture = draw(roc_chart("a game", normal(1), 1.0, 1e-6, 1e-4))
    assert picture.markup.index('class="band"') < picture.markup.index('class="grid"')
    assert ("band", "the true curve, with 99.99 % confidence") in picture.marks
    assert "the true curve, with 99.99 % confidence: an area around it" in picture.markup
