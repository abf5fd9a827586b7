"""Reports and fakes follow their distribution, and padding stays clean."""

import math

import numpy as np
import pytest
from msgspec.structs import replace

from helpers.contracts import flipped, uniform
from mixtally.errors import MessageError
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.contract import FakeRecord, OwnFakes
from mixtally.primitives import flips
from mixtally.protocol.randomize import draw_part_fakes, randomize_records

PEOPLE = 40_000
BLANK = OwnFakes(FakeRecord.BLANK, 1, 0)


def column_deviation(rows, bins, chances):
    """Largest deviation of a column's ones from its binomial distribution, in standard
    deviations.
    """
    ones = np.unpackbits(rows, axis=1, count=bins, bitorder="little").sum(axis=0)
    spread = np.sqrt(len(rows) * chances * (1 - chances))
    return float(np.max(np.abs(ones - len(rows) * chances) / spread))


def expected_ones(bins, code, q):
    chances = np.full(bins, q)
    chances[code] = 1 - q
    return chances


def batch_of_reports(part, seed):
    return randomize_records(part, np.full(PEOPLE, 4), SeededChance(seed))


@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize("q", [0.004, 0.2])
def test_reports_flip_every_bit_with_q(q, repeats):
    """False alarm below 13 * 6e-7 = 8e-6 a case: 5 deviations, 13 columns."""
    part = replace(flipped(13, q=q), repeats=repeats)
    rows = batch_of_reports(part, 2)
    assert len(rows) == repeats * PEOPLE
    assert column_deviation(rows, 13, expected_ones(13, 4, q)) < 5


@pytest.mark.parametrize("q", [0.004, 0.2])
def test_reports_flipped_with_another_q_are_found(q):
    assert (
        column_deviation(batch_of_reports(flipped(13, q=1.5 * q), 2), 13, expected_ones(13, 4, q))
        > 5
    )


def test_a_record_that_is_sent_again_is_flipped_afresh():
    """Two messages of a person differ in 2 q (1 - q) of their bits; 5 deviations."""
    rows = batch_of_reports(replace(flipped(16, q=0.2), repeats=2), 3)
    apart = np.bitwise_count(rows[::2] ^ rows[1::2]).sum() / (16 * PEOPLE)
    assert abs(apart - 0.32) < 5 * math.sqrt(0.32 * 0.68 / (16 * PEOPLE))


@pytest.mark.parametrize("q", [0.004, 0.2])
def test_blank_fakes_are_flipped_blanks(q):
    """False alarm below 8e-6 a case: 5 deviations, 13 columns."""
    rows, number = draw_part_fakes(flipped(13, q=q, own=BLANK), PEOPLE, SeededChance(6))
    assert number == PEOPLE
    assert column_deviation(rows, 13, np.full(13, q)) < 5


def test_uniform_fakes_fall_on_every_bin_alike():
    """False alarm below 7 * 6e-7: 5 deviations, 7 bins."""
    rows, _ = draw_part_fakes(uniform(7, whole=1, coin=0), PEOPLE, SeededChance(1))
    counts = np.bincount(rows[:, 0], minlength=7)
    assert np.max(np.abs(counts - PEOPLE / 7)) < 5 * math.sqrt(PEOPLE * 6 / 49)


def test_clear_reports_are_the_values_themselves():
    part, codes = uniform(1000), [0, 999, 255, 256]
    assert part.layout.codes(randomize_records(part, codes, SeededChance(1))).tolist() == codes


@pytest.mark.parametrize("way", [flips._flip_few, flips._flip_many])
@pytest.mark.parametrize("columns", [1, 7, 8, 9, 64, 105])
def test_padding_is_never_flipped(way, columns):
    rows = np.zeros((300, -(-columns // 8)), dtype=np.uint8)
    flipped = way(rows, columns, 1 << 62, SeededChance(columns))
    assert not np.unpackbits(flipped, axis=1, bitorder="little")[:, columns:].any()
    assert np.unpackbits(flipped, axis=1, bitorder="little")[:, :columns].any(axis=0).all()
    assert not rows.any()


def test_one_bit_more_than_the_plan_hides_is_refused():
    part = flipped(16, most_set=3, q=0.25)
    rows = np.array([[0b111, 0], [0b101, 0b10]], dtype=np.uint8)
    assert randomize_records(part, rows, SeededChance(1)).shape == (2, 2)
    rows[1, 1] = 0b11
    with pytest.raises(MessageError, match="at most 3 set bits"):
        randomize_records(part, rows, SeededChance(1))
