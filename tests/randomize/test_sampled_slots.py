"""Everybody's sampled slots: those of devices, drawn at once."""

import numpy as np
import pytest
from scipy.stats import chisquare

from helpers.contracts import builtins_of, sampled
from mixtally.device.client.draw import RandomWords, draw_record
from mixtally.device.contract.part import read_part
from mixtally.errors import MessageError
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.protocol.randomize import parts, randomize_records

BINS, MOST = 19, 3
SETS = [[], [18], [0, 5], [2, 3, 17], [1, 8, 9]]


def rows_of(sets, bins=BINS):
    bits = np.zeros((len(sets), bins), dtype=np.uint8)
    for place, members in enumerate(sets):
        bits[place, members] = 1
    return np.packbits(bits, axis=1, bitorder="little")


@pytest.mark.parametrize("slots", [1, 2])
@pytest.mark.parametrize("members", SETS)
def test_equal_words_give_the_messages_of_a_device(members, slots):
    part, chance, source = sampled(BINS, MOST, slots), SeededChance(7), SeededChance(7)
    bare = read_part(builtins_of(part), "part")
    words = RandomWords(lambda count: source.words(count).tobytes())
    for _ in range(20):
        own = draw_record(bare, members, words)
        sent = randomize_records(part, rows_of([members]), chance)
        assert [row.tobytes() for row in sent] == own


def evenly(part, members, whole):
    """False alarm: 10^-9, a chi-square test with 4,000 or more expected in each cell."""
    people = 4_000 * len(whole)
    sent = part.layout.codes(
        randomize_records(part, rows_of([members] * people, part.bins), SeededChance(2))
    )
    seen = np.bincount(sent, minlength=part.layout.bins)
    pairs = sent.reshape(people, -1)
    if part.slots == 2 and (pairs[:, 0] == pairs[:, 1]).any():
        return False
    return seen[whole].sum() == len(sent) and chisquare(seen[whole]).pvalue > 1e-9


CASES = [
    (sampled(BINS, MOST), [4], [4, 19, 20]),
    (sampled(BINS, MOST, 2), [4], [4, 19, 20]),
    (sampled(BINS, MOST), [], [19, 20, 21]),
    (sampled(BINS, MOST, full=True), [0, 7, 18], [0, 7, 18]),
    (sampled(40, 20, full=True), [*range(0, 40, 2)], [*range(0, 40, 2)]),
]


@pytest.mark.parametrize(("part", "members", "whole"), CASES)
def test_each_slot_is_sent_as_often(part, members, whole):
    assert evenly(part, members, whole)


def members_first(honest, cells, count, chance):
    return cells[:, :count]


def pads_in_one_bin(honest, cells, count, chance):
    return np.minimum(honest(cells, count, chance), BINS)


def last_pad_never(honest, cells, count, chance):
    return honest(cells[:, :-1], count, chance)


@pytest.mark.parametrize("wrong", [members_first, pads_in_one_bin, last_pad_never])
def test_the_twin_that_looks_at_the_value_is_caught(plant, wrong):
    plant(parts, "_draw_slots", wrong)
    assert not evenly(*CASES[0])


@pytest.mark.parametrize(
    ("part", "sets", "expected"),
    [
        (sampled(BINS, MOST), [[1], [1, 2, 3, 4]], "at most 3 set bits"),
        (sampled(BINS, MOST, full=True), [[1, 2, 3], [1, 2]], "one for each attribute or bit"),
        (sampled(BINS, MOST, full=True), [[1, 2, 3], []], "one for each attribute or bit"),
    ],
)
def test_records_without_a_bin_for_each_slot_are_refused(part, sets, expected):
    with pytest.raises(MessageError, match=expected):
        randomize_records(part, rows_of(sets), SeededChance(1))


def test_numbers_of_bins_are_sets_too():
    part, given = sampled(BINS, MOST), np.array([[4, -1, 2], [-1, -1, -1]])
    sent = part.layout.codes(randomize_records(part, given, SeededChance(1)))
    assert sent[0] in (2, 4, 19)
    assert sent[1] in (19, 20, 21)
    with pytest.raises(MessageError, match="different bins"):
        randomize_records(sampled(BINS, MOST, full=True), given, SeededChance(1))
    given[1] = [4, 4, 2]
    with pytest.raises(MessageError, match="a bin twice"):
        randomize_records(part, given, SeededChance(1))
