"""Everybody's messages of a part have the distribution of devices one by one, in every layout."""

import numpy as np
import pytest
from scipy import stats

from helpers.capped_distribution import conditional, mixed, p_value
from helpers.contracts import flipped, uniform
from helpers.scripted_chance import Scripted
from mixtally.errors import MessageError, ParameterError
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.contract import FakeRecord, OwnFakes
from mixtally.model.layout import Form
from mixtally.primitives.memo import Memo
from mixtally.protocol.randomize import draw_part_fakes, randomize_records

Q, BINS, PEOPLE = 0.3, 5, 60_000
BLANK = OwnFakes(FakeRecord.BLANK, 1, 1 << 62)
UNIFORM = OwnFakes(FakeRecord.UNIFORM, 1, 1 << 62)
PARTS = {
    "bits": flipped(BINS, q=Q),
    "bits with a cap": flipped(BINS, q=Q, cap=2),
    "positions": flipped(BINS, q=Q, form=Form.POSITIONS, cap=2),
    "positions of as many": flipped(BINS, q=Q, form=Form.POSITIONS, cap=BINS),
    "bits, few flips": flipped(BINS, q=0.005, cap=1),
}


def with_fakes(part, own):
    return flipped(
        part.bins, q=part.threshold / 2**64, own=own, form=part.layout.form, cap=part.layout.cap
    )


def rate(part):
    return part.threshold / 2**64


def cut_off(part, records, chance):
    """A device that leaves out the last bins in place of drawing again."""
    free = flipped(part.bins, q=rate(part))
    bits = np.unpackbits(randomize_records(free, records, chance), axis=1, bitorder="little")
    bits[np.cumsum(bits, axis=1) > part.layout.cap] = 0
    row, column = np.nonzero(bits)
    if part.layout.form is Form.POSITIONS:
        return part.layout.write_positions(row, column, len(bits))
    return np.packbits(bits, axis=1, bitorder="little")


def once_again(part, records, chance):
    """A device that draws again once, and blames nobody if it is too many then."""
    free = flipped(part.bins, q=rate(part))
    rows, again = (randomize_records(free, records, chance) for _ in range(2))
    over = np.bitwise_count(rows).sum(axis=1) > part.layout.cap
    rows[over] = again[over]
    return rows


def reports_p_value(part, device=randomize_records):
    rows = device(part, np.full(PEOPLE, 1), SeededChance(3))
    return p_value(part.layout, rows, conditional(2, BINS, rate(part), part.layout.cap))


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_reports_follow_the_conditional_distribution(part):
    """False alarm 10^-6 a case."""
    assert reports_p_value(part) > 1e-6


@pytest.mark.parametrize("name", ["bits with a cap", "positions"])
def test_a_device_that_cuts_off_in_place_of_drawing_again_is_found(name):
    assert reports_p_value(PARTS[name], cut_off) < 1e-6


def test_devices_that_do_not_draw_again_or_only_once_are_found():
    def never(part, records, chance):
        return randomize_records(flipped(part.bins, q=rate(part)), records, chance)

    assert reports_p_value(PARTS["bits with a cap"], never) < 1e-6
    assert reports_p_value(PARTS["bits with a cap"], once_again) < 1e-6


@pytest.mark.parametrize("part", [PARTS["bits with a cap"], PARTS["positions"]])
def test_contents_stay_when_a_message_is_drawn_again(part):
    """Of people who hold each of all bins; false alarm 10^-6 for every bin."""
    rows = randomize_records(part, np.arange(PEOPLE) % BINS, SeededChance(4))
    for code in range(BINS):
        chances = conditional(1 << code, BINS, Q, part.layout.cap)
        assert p_value(part.layout, rows[code::BINS], chances) > 1e-6


@pytest.mark.parametrize("form", [Form.BITS, Form.POSITIONS])
def test_sets_are_taken_packed_and_stay_as_they_were(form):
    """Records of two bins and of none; false alarm 10^-6 each."""
    part = flipped(BINS, most_set=2, q=Q, form=form, cap=3)
    records = np.zeros((PEOPLE, 1), dtype=np.uint8)
    records[::2] = 0b10010
    rows = randomize_records(part, records, SeededChance(5))
    assert p_value(part.layout, rows[::2], conditional(0b10010, BINS, Q, 3)) > 1e-6
    assert p_value(part.layout, rows[1::2], conditional(0, BINS, Q, 3)) > 1e-6
    assert set(records[:, 0].tolist()) == {0b10010, 0}


@pytest.mark.parametrize("own", [BLANK, UNIFORM], ids=["blank", "uniform"])
@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_fakes_follow_the_conditional_distribution(part, own):
    """A uniform fake keeps its bin when it is drawn again; false alarm 10^-6 a case."""
    part = with_fakes(part, own)
    rows, number = draw_part_fakes(part, PEOPLE, SeededChance(6), Memo(1 << 20))
    held = [0] if own is BLANK else [1 << code for code in range(BINS)]
    assert len(rows) == number
    assert p_value(part.layout, rows, mixed(held, BINS, rate(part), part.layout.cap)) > 1e-6


def test_a_fake_in_clear_is_in_every_bin_alike():
    """False alarm 10^-6."""
    part = uniform(BINS, whole=1)
    rows, _ = draw_part_fakes(part, PEOPLE, SeededChance(7))
    held = [1 << code for code in range(BINS)]
    assert p_value(part.layout, rows, mixed(held, BINS, 0.0, None)) > 1e-6


def coins_p_value(device, contributors=6, runs=20_000):
    """Of the number of fakes of six devices against two each and a binomial."""
    part = uniform(BINS, whole=2, coin=int(0.3 * 2**64))
    chance = SeededChance(8)
    drawn = np.array([device(part, contributors, chance) for _ in range(runs)])
    more = drawn - 2 * contributors
    if more.min() < 0 or more.max() > contributors:
        return 0.0
    expected = stats.binom(contributors, 0.3).pmf(np.arange(contributors + 1)) * runs
    return stats.chisquare(np.bincount(more, minlength=contributors + 1), expected).pvalue


def test_every_device_tosses_its_own_coin():
    """False alarm 10^-6."""
    assert coins_p_value(lambda *given: draw_part_fakes(*given)[1]) > 1e-6


def test_one_coin_for_all_and_fakes_shared_evenly_are_found():
    def one_for_all(part, contributors, chance):
        return contributors * draw_part_fakes(part, 1, chance)[1]

    def evenly(part, contributors, _):
        return round(contributors * part.own.mean)

    assert coins_p_value(one_for_all) < 1e-6
    assert coins_p_value(evenly) < 1e-6


def test_a_coin_shows_one_more_below_its_threshold(monkeypatch):
    """Word by word, in spans of two devices, which no sample of words would tell apart."""
    monkeypatch.setattr("mixtally.protocol.randomize.parts._SPAN_COINS", 2)
    coin = 1 << 62
    part = uniform(4, whole=1, coin=coin)
    tossed, drawn = [coin - 1, coin, 0, coin + 1, coin - 1], [0, 1, 2, 3, 0, 1, 2, 3]
    chance = Scripted(*tossed, *drawn)
    rows, number = draw_part_fakes(part, len(tossed), chance)
    assert number == len(tossed) + 3
    assert part.layout.codes(rows).tolist() == drawn
    assert chance.left == []


def test_no_fakes_where_devices_add_none():
    rows, number = draw_part_fakes(PARTS["positions"], 10, SeededChance(1))
    assert number == 0
    assert rows.shape == (0, PARTS["positions"].layout.message_bytes)


@pytest.mark.parametrize("part", [PARTS["bits with a cap"], PARTS["positions"]])
def test_what_is_no_record_is_refused(part):
    chance = SeededChance(1)
    with pytest.raises(MessageError, match="record 2"):
        randomize_records(part, [0, 1, BINS], chance)
    with pytest.raises(MessageError, match="at most 1 set bit "):
        randomize_records(part, np.array([[3]], dtype=np.uint8), chance)
    with pytest.raises(MessageError, match="several lengths"):
        randomize_records(part, [[1], [1, 2]], chance)


def test_a_cap_that_no_draw_keeps_to_is_refused():
    part = flipped(1000, q=0.4, form=Form.POSITIONS, cap=1)
    with pytest.raises(ParameterError, match="larger cap"):
        randomize_records(part, [0, 1], SeededChance(1))


def flips_p_value(part, device=randomize_records):
    """Two-sided p-value of how many bits differ in a batch of many spans, and where."""
    codes = np.arange(40_000) % part.bins
    rows = device(part, codes, SeededChance(9))
    many, named = part.layout.positions(part.layout.check_rows(rows))
    row = np.repeat(np.arange(len(rows)), many)
    own = int((named == codes[row]).sum())
    kept = stats.binomtest(own, len(rows), 1.0 - rate(part)).pvalue
    more = stats.binomtest(len(named) - own, len(rows) * (part.bins - 1), rate(part)).pvalue
    first = stats.binomtest(int((row < len(rows) // 2).sum()), len(row)).pvalue
    return min(kept, more, first)


def test_positions_of_many_bins_are_flipped_to_the_end():
    """False alarm 3 * 10^-6."""
    part = flipped(5_000, q=0.002, form=Form.POSITIONS, cap=60)
    assert flips_p_value(part) > 1e-6

    def tired(part, codes, chance):
        rows = randomize_records(part, codes, chance)
        rows[30_000:] = part.layout.rows(codes[30_000:])
        return rows

    assert flips_p_value(part, tired) < 1e-6
