"""Thresholds keep their rate of false positives, and are no larger than that takes."""

import numpy as np
import pytest

from helpers.named import clear_shaped, clear_uniform, flip_blank
from mixtally.errors import ParameterError
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.shape import ratio_of
from mixtally.primitives.fixed_point import threshold_of
from mixtally.protocol.estimate.noise import least_significant, noise_distribution
from reference.coverage import draw_counts

BINS, USERS, RUNS, RATE = 60, 5000, 1500, 0.2
PROTOCOLS = [
    flip_blank(bins=BINS, fakes=USERS, threshold=threshold_of(0.008)),
    clear_uniform(bins=BINS, fakes=42 * BINS),
    clear_shaped(bins=BINS, ratio=ratio_of(0.5), shift=27),
]


def false_share(mechanism, tests):
    """Share of runs in which any of BINS empty bins reaches the threshold for ``tests`` of them."""
    messages = USERS + mechanism.fakes_promised
    least = least_significant(mechanism, messages, tests, RATE)
    drawn = draw_counts(mechanism, np.zeros(BINS, dtype=np.int64), messages, RUNS, SeededChance(5))
    return (drawn >= least).any(axis=1).mean()


@pytest.mark.parametrize("mechanism", PROTOCOLS, ids=lambda p: p.name)
def test_empty_bins_pass_no_more_often_than_stated(mechanism):
    """False alarm: below 1e-6; the share is at most 0.2 in truth, five standard errors are 0.052.

    It is not vacuous either: steps of the discrete law leave at least 0.03.
    """
    assert 0.03 < false_share(mechanism, BINS) < RATE + 5 * (RATE * (1 - RATE) / RUNS) ** 0.5


@pytest.mark.parametrize("mechanism", PROTOCOLS, ids=lambda p: p.name)
def test_a_threshold_for_one_bin_used_for_all_is_found_out(mechanism):
    assert false_share(mechanism, 1) > 0.9


@pytest.mark.parametrize("mechanism", PROTOCOLS, ids=lambda p: p.name)
@pytest.mark.parametrize("tests", [1, 50, 100_000])
def test_it_is_the_least_count_that_keeps_the_rate(mechanism, tests):
    messages = USERS + mechanism.fakes_promised
    least, law = (
        least_significant(mechanism, messages, tests, RATE),
        noise_distribution(mechanism, messages, 0),
    )
    tail = law.pmf[least - law.first :].sum()
    assert tail <= RATE / tests < tail + law.pmf[least - 1 - law.first] * (1 + 1e-9)


@pytest.mark.parametrize("rate", [0.0, -0.1, 0.51, float("nan")])
def test_a_rate_outside_its_range_is_refused(rate):
    with pytest.raises(ParameterError, match="false-positive rate: expected a number in"):
        least_significant(PROTOCOLS[1], USERS, 1, rate)
