"""Tables and correlations of two bits: exact moments by enumeration, coverage by playing."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from msgspec.structs import replace as altered

from helpers.named import flip_bits, flip_blank
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.primitives.fixed_point import threshold_of
from mixtally.protocol.encode.bits import pack_vectors
from mixtally.protocol.estimate.item_sets import estimate_sets, patterns_of_pairs
from mixtally.protocol.estimate.two_by_two import joint_counts, two_by_two
from reference.played import play

CROWD = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 0]])
SMALL = flip_blank(bins=3, fakes=0, threshold=threshold_of(0.25), max_set=3)
FIRST, SECOND = np.array([0, 0, 1]), np.array([1, 2, 2])


def table_of(crowd, i, j):
    x, y = crowd[:, i], crowd[:, j]
    return [int(np.sum((x == a) & (y == b))) for a, b in ((1, 1), (1, 0), (0, 1), (0, 0))]


def test_mean_and_variance_are_those_of_every_outcome():
    q, size = SMALL.flip_probability, CROWD.size
    mean, square = np.zeros((3, 4)), np.zeros((3, 4))
    for flips in product([0, 1], repeat=size):
        chance = q ** sum(flips) * (1 - q) ** (size - sum(flips))
        sent = CROWD ^ np.array(flips).reshape(CROWD.shape)
        found = two_by_two(SMALL, sent.T @ sent, 3, FIRST, SECOND).counts
        mean += chance * found
        square += chance * found**2
    pairs = list(zip(FIRST, SECOND, strict=True))
    assert mean == pytest.approx(np.array([table_of(CROWD, i, j) for i, j in pairs]), abs=1e-12)
    v, single = q * (1 - q) / (1 - 2 * q) ** 2, CROWD.sum(axis=0)
    one, two = single[FIRST], single[SECOND]
    stated = [
        3 * v * v + v * (one + two),
        3 * v * v + 3 * v + v * (one - two),
        3 * v * v + 3 * v + v * (two - one),
        3 * v * v + 6 * v - v * (one + two),
    ]
    assert square - mean**2 == pytest.approx(np.array(stated).T, rel=1e-9)


PEOPLE = 3000
VECTOR = flip_bits(bins=6, threshold=threshold_of(0.1), crowd=PEOPLE)
PLAYED = {
    "vectors": VECTOR,
    "vectors sent twice": altered(VECTOR, threshold=threshold_of(0.15), repeats=2),
    "sets": flip_blank(bins=6, fakes=2000, threshold=threshold_of(0.05), max_set=6),
}
ABOVE = np.triu_indices(6, 1)


def crowd():
    """Bits that hang together: each copies the bit before it half the time."""
    words = SeededChance(2).words(PEOPLE * 12).reshape(2, PEOPLE, 6)
    bits = (words[0] < np.uint64(6 << 60)).astype(np.uint8)
    for i in range(1, 6):
        bits[:, i] = np.where(words[1, :, i] >> np.uint64(63), bits[:, i - 1], bits[:, i])
    return bits


BITS = crowd()


def played(mechanism, runs, change=lambda counted: counted):
    """What ``runs`` collections find, and the truth of every pair: tables, correlations."""
    chance, records = SeededChance(3), pack_vectors(BITS.tobytes(), 6)
    found, single = [], []
    for _ in range(runs):
        tally = play(mechanism, records, chance, pairs=True)
        counted = change(tally.pairs)
        found.append(two_by_two(mechanism, counted, tally.messages, *ABOVE))
        single.append((counted, tally.messages))
    tables = np.array([table_of(BITS, i, j) for i, j in zip(*ABOVE, strict=True)])
    return found, tables, np.corrcoef(BITS.T)[ABOVE], single


def off(found, name, errors, truth):
    """Deviations in standard errors, shape (runs, pairs, ..)."""
    return np.array([(getattr(f, name) - truth) / getattr(f, errors) for f in found])


def shares(found, tables, correlations):
    """Shares within 1.96 standard errors: of each cell of the table, and of the correlation."""
    width = 1.96
    cells = (np.abs(off(found, "counts", "errors", tables)) <= width).mean(axis=(0, 1))
    told = np.abs(off(found, "correlations", "correlation_errors", correlations)) <= width
    return np.append(cells, told.mean())


@pytest.mark.parametrize("name", PLAYED)
def test_cells_are_those_of_the_other_ways_to_count_them(name):
    found, _, _, single = played(PLAYED[name], 1)
    counted, messages = single[0]
    mechanism = PLAYED[name]
    joint = joint_counts(mechanism, counted, messages)
    assert found[0].counts[:, 0] == pytest.approx(joint.counts[ABOVE])
    assert found[0].errors[:, 0] == pytest.approx(joint.errors[ABOVE])
    shown = patterns_of_pairs(counted, np.array(ABOVE).T, messages)
    sets = estimate_sets(mechanism, shown)
    assert found[0].counts[:, 0] == pytest.approx(sets.counts)
    assert found[0].errors[:, 0] == pytest.approx(sets.standard_error, rel=0.02)
    assert found[0].counts.sum(axis=1) == pytest.approx(PEOPLE)


@pytest.mark.slow
@pytest.mark.parametrize("name", PLAYED)
def test_intervals_hold_the_truth_95_times_in_100(name):
    """Each kind of cell, the correlation, and sets of two: 94 to 96 % of 45,000 (15 pairs).

    Errors within 3 % of what is stated. Pairs of one collection share bits, so that a share
    deviates by at most about 0.25 %: 1 % is four times that. The variance of 3,000 collections
    deviates by 2.6 % a pair, by under 1 % over 15. False alarm below 10^-3.
    """
    found, tables, correlations, single = played(PLAYED[name], 3000)
    held = shares(found, tables, correlations)
    assert held.min() >= 0.94
    assert held.max() <= 0.96
    cells = np.mean(off(found, "counts", "errors", tables) ** 2, axis=(0, 1))
    assert cells == pytest.approx(np.ones(4), abs=0.03)
    sets = [
        estimate_sets(PLAYED[name], patterns_of_pairs(counted, np.array(ABOVE).T, messages))
        for counted, messages in single
    ]
    away = [np.abs(s.counts - tables[:, 0]) <= 1.96 * s.standard_error for s in sets]
    assert 0.94 <= np.mean(away) <= 0.96


@pytest.mark.parametrize("name", PLAYED)
def test_a_few_collections_hold_about_as_often(name):
    """2,250 of each: they deviate by about 1 %; false alarm below 10^-4."""
    held = shares(*played(PLAYED[name], 150)[:3])
    assert held.min() > 0.91
    assert held.max() < 0.985


@pytest.mark.parametrize("name", PLAYED)
def test_the_twin_with_half_the_variance_is_found(name):
    """Planted: every stated variance halved holds 83 %; false alarm below 10^-9."""
    found, tables, correlations, _ = played(PLAYED[name], 150)
    planted = [
        replace(f, errors=f.errors / 2**0.5, correlation_errors=f.correlation_errors / 2**0.5)
        for f in found
    ]
    assert shares(planted, tables, correlations).max() < 0.90


@pytest.mark.parametrize("name", PLAYED)
def test_the_twin_that_loses_messages_is_found(name):
    """Planted: one in fifty of the pairs is not counted."""

    def lossy(counted):
        single = np.diag(np.diag(counted))
        return single + (counted - single) * 49 // 50

    assert shares(*played(PLAYED[name], 60, lossy)[:3]).min() < 0.90


def test_bits_that_nearly_nobody_has_are_not_correlated():
    rare = np.array([[60, 10], [10, 1500]])
    mechanism = altered(VECTOR, bins=2, threshold=threshold_of(0.02))
    found = two_by_two(mechanism, rare, PEOPLE, FIRST[:1], SECOND[:1])
    assert np.isnan([found.correlations[0], found.correlation_errors[0]]).all()
    assert np.isfinite(found.counts).all()


def test_stated_errors_are_those_of_the_counts_found():
    """At the mean of what is shown, for bits that unequal numbers of people have."""
    many = np.repeat(CROWD, 16, axis=0)
    n, q, truth = len(many), 0.25, many.T @ many
    single = np.diag(truth)
    shown = truth * 0.25 + q * ((n * q + single / 2)[:, None] + (n * q + single / 2)) - n * q * q
    shown[np.diag_indices(3)] = n * q + single / 2
    assert np.array_equal(shown, np.rint(shown))
    found = two_by_two(SMALL, shown.astype(np.int64), n, FIRST, SECOND)
    v, one, two = q * (1 - q) / (1 - 2 * q) ** 2, single[FIRST], single[SECOND]
    square, mild = n * v * v, n * v
    stated = [
        square + v * (one + two),
        square + mild + v * (one - two),
        square + mild + v * (two - one),
        square + 2 * mild - v * (one + two),
    ]
    assert found.errors**2 == pytest.approx(np.array(stated).T, rel=1e-9)
