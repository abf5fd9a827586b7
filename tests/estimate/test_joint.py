"""Pairs of bits: unbiased with the stated error, by enumeration and by playing."""

from itertools import product

import numpy as np
import pytest
from msgspec.structs import replace

from helpers.named import flip_bits, flip_blank
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.primitives.fixed_point import threshold_of
from mixtally.protocol.encode.bits import pack_vectors
from mixtally.protocol.estimate.two_by_two import joint_counts
from reference.played import play

CROWD = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 0]])
SMALL = flip_blank(bins=3, fakes=0, threshold=threshold_of(0.25), max_set=3)


def moments(mechanism, crowd, i, j):
    """Mean and variance of the estimate of pair (i, j) over every outcome of every flip."""
    q, (people, bins) = mechanism.flip_probability, crowd.shape
    mean = square = 0.0
    for flips in product([0, 1], repeat=people * bins):
        chance = q ** sum(flips) * (1 - q) ** (people * bins - sum(flips))
        sent = crowd ^ np.array(flips).reshape(people, bins)
        found = joint_counts(mechanism, sent.T @ sent, people).counts[i, j]
        mean += chance * found
        square += chance * found**2
    return mean, square - mean**2


@pytest.mark.parametrize(("i", "j"), [(0, 1), (0, 2), (1, 2)])
def test_mean_and_variance_are_those_of_every_outcome(i, j):
    mean, variance = moments(SMALL, CROWD, i, j)
    assert mean == pytest.approx((CROWD.T @ CROWD)[i, j], abs=1e-12)
    q = SMALL.flip_probability
    v = q * (1 - q) / (1 - 2 * q) ** 2
    assert variance == pytest.approx(3 * v * v + v * (CROWD[:, i].sum() + CROWD[:, j].sum()))


def test_the_twin_that_forgets_to_invert_is_caught():
    """Raw co-occurrence, only rescaled: biased by the flips."""
    q = SMALL.flip_probability
    expected = sum(
        ((1 - q) if a else q) * ((1 - q) if b else q)
        for a, b in zip(CROWD[:, 0], CROWD[:, 1], strict=True)
    )
    assert abs(expected / (1 - 2 * q) ** 2 - 1) > 0.3


PEOPLE = 400
VECTOR = flip_bits(bins=12, threshold=threshold_of(0.15), crowd=PEOPLE)
PLAYED = {
    "vectors": VECTOR,
    "vectors sent twice": replace(VECTOR, threshold=threshold_of(0.25), repeats=2),
    "sets": flip_blank(bins=12, fakes=300, threshold=threshold_of(0.1), max_set=12),
}


def played(mechanism, runs, true_protocol=None):
    """Deviations of every pair in standard errors, and the share within 1.96 of them."""
    chance = SeededChance(3)
    bits = (chance.words(PEOPLE * 12) < np.uint64(1 << 62)).astype(np.uint8).reshape(PEOPLE, 12)
    records, truth = pack_vectors(bits.tobytes(), 12), bits.astype(int).T @ bits
    above = np.triu_indices(12, 1)
    deviations, within = [], []
    for _ in range(runs):
        tally = play(mechanism, records, chance, pairs=True)
        found = joint_counts(true_protocol or mechanism, tally.pairs, tally.messages)
        off = ((found.counts - truth) / found.errors)[above]
        deviations.append(off)
        within.append(np.abs(off) < 1.96)
    return np.array(deviations), float(np.mean(within))


@pytest.mark.parametrize("name", PLAYED)
def test_played_pairs_are_unbiased_with_the_stated_error(name):
    """False alarm below 10^-4: 66 biases of five standard errors; mean square 66 x 150 values.

    Pairs that share a bit move together, so that the mean square deviates by about 3 %; 15 % is
    five times that. Within 1.96 errors: 95 % deviates by 0.4 %.
    """
    off, held = played(PLAYED[name], 150)
    assert np.abs(off.mean(axis=0)).max() * np.sqrt(150) < 5
    assert np.mean(off**2) == pytest.approx(1.0, abs=0.15)
    assert 0.93 < held < 0.97


def test_the_twin_that_flips_more_often_is_caught():
    louder = replace(VECTOR, threshold=VECTOR.threshold * 115 // 100)
    off, held = played(louder, 150, true_protocol=VECTOR)
    assert np.abs(off.mean(axis=0)).max() * np.sqrt(150) > 5
    assert held < 0.93
