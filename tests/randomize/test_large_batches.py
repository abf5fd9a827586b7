"""A batch of many megabytes is randomized to its end: reports and fakes, short rows and long ones.

Every 64 KB of it has as many flips as its distribution says, so that nothing leaves in clear.
"""

import numpy as np
import pytest
from msgspec.structs import replace
from scipy import stats

from helpers.contracts import flipped
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.contract import FakeRecord, OwnFakes
from mixtally.primitives.fixed_point import SCALE
from mixtally.protocol.randomize import draw_part_fakes, randomize_records

FOUR_MB = 1 << 22
PIECE = 1 << 16
SHAPES = {"short rows": 64, "long rows": 40_000}
SHARES = [0.004, 0.2]


def part_of(bins, q, record=FakeRecord.BLANK):
    """A part in which each device draws a fake."""
    return flipped(bins, q=q, own=OwnFakes(record, 1, 0))


def rate(part):
    return part.threshold / SCALE


def fakes(part, count, chance):
    return draw_part_fakes(part, count, chance)[0]


def held_by(part, people):
    return np.arange(people) % part.bins


def some(part):
    """People whose messages make 9 MB."""
    return 9 * (FOUR_MB // 4) // part.layout.message_bytes


def p_value(changed, q):
    """The least p-value of the flips in a piece of 64 KB, Bonferroni; ``changed`` are bits."""
    whole = len(changed.reshape(-1)) // PIECE * PIECE
    pieces = changed.reshape(-1)[:whole].reshape(-1, PIECE)
    ones = np.bitwise_count(pieces).sum(axis=1, dtype=np.int64)
    rest = changed.reshape(-1)[whole:]
    ones = np.append(ones, np.bitwise_count(rest).sum(dtype=np.int64))
    pmf = stats.binom(np.append(np.full(len(pieces), 8 * PIECE), 8 * len(rest)), q)
    return float(2 * np.minimum(pmf.cdf(ones), pmf.sf(ones - 1)).min() * len(ones))


def of_reports(part, device=randomize_records):
    """P-value of the flips of 9 MB of reports."""
    codes = held_by(part, some(part))
    rows = device(part, codes, SeededChance(8))
    return p_value(rows ^ part.layout.rows(codes), rate(part))


def of_fakes(part, device=fakes):
    """P-value of the flips of 9 MB of blank fakes."""
    return p_value(device(part, some(part), SeededChance(9)), rate(part))


@pytest.mark.parametrize("q", SHARES)
@pytest.mark.parametrize("bins", SHAPES.values(), ids=SHAPES)
def test_a_large_batch_is_randomized_to_its_end(bins, q):
    """False alarm below 2 * 10^-6 a case."""
    part = part_of(bins, q)
    assert of_reports(part) > 1e-6
    assert of_fakes(part) > 1e-6


def test_uniform_fakes_are_flipped_to_the_end():
    """False alarm below 10^-6."""
    part = part_of(40_000, 0.004, FakeRecord.UNIFORM)
    rows = fakes(part, some(part), SeededChance(3))
    mean = rate(part) + (1.0 - 2.0 * rate(part)) / part.bins
    assert p_value(rows, mean) > 1e-6


def in_clear_after_four_megabytes(part, codes, chance):
    rows = randomize_records(part, codes, chance)
    first = FOUR_MB // part.layout.message_bytes
    rows[first:] = part.layout.rows(codes[first:])
    return rows


def one_stretch_in_clear(part, codes, chance):
    """Sixteen kilobytes after the first four megabytes."""
    rows, width = randomize_records(part, codes, chance), part.layout.message_bytes
    bare = slice(FOUR_MB // width, (FOUR_MB + PIECE // 4) // width)
    rows[bare] = part.layout.rows(codes[bare])
    return rows


def half_the_flips_at_the_end(part, codes, chance):
    first = 2 * FOUR_MB // part.layout.message_bytes
    softer = replace(part, threshold=part.threshold // 2)
    return np.concatenate(
        [
            randomize_records(part, codes[:first], chance),
            randomize_records(softer, codes[first:], chance),
        ]
    )


@pytest.mark.parametrize("q", SHARES)
@pytest.mark.parametrize("bins", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize(
    "device", [in_clear_after_four_megabytes, one_stretch_in_clear, half_the_flips_at_the_end]
)
def test_reports_in_clear_after_the_first_megabytes_are_found(bins, q, device):
    part = part_of(bins, q)
    assert of_reports(part, device) < 1e-6


@pytest.mark.parametrize("bins", SHAPES.values(), ids=SHAPES)
def test_fakes_that_stay_blank_after_the_first_megabytes_are_found(bins):
    def tired(part, count, chance):
        rows = fakes(part, count, chance)
        rows[FOUR_MB // part.layout.message_bytes :] = 0
        return rows

    part = part_of(bins, 0.004)
    assert of_fakes(part, tired) < 1e-6
