"""A batch of many megabytes is randomized to its end: reports and fakes, short rows and long ones.

Every 64 KB of it has as many flips as its distribution says, so that nothing leaves in clear.
"""

import numpy as np
import pytest
from scipy import stats

from mixtally.ground.fixed import threshold_of
from mixtally.randomize import fakes, reports
from mixtally.records.mechanism import Parameter
from mixtally.records.mechanism.named import flip_blank, flip_uniform
from mixtally.simulation.seeded import SeededChance

FOUR_MB = 1 << 22
PIECE = 1 << 16
SHAPES = {"short rows": 64, "long rows": 40_000}
SHARES = [0.004, 0.2]


def held_by(mechanism, people):
    return np.arange(people) % mechanism.bins


def some(mechanism):
    """People whose messages make 9 MB."""
    return 9 * (FOUR_MB // 4) // mechanism.layout.message_bytes


def p_value(changed, q):
    """The least p-value of the flips in a piece of 64 KB, Bonferroni; ``changed`` are bits."""
    whole = len(changed.reshape(-1)) // PIECE * PIECE
    pieces = changed.reshape(-1)[:whole].reshape(-1, PIECE)
    ones = np.bitwise_count(pieces).sum(axis=1, dtype=np.int64)
    rest = changed.reshape(-1)[whole:]
    ones = np.append(ones, np.bitwise_count(rest).sum(dtype=np.int64))
    pmf = stats.binom(np.append(np.full(len(pieces), 8 * PIECE), 8 * len(rest)), q)
    return float(2 * np.minimum(pmf.cdf(ones), pmf.sf(ones - 1)).min() * len(ones))


def of_reports(mechanism, device=reports):
    """P-value of the flips of 9 MB of reports."""
    codes = held_by(mechanism, some(mechanism))
    rows = device(mechanism, codes, SeededChance(8))
    return p_value(rows ^ mechanism.layout.rows(codes), mechanism.flip_probability)


def of_fakes(mechanism, device=fakes):
    """P-value of the flips of 9 MB of blank fakes."""
    return p_value(device(mechanism, some(mechanism), SeededChance(9)), mechanism.flip_probability)


@pytest.mark.parametrize("q", SHARES)
@pytest.mark.parametrize("bins", SHAPES.values(), ids=SHAPES)
def test_a_large_batch_is_randomized_to_its_end(bins, q):
    """False alarm below 2 * 10^-6 a case."""
    mechanism = flip_blank(bins=bins, fakes=0, threshold=threshold_of(q))
    assert of_reports(mechanism) > 1e-6
    assert of_fakes(mechanism) > 1e-6


def test_uniform_fakes_are_flipped_to_the_end():
    """False alarm below 10^-6."""
    mechanism = flip_uniform(bins=40_000, fakes=0, threshold=threshold_of(0.004))
    rows = fakes(mechanism, some(mechanism), SeededChance(3))
    mean = mechanism.flip_probability + mechanism.gain / mechanism.bins
    assert p_value(rows, mean) > 1e-6


def in_clear_after_four_megabytes(mechanism, codes, chance):
    rows = reports(mechanism, codes, chance)
    first = FOUR_MB // mechanism.layout.message_bytes
    rows[first:] = mechanism.layout.rows(codes[first:])
    return rows


def one_stretch_in_clear(mechanism, codes, chance):
    """Sixteen kilobytes after the first four megabytes."""
    rows, width = reports(mechanism, codes, chance), mechanism.layout.message_bytes
    bare = slice(FOUR_MB // width, (FOUR_MB + PIECE // 4) // width)
    rows[bare] = mechanism.layout.rows(codes[bare])
    return rows


def half_the_flips_at_the_end(mechanism, codes, chance):
    first = 2 * FOUR_MB // mechanism.layout.message_bytes
    softer = mechanism.having(Parameter.FLIP, mechanism.threshold // 2)
    return np.concatenate(
        [reports(mechanism, codes[:first], chance), reports(softer, codes[first:], chance)]
    )


@pytest.mark.parametrize("q", SHARES)
@pytest.mark.parametrize("bins", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize(
    "device", [in_clear_after_four_megabytes, one_stretch_in_clear, half_the_flips_at_the_end]
)
def test_reports_in_clear_after_the_first_megabytes_are_found(bins, q, device):
    mechanism = flip_blank(bins=bins, fakes=0, threshold=threshold_of(q))
    assert of_reports(mechanism, device) < 1e-6


@pytest.mark.parametrize("bins", SHAPES.values(), ids=SHAPES)
def test_fakes_that_stay_blank_after_the_first_megabytes_are_found(bins):
    def tired(mechanism, count, chance):
        rows = fakes(mechanism, count, chance)
        rows[FOUR_MB // mechanism.layout.message_bytes :] = 0
        return rows

    mechanism = flip_blank(bins=bins, fakes=0, threshold=threshold_of(0.004))
    assert of_fakes(mechanism, tired) < 1e-6
