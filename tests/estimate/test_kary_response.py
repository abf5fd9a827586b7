"""Counts of replaced values, their changes, means and winners, against crowds that are drawn.

Crowds are drawn by the code of devices from a fixed seed. A share of intervals is held against a
binomial: a right method fails a test here with chance below 1e-6, and each test is shown a wrong
one that fails.
"""

import math

import numpy as np
import pytest
from scipy.stats import binom, chi2

from helpers import contracts as c
from mixtally.lab.simulation.counts_only import draw_part
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.contract import FakeRecord, OwnFakes
from mixtally.model.estimates import Tally
from mixtally.primitives.fixed_point import SCALE
from mixtally.protocol.estimate.change import TalliedPart, estimate_change
from mixtally.protocol.estimate.cumulants import cumulants
from mixtally.protocol.estimate.debias import estimate_counts
from mixtally.protocol.estimate.winner import winner_chances
from mixtally.protocol.randomize import draw_part_fakes, randomize_records

ALARM = 1e-7
HELD = np.array([700, 250, 50, 0, 0])
USERS = int(HELD.sum())
PART = c.replaced(5, share=0.3, own=OwnFakes(FakeRecord.UNIFORM, 0, SCALE // 4))
FAKES = 240


def drawn(seed, held=HELD, part=PART, code=randomize_records):
    """A tally of devices, with their fakes."""
    chance = SeededChance(seed)
    rows = code(part, np.repeat(np.arange(len(held)), held), chance)
    fakes, number = draw_part_fakes(part, int(held.sum()), chance)
    seen = np.concatenate([part.layout.codes(rows), part.layout.codes(fakes)])
    mechanism = part.mechanism(fakes=number, crowd=int(held.sum()))
    return mechanism, Tally(np.bincount(seen, minlength=len(held)), len(seen))


def by_others(part, codes, chance):
    """Planted: a value is replaced by one of the others alone."""
    own = part.layout.codes(randomize_records(part, codes, chance))
    again = part.layout.codes(randomize_records(part, codes, chance))
    return part.layout.rows(np.where((own == codes) & (again != codes), again, own))


def agrees(code):
    """Whether all bins of many tallies are binomial sums as the mechanism has them."""
    runs, total = 60, np.zeros(5)
    expected, variance = np.zeros(5), np.zeros(5)
    for seed in range(runs):
        mechanism, tally = drawn(seed, code=code)
        total += tally.counts
        offset = mechanism.offset(tally.messages)
        expected += offset + mechanism.gain * HELD
        each = [mechanism.variance_at(tally.messages, int(held)) for held in HELD]
        variance += np.array(each) * mechanism.gain**2
    # A normal approximation passes 5.9 deviations with chance 4e-9.
    return bool(np.all(np.abs(total - expected) <= 5.9 * np.sqrt(variance)))


def test_devices_draw_what_is_estimated():
    assert agrees(randomize_records)
    assert not agrees(by_others)


def test_tallies_drawn_from_counts_are_those_of_devices():
    """The same moments, over many tallies; false alarm below 1e-7 a bin."""
    chance, runs = SeededChance(5), 400
    sums = np.zeros((runs, 5))
    for run in range(runs):
        received, tally = draw_part(PART, HELD, USERS, 1, chance)
        mechanism = PART.mechanism(fakes=received.received - USERS, crowd=USERS)
        sums[run] = mechanism.debias_counts(tally.counts, tally.messages)
    spread = np.array([math.sqrt(mechanism.variance_at(USERS + FAKES, int(h))) for h in HELD])
    assert np.all(np.abs(sums.mean(axis=0) - HELD) < 5.6 * spread / math.sqrt(runs))
    assert np.all(np.abs(sums.std(axis=0) / spread - 1.0) < 0.2)


def covered(level, *, wrong=1.0):
    """How many intervals of drawn tallies hold, of how many; ``wrong`` narrows them."""
    hits, trials = 0, 0
    for seed in range(40):
        mechanism, tally = drawn(seed)
        each = estimate_counts(mechanism, tally, USERS, level=level).individual
        middle, half = (each.lower + each.upper) / 2, (each.upper - each.lower) / 2 * wrong
        hits += int((np.abs(HELD - middle) <= half)[:3].sum())
        trials += 3
    return hits, trials


def test_intervals_of_drawn_crowds_hold():
    hits, trials = covered(0.9)
    assert binom.cdf(hits, trials, 0.9) > ALARM
    hits, trials = covered(0.9, wrong=0.4)
    assert binom.cdf(hits, trials, 0.9) < ALARM


@pytest.mark.parametrize("scale", [1, 60])
def test_changes_hold(scale):
    """Of few and of so many that the normal approximation is taken."""
    after, hits, trials = HELD[::-1] * scale, 0, 0
    for seed in range(30):
        earlier, later = (
            TalliedPart(*drawn(2 * seed + place, held))
            for place, held in ((0, HELD * scale), (1, after))
        )
        change = estimate_change(earlier, later, level=0.9)
        rise = after - HELD * scale
        hits += int(((change.individual.lower <= rise) & (rise <= change.individual.upper)).sum())
        trials += 5
        assert change.standard_error >= math.sqrt(2 * earlier.mechanism.variance(0))
    assert binom.cdf(hits, trials, 0.9) > ALARM


def mean_spread(seeds, *, wrong=False):
    """Squared errors of the mean of numbers over what is said of them."""
    places, held, found = np.arange(5.0) - 2.0, np.array([900, 0, 0, 0, 1100]), []
    true = float(places @ held)
    for seed in range(seeds):
        mechanism, tally = drawn(seed, held)
        counts = mechanism.debias_counts(tally.counts, tally.messages)
        noise = cumulants(mechanism, tally.messages, counts * (not wrong))
        variance = float((places**2 * noise.variance).sum())
        found.append((float(places @ counts) - true) ** 2 / variance)
    return float(np.sum(found))


def test_the_error_of_a_mean_has_what_full_bins_add():
    """A chi square lies between these ends but for 1e-7 either way."""
    low, high = chi2.ppf(ALARM, 400), chi2.isf(ALARM, 400)
    assert low < mean_spread(400) < high
    assert mean_spread(400, wrong=True) > high


def test_the_law_of_the_winner_is_the_exact_one():
    """Of two options: by Bayes' rule over all votes, each binomial summed out."""
    part = c.replaced(3, share=0.4)
    votes, users = np.array([26, 24, 10]), 60
    mechanism, tally = drawn(3, votes, part)
    found = winner_chances(mechanism, tally, users)
    g = mechanism.replacement_probability
    kept, named = 1 - g + g / 3, g / 3
    z = np.arange(users + 1)
    law = np.zeros((3, users + 1))
    for one in range(3):
        seen = int(tally.counts[one])
        for many in z:
            k = np.arange(seen + 1)
            law[one, many] = binom.pmf(k, many, kept) @ binom.pmf(seen - k, users - many, named)
        law[one] /= law[one].sum()
    below = np.cumsum(law, axis=1) - law
    nodes, weights = np.polynomial.legendre.leggauss(8)
    wanted = np.zeros(3)
    for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        rest = below + node * law
        for one in range(3):
            others = np.prod([rest[i] for i in range(3) if i != one], axis=0)
            wanted[one] += weight * float((law[one] * others).sum())
    assert found == pytest.approx(wanted, abs=1e-9)
