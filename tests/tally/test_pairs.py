"""Pairs are counted in spans, and only where a message holds several bits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixtally.errors import MessageError, ParameterError
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.layout import Form, Layout
from mixtally.protocol.encode.bits import pack_vectors
from mixtally.protocol.tally import pairs
from mixtally.protocol.tally.pairs import count_pairs, empty_pairs


def random_bits(rows, columns, seed):
    return (
        (SeededChance(seed).words(rows * columns) & np.uint64(1))
        .astype(np.uint8)
        .reshape(rows, columns)
    )


@given(rows=st.integers(0, 60), columns=st.integers(1, 20), seed=st.integers(0, 99))
def test_pairs_are_counted_by_their_definition(rows, columns, seed):
    bits = random_bits(rows, columns, seed)
    counted = count_pairs(Layout(Form.BITS, columns), pack_vectors(bits.tobytes(), columns))
    for i in range(columns):
        for j in range(columns):
            assert counted[i, j] == sum(int(row[i] and row[j]) for row in bits)


def test_the_size_of_a_span_changes_nothing(monkeypatch):
    layout, rows = Layout(Form.BITS, 13), pack_vectors(random_bits(100, 13, 1).tobytes(), 13)
    whole = count_pairs(layout, rows)
    assert len(rows) > 64  # the least span
    monkeypatch.setattr(pairs, "_SPAN_BYTES", 1)
    assert (count_pairs(layout, rows) == whole).all()
    assert (count_pairs(layout, rows[:40]) + count_pairs(layout, rows[40:]) == whole).all()


def test_messages_of_one_bin_have_no_pairs():
    with pytest.raises(MessageError, match="several bits"):
        empty_pairs(Layout(Form.INDEX, 5))


def test_too_many_bins_are_refused_before_a_table_is_made():
    with pytest.raises(ParameterError, match="2,001"):
        empty_pairs(Layout(Form.BITS, 2001))


def test_messages_of_another_length_are_refused():
    with pytest.raises(MessageError):
        count_pairs(Layout(Form.BITS, 20), np.zeros((3, 2), dtype=np.uint8))
