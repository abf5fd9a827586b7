"""Pairs and patterns of set bits, against counting one message at a time."""

from itertools import combinations

import numpy as np
import pytest

from mixtally.errors import MessageError, ParameterError
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.layout import Form, Layout
from mixtally.protocol.tally import pairs, patterns
from mixtally.protocol.tally.patterns import count_all_pairs, count_patterns

BINS, MESSAGES = 11, 300


@pytest.fixture
def ones():
    words = SeededChance(1).words(MESSAGES * BINS)
    return (words % 3 == 0).reshape(MESSAGES, BINS)


@pytest.fixture
def rows(ones):
    return np.packbits(ones, axis=1, bitorder="little")


@pytest.mark.parametrize("size", [1 << 19, 1])
def test_pairs_are_counted_one_by_one_in_any_span(ones, rows, monkeypatch, size):
    monkeypatch.setattr(pairs, "_SPAN_BYTES", size)
    both = count_all_pairs(Layout(Form.BITS, BINS), rows)
    for i in range(BINS):
        for j in range(BINS):
            assert both[i, j] == (ones[:, i] & ones[:, j]).sum()


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("cells", [1 << 22, 7 * BINS])
def test_every_pattern_is_counted(ones, rows, monkeypatch, size, cells):
    monkeypatch.setattr(patterns, "_SPAN_CELLS", cells)
    sets = list(combinations(range(BINS), size))[::7]
    found = count_patterns(Layout(Form.BITS, BINS), rows, sets)
    for place, bins in enumerate(sets):
        shown = sum(ones[:, one].astype(int) << k for k, one in enumerate(bins))
        assert found[place].tolist() == np.bincount(shown, minlength=1 << size).tolist()


def test_no_sets_give_no_counts(rows):
    assert count_patterns(Layout(Form.BITS, BINS), rows, []).shape == (0, 1)


def test_foreign_messages_and_too_many_bins_are_refused(rows):
    with pytest.raises(MessageError):
        count_all_pairs(Layout(Form.BITS, BINS - 1), np.full_like(rows, 255))
    with pytest.raises(ParameterError, match="bins: expected at most 4,096 to count all pairs"):
        count_all_pairs(Layout(Form.BITS, 5000), rows)
