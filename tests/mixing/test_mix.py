"""The shuffle is uniform, and shaped fakes follow their table."""

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from helpers.named import clear_shaped
from mixtally.errors import ParameterError
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.shape import ratio_of
from mixtally.protocol.mixing import check_shuffle_memory, draw_shaped_fakes, shuffle


def order_p_value(mixer, runs=12_000):
    """Chi-square p-value that all 24 orders of four messages are equally likely."""
    chance, batch = SeededChance(9), np.arange(4, dtype=np.uint8).reshape(4, 1)
    seen = dict.fromkeys(permutations(range(4)), 0)
    for _ in range(runs):
        seen[tuple(mixer(batch, chance)[:, 0].tolist())] += 1
    return stats.chisquare(list(seen.values())).pvalue


def test_every_order_is_equally_likely():
    """False alarm 1e-6."""
    assert order_p_value(shuffle) > 1e-6


def test_a_mix_that_only_rotates_is_found():
    def rotate(batch, chance):
        return np.roll(batch, int(chance.words(1)[0] % 4), axis=0)

    assert order_p_value(rotate) < 1e-6


def test_nothing_is_lost_or_changed():
    batch = SeededChance(1).words(5000).view(np.uint8).reshape(-1, 5)
    mixed = shuffle(batch, SeededChance(2))
    assert sorted(map(bytes, mixed)) == sorted(map(bytes, batch))
    assert not np.array_equal(mixed, batch)


def test_a_batch_larger_than_memory_is_refused():
    check_shuffle_memory(1000, 10, 100_000)
    with pytest.raises(ParameterError, match="GB"):
        check_shuffle_memory(1000, 10, 50_000)


def shaped_p_value(weights, drawn_from):
    """Chi-square p-value of the numbers of fakes in 60,000 bins against ``weights``."""
    mechanism = clear_shaped(bins=60_000, ratio=ratio_of(0.5), shift=6)
    rows = draw_shaped_fakes(drawn_from, mechanism.layout, SeededChance(4))
    numbers = np.bincount(mechanism.layout.codes(rows), minlength=60_000)
    shares = np.array([w / 2**64 for w in weights])
    counts = np.bincount(numbers, minlength=len(weights))
    return stats.chisquare(counts, shares * 60_000).pvalue


def test_numbers_of_fakes_follow_the_table():
    """False alarm 1e-6."""
    weights = clear_shaped(bins=2, ratio=ratio_of(0.5), shift=6).fakes.shape.weights
    assert shaped_p_value(weights, weights) > 1e-6


def test_a_table_of_another_decay_is_found():
    weights = clear_shaped(bins=2, ratio=ratio_of(0.5), shift=6).fakes.shape.weights
    other = clear_shaped(bins=2, ratio=ratio_of(0.55), shift=6).fakes.shape.weights
    assert shaped_p_value(weights, other) < 1e-6
