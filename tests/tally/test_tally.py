"""Tallies count what is there, in any split, and refuse what is malformed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixtally.errors import MessageError
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.layout import Form, Layout
from mixtally.primitives import bits
from mixtally.protocol.tally import fold


def random_rows(count, columns, seed):
    rows = SeededChance(seed).words(count * 16).view(np.uint8).reshape(count, 128)
    packed = rows[:, : bits.row_bytes(columns)].copy()
    if columns % 8:
        packed[:, -1] &= (1 << columns % 8) - 1
    return packed


@given(count=st.integers(0, 400), columns=st.integers(2, 130), seed=st.integers(0, 99))
def test_counts_are_the_column_sums(count, columns, seed):
    rows = random_rows(count, columns, seed)
    plain = np.unpackbits(rows, axis=1, bitorder="little")[:, :columns].sum(axis=0)
    found = fold.tally_messages(Layout(Form.BITS, columns), rows)
    assert found.counts.tolist() == plain.tolist()
    assert found.messages == count


def test_packing_and_counting_agree_on_the_order_of_bits():
    """The accident in which counts land on the wrong items: each value is followed through."""
    for form in Form:
        layout = Layout(form, 21, cap=2 if form is Form.POSITIONS else None)
        codes = np.repeat(np.arange(21), np.arange(21))
        assert fold.tally_messages(layout, layout.rows(codes)).counts.tolist() == list(range(21))


def test_a_reversed_bit_order_would_be_seen(plant):
    plant(np, "unpackbits", lambda honest, a, **k: honest(a, **{**k, "bitorder": "big"}))
    layout = Layout(Form.BITS, 21)
    rows = layout.rows(np.repeat(np.arange(21), np.arange(21)))
    assert fold.tally_messages(layout, rows).counts.tolist() != list(range(21))


@pytest.mark.parametrize("span", [1, 3, 1000])
def test_any_split_gives_the_same(monkeypatch, span):
    layout, rows = Layout(Form.BITS, 40), random_rows(257, 40, 3)
    whole = fold.tally_messages(layout, rows)
    monkeypatch.setattr(fold, "_SPAN_BYTES", span * layout.message_bytes)
    assert fold.tally_messages(layout, rows).counts.tolist() == whole.counts.tolist()
    first, last = rows[:100], rows[100:]
    halves = fold.add_tallies(fold.tally_messages(layout, first), fold.tally_messages(layout, last))
    assert halves.counts.tolist() == whole.counts.tolist()
    assert halves.messages == 257


@pytest.mark.parametrize("form", Form)
def test_parts_that_come_one_by_one_are_counted_as_the_whole(form):
    layout = Layout(form, 40, cap=3 if form is Form.POSITIONS else None)
    rows, pairs = layout.rows(np.arange(257) % 37), form is Form.BITS
    folding = fold.Fold(layout, rows.size, pairs=pairs)
    for part in (rows[:0], rows[:100], rows[100:101], rows[101:]):
        folding.add(part)
    seen, whole = folding.tally(), fold.tally_messages(layout, rows, pairs=pairs)
    assert (
        seen.counts.tolist()
        == whole.counts.tolist()
        == np.bincount(np.arange(257) % 37, minlength=40).tolist()
    )
    assert seen.messages == whole.messages == 257
    assert not pairs or np.array_equal(seen.pairs, whole.pairs)


def test_a_bin_past_the_last_is_refused():
    with pytest.raises(MessageError, match="message 1"):
        fold.tally_messages(Layout(Form.INDEX, 100), np.array([[5], [100]], dtype=np.uint8))
    with pytest.raises(MessageError, match="bin past the last"):
        fold.tally_messages(Layout(Form.BITS, 4), np.array([[0b10000]], dtype=np.uint8))
    with pytest.raises(MessageError, match="shape"):
        fold.tally_messages(Layout(Form.BITS, 4), np.zeros((3, 2), dtype=np.uint8))
