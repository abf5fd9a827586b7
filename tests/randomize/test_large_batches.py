"""A batch of many megabytes is randomized to its end: reports and fakes, short rows and long ones.

Every 64 KB of it has as many flips as its law says, so that nothing leaves in clear.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from mixtally.ground.fixed import threshold_of
from mixtally.lab.seeded import SeededChance
from mixtally.protocols.flip_blank import FlipBlank
from mixtally.protocols.flip_uniform import FlipUniform
from mixtally.randomize import fakes, reports

FOUR_MB = 1 << 22
PIECE = 1 << 16
SHAPES = {"short rows": 64, "long rows": 40_000}
SHARES = [0.004, 0.2]


def held_by(protocol, people):
    return np.arange(people) % protocol.bins


def some(protocol):
    """People whose messages make 9 MB."""
    return 9 * (FOUR_MB // 4) // protocol.layout.message_bytes


def p_value(changed, q):
    """The least p-value of the flips in a piece of 64 KB, Bonferroni; ``changed`` are bits."""
    whole = len(changed.reshape(-1)) // PIECE * PIECE
    pieces = changed.reshape(-1)[:whole].reshape(-1, PIECE)
    ones = np.bitwise_count(pieces).sum(axis=1, dtype=np.int64)
    rest = changed.reshape(-1)[whole:]
    ones = np.append(ones, np.bitwise_count(rest).sum(dtype=np.int64))
    law = stats.binom(np.append(np.full(len(pieces), 8 * PIECE), 8 * len(rest)), q)
    return float(2 * np.minimum(law.cdf(ones), law.sf(ones - 1)).min() * len(ones))


def of_reports(protocol, device=reports):
    """P-value of the flips of 9 MB of reports."""
    codes = held_by(protocol, some(protocol))
    rows = device(protocol, codes, SeededChance(8))
    return p_value(rows ^ protocol.layout.rows(codes), protocol.flip_probability)


def of_fakes(protocol, device=fakes):
    """P-value of the flips of 9 MB of blank fakes."""
    return p_value(device(protocol, some(protocol), SeededChance(9)), protocol.flip_probability)


@pytest.mark.parametrize("q", SHARES)
@pytest.mark.parametrize("bins", SHAPES.values(), ids=SHAPES)
def test_a_large_batch_is_randomized_to_its_end(bins, q):
    """False alarm below 2 * 10^-6 a case."""
    protocol = FlipBlank(bins=bins, fakes=0, threshold=threshold_of(q))
    assert of_reports(protocol) > 1e-6
    assert of_fakes(protocol) > 1e-6


def test_uniform_fakes_are_flipped_to_the_end():
    """False alarm below 10^-6."""
    protocol = FlipUniform(bins=40_000, fakes=0, threshold=threshold_of(0.004))
    rows = fakes(protocol, some(protocol), SeededChance(3))
    mean = protocol.flip_probability + protocol.gain / protocol.bins
    assert p_value(rows, mean) > 1e-6


def in_clear_after_four_megabytes(protocol, codes, chance):
    rows = reports(protocol, codes, chance)
    first = FOUR_MB // protocol.layout.message_bytes
    rows[first:] = protocol.layout.rows(codes[first:])
    return rows


def one_stretch_in_clear(protocol, codes, chance):
    """Sixteen kilobytes after the first four megabytes."""
    rows, width = reports(protocol, codes, chance), protocol.layout.message_bytes
    bare = slice(FOUR_MB // width, (FOUR_MB + PIECE // 4) // width)
    rows[bare] = protocol.layout.rows(codes[bare])
    return rows


def half_the_flips_at_the_end(protocol, codes, chance):
    first = 2 * FOUR_MB // protocol.layout.message_bytes
    softer = replace(protocol, threshold=protocol.threshold // 2)
    return np.concatenate(
        [reports(protocol, codes[:first], chance), reports(softer, codes[first:], chance)]
    )


@pytest.mark.parametrize("q", SHARES)
@pytest.mark.parametrize("bins", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize(
    "device", [in_clear_after_four_megabytes, one_stretch_in_clear, half_the_flips_at_the_end]
)
def test_reports_in_clear_after_the_first_megabytes_are_found(bins, q, device):
    protocol = FlipBlank(bins=bins, fakes=0, threshold=threshold_of(q))
    assert of_reports(protocol, device) < 1e-6


@pytest.mark.parametrize("bins", SHAPES.values(), ids=SHAPES)
def test_fakes_that_stay_blank_after_the_first_megabytes_are_found(bins):
    def tired(protocol, count, chance):
        rows = fakes(protocol, count, chance)
        rows[FOUR_MB // protocol.layout.message_bytes :] = 0
        return rows

    protocol = FlipBlank(bins=bins, fakes=0, threshold=threshold_of(0.004))
    assert of_fakes(protocol, tired) < 1e-6
