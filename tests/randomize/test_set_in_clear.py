"""Everybody's sets in clear: the cells that a device names, and fakes over all of them."""

import numpy as np
import pytest
from scipy.stats import chisquare

from helpers.contracts import builtins_of, uniform
from mixtally.device.client.draw import RandomWords, draw_record
from mixtally.device.contract.part import read_part
from mixtally.errors import MessageError
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.primitives.fixed_point import SCALE
from mixtally.protocol.randomize import draw_part_fakes, randomize_records

BINS, MOST = 19, 3
PART = uniform(BINS, most_set=MOST, whole=1, coin=SCALE // 2)
SETS = [[], [18], [0, 5], [2, 3, 17], [], [1, 8, 9]]


def rows_of(sets):
    bits = np.zeros((len(sets), BINS), dtype=np.uint8)
    for place, members in enumerate(sets):
        bits[place, members] = 1
    return np.packbits(bits, axis=1, bitorder="little")


def test_they_are_those_of_devices_one_by_one():
    bare = read_part(builtins_of(PART), "part")
    words = RandomWords(lambda count: bytes(8 * count))
    wanted = [message for members in SETS for message in draw_record(bare, members, words)]
    sent = randomize_records(PART, rows_of(SETS), SeededChance(1))
    assert [row.tobytes() for row in sent] == wanted
    assert len(sent) == MOST * len(SETS)


def test_a_number_is_a_set_of_one():
    sent = randomize_records(PART, np.array([4, 0]), SeededChance(1))
    assert PART.layout.codes(sent).tolist() == [4, 19, 20, 0, 19, 20]


def test_nobody_sends_nothing():
    assert len(randomize_records(PART, rows_of([]).reshape(0, 3), SeededChance(1))) == 0


def test_larger_sets_are_refused():
    with pytest.raises(MessageError, match="at most 3 set bits"):
        randomize_records(PART, rows_of([[1], [1, 2, 3, 4]]), SeededChance(1))


def evenly(part):
    """False alarm: 10^-9, a chi-square test with 2,000 expected in each cell."""
    rows, number = draw_part_fakes(part, 30_000, SeededChance(2))
    assert len(rows) == number
    seen = np.bincount(part.layout.codes(rows), minlength=BINS + MOST)
    return chisquare(seen).pvalue > 1e-9


def test_fakes_fall_evenly_over_bins_and_pads():
    assert evenly(PART)


def test_the_twin_whose_fakes_are_never_pads_is_caught(plant):
    from mixtally.protocol.randomize import parts

    plant(
        parts, "draw_numbers", lambda honest, chance, cells, count: honest(chance, cells - 3, count)
    )
    assert not evenly(PART)
