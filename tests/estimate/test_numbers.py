"""Mean and quantiles of numbers: right without noise, honest with it."""

import numpy as np
import pytest

from mixtally.encode.numbers import Scale
from mixtally.estimate.cumulants import Cumulants, cumulants
from mixtally.estimate.numbers import Cuts, summary
from mixtally.ground.fixed import threshold_of
from mixtally.records.mechanism.named import clear_shaped, clear_uniform, flip_blank, flip_uniform
from mixtally.records.shape import ratio_of
from mixtally.simulation.seeded import SeededChance
from reference.played import play

SCALE = Scale(0.0, 100.0, 40)
VALUES = 100.0 * ((np.arange(4000) + 0.5) / 4000) ** 2
CODES = SCALE.codes(VALUES)
TRUTH = np.bincount(CODES, minlength=40)
MIDDLES = (SCALE.edges[:-1] + SCALE.edges[1:]) / 2
PROTOCOLS = {
    "flips": flip_blank(bins=40, fakes=4000, threshold=threshold_of(0.05)),
    "uniform": clear_uniform(bins=40, fakes=12_000),
    "flips, uniform": flip_uniform(bins=40, fakes=12_000, threshold=threshold_of(0.01)),
    "shaped": clear_shaped(bins=40, ratio=ratio_of(0.1), shift=100),
}
RUNS = 300


def normal(spread):
    return Cumulants(spread, np.zeros(40), 0.0)


def cuts(counts, noise=None):
    return Cuts(np.asarray(counts, dtype=float), SCALE.edges, 4000, noise or normal(0.0))


def test_without_noise_numbers_are_right_up_to_a_bin():
    truth = [VALUES.mean(), *np.quantile(VALUES, [0.1, 0.25, 0.5, 0.75, 0.9])]
    for figure, true in zip(summary(cuts(TRUTH), 0.95), truth, strict=True):
        assert figure.estimate == pytest.approx(true, abs=1.25)
        assert figure.lower <= true <= figure.upper
        assert figure.upper - figure.lower <= 5.0 + 1e-9


@pytest.mark.parametrize("place", [0.001, 0.999])
def test_a_mean_is_known_up_to_half_a_bin_on_either_side(place):
    """Without noise the interval is the resolution alone; all values at one end of their bins."""
    inner = TRUTH.copy()
    inner[[0, -1]] = 0  # there the range itself ends the interval
    inner[1] += 4000 - inner.sum()
    true = float((SCALE.edges[:-1] + place * np.diff(SCALE.edges)) @ inner) / 4000
    mean = cuts(inner).mean(0.95)
    assert mean.lower <= true <= mean.upper
    assert mean.upper - mean.lower == pytest.approx(2.5)
    change = cuts(inner).rise_to(cuts(inner), 0.95)
    assert change.lower <= -place * 2.5 + 2.5 * 0.002 <= change.upper
    assert change.upper - change.lower == pytest.approx(5.0)


def means(mechanism, counts):
    """Estimates and stated standard error over runs of tallied counts."""
    messages = 4000 + mechanism.fakes_promised
    found = [
        cuts(c, cumulants(mechanism, messages, c)).mean(0.95)
        for c in (mechanism.unbiased(tallied, messages) for tallied in counts)
    ]
    return np.array([f.estimate for f in found]), found[0].standard_error


def played_counts(mechanism):
    chance = SeededChance(4)
    return [play(mechanism, CODES, chance).counts for _ in range(RUNS)]


@pytest.mark.parametrize("name", PROTOCOLS)
def test_the_mean_is_unbiased_with_the_stated_error(name):
    """False alarm below 10^-4: bias of 5 standard errors, spread of 300 normal means by 20 %
    (five deviations of 4.1 %).
    """
    found, error = means(PROTOCOLS[name], played_counts(PROTOCOLS[name]))
    binned = TRUTH @ MIDDLES / 4000
    assert abs(found.mean() - binned) < 5 * error / np.sqrt(RUNS)
    assert found.std() == pytest.approx(error, rel=0.2)


@pytest.mark.parametrize("name", ["flips", "shaped"])
def test_the_twin_that_ignores_the_known_sum_errs_more(name):
    mechanism = PROTOCOLS[name]
    messages = 4000 + mechanism.fakes_promised
    raw = [mechanism.unbiased(c, messages) @ MIDDLES / 4000 for c in played_counts(mechanism)]
    assert np.std(raw) > 1.5 * means(mechanism, played_counts(mechanism))[1]


def test_an_interval_is_there_whatever_the_noise_did():
    for seed in range(200):
        noise = SeededChance(seed).words(40).astype(float) / 2.0**62 - 2.0
        for figure in summary(cuts(TRUTH + 500 * noise, normal(1.0)), 0.95):
            assert np.isfinite([figure.estimate, figure.lower, figure.upper]).all()
            assert figure.lower <= figure.upper
            assert figure.lower >= 0
            assert figure.upper <= 100


LEANING = Cumulants(80.0, np.linspace(20.0, 900.0, 40), 4000.0)


def test_running_counts_from_the_other_end_have_the_same_intervals():
    """How many lie below an edge is the people without those above it, and leans the other way."""
    _, low, high = cuts(TRUTH, LEANING).running(0.95)
    turned = Cumulants(80.0, LEANING.third[::-1], 4000.0)
    _, low_above, high_above = cuts(TRUTH[::-1], turned).running(0.95)
    assert low == pytest.approx(4000 - high_above[::-1])
    assert high == pytest.approx(4000 - low_above[::-1])
    assert np.abs((high + low)[1:-1] / 2 - np.cumsum(TRUTH)[:-1]).max() > 1  # they do lean


def test_the_change_back_is_the_change_turned_over():
    before = cuts(TRUTH, Cumulants(80.0, np.linspace(0.0, 5000.0, 40), 4000.0))
    after = cuts(np.roll(TRUTH, 1), Cumulants(80.0, np.linspace(900.0, 0.0, 40), 4000.0))
    there, back = before.rise_to(after, 0.95), after.rise_to(before, 0.95)
    assert (there.lower, there.upper) == pytest.approx((-back.upper, -back.lower))
    assert (there.lower + there.upper) / 2 != pytest.approx(there.estimate, rel=1e-3)
