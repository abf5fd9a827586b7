"""A played batch of megabytes and thousands of messages: all flipped, all shuffled together."""

import numpy as np
import pytest
from scipy import stats

from helpers.contracts import flipped, shaped
from mixtally.lab.simulation import play as module
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.contract import FakeRecord, OwnFakes
from mixtally.primitives.fixed_point import SCALE
from simulation.rounds import tally_of

Q = 0.004
WIDE = flipped(40_000, q=Q, own=OwnFakes(FakeRecord.BLANK, 0, SCALE // 2))
"""Messages of 5,000 bytes: 419 people are played at once, 4 MB with the most fakes."""
CLEAR = shaped(250, shift=1)


def watched(part, codes):
    """All messages as they are tallied, in order."""
    seen = []
    tally_of(part, codes, SeededChance(5), watch=lambda rows: seen.append(rows.copy()))
    return np.concatenate(seen)


def flips_p_value():
    """The least p-value of the ones of a message, Bonferroni: of 1,800 people and 900 fakes."""
    rows = watched(WIDE, np.arange(1800) * 20)
    ones = np.bitwise_count(rows).sum(axis=1, dtype=np.int64)
    law = stats.binom(WIDE.bins, Q)  # a report has one more or fewer, which moves p by 8 %
    return float(2 * np.minimum(law.cdf(ones), law.sf(ones - 1)).min() * len(ones))


def test_every_message_of_a_large_collection_is_flipped():
    """False alarm below 2 * 10^-6."""
    assert flips_p_value() > 1e-6


@pytest.mark.parametrize("bare", ["randomize_records", "draw_part_fakes"])
def test_messages_in_clear_after_the_first_four_megabytes_are_found(plant, bare):
    played = []

    def later(honest, part, told, chance, memo):
        played.append(bare)
        made = honest(part, told, chance, memo)
        if len(played) < 3:
            return made
        if bare == "randomize_records":
            return part.layout.rows(told)
        return part.layout.blank_rows(made[1]), made[1]

    plant(module, bare, later)
    assert flips_p_value() < 1e-6


def order_p_value(people):
    """P-value of how many neighbors among the messages are of one bin; people come sorted."""
    codes = CLEAR.layout.codes(watched(CLEAR, np.sort(np.arange(people) % CLEAR.bins)))
    alike, held = int((codes[1:] == codes[:-1]).sum()), np.bincount(codes)
    law = stats.poisson((held * (held - 1)).sum() / len(codes))
    return float(2 * min(law.cdf(alike), law.sf(alike - 1)))


@pytest.mark.parametrize("people", [300, 9000, 11_000, 25_000])
def test_a_batch_of_any_size_is_shuffled(people):
    """False alarm below 10^-6 a case: pairs of a bin are near Poisson, rather more regular."""
    assert order_p_value(people) > 1e-6


def test_a_mix_that_leaves_large_batches_as_they_came_is_found(plant):
    def lazy(honest, batch, chance):
        return batch if len(batch) > 10_000 else honest(batch, chance)

    plant(module, "shuffle", lazy)
    assert order_p_value(9000) > 1e-6
    assert order_p_value(11_000) < 1e-6


def test_a_mix_that_shuffles_inside_blocks_is_found(plant):
    def blocks(honest, batch, chance):
        cut = range(0, len(batch), 1000)
        return np.concatenate([honest(batch[start : start + 1000], chance) for start in cut])

    plant(module, "shuffle", blocks)
    assert order_p_value(25_000) < 1e-6
