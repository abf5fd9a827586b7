"""Intervals of pairs, tables and correlations: each alone, and all at once where flips are rare.

Every statistical test has a twin that takes the normal approximation, as if each count were large.
"""

from statistics import NormalDist

import numpy as np
import pytest

from helpers.named import flip, flip_blank
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.question import Kind, Question
from mixtally.primitives.fixed_point import threshold_of
from mixtally.protocol.encode.bits import pack_vectors
from mixtally.protocol.estimate.conclude.pairs import pairs_and_tables
from mixtally.protocol.estimate.item_sets import patterns_of_pairs
from mixtally.protocol.estimate.pair_intervals import PairIntervals
from mixtally.protocol.estimate.two_by_two import two_by_two
from reference.played import play

PEOPLE, BINS = 1200, 24
FIRST, SECOND = np.triu_indices(BINS, 1)
PAIRS = np.column_stack([FIRST, SECOND])
LEVEL, RUNS = 0.8, 60
ROOM = 5.0 * (LEVEL * (1.0 - LEVEL) / RUNS) ** 0.5
"""Five standard errors of a share of ``RUNS`` collections."""


def mechanism_of(q, repeats=1):
    given = {"bins": BINS, "threshold": threshold_of(q), "max_set": 16}
    if repeats > 1:
        return flip(**given, crowd=PEOPLE, repeats=repeats)
    return flip_blank(**given, fakes=600)


def one_item_each():
    """Nobody has two."""
    bits = np.zeros((PEOPLE, BINS), dtype=np.uint8)
    bits[np.arange(PEOPLE), np.arange(PEOPLE) % BINS] = 1
    return bits


def several_items(share):
    """Everybody has each item with this chance, and one of two the item before it as well."""
    words = SeededChance(2).words(2 * PEOPLE * BINS).reshape(2, PEOPLE, BINS)
    bits = (words[0] < np.uint64(share * 2**64)).astype(np.uint8)
    for i in range(1, BINS, 2):
        bits[:, i] |= bits[:, i - 1] & (words[1, :, i] >> np.uint64(63)).astype(np.uint8)
    return bits


def tables_of(bits):
    both = bits.T.astype(int) @ bits
    one, two, pair = both[FIRST, FIRST], both[SECOND, SECOND], both[FIRST, SECOND]
    return np.stack([pair, one - pair, two - pair, len(bits) - one - two + pair], axis=1)


def collected(bits, mechanism, runs=RUNS, seed=5):
    """Of each collection the patterns of all pairs, and what ``two_by_two`` finds."""
    records, chance = pack_vectors(bits.tobytes(), BINS), SeededChance(seed)
    for _ in range(runs):
        tally = play(mechanism, records, chance, pairs=True)
        yield (
            patterns_of_pairs(tally.pairs, PAIRS, tally.messages),
            two_by_two(mechanism, tally.pairs, tally.messages, FIRST, SECOND),
        )


def intervals(mechanism, patterns, among):
    return PairIntervals(mechanism, patterns, people=PEOPLE, level=LEVEL, among=among)


def by_the_normal_law(values, errors, among=276):
    half = -NormalDist().inv_cdf((1.0 - LEVEL) / 2.0 / among) * errors
    return values - half, values + half


def hold(ends, truth):
    return (ends[0] <= truth) & (truth <= ends[1])


def test_pairs_that_nobody_has_are_seldom_distinguishable():
    """At most a tenth of the collections; false alarm below 1e-5 (five errors of a tenth).

    Planted: the normal approximation, which declares one in half of them.
    """
    mechanism, wrong, planted = mechanism_of(0.014), [], []
    for patterns, found in collected(one_item_each(), mechanism):
        wrong.append((intervals(mechanism, patterns, len(FIRST)).both()[0] > 0).any())
        low, _ = by_the_normal_law(found.counts[:, 0], found.errors[:, 0])
        planted.append((low > 0.0).any())
    most = 0.1 + 5.0 * (0.1 * 0.9 / RUNS) ** 0.5
    assert np.mean(wrong) < most
    assert np.mean(planted) > most


@pytest.mark.parametrize("q", [0.003, 0.005])
def test_all_pairs_hold_at_once(q):
    """Four fifths of the collections at least; false alarm below 1e-6.

    Planted: the normal approximation.
    """
    bits, mechanism = several_items(0.04), mechanism_of(q)
    truth, held, planted = tables_of(bits)[:, 0], [], []
    for patterns, found in collected(bits, mechanism):
        held.append(hold(intervals(mechanism, patterns, len(FIRST)).both(), truth).all())
        normal = by_the_normal_law(found.counts[:, 0], found.errors[:, 0])
        planted.append(hold(normal, truth).all())
    assert np.mean(held) > LEVEL - ROOM
    assert np.mean(planted) < LEVEL - ROOM


@pytest.mark.parametrize("q", [0.003, 0.02, 0.1])
@pytest.mark.parametrize("repeats", [1, 2])
def test_each_cell_of_a_table_holds_alone(q, repeats):
    """Of 40 collections' 276 pairs, which share bits: a share deviates by 2 %.

    False alarm below 1e-5. Planted: intervals as wide as if messages were sent once more often.
    """
    bits, mechanism = several_items(0.1), mechanism_of(q, repeats)
    truth, held, planted = tables_of(bits), [], []
    for patterns, found in collected(bits, mechanism, 40):
        low, high = intervals(mechanism, patterns, 1).tables(found)
        held.append(hold((low, high), truth).mean(axis=0))
        middle, half = (low + high) / 2.0, (high - low) / 2.0
        planted.append(hold((middle - half / 2.0, middle + half / 2.0), truth).mean(axis=0))
    assert np.mean(held, axis=0).min() > LEVEL - 0.1
    assert np.mean(planted, axis=0).min() < LEVEL - 0.1


def rare_flips():
    """Correlated bits that few have, among flips of which hardly two ever meet."""
    return several_items(0.04), mechanism_of(0.008)


def test_all_correlations_hold_at_once():
    """Four fifths of the collections at least; false alarm below 1e-6.

    Planted: the normal approximation.
    """
    bits, mechanism = rare_flips()
    truth, held, planted = np.corrcoef(bits.T)[FIRST, SECOND], [], []
    for patterns, found in collected(bits, mechanism):
        stated = ~np.isnan(found.correlations)
        assert stated.mean() > 0.5
        ends = intervals(mechanism, patterns, len(FIRST)).correlations(found)
        held.append(hold(ends, truth)[stated].all())
        normal = by_the_normal_law(found.correlations, found.correlation_errors)
        planted.append(hold(normal, truth)[stated].all())
    assert np.mean(held) > LEVEL - ROOM
    assert np.mean(planted) < LEVEL - ROOM


@pytest.mark.parametrize("q", [0.02, 0.1])
def test_each_correlation_holds_alone(q):
    """As cells of tables do, and not for nothing: no more than a tenth above the level."""
    bits, mechanism = several_items(0.2), mechanism_of(q)
    truth, held = np.corrcoef(bits.T)[FIRST, SECOND], []
    for patterns, found in collected(bits, mechanism, 40):
        stated = ~np.isnan(found.correlations)
        ends = intervals(mechanism, patterns, 1).correlations(found)
        held.append(hold(ends, truth)[stated].mean())
    assert np.mean(held) == pytest.approx(LEVEL, abs=0.1)


@pytest.mark.parametrize("kind", [Kind.SET, Kind.BITS])
def test_notes_count_what_rows_say(kind):
    """Pairs and correlations that are said to be distinguishable are those whose ends are."""
    limits = {"max_set": 16} if kind is Kind.SET else {}
    question = Question(name="q", bins=BINS, kind=kind, **limits)
    bits, mechanism = rare_flips()
    tally = play(mechanism, pack_vectors(bits.tobytes(), BINS), SeededChance(3), pairs=True)
    shown = pairs_and_tables(question, mechanism, tally, LEVEL)
    assert len(shown) == 2 + (kind is Kind.BITS)
    for figures in shown[:2]:
        sure = sum(row.lower_simultaneous > 0 or row.upper_simultaneous < 0 for row in figures.rows)
        assert 0 < sure < len(figures.rows)
        assert f"at once, {sure} are distinguishable" in figures.note
        for row, about in zip(figures.rows, figures.about, strict=True):
            assert row.lower_simultaneous <= row.lower <= row.upper <= row.upper_simultaneous
            assert row.label == f"{question.label(about[0])} & {question.label(about[1])}"
