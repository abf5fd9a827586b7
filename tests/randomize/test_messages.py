"""Reports and fakes: batches and single records follow one distribution, and padding stays
clean.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mixtally.randomize.messages import share_of_fakes

from mixtally.errors import MessageError
from mixtally.ground import flips
from mixtally.randomize import fakes, one_fake, one_report, reports
from mixtally.records.mechanism.named import clear_uniform, flip_blank
from mixtally.simulation.seeded import SeededChance

PEOPLE = 40_000


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


def batch_of_reports(mechanism, seed):
    return reports(mechanism, np.full(PEOPLE, 4), SeededChance(seed))


def batch_of_single_reports(mechanism, seed):
    chance = SeededChance(seed)
    sent = b"".join(one_report(mechanism, 4, chance) for _ in range(PEOPLE // 4))
    return np.frombuffer(sent, dtype=np.uint8).reshape(-1, mechanism.layout.message_bytes)


@pytest.mark.parametrize("make", [batch_of_reports, batch_of_single_reports])
@pytest.mark.parametrize("q", [0.004, 0.2])
def test_reports_flip_every_bit_with_q(make, q):
    """False alarm below 13 * 6e-7 = 8e-6 a case: 5 deviations, 13 columns."""
    mechanism = flip_blank(bins=13, fakes=0, threshold=int(q * 2**64))
    assert column_deviation(make(mechanism, 2), 13, expected_ones(13, 4, q)) < 5


@pytest.mark.parametrize("q", [0.004, 0.2])
def test_reports_flipped_with_another_q_are_found(q):
    wrong = flip_blank(bins=13, fakes=0, threshold=int(1.5 * q * 2**64))
    assert column_deviation(batch_of_reports(wrong, 2), 13, expected_ones(13, 4, q)) > 5


@pytest.mark.parametrize("q", [0.004, 0.2])
def test_blank_fakes_are_flipped_blanks(q):
    """False alarm below 8e-6 a case: 5 deviations, 13 columns."""
    mechanism = flip_blank(bins=13, fakes=9, threshold=int(q * 2**64))
    rows = fakes(mechanism, PEOPLE, SeededChance(6))
    assert column_deviation(rows, 13, np.full(13, q)) < 5
    chance = SeededChance(7)
    single = b"".join(one_fake(mechanism, chance) for _ in range(PEOPLE // 4))
    rows = np.frombuffer(single, dtype=np.uint8).reshape(-1, 2)
    assert column_deviation(rows, 13, np.full(13, q)) < 5


def test_uniform_fakes_fall_on_every_bin_alike():
    """False alarm below 7 * 6e-7: 5 deviations, 7 bins."""
    mechanism = clear_uniform(bins=7, fakes=0)
    counts = np.bincount(fakes(mechanism, PEOPLE, SeededChance(1))[:, 0], minlength=7)
    assert np.max(np.abs(counts - PEOPLE / 7)) < 5 * math.sqrt(PEOPLE * 6 / 49)
    assert len(one_fake(mechanism, SeededChance(2))) == 1


def test_clear_reports_are_the_values_themselves():
    mechanism = clear_uniform(bins=1000, fakes=0)
    codes = np.array([0, 999, 255, 256])
    assert mechanism.layout.codes(reports(mechanism, codes, SeededChance(1))).tolist() == [
        0, 999, 255, 256,
    ]  # fmt: skip
    assert one_report(mechanism, 999, SeededChance(1)) == (999).to_bytes(2, "little")


@pytest.mark.parametrize("way", [flips._flip_few, flips._flip_many])
@pytest.mark.parametrize("columns", [1, 7, 8, 9, 64, 105])
def test_padding_is_never_flipped(way, columns):
    rows = np.zeros((300, -(-columns // 8)), dtype=np.uint8)
    flipped = way(rows, columns, 1 << 62, SeededChance(columns))
    assert not np.unpackbits(flipped, axis=1, bitorder="little")[:, columns:].any()
    assert np.unpackbits(flipped, axis=1, bitorder="little")[:, :columns].any(axis=0).all()
    assert not rows.any()


@given(fakes=st.integers(0, 10**13), users=st.integers(2, 10**6), cut=st.floats(0, 1))
def test_shares_of_fakes_add_up(fakes, users, cut):
    middle = round(cut * users)
    first = share_of_fakes(fakes, users, 0, middle)
    assert first + share_of_fakes(fakes, users, middle, users) == fakes
    assert 0 <= share_of_fakes(fakes, users, 0, 1) - fakes // users <= 1


def test_one_bit_more_than_the_plan_hides_is_refused():
    mechanism = flip_blank(bins=16, fakes=0, threshold=1 << 62, max_set=3)
    rows = np.array([[0b111, 0], [0b101, 0b10]], dtype=np.uint8)
    assert reports(mechanism, rows, SeededChance(1)).shape == (2, 2)
    rows[1, 1] = 0b11
    with pytest.raises(MessageError, match="at most 3 bits"):
        reports(mechanism, rows, SeededChance(1))
