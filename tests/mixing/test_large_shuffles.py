"""The shuffle of a large batch is uniform: no block stays together, no border shows, no row stays.

Each check gives a p-value, and every mixer that cuts a corner must get one below 10^-6 from some.
"""

import numpy as np
import pytest
from scipy import stats

from mixtally.lab.simulation.seeded import SeededChance
from mixtally.protocol.mixing import shuffle

STRIDE = 8192
"""Words that the keystream makes at once."""
SIZES = [20_000, 3 * STRIDE + 1]
RUNS = 15


def orders(mixer, size, runs=RUNS, seed=3):
    """Which row came to each place, shape (runs, size)."""
    batch, chance = np.arange(size, dtype="<u4").view(np.uint8).reshape(size, 4), SeededChance(seed)
    mixed = [np.ascontiguousarray(mixer(batch, chance)) for _ in range(runs)]
    return np.array([one.view("<u4").reshape(-1).astype(np.int64) for one in mixed])


def spread(found, blocks=20):
    """P-value of how many rows went from each twentieth to each: too uneven or too even."""
    runs, size = found.shape
    cells = blocks * (found * blocks // size) + np.arange(size) * blocks // size
    width = np.bincount(np.arange(size) * blocks // size)
    expected = np.outer(width, width).ravel() / size
    total = sum(
        float(((np.bincount(one, minlength=blocks**2) - expected) ** 2 / expected).sum())
        for one in cells
    )
    law = stats.chi2(runs * (blocks - 1) ** 2)
    return 2 * min(law.cdf(total), law.sf(total))


def kept_apart(found, distance):
    """P-value of how many pairs of rows at ``distance`` are at it still, in either order.

    About 2 (1 - distance / size)^2 of a shuffle, Poisson.
    """
    runs, size = found.shape
    seen = int((np.abs(found[:, distance:] - found[:, :-distance]) == distance).sum())
    law = stats.poisson(runs * 2 * (size - distance) ** 2 / size / (size - 1))
    return 2 * min(law.cdf(seen), law.sf(seen - 1))


def neighbors(found):
    """P-value of the correlation of neighbors' former places, near normal."""
    runs, size = found.shape
    middle = found - (size - 1) / 2
    each = (middle[:, 1:] * middle[:, :-1]).sum(axis=1) / ((size**2 - 1) / 12 * np.sqrt(size))
    return 2 * stats.norm.sf(abs(each.sum()) / np.sqrt(runs))


def at_borders(found):
    """P-value of where the rows at both ends and on both sides of every border came from."""
    size = found.shape[1]
    borders = [0, *range(STRIDE, size, STRIDE), *range(1000, size, 1000), 10_000, 2 * STRIDE, size]
    places = sorted({b + side for b in borders for side in (-1, 0) if 0 <= b + side < size})
    held = [stats.kstest((found[:, place] + 0.5) / size, "uniform").pvalue for place in places]
    stays = int((found[:, places] == places).sum())
    still = stats.poisson(found.shape[0] * len(places) / size).sf(stays - 1)
    return min(1.0, len(places) * min(held), still)


def worst(mixer, size):
    """The smallest p-value of eight checks."""
    found = orders(mixer, size)
    kept = [kept_apart(found, distance) for distance in (1, 2, 1000, STRIDE, 10_000)]
    return min(spread(found), *kept, neighbors(found), at_borders(found))


@pytest.mark.parametrize("size", SIZES)
def test_a_large_batch_is_shuffled_as_a_whole(size):
    """False alarm below 8 * 10^-6 a case."""
    assert worst(shuffle, size) > 1e-6


def inside_blocks(length):
    """Rows change places inside blocks of ``length`` only."""

    def mixer(batch, chance):
        cut = range(0, len(batch), length)
        return np.concatenate([shuffle(batch[start : start + length], chance) for start in cut])

    return mixer


def whole_blocks(length):
    """Blocks change places, rows in them do not."""

    def mixer(batch, chance):
        cut = len(batch) // length * length
        blocks = shuffle(batch[:cut].reshape(cut // length, -1), chance)
        return np.concatenate([blocks.reshape(cut, -1), shuffle(batch[cut:], chance)])

    return mixer


def one_order_for_all_blocks(batch, chance):
    """Every block of a stride is put in the same order, and then the blocks."""
    cut = len(batch) // STRIDE * STRIDE
    inside = np.argsort(chance.words(STRIDE))
    blocks = shuffle(batch[:cut].reshape(-1, STRIDE, 4)[:, inside].reshape(-1, 4 * STRIDE), chance)
    return np.concatenate([blocks.reshape(cut, 4), shuffle(batch[cut:], chance)])


def only_up_to_ten_thousand(batch, chance):
    """Larger batches are left as they came."""
    return batch if len(batch) > 10_000 else shuffle(batch, chance)


def only_the_first_ten_thousand(batch, chance):
    return np.concatenate([shuffle(batch[:10_000], chance), batch[10_000:]])


def all_but_the_last(batch, chance):
    return np.concatenate([shuffle(batch[:-1], chance), batch[-1:]])


def all_but_the_first_of_every_stride(batch, chance):
    free = np.arange(len(batch)) % STRIDE != 0
    mixed = batch.copy()
    mixed[free] = shuffle(batch[free], chance)
    return mixed


def dealt(batch, chance):
    """Every twentieth is dealt evenly over all: too regular to be chance."""
    places = np.arange(len(batch)) // 20 + chance.words(len(batch)) % np.uint64(7)
    return batch[np.argsort(np.arange(len(batch)) % 20 * len(batch) + places, kind="stable")]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    "mixer",
    [
        inside_blocks(1000), inside_blocks(STRIDE), inside_blocks(10_000), whole_blocks(2),
        whole_blocks(1000), one_order_for_all_blocks, only_up_to_ten_thousand,
        only_the_first_ten_thousand, all_but_the_last, all_but_the_first_of_every_stride, dealt,
    ],
)  # fmt: skip
def test_a_mixer_that_cuts_a_corner_is_found(mixer, size):
    assert worst(mixer, size) < 1e-6
